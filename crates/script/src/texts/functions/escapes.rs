//! Escapes texts for HTML, XML, regular expressions and Java, and unescapes them.

use super::{Call, Function};
use std::fmt::Write;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["escapeHtml"],
        arguments: 1..=1,
        about: "escaped for HTML",
        call: |call| escape_html(call.text(0)),
    },
    Function {
        names: &["unescapeHtml"],
        arguments: 1..=1,
        about: "with the entities of HTML as characters",
        call: |call| unescape_html(call.text(0)),
    },
    Function {
        names: &["escapeXml"],
        arguments: 1..=1,
        about: "escaped for XML",
        call: |call| escape_xml(call.text(0)),
    },
    Function {
        names: &["escapeJson"],
        arguments: 1..=1,
        about: "escaped for a text of JSON, without the quotes around it",
        call: |call| escape_json(call.text(0)),
    },
    Function {
        names: &["json"],
        arguments: 1..=1,
        about: "as JSON: a number, true, false, null, list or map as it is, anything else as a text in quotes",
        call: |call| json_value(call.text(0)),
    },
    Function {
        names: &["unescape"],
        arguments: 1..=1,
        about: "with the escapes of Java, such as \\n, as characters",
        call: |call| unescape_java(call.text(0)),
    },
    Function {
        names: &["escapeOroRegexpChars"],
        arguments: 1..=2,
        about: "a regular expression that finds the text as it is; variable",
        call: |call| call.into_variable(1, escape_regex(call.text(0))),
    },
    Function {
        names: &["char"],
        arguments: 1..=usize::MAX,
        about: "the characters of these numbers, such as 0xC4",
        call: char_of,
    },
];

/// Escapes a text within quotes in JSON (RFC 8259 section 7).
pub(crate) fn escape_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns a JSON value other than a string unchanged, and quotes any other text.
fn json_value(text: &str) -> String {
    let is_value = !text.trim_start().starts_with('"')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_value { text.to_owned() } else { format!("\"{}\"", escape_json(text)) }
}

/// Names of the characters from U+00A0 to U+00FF.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf",
    "laquo", "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro",
    "para", "middot", "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest",
    "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute",
    "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute",
    "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute",
    "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil",
    "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde",
    "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave", "uacute", "ucirc",
    "uuml", "yacute", "thorn", "yuml",
];

/// Other common names.
const NAMED: [(&str, char); 17] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("euro", '€'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("hellip", '…'),
    ("bull", '•'),
    ("trade", '™'),
    ("larr", '←'),
];

fn name_of(character: char) -> Option<&'static str> {
    let number = character as usize;
    let latin = number.checked_sub(0xA0).and_then(|number| LATIN_1.get(number).copied());
    // HTML 4 has no entity `&apos;`.
    latin.or_else(|| {
        let entity = NAMED.iter().find(|(name, named)| *named == character && *name != "apos");
        entity.map(|(name, _)| *name)
    })
}

fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match name_of(character) {
            Some(name) => escaped.extend(["&", name, ";"]),
            None => escaped.push(character),
        }
    }
    escaped
}

fn unescape_html(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(';');
        let (character, length) =
            end.and_then(|end| Some((character_of(&rest[1..end])?, end + 1))).unwrap_or(('&', 1));
        plain.push(character);
        rest = &rest[length..];
    }
    plain + rest
}

/// Returns the character of `eacute`, `#233` or `#xE9`.
fn character_of(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']);
        let number =
            hexadecimal.map_or_else(|| number.parse(), |digits| u32::from_str_radix(digits, 16));
        return char::from_u32(number.ok()?);
    }
    let named = NAMED.iter().find(|entity| entity.0 == name).map(|(_, character)| *character);
    named.or_else(|| {
        let offset = LATIN_1.iter().position(|latin| *latin == name)?;
        char::from_u32(offset as u32 + 0xA0)
    })
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // Characters that XML 1.0 forbids are omitted.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => {
                let _ = write!(escaped, "&#{};", character as u32); // a String takes anything
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

fn unescape_java(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        if let (true, Some(digits)) = (next == '\\', unicode_digits(rest)) {
            // Two units may encode one character.
            units.push(digits.1);
            rest = &rest[digits.0..];
            continue;
        }
        plain.push_str(&String::from_utf16_lossy(&std::mem::take(&mut units)));
        if next != '\\' {
            plain.push(next);
            continue;
        }
        let octal = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        // An octal escape is at most `\377`.
        let octal = if octal == 3 && rest.as_bytes()[0] > b'3' { 2 } else { octal };
        if octal > 0 {
            plain.extend(u32::from_str_radix(&rest[..octal], 8).ok().and_then(char::from_u32));
            rest = &rest[octal..];
            continue;
        }
        let escaped = rest.chars().next();
        plain.extend(match escaped {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            other => other,
        });
        rest = &rest[escaped.map_or(0, char::len_utf8)..];
    }
    plain + &String::from_utf16_lossy(&units)
}

/// Returns the length of `u00e9` after a backslash, and its UTF-16 unit.
fn unicode_digits(rest: &str) -> Option<(usize, u16)> {
    let begin = rest.len() - rest.trim_start_matches('u').len();
    let digits = rest.get(begin..begin + 4).filter(|_| begin > 0)?;
    Some((begin + 4, u16::from_str_radix(digits, 16).ok()?))
}

fn escape_regex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if !(character.is_ascii_alphanumeric() || character == '_') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn char_of(call: &Call<'_>) -> String {
    call.arguments.iter().filter_map(|number| character_of_number(number.trim())).collect()
}

/// Returns the character of a number as Java writes it: decimal, octal (`0…`) or hexadecimal
/// (`0x…`, `#…`).
fn character_of_number(text: &str) -> Option<char> {
    let hexadecimal = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .or_else(|| text.strip_prefix('#'));
    let number = match (hexadecimal, text.strip_prefix('0').filter(|octal| !octal.is_empty())) {
        (Some(digits), _) => u32::from_str_radix(digits, 16),
        (None, Some(digits)) => u32::from_str_radix(digits, 8),
        (None, None) => text.parse(),
    };
    number.ok().and_then(char::from_u32)
}
