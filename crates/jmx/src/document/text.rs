//! Text and attribute values: from the written form to characters, and back.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The characters of a text: references resolved, line ends as LF.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    resolve(line_ends(raw))
}

/// The characters of an attribute value: references resolved, white space as spaces.
pub(crate) fn decode_attribute(raw: &str) -> Cow<'_, str> {
    match line_ends(raw) {
        text if text.contains(['\n', '\t']) => {
            Cow::Owned(resolve(Cow::Owned(text.replace(['\n', '\t'], " "))).into_owned())
        }
        text => resolve(text),
    }
}

/// CRLF and CR as LF, as XML requires of a parser.
pub(super) fn line_ends(raw: &str) -> Cow<'_, str> {
    if raw.contains('\r') { Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(raw) }
}

/// What is wrong with the references of a text, and at which byte; None where all are known.
pub(super) fn fault(raw: &str) -> Option<(usize, String)> {
    let mut from = 0;
    while let Some(start) = raw[from..].find('&').map(|at| from + at) {
        let rest = &raw[start + 1..];
        let Some(end) = rest.find(';').filter(|&end| !rest[..end].contains(['<', '&'])) else {
            return Some((start, "`&` without `;`; write `&amp;` for a literal `&`".to_owned()));
        };
        let name = &rest[..end];
        if character(name).is_none() {
            return Some((start, format!("unknown entity `&{name};`; write `&amp;{name};` for the literal text")));
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
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let known = rest[at..].find(';').and_then(|end| Some((end, character(&rest[at + 1..at + end])?)));
        let (length, one) = known.map_or((1, '&'), |(end, one)| (end + 1, one));
        out.push(one);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that a reference names. Control characters that XML forbids are taken as they are; a surrogate becomes U+FFFD.
fn character(name: &str) -> Option<char> {
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let digits = |text: &str, radix| {
        text.starts_with(|one: char| one.is_digit(radix)).then(|| u32::from_str_radix(text, radix).ok())
    };
    let number = match code.strip_prefix(['x', 'X']) {
        Some(hex) => digits(hex, 16),
        None => digits(code, 10),
    };
    match number.flatten()? {
        0xD800..=0xDFFF => Some(char::REPLACEMENT_CHARACTER),
        code => char::from_u32(code),
    }
}

/// The written form of an attribute value, in whichever quotes.
pub(crate) fn encode_attribute(text: &str) -> String {
    encode(text).replace('\n', "&#xa;").replace('\t', "&#x9;")
}

/// The written form of text.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(one),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {
                let _ = write!(out, "&#x{:x};", one as u32);
            }
            one => out.push(one),
        }
    }
    out
}
