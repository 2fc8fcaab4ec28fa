//! Proposes extractors for a piece of a reply's body.
//!
//! The first match of each proposal is the piece. Callers count its matches in other replies with [`values`].

use super::extract::Finder;
use crate::texts::json::text;
use brunt_model::extract::ExtractFrom;
use serde_json::Value;
use std::ops::Range;

/// Maximum length of the text before a piece that a proposal contains, in bytes.
const MAX_BEFORE: usize = 32;
/// Maximum length of the text after a piece that a proposal contains, in bytes.
const MAX_AFTER: usize = 8;
/// Maximum number of paths in JSON.
const MAX_PATHS: usize = 3;
/// Maximum number of values of a JSON body that are compared with the piece.
const MAX_NODES: usize = 200_000;
/// Length of a tag that is searched for attributes, in bytes.
const MAX_TAG: usize = 4096;

/// Returns extractors of a piece of a body. An attribute or a value without quotes gives more of them than half a word.
pub fn proposals(body: &str, piece: Range<usize>) -> Vec<ExtractFrom> {
    let Some(wanted) = body.get(piece.clone()).filter(|wanted| !wanted.is_empty()) else {
        return Vec::new();
    };
    let mut all = json_paths(body, wanted);
    all.extend(of_markup(body, &piece));
    let right = context_after(body, piece.end);
    let class = class(wanted, right);
    let finds =
        |from: &ExtractFrom| values(from, body).first().is_some_and(|value| value == wanted);
    // A short text before the piece fits more replies than a long one.
    let mut regex = contexts_before(body, piece.start).map(|left| {
        let pattern = format!("{}({class}){}", regex::escape(left), regex::escape(right));
        ExtractFrom::Regex { pattern, group: 1, template: None }
    });
    // Without both texts, it would be the whole body.
    let mut between = contexts_before(body, piece.start)
        .filter(|left| !left.is_empty() || !right.is_empty())
        .map(|left| ExtractFrom::Boundary { left: left.to_owned(), right: right.to_owned() });
    all.retain(&finds);
    all.extend(regex.find(&finds));
    all.extend(between.find(&finds));
    all
}

/// Returns the values that an extractor finds in a body; none if it searches other parts of a reply.
pub fn values(from: &ExtractFrom, body: &str) -> Vec<String> {
    Finder::new(from).map(|finder| finder.values(body)).unwrap_or_default()
}

/// Texts before a place, within its line: the shortest with a word first. Each begins between two words.
fn contexts_before(body: &str, place: usize) -> impl Iterator<Item = &str> {
    let line = body[..place].rfind('\n').map_or(0, |end| end + 1);
    let least = place.saturating_sub(MAX_BEFORE).max(line);
    let starts = (least..place).rev().filter(move |at| {
        let begins = body.get(*at..).and_then(|rest| rest.chars().next());
        let is_border = begins.is_some_and(|c| !c.is_alphanumeric()) || *at == line;
        is_border && body[*at..place].contains(char::is_alphanumeric)
    });
    starts.map(move |at| &body[at..place]).chain((least == place).then_some(""))
}

/// The begin of the text after a place, within its line.
fn context_after(body: &str, place: usize) -> &str {
    let rest = &body[place..];
    let line = rest.find(['\r', '\n']).unwrap_or(rest.len());
    let most = MAX_AFTER.min(line);
    let end = (0..=most).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
    // Text that differs from reply to reply would match this one only, so it ends with the first sign.
    let sign = rest[..end].find(|c: char| !c.is_alphanumeric());
    &rest[..sign.map_or(end, |at| at + rest[at..].chars().next().map_or(0, char::len_utf8))]
}

/// A regular expression for texts like this one.
fn class(text: &str, after: &str) -> String {
    let all = |of: fn(char) -> bool| text.chars().all(of);
    if all(|c| c.is_ascii_digit()) {
        r"\d+".to_owned()
    } else if all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
        r"[\w-]+".to_owned()
    } else {
        // Up to the sign that ends it here.
        match after.chars().next() {
            Some(sign) if !text.contains(sign) => {
                format!("[^{}]+", regex::escape(&sign.to_string()))
            }
            _ => r".+?".to_owned(),
        }
    }
}

/// The paths of the JSON values with this text.
fn json_paths(body: &str, wanted: &str) -> Vec<ExtractFrom> {
    let Ok(root) = serde_json::from_str::<Value>(body) else { return Vec::new() };
    let mut paths = Vec::new();
    let mut nodes = vec![("$".to_owned(), &root)];
    let mut visited = 0;
    while let Some((path, value)) = nodes.pop() {
        visited += 1;
        if visited > MAX_NODES || paths.len() == MAX_PATHS {
            break;
        }
        match value {
            Value::Object(entries) => {
                let children =
                    entries.iter().map(|(key, value)| (path.clone() + &step(key), value));
                nodes.extend(children.rev());
            }
            Value::Array(items) => {
                let children = items.iter().enumerate();
                let children = children.map(|(index, value)| (format!("{path}[{index}]"), value));
                nodes.extend(children.rev());
            }
            leaf if text(leaf) == wanted => paths.push(ExtractFrom::JsonPath(path)),
            _ => {}
        }
    }
    paths
}

/// The step of a `JSONPath` to the value of a key.
pub fn step(key: &str) -> String {
    let is_plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain {
        format!(".{key}")
    } else {
        format!("['{}']", key.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

/// CSS selector and XPath of the piece, if it is an attribute or the text of an element of HTML or XML.
fn of_markup(body: &str, piece: &Range<usize>) -> Vec<ExtractFrom> {
    let before = &body[..piece.start];
    let Some(open) = before.rfind('<') else { return Vec::new() };
    let rest = &body[open + 1..];
    let end = rest.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_TAG).last();
    let Some(tag) = rest[..end.unwrap_or(0)].split('>').next() else { return Vec::new() };
    let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
    if name.is_empty() {
        return Vec::new();
    }
    let attributes = attributes(tag);
    let of =
        |name: &str| attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    // The name that most likely stays the same in other replies.
    let names = ["id", "name", "property", "rel", "class"].into_iter();
    let key = names
        .filter_map(|name| Some((name, of(name)?)))
        .find(|(_, value)| !value.contains(['"', '\'', '\\']) && *value != &body[piece.clone()]);
    let (css, xpath) = key.map_or_else(
        || (name.clone(), format!("//{name}")),
        |(key, value)| {
            (format!("{name}[{key}=\"{value}\"]"), format!("//{name}[@{key}=\"{value}\"]"))
        },
    );
    let within = open + 1 + tag.len() > piece.start;
    if !within {
        let text = ExtractFrom::Css { selector: css, attribute: String::new() };
        return vec![text, ExtractFrom::Xpath(xpath)];
    }
    let wanted = &body[piece.clone()];
    let Some((attribute, _)) = attributes.iter().find(|(_, value)| *value == wanted) else {
        return Vec::new();
    };
    let css = ExtractFrom::Css { selector: css, attribute: (*attribute).to_owned() };
    vec![css, ExtractFrom::Xpath(format!("{xpath}/@{attribute}"))]
}

/// The attributes of a tag whose values are in quotes.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = tag;
    while let Some((head, value)) = rest.split_once('=') {
        let name = head.trim_end().rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
        let value = value.trim_start();
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            rest = value;
            continue;
        };
        let Some((text, after)) = value[1..].split_once(quote) else { break };
        pairs.push((name, text));
        rest = after;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The descriptions of the proposals for the first occurrence of a text.
    fn of(body: &str, wanted: &str) -> Vec<ExtractFrom> {
        let start = body.find(wanted).unwrap();
        proposals(body, start..start + wanted.len())
    }

    #[test]
    fn a_value_of_json_has_a_path() {
        let body = r#"{"user": {"id": 4711, "the name": "a'b"}, "items": [{"sku": "x-1"}, {"sku": "x-2"}]}"#;
        let path = |wanted: &str| match of(body, wanted).swap_remove(0) {
            ExtractFrom::JsonPath(path) => path,
            other => panic!("{other:?}"),
        };
        assert_eq!(path("4711"), "$.user.id");
        assert_eq!(path("a'b"), "$.user['the name']");
        assert_eq!(path("x-2"), "$.items[1].sku");
    }

    #[test]
    fn a_pattern_fits_other_values() {
        let (one, other) = (r#"{"t":"k3","csrf":"ab12-x"}"#, r#"{"t":"k4","csrf":"zz-99"}"#);
        let all = of(one, "ab12-x");
        assert!(all.len() >= 3, "{all:?}");
        for from in &all {
            assert_eq!(values(from, other), ["zz-99"], "{from:?}");
        }
    }

    #[test]
    fn an_attribute_and_an_element_have_selectors() {
        let html = "<form><input type='hidden' name=\"csrf\" value=\"tok/en+1=\"><b id=total>x</b>\n<b class=\"sum\">12.50</b></form>";
        let all = of(html, "tok/en+1=");
        assert!(all.contains(&ExtractFrom::Css {
            selector: "input[name=\"csrf\"]".into(),
            attribute: "value".into()
        }));
        assert!(all.contains(&ExtractFrom::Xpath("//input[@name=\"csrf\"]/@value".into())));
        let all = of(html, "12.50");
        let css =
            ExtractFrom::Css { selector: "b[class=\"sum\"]".into(), attribute: String::new() };
        assert!(all.contains(&css), "{all:?}");
    }

    #[test]
    fn any_piece_of_any_text_is_proposed_without_a_panic() {
        let texts = [
            "<",
            "<a b='",
            "ä<ö x=\"ü\">ß</ö>",
            "{\"a\":[1,2,\"\u{1f600}\"]}",
            "a\r\nb=1;c",
            "<<<>>>==\"\"''",
        ];
        for text in texts {
            for start in 0..=text.len() {
                for end in start..=text.len() {
                    for from in proposals(text, start..end) {
                        assert_eq!(
                            values(&from, text).first().map(String::as_str),
                            text.get(start..end)
                        );
                    }
                }
            }
        }
    }
}
