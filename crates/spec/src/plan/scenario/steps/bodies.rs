//! Bodies of requests: texts, files, forms, JSON and multipart.

use super::requests::pairs;
use crate::error::{Result, SpecError};
use crate::plan::scenario::{ScenarioReader, expected, texts};
use crate::plan::words::{Nested, Scalar, ScalarOr};
use crate::plan::{NamedNode, PlanNode, PlanValue, json_text, read};
use brunt_model::Body;
use brunt_script::body::{BodyBuilder, FilePart, Multipart};
use brunt_script::{body, template};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The media type of a body that is JSON.
const JSON: &str = "application/json";

/// Bytes that `encode` writes as `%XX`, like curl's `--data-urlencode`: all but the unreserved
/// characters of RFC 3986 section 2.3. A space becomes `+`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The body of a request, one of these keys.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BodyKeys {
    /// The body: a text, or a list of texts and files that are sent one after the other.
    data: Option<Nested<BodyData>>,
    /// The body: the content of a file.
    file: Option<Scalar>,
    /// The body, sent as JSON.
    json: Option<Nested<serde_json::Value>>,
    /// The body: the fields of a form, encoded.
    form: Option<Nested<BTreeMap<String, Scalar>>>,
    /// The body: the parts of `multipart/form-data`, by name, each a text or a map; or a list of maps, each with `name`.
    multipart: Option<Nested<Parts>>,
}

impl BodyKeys {
    /// Returns the body, and its media type.
    pub(super) fn read(
        &self,
        reader: &ScenarioReader<'_>,
        step: &PlanNode,
    ) -> Result<(Body, Option<String>)> {
        let keys = ["data", "file", "json", "form", "multipart"];
        let mut bodies = step.entries().iter().filter(|entry| keys.contains(&entry.key.as_str()));
        // The keys are separate, so their types do not exclude each other.
        let Some(body) = bodies.next() else { return Ok((Body::None, None)) };
        if let Some(other) = bodies.next() {
            let wrong = format!("`{}` is the body already; write one of them", body.key);
            return Err(SpecError::new(&other.at, other.key.as_str(), wrong));
        }
        if self.data.is_some() {
            Ok((reader.data(body)?, None))
        } else if let Some(file) = &self.file {
            let media_type = body::content_type(Path::new(&file.0)).to_owned();
            // A file is sent as it is: braces in it are no placeholders.
            Ok((plain_body(reader.read(&file.0, body)?), Some(media_type)))
        } else if self.json.is_some() {
            Ok((Body::from_text(json_text(&body.node)), Some(JSON.to_owned())))
        } else if self.form.is_some() {
            Ok((Body::from_text(pairs(&texts(&body.node, "form")?)), Some(body::FORM.to_owned())))
        } else if self.multipart.is_some() {
            reader.multipart(body)
        } else {
            Ok((Body::None, None))
        }
    }
}

/// A part of `multipart/form-data`: `value`, or `file`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FormPart {
    /// Its name, in a list of parts.
    name: Option<Scalar>,
    /// A text.
    value: Option<Scalar>,
    /// A file.
    file: Option<Scalar>,
    /// The file name that is sent; empty: none, so that the content is sent as a text. Default: that of the file; a value has none.
    filename: Option<Scalar>,
    /// Its media type. Default: that of a file by the end of its name; a text has none.
    #[serde(rename = "type")]
    kind: Option<Scalar>,
}

/// The parts of `multipart/form-data`, by name or as a list.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
enum Parts {
    /// By name.
    Map(BTreeMap<String, ScalarOr<FormPart>>),
    /// A list.
    List(Vec<FormPart>),
}

/// A file as a piece of a body.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FilePiece {
    /// The file.
    file: Scalar,
    /// Whether line breaks are sent; `false` leaves out CR, LF and NUL, as curl's `-d @FILE` does. Default: true.
    line_breaks: Option<bool>,
    /// Whether the content is percent-encoded, with `+` for a space. Default: false.
    encode: Option<bool>,
}

/// A body: a text, or a list of texts and files.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
enum BodyData {
    /// A text.
    Text(Scalar),
    /// A list.
    List(Vec<ScalarOr<FilePiece>>),
}

impl ScenarioReader<'_> {
    /// Reads a file. `way` is the key that names it.
    pub(super) fn read(&self, file: &str, way: &NamedNode) -> Result<Vec<u8>> {
        let path = self.file(file);
        brunt_files::read(path.as_ref()).map_err(|error| {
            SpecError::new(
                &way.node.at,
                way.key.as_str(),
                format!("cannot read {path}: {error}; write an existing file"),
            )
        })
    }

    /// Reads a body from a text, or from texts and files one after the other.
    fn data(&self, way: &NamedNode) -> Result<Body> {
        if let Some(text) = way.node.text() {
            return Ok(Body::Text(text.into()));
        }
        let PlanValue::List(pieces) = &way.node.value else {
            return Err(expected(&way.node.at, "data", "a text or a list", "one"));
        };
        let mut body = BodyBuilder::default();
        for node in pieces {
            if let Some(text) = node.text() {
                body.text(text);
                continue;
            }
            let piece: FilePiece = read(node).map_err(|error| error.within("data", &node.at))?;
            let mut bytes = self.read(&piece.file.0, way)?;
            if piece.line_breaks == Some(false) {
                bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            }
            if piece.encode == Some(true) {
                // Forms write a space as `+`.
                bytes =
                    percent_encode(&bytes, RESERVED).to_string().replace("%20", "+").into_bytes();
            }
            body.content(&bytes);
        }
        Ok(body.finish())
    }

    fn multipart(&self, way: &NamedNode) -> Result<(Body, Option<String>)> {
        let mut parts = Multipart::default();
        if let PlanValue::List(nodes) = &way.node.value {
            for node in nodes {
                let part = form_part(node, "multipart")?;
                let name = part.name.as_ref().map(|name| name.0.clone());
                let name = name.ok_or_else(|| {
                    expected(&node.at, "multipart", "a part with a name", "`name: NAME`")
                })?;
                self.part(&mut parts, &name, &part, way)?;
            }
        }
        for entry in way.node.entries() {
            match entry.node.text() {
                Some(text) => parts.text(&entry.key, text, ""),
                None => {
                    self.part(&mut parts, &entry.key, &form_part(&entry.node, &entry.key)?, way)?;
                }
            }
        }
        // It contains the boundary between the parts.
        let media_type = parts.media_type();
        Ok((parts.finish(), Some(media_type)))
    }

    fn part(
        &self,
        parts: &mut Multipart,
        name: &str,
        part: &FormPart,
        way: &NamedNode,
    ) -> Result<()> {
        let media_type = part.kind.as_ref().map(|kind| kind.0.clone()).unwrap_or_default();
        let filename = part.filename.as_ref().map(|name| name.0.clone());
        match (&part.value, &part.file) {
            (Some(value), None) => match filename.filter(|filename| !filename.is_empty()) {
                None => parts.text(name, &value.0, &media_type),
                Some(filename) => {
                    let part = FilePart { name: filename, bytes: Vec::new(), media_type };
                    parts.file_expression(name, &part, &value.0);
                }
            },
            // With an empty file name, only the content of the file is sent.
            (None, Some(file)) if filename.as_deref() == Some("") => {
                parts.content(name, &self.read(&file.0, way)?, &media_type);
            }
            (None, Some(file)) => {
                // Browsers send the name of a file without its folder.
                let file_name =
                    Path::new(&file.0).file_name().map(|name| name.to_string_lossy().into_owned());
                let name_sent = filename.or(file_name).unwrap_or_default();
                let part =
                    FilePart { name: name_sent, bytes: self.read(&file.0, way)?, media_type };
                parts.file(name, &part);
            }
            _ => {
                let wrong =
                    format!("the part `{name}` needs either `value` or `file`; write one of them");
                return Err(SpecError::new(&way.node.at, "multipart", wrong));
            }
        }
        Ok(())
    }
}

fn form_part(node: &PlanNode, path: &str) -> Result<FormPart> {
    read(node).map_err(|error| error.within(path, &node.at))
}

/// A body from the content of a file. Text that looks like an expression is sent unchanged.
fn plain_body(bytes: Vec<u8>) -> Body {
    match body::from_bytes(bytes) {
        Body::Text(text) if text.contains("${") => Body::from_text(template::plain(&text)),
        binary => binary,
    }
}
