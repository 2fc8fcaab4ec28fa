//! Texts with variables, and their form in a plan file.
//!
//! A variable is enclosed in two characters of Unicode's private use area. A plan file is expanded
//! twice: first `$$` and variables of the plan, then `${…}` of the user with backslashes, and
//! placeholders such as `{n}`. [`in_plan`] escapes literal text so that both expansions restore it.

use brunt_script::template::{self, NOT_IN_URLS};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt::Write;

/// Enclose the name of a variable.
const MARKS: [char; 2] = ['\u{f8f0}', '\u{f8f1}'];

/// Encloses the name of a variable that is a JSON number, not a text.
pub const NUMBER: char = '\u{f8f2}';

/// Replaces the characters that mark variables here or in the parser of plan files.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.contains(is_mark) { text.replace(is_mark, "\u{fffd}").into() } else { text.into() }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{f8f0}'..='\u{f8f2}' | '\u{e000}'..='\u{e001}')
}

/// Replaces these characters in a percent-encoded text, before it is decoded.
pub fn clean_encoded(text: &str) -> Cow<'_, str> {
    const ENCODED: [&str; 5] = ["%EF%A3%B0", "%EF%A3%B1", "%EF%A3%B2", "%EE%80%80", "%EE%80%81"];
    let upper = text.to_ascii_uppercase();
    if !ENCODED.iter().any(|mark| upper.contains(mark)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut position = 0;
    while position < text.len() {
        if ENCODED.iter().any(|mark| upper[position..].starts_with(mark)) {
            out.push_str("%EF%BF%BD");
            // Length of three percent-encoded bytes.
            position += 9;
        } else {
            let length = text[position..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[position..position + length]);
            position += length;
        }
    }
    out.into()
}

/// A reference to a variable, for use in a text.
pub fn variable(name: &str) -> String {
    format!("{}{name}{}", MARKS[0], MARKS[1])
}

/// A reference to a variable that is a JSON number, for use as a JSON string.
pub fn number_variable(name: &str) -> String {
    format!("{NUMBER}{name}{NUMBER}")
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPiece<'a> {
    /// A literal text, without variables.
    Literal(&'a str),
    /// The name of a variable.
    Variable(&'a str),
}

/// Splits a text at its variables.
pub fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once(MARKS[0]) {
        let (name, tail) = tail.split_once(MARKS[1]).unwrap_or((tail, ""));
        all.extend([TextPiece::Literal(before), TextPiece::Variable(name)]);
        rest = tail;
    }
    all.push(TextPiece::Literal(rest));
    all.retain(|piece| *piece != TextPiece::Literal(""));
    all
}

/// True if a text contains variables.
pub fn has_variable(text: &str) -> bool {
    text.contains(MARKS[0])
}

/// Replaces values of the fields `NAME=VALUE` of a query or form. If `replacement` returns None for
/// a name and value, the field is unchanged.
pub fn with_fields(
    text: &str,
    mut replacement: impl FnMut(&str, &str) -> Option<String>,
) -> String {
    let fields = text.split('&').map(|field| {
        let Some((name, value)) = field.split_once('=') else { return field.to_owned() };
        replacement(name, value).map_or_else(|| field.to_owned(), |value| format!("{name}={value}"))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// The text for display: a variable is shown as its name after a dollar sign.
pub fn for_display(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            TextPiece::Literal(literal) => out.push_str(literal),
            TextPiece::Variable(name) => out.extend(["$", name]),
        }
    }
    out
}

/// Whether a text of a plan may contain placeholders such as `{n}` and `{uuid}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Braces {
    /// Placeholders are replaced: in URLs, header fields and bodies.
    Placeholders,
    /// Braces have no meaning: in fields of a form or query, which the plan encodes, in names and
    /// in values of variables.
    Plain,
}

/// Escapes a text for a plan file. `is_fixed` tests for variables of the
/// plan, which are expanded first.
pub fn in_plan(text: &str, braces: Braces, is_fixed: &dyn Fn(&str) -> bool) -> String {
    let pieces = pieces(text);
    let is_expression = pieces.iter().any(|piece| match piece {
        // The escape of a placeholder also separates the dollar sign from the brace.
        TextPiece::Literal(text) => without_placeholders(text, braces).contains("${"),
        TextPiece::Variable(name) => !is_fixed(name),
    });
    let mut out = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        match piece {
            TextPiece::Variable(name) => {
                let _ = write!(out, "${{{name}}}");
            }
            TextPiece::Literal(text) => {
                let text =
                    if is_expression { text.replace('\\', r"\\") } else { (*text).to_owned() };
                let text = without_placeholders(&text, braces);
                push_dollars(&mut out, &text, number + 1 < pieces.len());
            }
        }
    }
    out
}

/// Escapes the placeholders of a text, unless braces have no meaning.
fn without_placeholders(text: &str, braces: Braces) -> String {
    match braces {
        Braces::Placeholders => template::without_placeholders(text, |_| false),
        Braces::Plain => text.to_owned(),
    }
}

/// Appends a text and doubles each dollar sign that would have a meaning.
fn push_dollars(out: &mut String, text: &str, variable_follows: bool) {
    let mut rest = text;
    while let Some(position) = rest.find('$') {
        out.push_str(&rest[..position]);
        rest = &rest[position..];
        let run = rest.len() - rest.trim_start_matches('$').len();
        let tail = &rest[run..];
        let is_plain = run == 1 && !tail.starts_with('{') && !(tail.is_empty() && variable_follows);
        out.push_str(&"$".repeat(if is_plain { 1 } else { 2 * run }));
        rest = tail;
    }
    out.push_str(rest);
}

/// Characters that a field of a path or query must encode.
const NOT_IN_PARTS: &AsciiSet =
    &NOT_IN_URLS.add(b'/').add(b'?').add(b'&').add(b'=').add(b'+').add(b'%').add(b'$');

/// Percent-encodes a path or query. Variables stay.
pub fn encode_url(text: &str) -> String {
    let encoded = pieces(text).into_iter().map(|piece| match piece {
        TextPiece::Variable(name) => variable(name),
        TextPiece::Literal(text) => {
            // Dollar signs that have a meaning in a plan file are encoded.
            utf8_percent_encode(text, NOT_IN_URLS)
                .to_string()
                .replace("$$", "%24%24")
                .replace("${", "%24{")
        }
    });
    let encoded: String = encoded.collect();
    encoded.replace(&format!("${}", MARKS[0]), &format!("%24{}", MARKS[0]))
}

/// Percent-encodes a segment or field so that it stays one part. Variables stay.
pub fn encode_part(text: &str) -> String {
    let encoded = pieces(text).into_iter().map(|piece| match piece {
        TextPiece::Variable(name) => variable(name),
        TextPiece::Literal(text) => utf8_percent_encode(text, NOT_IN_PARTS).to_string(),
    });
    encoded.collect()
}

/// Derives a valid variable name from a text: ASCII letters, digits and `_`,
/// not starting with a digit.
pub fn identifier(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(60) {
        let is_word = c.is_ascii_alphanumeric();
        if is_word {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("v{out}"),
        Some(_) => out.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_texts_are_read_back_unchanged() {
        let fixed = |name: &str| name == "base";
        let v = variable("a");
        for (text, braces, expected) in [
            ("costs $5", Braces::Placeholders, "costs $5"),
            ("a$$b${c}", Braces::Placeholders, "a$$$$b$${c}"),
            (r"a\b", Braces::Placeholders, r"a\b"),
            (r"a\b${c}", Braces::Placeholders, r"a\\b$${c}"),
            (&format!(r"\d$ {v}$"), Braces::Placeholders, r"\\d$ ${a}$"),
            (&format!(r"$\{v}"), Braces::Placeholders, r"$\\${a}"),
            (&format!("${v}"), Braces::Placeholders, "$$${a}"),
            (&format!("{}/\\", variable("base")), Braces::Placeholders, r"${base}/\"),
            ("query{n}", Braces::Placeholders, r"query\{n}"),
            ("query{n}", Braces::Plain, "query{n}"),
        ] {
            assert_eq!(in_plan(text, braces, &fixed), expected, "{text}");
        }
    }

    #[test]
    fn markers_in_an_input_are_not_variables() {
        assert_eq!(clean(&variable("a")), "\u{fffd}a\u{fffd}");
        assert_eq!(clean_encoded("é%ef%a3%b0a%EF%A3%B1&"), "é%EF%BF%BDa%EF%BF%BD&");
    }

    #[test]
    fn urls_keep_their_variables() {
        let v = variable("a");
        assert_eq!(
            encode_url(&format!("/x y/{{n}}/{v}?$$=${v}")),
            format!("/x%20y/%7Bn%7D/{v}?%24%24=%24{v}")
        );
        assert_eq!(encode_part("a/b&c=ü"), "a%2Fb%26c%3D%C3%BC");
        assert_eq!(
            ["csrf-token", "1st", "ü", "a.b c"].map(identifier),
            ["csrf_token", "v1st", "value", "a_b_c"].map(str::to_owned)
        );
    }
}
