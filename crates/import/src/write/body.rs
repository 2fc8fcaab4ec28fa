//! Bodies of requests.

use super::{Keys, Writer, encoded_again, is_map};
use crate::body::{self, FORM, JSON, MULTIPART};
use crate::plan::{self, Body, FileContent, Part};
use crate::text::{self, NUMBER, Piece, Place};
use brunt_spec::plan::Yaml;
use serde_json::Value;

/// JSON that is longer, or deeper, is written as a text.
const LONGEST_JSON: usize = 4096;
const DEEPEST_JSON: usize = 8;

/// Keys of a body, and their meaning for the header field Content-Type.
pub(super) struct BodyKeys {
    pub(super) keys: Keys,
    /// The type that the plan sends by itself; empty: none.
    pub(super) sets: &'static str,
    /// The type that must be written where the request has none.
    pub(super) wants: &'static str,
}

impl Writer {
    pub(super) fn body(&self, body: &Body) -> BodyKeys {
        let (keys, sets, wants) = match body {
            Body::None => (Keys::new(), "", ""),
            Body::Text(body) => (self.data(body), "", ""),
            Body::File(file) => (vec![("file".into(), self.text(file, Place::Encoded))], "", ""),
            Body::Pieces(pieces) => {
                let pieces = pieces.iter().map(|piece| self.piece(piece));
                (vec![("data".into(), Yaml::List(pieces.collect()))], "", "")
            }
            Body::Form(fields, _) if fields.is_empty() => (self.data(""), "", FORM),
            Body::Form(fields, raw) => return self.form(fields, raw.as_deref()),
            Body::Json(value, raw) => return self.json(value, raw.as_deref()),
            Body::Multipart(parts) => (vec![("multipart".into(), self.multipart(parts))], MULTIPART, ""),
        };
        BodyKeys { keys, sets, wants }
    }

    /// A body that is a text.
    fn data(&self, text: &str) -> Keys {
        vec![("data".into(), self.text(text, Place::Plain))]
    }

    fn form(&self, fields: &[(String, String)], raw: Option<&str>) -> BodyKeys {
        let mut keys = Keys::new();
        match raw {
            Some(raw) if body::pairs(raw) == fields => {
                if !is_map(fields) || body::encoded(fields) != raw {
                    return BodyKeys { keys: self.data(raw), sets: "", wants: FORM };
                }
            }
            raw => keys.extend(encoded_again("form", raw)),
        }
        if is_map(fields) {
            self.push_map(&mut keys, "form", fields, Place::Encoded);
            return BodyKeys { keys, sets: FORM, wants: "" };
        }
        keys.push(("data".into(), Yaml::Text(self.encoded(fields))));
        BodyKeys { keys, sets: "", wants: FORM }
    }

    fn piece(&self, piece: &plan::Piece) -> Yaml {
        match piece {
            plan::Piece::Text(text) => self.text(text, Place::Plain),
            plan::Piece::File { file, content } => {
                let mut keys = vec![("file".into(), self.text(file, Place::Encoded))];
                match content {
                    FileContent::Unchanged => {}
                    FileContent::WithoutLineBreaks => keys.push(("line_breaks".into(), Yaml::text("false"))),
                    FileContent::Encoded => keys.push(("encode".into(), Yaml::text("true"))),
                }
                Yaml::Map(keys)
            }
        }
    }

    /// Writes parts by name, or as a list if a name is repeated.
    fn multipart(&self, parts: &[(String, Part)]) -> Yaml {
        if is_map(parts) {
            let parts = parts.iter().map(|(name, part)| match part {
                Part::Text(text) => (self.in_plan(name, Place::Encoded), self.text(text, Place::Plain)),
                _ => (self.in_plan(name, Place::Encoded), Yaml::Map(self.part(part))),
            });
            return Yaml::Block(parts.collect());
        }
        let parts = parts.iter().map(|(name, part)| {
            let mut keys = vec![("name".into(), self.text(name, Place::Encoded))];
            keys.extend(self.part(part));
            Yaml::Map(keys)
        });
        Yaml::List(parts.collect())
    }

    /// The keys of a part, without its name.
    fn part(&self, part: &Part) -> Keys {
        match part {
            Part::Text(text) => vec![("value".into(), self.text(text, Place::Plain))],
            Part::TypedText { text, kind } => {
                vec![("value".into(), self.text(text, Place::Plain)), ("type".into(), self.text(kind, Place::Encoded))]
            }
            Part::File { file, kind, filename } => {
                let mut keys = vec![("file".into(), self.text(file, Place::Encoded))];
                keys.extend(filename.iter().map(|name| ("filename".into(), self.text(name, Place::Encoded))));
                keys.extend(kind.iter().map(|kind| ("type".into(), self.text(kind, Place::Encoded))));
                keys
            }
        }
    }

    fn json(&self, value: &Value, raw: Option<&str>) -> BodyKeys {
        let found = Found::in_value(value, 0, self);
        let mut keys = Keys::new();
        if let Some(raw) = raw {
            if matches!(body::json(raw), Body::Json(of_raw, _) if of_raw == *value) {
                return BodyKeys { keys: self.data(raw), sets: "", wants: JSON };
            }
            let reason = "the JSON is written again, because a variable stands in it: without white space";
            keys.push((String::new(), Yaml::comments(vec![reason.into()])));
        }
        let compact = compact(value);
        let is_map = matches!(value, Value::Object(_) | Value::Array(_)) && !is_empty(value);
        if !is_map || found.number || found.odd || found.expression && found.backslash || compact.len() > LONGEST_JSON {
            keys.extend(self.data(&compact));
            return BodyKeys { keys, sets: "", wants: JSON };
        }
        keys.push(("json".into(), self.json_value(value)));
        BodyKeys { keys, sets: JSON, wants: "" }
    }

    fn json_value(&self, value: &Value) -> Yaml {
        match value {
            Value::Null => Yaml::Null,
            Value::Bool(_) | Value::Number(_) => Yaml::Text(value.to_string()),
            Value::String(text) => Yaml::json_text(self.in_plan(text, Place::Encoded)),
            Value::Array(items) => Yaml::List(items.iter().map(|item| self.json_value(item)).collect()),
            Value::Object(entries) => {
                let entries = entries.iter().map(|(name, value)| (name.clone(), self.json_value(value)));
                Yaml::Map(entries.collect())
            }
        }
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
