//! Creates the bodies of requests, from texts and from the bytes of files.

use crate::texts::template::{self, Piece};
use brunt_model::{Body, BodyFragment};
use std::borrow::Cow;
use std::path::Path;

pub use crate::texts::encoding::{FORM, is_form};

/// Returns a text if the bytes are UTF-8 (its placeholders are filled in), otherwise the bytes.
pub fn from_bytes(bytes: Vec<u8>) -> Body {
    String::from_utf8(bytes).map_or_else(|e| Body::from_bytes(e.into_bytes()), Body::from_text)
}

/// Checks that a text is JSON if its placeholders become numbers, or texts within quotes.
///
/// # Errors
///
/// It is not JSON, or a placeholder is malformed. The text may be secret, so the error
/// does not repeat it.
pub fn check_json(text: &str) -> Result<(), String> {
    let pieces = template::pieces(text).map_err(|error| error.to_string())?;
    let sample = match pieces[..] {
        [Piece::Literal(literal)] => Cow::Borrowed(literal),
        // A digit is valid as a number and within quotes.
        _ => pieces
            .iter()
            .map(|piece| if let Piece::Literal(literal) = piece { literal } else { "0" })
            .collect(),
    };
    serde_json::from_str::<serde::de::IgnoredAny>(&sample)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Returns the content type of a file name; without a known extension that of a form, as in siege.
pub fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()) {
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("txt") => "text/plain",
        Some("html" | "htm") => "text/html",
        Some("csv") => "text/csv",
        Some("gz") => "application/gzip",
        Some("zip") => "application/zip",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("bin") => "application/octet-stream",
        _ => FORM,
    }
}

/// Separator of the parts of a form.
const BOUNDARY: &str = "brunt-7d9f3a1c5e8b2046";

/// A file as a part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Name without a directory.
    pub name: String,
    /// Content, sent unchanged.
    pub bytes: Vec<u8>,
    /// Media type. Empty: derived from the name.
    pub media_type: String,
}

/// A body that is composed of texts, which may contain expressions, and of bytes of files.
#[derive(Debug, Default)]
pub struct BodyBuilder {
    fragments: Vec<BodyFragment>,
}

impl BodyBuilder {
    /// Appends a text, which may contain expressions.
    pub fn text(&mut self, text: &str) {
        self.fragments.push(BodyFragment::Text(text.to_owned()));
    }

    /// Appends the content of a file, without expressions.
    pub fn content(&mut self, bytes: &[u8]) {
        self.fragments.push(BodyFragment::Bytes(bytes.to_vec()));
    }

    /// Returns the body. It is one text, unless a file is binary or contains text that
    /// looks like an expression.
    pub fn finish(self) -> Body {
        let has_expressions = self
            .fragments
            .iter()
            .any(|one| matches!(one, BodyFragment::Text(text) if text.contains("${")));
        // A file must not look like an expression. If texts have expressions, `\`
        // is an escape, too.
        let is_text = self.fragments.iter().all(|one| match one {
            BodyFragment::Text(_) => true,
            BodyFragment::Bytes(bytes) => std::str::from_utf8(bytes)
                .is_ok_and(|text| !(text.contains("${") || has_expressions && text.contains('\\'))),
        });
        if has_expressions && !is_text {
            return Body::Mixed(self.fragments);
        }
        let bytes = self.fragments.into_iter().flat_map(|one| match one {
            // In a text without an expression, `\` is no escape. It must not become one.
            BodyFragment::Text(text) if has_expressions && !text.contains("${") => {
                text.replace('\\', r"\\").into_bytes()
            }
            BodyFragment::Text(text) => text.into_bytes(),
            BodyFragment::Bytes(bytes) => bytes,
        });
        if is_text { from_bytes(bytes.collect()) } else { Body::from_bytes(bytes.collect()) }
    }
}

/// A body of `multipart/form-data` (RFC 7578). Its texts may contain expressions.
#[derive(Debug, Default)]
pub struct Multipart(BodyBuilder);

impl Multipart {
    /// Adds a field, with its media type unless that is empty.
    pub fn text(&mut self, name: &str, value: &str, media_type: &str) {
        self.field_head(name, media_type);
        self.0.text(value);
        self.0.text("\r\n");
    }

    /// Adds a file as a field without a file name.
    pub fn content(&mut self, name: &str, bytes: &[u8], media_type: &str) {
        self.field_head(name, media_type);
        self.0.content(bytes);
        self.0.text("\r\n");
    }

    fn field_head(&mut self, name: &str, media_type: &str) {
        self.0.text(&head(name));
        if !media_type.is_empty() {
            self.0.text(&format!("\r\nContent-Type: {media_type}"));
        }
        self.0.text("\r\n\r\n");
    }

    /// Adds a file with its name.
    pub fn file(&mut self, name: &str, file: &FilePart) {
        self.file_head(name, file);
        self.0.content(&file.bytes);
        self.0.text("\r\n");
    }

    /// Adds a file with the value of an expression as its content.
    pub fn file_expression(&mut self, name: &str, file: &FilePart, expression: &str) {
        self.file_head(name, file);
        self.0.text(expression);
        self.0.text("\r\n");
    }

    fn file_head(&mut self, name: &str, file: &FilePart) {
        let media_type = match (file.media_type.as_str(), content_type(Path::new(&file.name))) {
            // For an unknown name, `content_type` returns the type of a form, which fits no file.
            ("", FORM) => "application/octet-stream",
            ("", from_name) => from_name,
            (explicit, _) => explicit,
        };
        let file_name = quoted(&file.name);
        self.0.text(&format!(
            "{}; filename=\"{file_name}\"\r\nContent-Type: {media_type}\r\n\r\n",
            head(name)
        ));
    }

    /// Media type, with the boundary.
    pub fn media_type(&self) -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    /// Returns the body with its closing boundary.
    pub fn finish(mut self) -> Body {
        self.0.text(&format!("--{BOUNDARY}--\r\n"));
        self.0.finish()
    }
}

fn head(name: &str) -> String {
    format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name))
}

/// Escapes a text within quotes of a header field (WHATWG HTML, multipart/form-data).
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_expressions_are_sent_unchanged_among_others() {
        let mut body = BodyBuilder::default();
        body.text(r"a\,");
        body.text(r"\${${x}");
        assert_eq!(body.finish(), Body::Text(r"a\\,\${${x}".into()));
        let mut body = BodyBuilder::default();
        body.text(r"a\,");
        body.text("b");
        assert_eq!(body.finish(), Body::Text(r"a\,b".into()));
    }

    #[test]
    fn text_and_bytes() {
        assert_eq!(from_bytes(b"a=1".to_vec()), Body::Text("a=1".into()));
        assert_eq!(from_bytes(vec![0xff, 0]), Body::from_bytes(vec![0xff, 0]));
        assert_eq!(content_type(Path::new("a/b.json")), "application/json");
        assert_eq!(content_type(Path::new("data")), FORM);
        assert!(
            is_form(FORM)
                && is_form("Application/x-www-form-urlencoded ; charset=UTF-8")
                && !is_form("text/plain")
        );
    }
}
