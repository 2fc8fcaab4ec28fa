//! Values that an earlier reply held and a later request carries: extractors set variables for them.
//!
//! A value has at least 8 characters, looks generated, and was in no request before that reply. An extractor is only written where it
//! gives exactly that value when it is applied to the recorded reply.

use super::Flow;
use super::entry::Reply;
use crate::plan::{Body, Part, Request};
use crate::secrets::Names;
use crate::text::{self, NUMBER, variable};
use aho_corasick::{AhoCorasick, MatchKind};
use brunt_dom::{Document, Selector};
use brunt_model::extract::ExtractFrom;
use serde_json::Value;
use std::collections::HashMap;

/// Lengths of values, in bytes.
const SHORTEST: usize = 8;
const LONGEST: usize = 4096;

/// The most values that are looked for, and bytes of a reply in which they are.
const MOST: usize = 20_000;
const LONGEST_REPLY: usize = 8 << 20;

/// The most values of a reply whose surroundings are looked at.
const MOST_BETWEEN: usize = 50;

/// Header fields that no reply dictates.
const STATIC: [&str; 10] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-type",
    "user-agent",
    "referer",
    "origin",
    "x-requested-with",
    "range",
    "access-control-request-headers",
];

/// A value of requests.
struct Candidate {
    /// The first request that carries it.
    first: usize,
    /// The name of its field there.
    field: String,
    /// The reply that held it before, and how it is taken out of it.
    origin: Option<(usize, ExtractFrom)>,
}

/// Writes extractors, and variables in the place of values.
pub(super) fn correlate(flows: &mut [Flow], names: &mut Names) {
    let mut candidates: HashMap<String, Candidate> = HashMap::new();
    for (at, flow) in flows.iter_mut().enumerate() {
        each_value(&mut flow.request, &mut |field, value, _| {
            if is_generated(value) && candidates.len() < MOST {
                let candidate = || Candidate { first: at, field: field.to_owned(), origin: None };
                candidates.entry(value.to_owned()).or_insert_with(candidate);
            }
            None
        });
    }
    let mut patterns: Vec<&str> = candidates.keys().map(String::as_str).collect();
    patterns.sort_unstable();
    let patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
    let Ok(search) = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns) else { return };
    for (at, flow) in flows.iter().enumerate() {
        origins(&flow.reply, at, &mut candidates, &search, &patterns);
    }
    let mut found: Vec<(&String, &Candidate)> = candidates.iter().filter(|(_, one)| one.origin.is_some()).collect();
    found.sort_by_key(|(value, one)| (one.first, one.field.as_str(), value.as_str()));
    let mut by_value: HashMap<String, String> = HashMap::new();
    for (value, candidate) in found {
        let Some((reply, extractor)) = &candidate.origin else { continue };
        let field = candidate.field.trim_start_matches("X-").trim_start_matches("x-");
        let name = names.take(&field.to_ascii_lowercase());
        flows[*reply].request.extract.push((name.clone(), extractor.clone()));
        by_value.insert(value.clone(), name);
    }
    for flow in flows {
        each_value(&mut flow.request, &mut |_, value, is_number| {
            let name = by_value.get(value)?;
            Some(if is_number { format!("{NUMBER}{name}{NUMBER}") } else { variable(name) })
        });
    }
}

/// Whether a value looks like one that a server made: it has a digit, or is long, and is no date, URL or sentence.
fn is_generated(value: &str) -> bool {
    let is_date = value.len() >= 10
        && value
            .bytes()
            .take(10)
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    (SHORTEST..=LONGEST).contains(&value.len())
        && !value.contains(char::is_whitespace)
        && !value.contains("://")
        && !text::has_variable(value)
        && !is_date
        && (value.bytes().any(|byte| byte.is_ascii_digit()) || value.len() >= 20)
}

/// Calls a function with each value of a request: the name of its field, the value, and whether it is a number of JSON. What it
/// returns takes the place of the value.
fn each_value(request: &mut Request, visit: &mut dyn FnMut(&str, &str, bool) -> Option<String>) {
    let mut before = String::new();
    let mut path = Vec::new();
    for segment in request.path.split('/') {
        let decoded = percent_encoding::percent_decode_str(segment).decode_utf8_lossy();
        path.push(visit(&format!("{before}_id"), &decoded, false).unwrap_or_else(|| segment.to_owned()));
        segment.clone_into(&mut before);
    }
    request.path = path.join("/");
    for (name, value) in &mut request.query {
        *value = visit(name, value, false).unwrap_or_else(|| std::mem::take(value));
    }
    for (name, value) in
        request.headers.iter_mut().filter(|(name, _)| !STATIC.contains(&name.to_ascii_lowercase().as_str()))
    {
        match value.strip_prefix("Bearer ") {
            Some(token) => {
                if let Some(replaced) = visit("token", token, false) {
                    *value = format!("Bearer {replaced}");
                }
            }
            None => *value = visit(name, value, false).unwrap_or_else(|| std::mem::take(value)),
        }
    }
    match &mut request.body {
        Body::Form(fields, _) => {
            for (name, value) in fields {
                *value = visit(name, value, false).unwrap_or_else(|| std::mem::take(value));
            }
        }
        Body::Multipart(parts) => {
            for (name, part) in parts {
                if let Part::Text(value) = part {
                    *value = visit(name, value, false).unwrap_or_else(|| std::mem::take(value));
                }
            }
        }
        Body::Json(value, _) => each_leaf(value, "value", visit),
        Body::None | Body::Text(_) | Body::File(_) | Body::Pieces(_) => {}
    }
}

fn each_leaf(value: &mut Value, field: &str, visit: &mut dyn FnMut(&str, &str, bool) -> Option<String>) {
    match value {
        Value::String(text) => *text = visit(field, text, false).unwrap_or_else(|| std::mem::take(text)),
        Value::Number(number) => {
            if let Some(replaced) = visit(field, &number.to_string(), true) {
                *value = Value::String(replaced);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_leaf(item, field, visit)),
        Value::Object(entries) => entries.iter_mut().for_each(|(name, value)| each_leaf(value, name, visit)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Finds in a reply the values that later requests carry.
fn origins(
    reply: &Reply,
    at: usize,
    candidates: &mut HashMap<String, Candidate>,
    search: &AhoCorasick,
    patterns: &[String],
) {
    let mut set = |value: &str, extractor: ExtractFrom| {
        if let Some(candidate) = candidates.get_mut(value).filter(|one| one.first > at && one.origin.is_none()) {
            candidate.origin = Some((at, extractor));
        }
    };
    for (name, value) in &reply.headers {
        if name.eq_ignore_ascii_case("set-cookie") {
            let pair = value.split(';').next().unwrap_or_default();
            if let Some((cookie, value)) = pair.split_once('=') {
                set(value.trim(), ExtractFrom::Cookie(cookie.trim().to_owned()));
            }
        } else if !name.eq_ignore_ascii_case("location") {
            set(value, ExtractFrom::Header(name.clone()));
        }
    }
    if reply.body.is_empty() || reply.body.len() > LONGEST_REPLY {
        return;
    }
    if let Ok(json) = serde_json::from_str::<Value>(&reply.body) {
        let mut leaves: HashMap<String, Vec<(String, String)>> = HashMap::new();
        collect(&json, "$", "", &mut |value, path, key| {
            if let Some(one) = candidates.get(value).filter(|one| one.first > at && one.origin.is_none()) {
                let same_name = one.field.eq_ignore_ascii_case(key);
                let found = leaves.entry(value.to_owned()).or_default();
                // Of several places, the one that has the name of the field.
                if same_name && !found.iter().any(|(_, key)| one.field.eq_ignore_ascii_case(key)) {
                    found.clear();
                }
                if found.len() < 2 {
                    found.push((path.to_owned(), key.to_owned()));
                }
            }
        });
        for (value, found) in leaves {
            let is_clear = found.len() == 1
                || candidates.get(&value).is_some_and(|one| one.field.eq_ignore_ascii_case(&found[0].1));
            if let (Some(one), true) = (candidates.get_mut(&value), is_clear) {
                one.origin = Some((at, ExtractFrom::JsonPath(found[0].0.clone())));
            }
        }
        return;
    }
    if !search.is_match(&reply.body) {
        return;
    }
    for (value, extractor) in fields_of_page(&reply.body) {
        set(&value, extractor);
    }
    let mut seen = std::collections::HashSet::new();
    for found in search.find_iter(&reply.body) {
        let value = &patterns[found.pattern().as_usize()];
        let Some(one) = candidates.get_mut(value).filter(|one| one.first > at && one.origin.is_none()) else {
            continue;
        };
        if !seen.insert(found.pattern()) {
            continue;
        }
        if seen.len() > MOST_BETWEEN {
            return;
        }
        one.origin = between(&reply.body, found.start(), value).map(|extractor| (at, extractor));
    }
}

/// Calls a function with each text and number of JSON: the value, its `JSONPath`, and its key.
fn collect(value: &Value, path: &str, key: &str, visit: &mut dyn FnMut(&str, &str, &str)) {
    match value {
        Value::String(text) => visit(text, path, key),
        Value::Number(number) => visit(&number.to_string(), path, key),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &format!("{path}[{at}]"), key, visit);
            }
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
                let path = if is_word { format!("{path}.{name}") } else { format!("{path}['{quoted}']") };
                collect(value, &path, name, visit);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The values of hidden fields and of `meta` elements.
fn fields_of_page(body: &str) -> Vec<(String, ExtractFrom)> {
    let page = Document::html(body);
    let mut all = Vec::new();
    for (element, name, attribute) in [("input", "name", "value"), ("meta", "name", "content")] {
        let Ok(selector) = Selector::parse(&format!("{element}[{name}][{attribute}]")) else { continue };
        let (Ok(names), Ok(values)) = (page.css(&selector, Some(name)), page.css(&selector, Some(attribute))) else {
            continue;
        };
        let mut seen = std::collections::HashSet::new();
        for (own, value) in names.into_iter().zip(values) {
            let is_plain = !own.is_empty() && own.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:[]".contains(&b));
            if is_plain && seen.insert(own.clone()) {
                let selector = format!("{element}[{name}='{own}']");
                all.push((value, ExtractFrom::Css { selector, attribute: attribute.to_owned() }));
            }
        }
    }
    all
}

/// The texts around a value that stands at a place, as long as they find it and nothing else first.
fn between(body: &str, at: usize, value: &str) -> Option<ExtractFrom> {
    let right = body[at + value.len()..].chars().next().filter(|c| c.is_ascii_punctuation() && !value.contains(*c))?;
    let line = body[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &body[line..at];
    for length in [8, 12, 16, 24, 40] {
        let from = before.char_indices().rev().nth(length - 1).map_or(0, |(from, _)| from);
        let left = &before[from..];
        let is_text = left.chars().any(char::is_alphabetic) && left.len() >= 4;
        if is_text && body.find(left) == Some(at - left.len()) {
            return Some(ExtractFrom::Boundary { left: left.to_owned(), right: right.to_string() });
        }
    }
    None
}
