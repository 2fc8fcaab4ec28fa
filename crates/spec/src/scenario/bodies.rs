//! Bodies of requests.

use super::requests::pairs;
use super::{Reader, expected, texts, written};
use crate::error::{Result, SpecError};
use crate::plan::{Entry, Node, Value, json_text, read};
use brunt_model::Body;
use brunt_script::body::{BodyBuilder, FilePart, Multipart};
use brunt_script::{body, template};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::path::Path;

/// The media type of a body that is JSON.
const JSON: &str = "application/json";

/// Bytes that `encode` writes as `%XX`: all but the unreserved characters of RFC 3986 section 2.3, as curl's
/// `--data-urlencode` does; it writes a space as `+`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Reader<'_> {
    /// The body, and its media type.
    pub(super) fn body(&self, node: &Node, step: &written::Step) -> Result<(Body, Option<String>)> {
        let ways = ["data", "file", "json", "form", "multipart"];
        let mut ways = node.entries().iter().filter(|entry| ways.contains(&entry.key.as_str()));
        let Some(way) = ways.next() else { return Ok((Body::None, None)) };
        if let Some(other) = ways.next() {
            let wrong = format!("`{}` is the body already; write one of them", way.key);
            return Err(SpecError::new(&other.at, other.key.as_str(), wrong));
        }
        Ok(match way.key.as_str() {
            "data" => (self.data(way)?, None),
            "file" => {
                let file = step.file.as_ref().map(|file| file.0.as_str()).unwrap_or_default();
                (plain_body(self.read(file, way)?), Some(body::content_type(Path::new(file)).to_owned()))
            }
            "json" => (Body::Text(json_text(&way.node)), Some(JSON.to_owned())),
            "form" => (Body::Text(pairs(&texts(&way.node, "form")?)), Some(body::FORM.to_owned())),
            _ => self.multipart(way)?,
        })
    }

    /// The content of a file that `way` names.
    pub(super) fn read(&self, file: &str, way: &Entry) -> Result<Vec<u8>> {
        let path = self.file(file);
        std::fs::read(&path).map_err(|error| {
            SpecError::new(
                &way.node.at,
                way.key.as_str(),
                format!("cannot read {path}: {error}; write a file that is there"),
            )
        })
    }

    /// A text, or texts and files one after the other.
    fn data(&self, way: &Entry) -> Result<Body> {
        if let Some(text) = way.node.text() {
            return Ok(Body::Text(text.to_owned()));
        }
        let Value::List(pieces) = &way.node.value else {
            return Err(expected(&way.node.at, "data", "a text or a list", "one"));
        };
        let mut body = BodyBuilder::default();
        for node in pieces {
            if let Some(text) = node.text() {
                body.text(text);
                continue;
            }
            let piece: written::FilePiece = read(node).map_err(|error| error.within("data", &node.at))?;
            let mut bytes = self.read(&piece.file.0, way)?;
            if piece.line_breaks == Some(false) {
                bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            }
            if piece.encode == Some(true) {
                bytes = percent_encode(&bytes, RESERVED).to_string().replace("%20", "+").into_bytes();
            }
            body.content(&bytes);
        }
        Ok(body.finish())
    }

    fn multipart(&self, way: &Entry) -> Result<(Body, Option<String>)> {
        let mut parts = Multipart::default();
        let read_part = |node: &Node, path: &str| -> Result<written::FormPart> {
            read(node).map_err(|error| error.within(path, &node.at))
        };
        if let Value::List(nodes) = &way.node.value {
            for node in nodes {
                let part = read_part(node, "multipart")?;
                let name = part.name.as_ref().map(|name| name.0.clone());
                let name = name.ok_or_else(|| expected(&node.at, "multipart", "a part with a name", "`name: NAME`"))?;
                self.part(&mut parts, &name, &part, way)?;
            }
        }
        for entry in way.node.entries() {
            match entry.node.text() {
                Some(text) => parts.text(&entry.key, text, ""),
                None => self.part(&mut parts, &entry.key, &read_part(&entry.node, &entry.key)?, way)?,
            }
        }
        let media_type = parts.media_type();
        Ok((parts.finish(), Some(media_type)))
    }

    fn part(&self, parts: &mut Multipart, name: &str, part: &written::FormPart, way: &Entry) -> Result<()> {
        let media_type = part.kind.as_ref().map(|kind| kind.0.clone()).unwrap_or_default();
        let filename = part.filename.as_ref().map(|name| name.0.clone());
        match (&part.value, &part.file) {
            (Some(value), None) if filename.is_none() => parts.text(name, &value.0, &media_type),
            (None, Some(file)) if filename.as_deref() == Some("") => {
                parts.content(name, &self.read(&file.0, way)?, &media_type);
            }
            (None, Some(file)) => {
                let own_name = Path::new(&file.0).file_name().map(|name| name.to_string_lossy().into_owned());
                let name_sent = filename.or(own_name).unwrap_or_default();
                let part = FilePart { name: name_sent, bytes: self.read(&file.0, way)?, media_type };
                parts.file(name, &part);
            }
            _ => {
                let wrong = format!(
                    "the part `{name}` needs either `value` or `file`, and only a file has a `filename`; write one of them"
                );
                return Err(SpecError::new(&way.node.at, "multipart", wrong));
            }
        }
        Ok(())
    }
}

/// The content of a file: what looks like an expression there is none.
fn plain_body(bytes: Vec<u8>) -> Body {
    match body::from_bytes(bytes) {
        Body::Text(text) => Body::Text(template::plain(&text)),
        binary => binary,
    }
}
