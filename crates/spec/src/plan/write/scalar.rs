//! Single values and comments of YAML.

use super::MAX_WIDTH;
use crate::plan::json::is_typed;
use std::fmt::Write;

/// Comment lines, broken between words; an empty line for an empty text. Nothing of the text can end the comment.
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

/// The text without line breaks and control characters, cut where it is very long.
pub fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.chars()
        .take(600)
        .collect::<String>()
        .split(is_break)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A value in a line of its own: without quotes where that is safe.
pub fn plain(text: &str) -> String {
    let may_begin = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '$' | '_' | '+' | '(' | '=' | ';');
    let may_follow = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '!'..='~');
    let is_safe = text.starts_with(may_begin)
        && text.chars().all(may_follow)
        && !text.ends_with([' ', ':'])
        && ![": ", " #"].iter().any(|two| text.contains(two))
        && !is_special(text);
    if is_safe || is_typed(text) { text.to_owned() } else { double_quoted(text) }
}

/// A name, or a value within brackets or braces.
pub fn flow(text: &str) -> String {
    let is_word =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ';' | '=' | '*');
    let is_safe = text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.'))
        && text.chars().all(is_word)
        && !is_special(text);
    if is_safe || is_typed(text) { text.to_owned() } else { double_quoted(text) }
}

/// Whether YAML could take an unquoted word for something else than a text.
pub fn is_special(text: &str) -> bool {
    ["null", "~", "---", "..."].contains(&text)
}

/// A text within quotes.
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
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\U{:08X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text as a block of lines, and the style that stands before it; None where it is one line, or needs quotes.
pub fn block(text: &str) -> Option<(&'static str, Vec<String>)> {
    let is_odd = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{85}')
    };
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_plain = |line: &String| !line.ends_with(' ');
    if lines.len() < 2 || text.contains(is_odd) || text.starts_with([' ', '\n']) || !lines.iter().all(is_plain) {
        return None;
    }
    match (text.ends_with('\n'), text.ends_with("\n\n")) {
        (_, true) => None,
        (true, false) => Some(("|", lines)),
        (false, false) => Some(("|-", lines)),
    }
}
