//! Finds CSS selectors of a value in HTML or XML: attributes, and texts of elements.

use super::unescaped;
use brunt_model::extract::ExtractFrom;

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

/// The attributes of a tag with quoted values.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = tag;
    while let Some((head, value)) = rest.split_once('=') {
        let name = head.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let value = value.trim_start();
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            rest = value;
            continue;
        };
        let Some((text, after)) = value[1..].split_once(quote) else { break };
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if is_name {
            pairs.push((name, text));
        }
        rest = after;
    }
    pairs
}
