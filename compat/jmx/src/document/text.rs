//! Decodes and encodes text and attribute values.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Decodes text: resolves references and converts line ends to LF.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    resolve(line_ends(raw))
}

/// Decodes an attribute value: resolves references and converts white space to spaces.
pub(crate) fn decode_attribute(raw: &str) -> Cow<'_, str> {
    match line_ends(raw) {
        // White space from references, such as `&#10;`, stays.
        text if text.contains(['\n', '\t']) => {
            Cow::Owned(resolve(Cow::Owned(text.replace(['\n', '\t'], " "))).into_owned())
        }
        text => resolve(text),
    }
}

/// Converts CRLF and CR to LF, as XML requires of a parser.
pub(super) fn line_ends(raw: &str) -> Cow<'_, str> {
    if raw.contains('\r') {
        Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Byte and description of the first wrong reference in a text; None if all are correct.
pub(super) fn fault(raw: &str) -> Option<(usize, String)> {
    let mut from = 0;
    while let Some(start) = raw[from..].find('&').map(|position| from + position) {
        let rest = &raw[start + 1..];
        let Some(end) = rest.find(';').filter(|&end| !rest[..end].contains(['<', '&'])) else {
            return Some((start, "`&` without `;`; write `&amp;` for a literal `&`".to_owned()));
        };
        let name = &rest[..end];
        if character(name).is_none() {
            return Some((
                start,
                format!("unknown entity `&{name};`; write `&amp;{name};` for the literal text"),
            ));
        }
        from = start + 1 + end + 1;
    }
    None
}

fn resolve(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('&') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(position) = rest.find('&') {
        out.push_str(&rest[..position]);
        let reference = rest[position..]
            .find(';')
            .and_then(|end| Some((end, character(&rest[position + 1..position + end])?)));
        let (length, one) = reference.map_or((1, '&'), |(end, one)| (end + 1, one));
        out.push(one);
        rest = &rest[position + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Character of a reference's name. Control characters that XML forbids are accepted;
/// a surrogate becomes U+FFFD.
fn character(name: &str) -> Option<char> {
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let number = match code.strip_prefix(['x', 'X']) {
        Some(hex) => parse_digits(hex, 16),
        None => parse_digits(code, 10),
    };
    match number? {
        0xD800..=0xDFFF => Some(char::REPLACEMENT_CHARACTER),
        code => char::from_u32(code),
    }
}

// `from_str_radix` alone would also accept a sign.
fn parse_digits(text: &str, radix: u32) -> Option<u32> {
    let begins_with_digit = text.starts_with(|one: char| one.is_digit(radix));
    begins_with_digit.then(|| u32::from_str_radix(text, radix).ok()).flatten()
}

/// Encodes an attribute value for either kind of quotes.
pub(crate) fn encode_attribute(text: &str) -> String {
    // A parser turns a literal line end or tab in an attribute into a space.
    encode(text).replace('\n', "&#xa;").replace('\t', "&#x9;")
}

/// Escapes markup in the text of an element.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XStream, with which JMeter writes plans, escapes quotes in texts, too.
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(one),
            // XML 1.0 forbids these characters even as references, but JMeter reads them.
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {
                let _ = write!(out, "&#x{:x};", one as u32);
            }
            one => out.push(one),
        }
    }
    out
}
