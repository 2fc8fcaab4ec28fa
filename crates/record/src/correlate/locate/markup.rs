//! Finds CSS selectors of a value in HTML or XML: attributes, and texts of elements.

use brunt_model::extract::ExtractFrom;
use brunt_script::unescaped;

/// Maximum number of selectors per value.
const MAX_SELECTORS: usize = 12;

/// Maximum length of a tag, in bytes.
const MAX_TAG_BYTES: usize = 8192;

/// Attributes that most likely stay the same in other replies.
const KEYS: [&str; 6] = ["id", "name", "property", "rel", "itemprop", "class"];

/// Returns selectors of elements that have the value, each with a name for it.
pub(super) fn selectors(body: &str, value: &str) -> Vec<(ExtractFrom, String)> {
    let mut all: Vec<(ExtractFrom, String)> = Vec::new();
    let mut rest = body;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        if all.len() >= MAX_SELECTORS {
            break;
        }
        let Some(tag) = tag(rest) else { continue };
        let attributes = attributes(tag);
        let holder = attributes.iter().find(|(_, text)| unescaped(text) == value);
        if let Some((attribute, _)) = holder {
            for (selector, name) in element_selectors(tag, &attributes, value) {
                let selector =
                    if name.is_empty() { format!("{selector}[{attribute}]") } else { selector };
                let name = if name.is_empty() { (*attribute).to_owned() } else { name };
                let from = ExtractFrom::Css { selector, attribute: (*attribute).to_owned() };
                all.push((from, name));
            }
        }
        let content = &rest[(tag.len() + 1).min(rest.len())..];
        let text = content.split('<').next().unwrap_or_default();
        if text.len() < value.len() * 8 + 64 && unescaped(text) == value {
            for (selector, name) in element_selectors(tag, &attributes, value) {
                all.push((ExtractFrom::Css { selector, attribute: String::new() }, name));
            }
        }
    }
    all
}

/// The text of a tag after `<`, without `>`.
fn tag(rest: &str) -> Option<&str> {
    let mut quote = None;
    for (position, character) in rest.char_indices().take(MAX_TAG_BYTES) {
        match (quote, character) {
            (None, '>') => return Some(&rest[..position]),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '<') => return None,
            _ => {}
        }
    }
    None
}

/// Selectors of an element, best first: by a key, and by its name alone. Each has the value of the key as a name.
fn element_selectors(tag: &str, attributes: &[(&str, &str)], value: &str) -> Vec<(String, String)> {
    let element: String =
        tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if !element.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let keys = KEYS.iter().filter_map(|key| attributes.iter().find(|(name, _)| name == key));
    let keys = keys.filter(|(_, text)| {
        !text.is_empty() && !text.contains(['"', '\'', '\\', '&', '\n']) && !text.contains(value)
    });
    let mut all: Vec<(String, String)> = keys
        .map(|(key, text)| (format!("{element}[{key}='{text}']"), (*text).to_owned()))
        .collect();
    all.push((element, String::new()));
    all
}

/// The attributes of a tag.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = tag;
    while let Some((head, value)) = rest.split_once('=') {
        let name = head.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (text, after) = match quote {
            Some(quote) => match value[1..].split_once(quote) {
                Some(parts) => parts,
                None => break,
            },
            None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if is_name {
            pairs.push((name, text));
        }
        rest = after;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_texts_have_selectors() {
        let page = "<form><input type=hidden name=csrf value=ab12><b id=\"sum\">12&amp;50</b><i data-x='q>1'></i>";
        let found = |value: &str| match selectors(page, value).swap_remove(0) {
            (ExtractFrom::Css { selector, attribute }, name) => (selector, attribute, name),
            other => panic!("{other:?}"),
        };
        let expected = ("input[name='csrf']".into(), "value".into(), "csrf".into());
        assert_eq!(found("ab12"), expected);
        assert_eq!(found("12&50"), ("b[id='sum']".into(), String::new(), "sum".into()));
        assert_eq!(found("q>1"), ("i[data-x]".into(), "data-x".into(), "data-x".into()));
        assert!(selectors(page, "12").is_empty());
    }
}
