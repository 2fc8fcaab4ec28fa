//! Visits the values of a request: segments of its path, fields of its query and body, and header fields.

use brunt_har::plan::{ImportedBody, ImportedRequest, MultipartPart};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Header fields with values of the browser.
const BROWSER_FIELDS: [&str; 13] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "content-type",
    "origin",
    "range",
    "referer",
    "user-agent",
    "x-requested-with",
    "device-memory",
    "downlink",
];

/// Part of a request that has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PlaceKind {
    Path,
    Query,
    Header,
    /// The field Referer, which repeats a URL.
    Referer,
    Form,
    Multipart,
    Json,
    Text,
}

/// Place of a value in a request, the same in both recordings.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) kind: PlaceKind,
    /// Position: the number of a segment, the name of a field with its number, or a JSON pointer.
    pub(super) key: String,
    /// Name for a variable.
    pub(super) field: String,
    /// True for a JSON number.
    pub(super) is_number: bool,
}

impl Place {
    /// The parts that identify a place. The name of a segment contains the segment before it, which may differ between
    /// the recordings.
    fn identity(&self) -> (PlaceKind, &str, bool) {
        (self.kind, &self.key, self.is_number)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PlaceKind::Path => write!(f, "path segment {}", self.key),
            PlaceKind::Query => write!(f, "query field `{}`", self.field),
            PlaceKind::Header | PlaceKind::Referer => write!(f, "header field `{}`", self.field),
            PlaceKind::Form | PlaceKind::Multipart => write!(f, "form field `{}`", self.field),
            PlaceKind::Json => write!(f, "JSON value {}", self.key),
            PlaceKind::Text => write!(f, "the body"),
        }
    }
}

/// Returns all values of a request, with their places.
pub(super) fn values(request: &ImportedRequest) -> Vec<(Place, String)> {
    let mut all = Vec::new();
    each(&mut request.clone(), &mut |place, value| {
        all.push((place.clone(), value.to_owned()));
        None
    });
    all
}

/// Calls a function for each value of a request. A returned text replaces the value.
pub(super) fn each(
    request: &mut ImportedRequest,
    visit: &mut dyn FnMut(&Place, &str) -> Option<String>,
) {
    visit_path(&mut request.path, visit);
    let mut counter = FieldCounter::default();
    for (name, value) in &mut request.query {
        let place = counter.place(PlaceKind::Query, name);
        replace(value, &place, visit);
    }
    for (name, value) in &mut request.headers {
        let lower = name.to_ascii_lowercase();
        let kind = if lower == "referer" { PlaceKind::Referer } else { PlaceKind::Header };
        if kind == PlaceKind::Header && BROWSER_FIELDS.contains(&lower.as_str()) {
            continue;
        }
        let place = counter.place(kind, &lower);
        replace(value, &place, visit);
    }
    match &mut request.body {
        ImportedBody::Form(fields, _) => {
            for (name, value) in fields {
                let place = counter.place(PlaceKind::Form, name);
                replace(value, &place, visit);
            }
        }
        ImportedBody::Multipart(parts) => {
            for (name, part) in parts {
                if let MultipartPart::Text(value)
                | MultipartPart::TypedText { text: value, .. }
                | MultipartPart::SentFile { text: value, .. } = part
                {
                    let place = counter.place(PlaceKind::Multipart, name);
                    replace(value, &place, visit);
                }
            }
        }
        ImportedBody::Json(value, _) => visit_json(value, "", "value", visit),
        ImportedBody::Text(text) => {
            let place = counter.place(PlaceKind::Text, "body");
            replace(text, &place, visit);
        }
        ImportedBody::None | ImportedBody::File(_) | ImportedBody::Pieces(_) => {}
    }
}

fn replace(
    value: &mut String,
    place: &Place,
    visit: &mut dyn FnMut(&Place, &str) -> Option<String>,
) {
    if let Some(text) = visit(place, value) {
        *value = text;
    }
}

fn visit_path(path: &mut String, visit: &mut dyn FnMut(&Place, &str) -> Option<String>) {
    let mut before = String::new();
    let mut segments = Vec::new();
    for (number, segment) in path.split('/').enumerate() {
        // A segment has no name. That of /orders/17 becomes order_id.
        let singular = before.strip_suffix('s').filter(|word| word.len() > 2).unwrap_or(&before);
        let place = Place {
            kind: PlaceKind::Path,
            key: number.to_string(),
            field: format!("{singular}_id"),
            is_number: false,
        };
        segments.push(visit(&place, segment).unwrap_or_else(|| segment.to_owned()));
        segment.clone_into(&mut before);
    }
    *path = segments.join("/");
}

fn visit_json(
    value: &mut Value,
    pointer: &str,
    field: &str,
    visit: &mut dyn FnMut(&Place, &str) -> Option<String>,
) {
    match value {
        Value::String(text) => replace(text, &json_place(pointer, field, false), visit),
        Value::Number(number) => {
            if let Some(text) = visit(&json_place(pointer, field, true), &number.to_string()) {
                *value = Value::String(text);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit_json(item, &format!("{pointer}/{index}"), field, visit);
            }
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                visit_json(value, &format!("{pointer}/{name}"), name, visit);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn json_place(pointer: &str, field: &str, is_number: bool) -> Place {
    Place { kind: PlaceKind::Json, key: pointer.to_owned(), field: field.to_owned(), is_number }
}

/// Numbers fields with the same name.
#[derive(Default)]
struct FieldCounter(HashMap<(PlaceKind, String), usize>);

impl FieldCounter {
    fn place(&mut self, kind: PlaceKind, name: &str) -> Place {
        let count = self.0.entry((kind, name.to_owned())).or_default();
        *count += 1;
        Place { kind, key: format!("{name} {count}"), field: name.to_owned(), is_number: false }
    }
}
