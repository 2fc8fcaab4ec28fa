//! What is sent with a request, from the bytes of a file.

use brunt_model::Body;
use std::path::Path;

/// Text where the bytes are text (placeholders in it are filled in), and else the bytes as they are.
pub fn from_bytes(bytes: Vec<u8>) -> Body {
    String::from_utf8(bytes).map_or_else(|e| Body::Bytes(e.into_bytes()), Body::Text)
}

/// The type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// The content type that a file's name speaks of; that of a form where it says nothing, as siege has it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes() {
        assert_eq!(from_bytes(b"a=1".to_vec()), Body::Text("a=1".into()));
        assert_eq!(from_bytes(vec![0xff, 0]), Body::Bytes(vec![0xff, 0]));
        assert_eq!(content_type(Path::new("a/b.json")), "application/json");
        assert_eq!(content_type(Path::new("data")), FORM);
    }
}
