//! Bodies of requests.

use super::scalar::{double_quoted, flow, is_special};
use super::{Writer, indented, is_map, joined, key, pair};
use crate::body::{FORM, JSON, MULTIPART};
use crate::plan::{Body, Part};
use crate::text::{self, NUMBER, Piece, Place};
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
            Body::Form(fields) if fields.is_empty() => (vec!["data: \"\"".to_owned()], "", FORM),
            Body::Form(fields) if is_map(fields) => (self.map("form", fields, Place::Encoded), FORM, ""),
            Body::Form(fields) => (pair("data", &self.encoded(fields)), "", FORM),
            Body::Json(value, raw) => match self.json(value, raw.as_deref()) {
                (lines, true) => (lines, JSON, ""),
                (lines, false) => (lines, "", JSON),
            },
            Body::Multipart(parts) => (self.multipart(parts), MULTIPART, ""),
        };
        BodyLines { lines, sets, wants }
    }

    fn multipart(&self, parts: &[(String, Part)]) -> Vec<String> {
        let mut lines = vec!["multipart:".to_owned()];
        for (number, (name, part)) in parts.iter().enumerate() {
            if parts[..number].iter().any(|(other, _)| other == name) {
                lines.extend(indented(super::comment(&format!("left out: a second part `{name}`"))));
                continue;
            }
            let name = self.text(name, Place::Encoded);
            lines.extend(indented(match part {
                Part::Text(text) => pair(&name, &self.text(text, Place::Plain)),
                Part::File { file, kind } => {
                    let file = flow(&self.text(file, Place::Encoded));
                    let kind = kind.as_ref().map(|kind| format!(", type: {}", flow(kind))).unwrap_or_default();
                    vec![format!("{}: {{file: {file}{kind}}}", key(&name))]
                }
            }));
        }
        lines
    }

    /// The lines, and whether they are those of the key `json`.
    fn json(&self, value: &Value, raw: Option<&str>) -> (Vec<String>, bool) {
        let found = Found::in_value(value, 0, self);
        if let Some(raw) = raw.filter(|_| !found.variable) {
            return (pair("data", &self.text(raw, Place::Plain)), false);
        }
        let compact = compact(value);
        let is_map = matches!(value, Value::Object(_) | Value::Array(_)) && !is_empty(value);
        if !is_map || found.number || found.odd || found.expression && found.backslash || compact.len() > LONGEST_JSON {
            return (pair("data", &self.text(&compact, Place::Plain)), false);
        }
        let line = format!("json: {}", self.flow_json(value));
        if line.len() <= 90 {
            return (vec![line], true);
        }
        let mut lines = vec!["json:".to_owned()];
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
    variable: bool,
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
                found.variable = text::has_variable(text) || text.starts_with(NUMBER);
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
        self.variable |= other.variable;
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
