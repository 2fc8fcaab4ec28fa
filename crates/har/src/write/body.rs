//! Writes bodies of requests.

use super::{Keys, Writer, is_map, reencoding_comment};
use crate::body::{self, FORM, JSON, MULTIPART};
use crate::plan::{self, FileContent, ImportedBody, MultipartPart};
use crate::text::{self, Braces, NUMBER, TextPiece};
use brunt_script::template;
use brunt_spec::plan::Yaml;
use serde_json::Value;

/// Longer or deeper JSON is written as a text.
const MAX_JSON_BYTES: usize = 4096;
const MAX_JSON_DEPTH: usize = 8;
/// Maximum length of a key: YAML limits it to 1,024 characters, with its quotes and escapes (1.2.2, section 7.4.2).
const MAX_KEY_BYTES: usize = 500;

/// Keys of a body, and their effect on the header field Content-Type.
pub(super) struct BodyKeys {
    pub(super) keys: Keys,
    /// Media type that the plan sends for these keys; empty if it sends none.
    pub(super) implied_type: &'static str,
    /// Media type to write if the request has none.
    pub(super) default_type: &'static str,
}

impl Writer {
    pub(super) fn body(&self, body: &ImportedBody) -> BodyKeys {
        let (keys, implied_type, default_type) = match body {
            ImportedBody::None => (Keys::new(), "", ""),
            ImportedBody::Text(body) => (self.data(body), "", ""),
            ImportedBody::File(file) => {
                (vec![("file".into(), self.text(file, Braces::Plain))], "", "")
            }
            ImportedBody::Pieces(pieces) => {
                let pieces = pieces.iter().map(|piece| self.piece(piece));
                (vec![("data".into(), Yaml::List(pieces.collect()))], "", "")
            }
            ImportedBody::Form(fields, _) if fields.is_empty() => (self.data(""), "", FORM),
            ImportedBody::Form(fields, raw) => return self.form(fields, raw.as_deref()),
            ImportedBody::Json(value, raw) => return self.json(value, raw.as_deref()),
            ImportedBody::Multipart(parts) => {
                (vec![("multipart".into(), self.multipart(parts))], MULTIPART, "")
            }
        };
        BodyKeys { keys, implied_type, default_type }
    }

    /// Writes a body that is a text.
    fn data(&self, text: &str) -> Keys {
        vec![("data".into(), self.text(text, Braces::Placeholders))]
    }

    fn form(&self, fields: &[(String, String)], raw: Option<&str>) -> BodyKeys {
        let mut keys = Keys::new();
        match raw {
            Some(raw) if body::pairs(raw) == fields => {
                if !is_map(fields) || body::encoded(fields) != raw {
                    return BodyKeys { keys: self.data(raw), implied_type: "", default_type: FORM };
                }
            }
            raw => keys.extend(reencoding_comment("form", raw)),
        }
        if is_map(fields) {
            self.push_map(&mut keys, "form", fields, Braces::Plain);
            return BodyKeys { keys, implied_type: FORM, default_type: "" };
        }
        keys.push(("data".into(), Yaml::Text(self.encoded(fields))));
        BodyKeys { keys, implied_type: "", default_type: FORM }
    }

    fn piece(&self, piece: &plan::BodyPiece) -> Yaml {
        match piece {
            plan::BodyPiece::Text(text) => self.text(text, Braces::Placeholders),
            plan::BodyPiece::File { file, content } => {
                let mut keys = vec![("file".into(), self.text(file, Braces::Plain))];
                match content {
                    FileContent::Unchanged => {}
                    FileContent::WithoutLineBreaks => {
                        keys.push(("line_breaks".into(), Yaml::text("false")));
                    }
                    FileContent::Encoded => keys.push(("encode".into(), Yaml::text("true"))),
                }
                Yaml::Map(keys)
            }
        }
    }

    /// Writes parts by name, or as a list if a name is repeated.
    fn multipart(&self, parts: &[(String, MultipartPart)]) -> Yaml {
        if is_map(parts) {
            let parts = parts.iter().map(|(name, part)| match part {
                MultipartPart::Text(text) => {
                    (self.in_plan(name, Braces::Plain), self.text(text, Braces::Placeholders))
                }
                _ => (self.in_plan(name, Braces::Plain), Yaml::Map(self.part(part))),
            });
            return Yaml::Block(parts.collect());
        }
        let parts = parts.iter().map(|(name, part)| {
            let mut keys = vec![("name".into(), self.text(name, Braces::Plain))];
            keys.extend(self.part(part));
            Yaml::Map(keys)
        });
        Yaml::List(parts.collect())
    }

    /// Writes the keys of a part, without its name.
    fn part(&self, part: &MultipartPart) -> Keys {
        match part {
            MultipartPart::Text(text) => {
                vec![("value".into(), self.text(text, Braces::Placeholders))]
            }
            MultipartPart::TypedText { text, kind } => {
                vec![
                    ("value".into(), self.text(text, Braces::Placeholders)),
                    ("type".into(), self.text(kind, Braces::Plain)),
                ]
            }
            MultipartPart::SentFile { text, filename, kind } => {
                let mut keys = vec![
                    ("value".into(), self.text(text, Braces::Placeholders)),
                    ("filename".into(), self.text(filename, Braces::Plain)),
                ];
                keys.extend(
                    kind.iter().map(|kind| ("type".into(), self.text(kind, Braces::Plain))),
                );
                keys
            }
            MultipartPart::File { file, kind, filename } => {
                let mut keys = vec![("file".into(), self.text(file, Braces::Plain))];
                keys.extend(
                    filename.iter().map(|name| ("filename".into(), self.text(name, Braces::Plain))),
                );
                keys.extend(
                    kind.iter().map(|kind| ("type".into(), self.text(kind, Braces::Plain))),
                );
                keys
            }
        }
    }

    fn json(&self, value: &Value, raw: Option<&str>) -> BodyKeys {
        let contents = JsonContents::in_value(value, 0, self);
        let mut keys = Keys::new();
        if let Some(raw) = raw {
            if matches!(body::json(raw), ImportedBody::Json(of_raw, _) if of_raw == *value) {
                return BodyKeys { keys: self.data(raw), implied_type: "", default_type: JSON };
            }
            let reason =
                "the JSON is written again, because it contains a variable: without white space";
            keys.push((String::new(), Yaml::comments(vec![reason.into()])));
        }
        let compact = compact(value);
        let is_map = matches!(value, Value::Object(_) | Value::Array(_)) && !is_empty(value);
        // The key `json` cannot express these.
        if !is_map
            || contents.has_number
            || contents.is_inexpressible
            || contents.has_expression && contents.has_backslash
            || compact.len() > MAX_JSON_BYTES
        {
            keys.extend(self.data(&compact));
            return BodyKeys { keys, implied_type: "", default_type: JSON };
        }
        keys.push(("json".into(), self.json_value(value)));
        BodyKeys { keys, implied_type: JSON, default_type: "" }
    }

    fn json_value(&self, value: &Value) -> Yaml {
        match value {
            Value::Null => Yaml::Null,
            Value::Bool(_) | Value::Number(_) => Yaml::Text(value.to_string()),
            Value::String(text) => Yaml::json_text(self.in_plan(text, Braces::Plain)),
            Value::Array(items) => {
                Yaml::List(items.iter().map(|item| self.json_value(item)).collect())
            }
            Value::Object(entries) => {
                let entries =
                    entries.iter().map(|(name, value)| (name.clone(), self.json_value(value)));
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

/// Formats JSON in one line. Variables that are numbers are not quoted.
fn compact(value: &Value) -> String {
    let text = value.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let quote = format!("\"{NUMBER}");
    while let Some((before, tail)) = rest.split_once(&quote) {
        let (name, tail) = tail.split_once(&format!("{NUMBER}\"")).unwrap_or((tail, ""));
        out.push_str(before);
        out.push_str(&text::variable(name));
        rest = tail;
    }
    out + rest
}

/// Properties of JSON that determine how it can be written.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact by itself")]
struct JsonContents {
    /// Contains a variable that is a number.
    has_number: bool,
    /// Contains an expression other than a variable of the plan.
    has_expression: bool,
    has_backslash: bool,
    /// Contains a text that the key `json` cannot express.
    is_inexpressible: bool,
}

impl JsonContents {
    fn in_value(value: &Value, depth: usize, writer: &Writer) -> Self {
        let mut contents = Self { is_inexpressible: depth > MAX_JSON_DEPTH, ..Self::default() };
        match value {
            _ if contents.is_inexpressible => {}
            Value::String(text) => {
                contents.has_number = text.starts_with(NUMBER);
                contents.has_expression = text::pieces(text).iter().any(
                    |piece| matches!(piece, TextPiece::Variable(name) if !writer.fixed.contains(*name)),
                );
                contents.has_backslash = text.contains('\\');
                contents.is_inexpressible = has_braces(text);
            }
            Value::Array(items) => {
                for item in items {
                    contents.add(Self::in_value(item, depth + 1, writer));
                }
            }
            Value::Object(entries) => {
                for (name, value) in entries {
                    contents.is_inexpressible |=
                        has_braces(name) || text::has_variable(name) || name.len() > MAX_KEY_BYTES;
                    contents.has_backslash |= name.contains('\\');
                    contents.add(Self::in_value(value, depth + 1, writer));
                }
            }
            _ => {}
        }
        contents
    }

    fn add(&mut self, other: Self) {
        self.has_number |= other.has_number;
        self.has_expression |= other.has_expression;
        self.has_backslash |= other.has_backslash;
        self.is_inexpressible |= other.is_inexpressible;
    }
}

/// True if a literal text could contain an expression or a placeholder.
fn has_braces(text: &str) -> bool {
    let mut braces = text.match_indices('{');
    text.contains("${") || braces.any(|(at, _)| template::needs_backslash(&text[at + 1..]))
}
