//! Single values and comments of YAML.

use super::MAX_WIDTH;
use crate::plan::json::is_typed;
use std::fmt::Write;

/// Returns the lines of a comment, broken between words; an empty line for an empty text. No part
/// of the text can end the comment.
pub fn comment(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec![String::new()];
    }
    let mut lines = vec!["#".to_owned()];
    for word in one_line(text).split(' ') {
        let last = lines.last_mut().map_or(0, |line| line.chars().count());
        if last > 1 && last + word.chars().count() > MAX_WIDTH {
            lines.push("#  ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

/// The text without line breaks and control characters, limited to 600 characters.
pub fn one_line(text: &str) -> String {
    text.chars()
        .take(600)
        .collect::<String>()
        .split(is_break)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A value that fills its line, without quotes if that is safe.
pub fn plain(text: &str) -> String {
    let is_safe = text.starts_with(may_begin)
        && text.chars().all(may_follow)
        && !text.ends_with([' ', ':'])
        && ![": ", " #"].iter().any(|two| text.contains(two))
        && !is_special(text);
    if is_safe || is_typed(text) { text.to_owned() } else { double_quoted(text) }
}

/// A name, or a value within brackets or braces.
pub fn flow(text: &str) -> String {
    let is_safe = text
        .starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.'))
        && text.chars().all(is_word)
        && !is_special(text);
    if is_safe || is_typed(text) { text.to_owned() } else { double_quoted(text) }
}

/// True if YAML would not read the unquoted word as a text.
pub fn is_special(text: &str) -> bool {
    // The first two are null, the others are marks of documents.
    ["null", "~", "---", "..."].contains(&text)
}

/// A text in double quotes.
pub fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // YAML allows these characters only as escapes (YAML 1.2 section 5.1), or YAML 1.1
            // reads them as line breaks.
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(out, "\\U{:08X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text as a block of lines, with the style that begins it; None if it is one
/// line, or needs quotes.
pub fn block(text: &str) -> Option<(&'static str, Vec<String>)> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The indentation of a block is that of its first line, so that line cannot begin with a space.
    if lines.len() < 2 || text.contains(needs_quotes) || text.starts_with([' ', '\n']) {
        return None;
    }
    // A space at the end of a line is invisible, so such a text is written in quotes.
    if lines.iter().any(|line| line.ends_with(' ')) {
        return None;
    }
    match (text.ends_with('\n'), text.ends_with("\n\n")) {
        // Several empty lines at the end need the rare mark `+`.
        (_, true) => None,
        (true, false) => Some(("|", lines)),
        (false, false) => Some(("|-", lines)),
    }
}

fn is_break(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// True for a character that may begin a value without quotes.
fn may_begin(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '$' | '_' | '+' | '(' | '=' | ';')
}

/// True for a character that may follow in a value without quotes.
fn may_follow(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '!'..='~')
}

/// True for a character that needs no quotes within brackets or braces.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ';' | '=' | '*')
}

/// True for a character that a block of lines cannot contain.
fn needs_quotes(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{85}')
}
