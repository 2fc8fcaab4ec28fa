//! Texts in which variables stand between two characters of Unicode's private area, and what they become in a plan file.
//!
//! A plan reads a text twice: `$$` and variables of the plan first, then `${…}` of the user with backslashes, and placeholders such
//! as `{n}`. [`in_plan`] writes literal text so that it comes out of both as it went in.

use brunt_script::template::{HEADS, NOT_IN_URLS};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt::Write;

/// They stand around the name of a variable.
const MARKS: [char; 2] = ['\u{f8f0}', '\u{f8f1}'];

/// They stand around the name of a variable that is a number of JSON rather than a text.
pub(crate) const NUMBER: char = '\u{f8f2}';

/// The input without the characters that mark variables here, and those that mark them in the reader of plan files.
pub fn clean(text: &str) -> Cow<'_, str> {
    let is_mark = |c: char| ('\u{f8f0}'..='\u{f8f2}').contains(&c) || ('\u{e000}'..='\u{e001}').contains(&c);
    if text.contains(is_mark) { text.replace(is_mark, "\u{fffd}").into() } else { text.into() }
}

/// The same of a percent-encoded text, before it is decoded.
pub(crate) fn clean_encoded(text: &str) -> Cow<'_, str> {
    const ENCODED: [&str; 5] = ["%EF%A3%B0", "%EF%A3%B1", "%EF%A3%B2", "%EE%80%80", "%EE%80%81"];
    let upper = text.to_ascii_uppercase();
    if !ENCODED.iter().any(|mark| upper.contains(mark)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if ENCODED.iter().any(|mark| upper[at..].starts_with(mark)) {
            out.push_str("%EF%BF%BD");
            at += 9;
        } else {
            let length = text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..at + length]);
            at += length;
        }
    }
    out.into()
}

/// A variable, as a text has it.
pub fn variable(name: &str) -> String {
    format!("{}{name}{}", MARKS[0], MARKS[1])
}

/// A stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// It stands for itself.
    Literal(&'a str),
    /// The name of a variable.
    Variable(&'a str),
}

/// The stretches of a text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(MARKS[0]) {
        let (name, behind) = behind.split_once(MARKS[1]).unwrap_or((behind, ""));
        all.extend([Piece::Literal(before), Piece::Variable(name)]);
        rest = behind;
    }
    all.push(Piece::Literal(rest));
    all.retain(|piece| *piece != Piece::Literal(""));
    all
}

/// Whether a text has variables.
pub fn has_variable(text: &str) -> bool {
    text.contains(MARKS[0])
}

/// Replaces values of the fields `NAME=VALUE` of a query or form. A field keeps its value where `replacement` has None for its
/// name and value.
pub fn with_fields(text: &str, mut replacement: impl FnMut(&str, &str) -> Option<String>) -> String {
    let fields = text.split('&').map(|field| {
        let Some((name, value)) = field.split_once('=') else { return field.to_owned() };
        replacement(name, value).map_or_else(|| field.to_owned(), |value| format!("{name}={value}"))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// The text as a user reads it: a variable is its name after a dollar sign.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Literal(literal) => out.push_str(literal),
            Piece::Variable(name) => out.extend(["$", name]),
        }
    }
    out
}

/// Where a text stands in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A header field or a body.
    Plain,
    /// A part of a form or query, which the plan encodes; the name of a request; the value of a variable.
    Encoded,
}

/// The text as a plan file has it. `is_fixed` knows the variables of the plan: those are filled in first.
pub fn in_plan(text: &str, place: Place, is_fixed: &dyn Fn(&str) -> bool) -> String {
    let pieces = pieces(text);
    let is_expression = pieces.iter().any(|piece| match piece {
        Piece::Literal(text) => text.contains("${"),
        Piece::Variable(name) => !is_fixed(name),
    });
    let mut out = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Variable(name) => {
                let _ = write!(out, "${{{name}}}");
            }
            Piece::Literal(text) => {
                let text = if is_expression { text.replace('\\', r"\\") } else { (*text).to_owned() };
                let text = if place == Place::Plain { without_placeholders(&text) } else { text };
                push_dollars(&mut out, &text, number + 1 < pieces.len());
            }
        }
    }
    out
}

/// The text with a backslash before what would be a placeholder.
fn without_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if character == '{' && HEADS.iter().any(|head| text[at + 1..].starts_with(head)) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Appends a text with `$$` for each dollar sign that would not stand for itself.
fn push_dollars(out: &mut String, text: &str, variable_follows: bool) {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let run = rest.len() - rest.trim_start_matches('$').len();
        let behind = &rest[run..];
        let is_plain = run == 1 && !behind.starts_with('{') && !(behind.is_empty() && variable_follows);
        out.push_str(&"$".repeat(if is_plain { 1 } else { 2 * run }));
        rest = behind;
    }
    out.push_str(rest);
}

/// What cannot stand in a path or query as it is, and what has a meaning there.
const NOT_IN_PARTS: &AsciiSet = &NOT_IN_URLS.add(b'/').add(b'?').add(b'&').add(b'=').add(b'+').add(b'%').add(b'$');

/// A path or query with all that cannot stand there percent-encoded; variables are left in it.
pub fn encode_url(text: &str) -> String {
    let one = |piece: Piece<'_>| match piece {
        Piece::Variable(name) => variable(name),
        Piece::Literal(text) => {
            utf8_percent_encode(text, NOT_IN_URLS).to_string().replace("$$", "%24%24").replace("${", "%24{")
        }
    };
    let encoded: String = pieces(text).into_iter().map(one).collect();
    encoded.replace(&format!("${}", MARKS[0]), &format!("%24{}", MARKS[0]))
}

/// A part of a path or query, encoded so that it stays one part; variables are left in it.
pub fn encode_part(text: &str) -> String {
    let one = |piece: Piece<'_>| match piece {
        Piece::Variable(name) => variable(name),
        Piece::Literal(text) => utf8_percent_encode(text, NOT_IN_PARTS).to_string(),
    };
    pieces(text).into_iter().map(one).collect()
}

/// A name that a variable may have, made from any text: ASCII letters, digits and `_`; no digit first.
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
    fn texts_are_written_so_that_a_plan_reads_them_as_they_are() {
        let fixed = |name: &str| name == "base";
        let v = variable("a");
        for (text, place, expected) in [
            ("costs $5", Place::Plain, "costs $5"),
            ("a$$b${c}", Place::Plain, "a$$$$b$${c}"),
            (r"a\b", Place::Plain, r"a\b"),
            (r"a\b${c}", Place::Plain, r"a\\b$${c}"),
            (&format!(r"\d$ {v}$"), Place::Plain, r"\\d$ ${a}$"),
            (&format!(r"$\{v}"), Place::Plain, r"$\\${a}"),
            (&format!("${v}"), Place::Plain, "$$${a}"),
            (&format!("{}/\\", variable("base")), Place::Plain, r"${base}/\"),
            ("query{n}", Place::Plain, r"query\{n}"),
            ("query{n}", Place::Encoded, "query{n}"),
        ] {
            assert_eq!(in_plan(text, place, &fixed), expected, "{text}");
        }
    }

    #[test]
    fn marks_of_an_input_are_no_variables() {
        assert_eq!(clean(&variable("a")), "\u{fffd}a\u{fffd}");
        assert_eq!(clean_encoded("é%ef%a3%b0a%EF%A3%B1&"), "é%EF%BF%BDa%EF%BF%BD&");
    }

    #[test]
    fn urls_keep_their_variables() {
        let v = variable("a");
        assert_eq!(encode_url(&format!("/x y/{{n}}/{v}?$$=${v}")), format!("/x%20y/%7Bn%7D/{v}?%24%24=%24{v}"));
        assert_eq!(encode_part("a/b&c=ü"), "a%2Fb%26c%3D%C3%BC");
        assert_eq!(
            ["csrf-token", "1st", "ü", "a.b c"].map(identifier),
            ["csrf_token", "v1st", "value", "a_b_c"].map(str::to_owned)
        );
    }
}
