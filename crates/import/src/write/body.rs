//! Bodies of requests.

use super::{Writer, comment, encoded_again, indented, is_map, item, joined, pair};
use crate::body::{self, FORM, JSON, MULTIPART};
use crate::plan::{self, Body, FileContent, Part};
use crate::text::{self, NUMBER, Piece, Place};
use brunt_spec::plan::write::scalar::{double_quoted, flow, flow as key, is_special};
use serde_json::Value;

/// JSON that is longer, or deeper, is written as a text.
const LONGEST_JSON: usize = 4096;
const DEEPEST_JSON: usize = 8;

/// A body, and what its keys mean for the header field Content-Type.
pub(super) struct BodyLines {
    pub(super) lines: Vec<String>,
    /// The type that the plan sends by itself; empty: none.
    pub(super) sets: &'static str,
    /// The type that must be written where the request has none.
    pub(super) wants: &'static str,
}

impl Writer {
    pub(super) fn body(&self, body: &Body) -> BodyLines {
        let (lines, sets, wants) = match body {
            Body::None => (Vec::new(), "", ""),
            Body::Text(body) => (pair("data", &self.text(body, Place::Plain)), "", ""),
            Body::File(file) => (pair("file", &self.text(file, Place::Encoded)), "", ""),
            Body::Pieces(pieces) => (self.pieces(pieces), "", ""),
            Body::Form(fields, _) if fields.is_empty() => (vec!["data: \"\"".to_owned()], "", FORM),
            Body::Form(fields, raw) => self.form(fields, raw.as_deref()),
            Body::Json(value, raw) => match self.json(value, raw.as_deref()) {
                (lines, true) => (lines, JSON, ""),
                (lines, false) => (lines, "", JSON),
            },
            Body::Multipart(parts) => (self.multipart(parts), MULTIPART, ""),
        };
        BodyLines { lines, sets, wants }
    }

    /// The lines, the type that they set, and the type that they need.
    fn form(&self, fields: &[(String, String)], raw: Option<&str>) -> (Vec<String>, &'static str, &'static str) {
        let mut lines = Vec::new();
        match raw {
            Some(raw) if body::pairs(raw) == fields => {
                if !is_map(fields) || body::encoded(fields) != raw {
                    return (pair("data", &self.text(raw, Place::Plain)), "", FORM);
                }
            }
            raw => lines.extend(encoded_again("form", raw)),
        }
        if is_map(fields) {
            lines.extend(self.map("form", fields, Place::Encoded));
            return (lines, FORM, "");
        }
        lines.extend(pair("data", &self.encoded(fields)));
        (lines, "", FORM)
    }

    fn pieces(&self, pieces: &[plan::Piece]) -> Vec<String> {
        let mut lines = vec!["data:".to_owned()];
        for piece in pieces {
            let value = match piece {
                plan::Piece::Text(text) => double_quoted(&self.text(text, Place::Plain)),
                plan::Piece::File { file, content } => {
                    let file = flow(&self.text(file, Place::Encoded));
                    let change = match content {
                        FileContent::Unchanged => "",
                        FileContent::WithoutLineBreaks => ", line_breaks: false",
                        FileContent::Encoded => ", encode: true",
                    };
                    format!("{{file: {file}{change}}}")
                }
            };
            lines.push(format!("  - {value}"));
        }
        lines
    }

    /// Writes parts by name, or as a list if a name is repeated.
    fn multipart(&self, parts: &[(String, Part)]) -> Vec<String> {
        let mut lines = vec!["multipart:".to_owned()];
        let is_list = !is_map(parts);
        for (name, part) in parts {
            let name = self.text(name, Place::Encoded);
            let keys = self.part(part);
            lines.extend(indented(match part {
                _ if is_list => {
                    let mut lines = pair("name", &name);
                    lines.extend(keys.into_iter().flat_map(|(key, value)| pair(key, &value)));
                    item(&lines)
                }
                Part::Text(text) => pair(&name, &self.text(text, Place::Plain)),
                _ => {
                    let keys = keys.iter().map(|(key, value)| format!("{key}: {}", flow(value)));
                    vec![format!("{}: {{{}}}", key(&name), joined(keys))]
                }
            }));
        }
        lines
    }

    /// The keys of a part, without its name.
    fn part(&self, part: &Part) -> Vec<(&'static str, String)> {
        match part {
            Part::Text(text) => vec![("value", self.text(text, Place::Plain))],
            Part::TypedText { text, kind } => {
                vec![("value", self.text(text, Place::Plain)), ("type", self.text(kind, Place::Encoded))]
            }
            Part::File { file, kind, filename } => {
                let mut keys = vec![("file", self.text(file, Place::Encoded))];
                keys.extend(filename.iter().map(|name| ("filename", self.text(name, Place::Encoded))));
                keys.extend(kind.iter().map(|kind| ("type", self.text(kind, Place::Encoded))));
                keys
            }
        }
    }

    /// The lines, and whether they are those of the key `json`.
    fn json(&self, value: &Value, raw: Option<&str>) -> (Vec<String>, bool) {
        let found = Found::in_value(value, 0, self);
        let mut lines = Vec::new();
        if let Some(raw) = raw {
            if matches!(body::json(raw), Body::Json(of_raw, _) if of_raw == *value) {
                return (pair("data", &self.text(raw, Place::Plain)), false);
            }
            let why = "the JSON is written again, because a variable stands in it: without white space";
            lines.extend(comment(why));
        }
        let compact = compact(value);
        let is_map = matches!(value, Value::Object(_) | Value::Array(_)) && !is_empty(value);
        if !is_map || found.number || found.odd || found.expression && found.backslash || compact.len() > LONGEST_JSON {
            lines.extend(pair("data", &self.text(&compact, Place::Plain)));
            return (lines, false);
        }
        let line = format!("json: {}", self.flow_json(value));
        if line.len() <= 90 {
            lines.push(line);
            return (lines, true);
        }
        lines.push("json:".to_owned());
        lines.extend(indented(self.block_json(value)));
        (lines, true)
    }

    fn flow_json(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.json_text(text),
            Value::Array(items) => format!("[{}]", joined(items.iter().map(|item| self.flow_json(item)))),
            Value::Object(entries) => {
                let one = |(name, value): (&String, &Value)| format!("{}: {}", key(name), self.flow_json(value));
                format!("{{{}}}", joined(entries.iter().map(one)))
            }
            other => other.to_string(),
        }
    }

    /// A list or map over several lines; what is short stands in one.
    fn block_json(&self, value: &Value) -> Vec<String> {
        match value {
            Value::Object(entries) if !entries.is_empty() => entries
                .iter()
                .flat_map(|(name, value)| {
                    let name = key(name);
                    let short = self.flow_json(value);
                    if short.len() <= 80 || is_empty(value) || !(value.is_object() || value.is_array()) {
                        return vec![format!("{name}: {short}")];
                    }
                    std::iter::once(format!("{name}:")).chain(indented(self.block_json(value))).collect()
                })
                .collect(),
            Value::Array(items) if !items.is_empty() => items
                .iter()
                .flat_map(|item| {
                    let short = self.flow_json(item);
                    if short.len() <= 80 || is_empty(item) || !item.is_object() {
                        return vec![format!("- {short}")];
                    }
                    super::item(&self.block_json(item))
                })
                .collect(),
            other => vec![self.flow_json(other)],
        }
    }

    /// A text that stays one: quoted where it looks like a number, true or false.
    fn json_text(&self, text: &str) -> String {
        let text = self.text(text, Place::Encoded);
        let is_other = serde_json::from_str::<Value>(&text).is_ok() || is_special(&text);
        if is_other { double_quoted(&text) } else { flow(&text) }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

/// The JSON in one line; variables that are numbers stand without quotes.
fn compact(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let quote = format!("\"{NUMBER}");
    while let Some((before, behind)) = rest.split_once(&quote) {
        let (name, behind) = behind.split_once(&format!("{NUMBER}\"")).unwrap_or((behind, ""));
        out.push_str(before);
        out.push_str(&text::variable(name));
        rest = behind;
    }
    out + rest
}

/// The contents of JSON that decide how it can be written.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact by itself")]
struct Found {
    /// A variable that is a number.
    number: bool,
    /// Something that is read as an expression: not a variable of the plan.
    expression: bool,
    backslash: bool,
    /// Something that the key `json` cannot say.
    odd: bool,
}

impl Found {
    fn in_value(value: &Value, depth: usize, writer: &Writer) -> Self {
        let mut found = Self { odd: depth > DEEPEST_JSON, ..Self::default() };
        match value {
            _ if found.odd => {}
            Value::String(text) => {
                let names = text::pieces(text);
                let is_expression =
                    |piece: &Piece<'_>| matches!(piece, Piece::Variable(name) if !writer.fixed.contains(*name));
                found.number = text.starts_with(NUMBER);
                found.expression = names.iter().any(is_expression);
                found.backslash = text.contains('\\');
                found.odd = has_braces(text);
            }
            Value::Array(items) => items.iter().for_each(|item| found.add(Self::in_value(item, depth + 1, writer))),
            Value::Object(entries) => {
                for (name, value) in entries {
                    found.odd |= has_braces(name) || text::has_variable(name);
                    found.backslash |= name.contains('\\');
                    found.add(Self::in_value(value, depth + 1, writer));
                }
            }
            _ => {}
        }
        found
    }

    fn add(&mut self, other: Self) {
        self.number |= other.number;
        self.expression |= other.expression;
        self.backslash |= other.backslash;
        self.odd |= other.odd;
    }
}

/// Whether there could be an expression or a placeholder in a literal text.
fn has_braces(text: &str) -> bool {
    ["${", "{n}", "{uuid}", "{random:", "{csv:", "{var:"].iter().any(|head| text.contains(head))
}
