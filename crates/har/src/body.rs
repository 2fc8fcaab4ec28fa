//! Converts request bodies by their media type.

use crate::plan::{ImportedBody, MultipartPart};
use crate::text::{self, NUMBER, TextPiece};
pub use brunt_script::body::FORM;
use brunt_script::template::form_encoded;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// Media type of JSON.
pub const JSON: &str = "application/json";
/// Media type of forms with files.
pub const MULTIPART: &str = "multipart/form-data";

/// Converts a body of this media type.
pub fn of(media_type: &str, body: &str) -> ImportedBody {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // An empty form remains a form, so that its Content-Type is sent.
    if body.is_empty() && essence != FORM {
        return ImportedBody::None;
    }
    if essence == FORM {
        return form(body);
    }
    if essence == JSON || essence.ends_with("+json") {
        return json(body);
    }
    if essence == MULTIPART {
        return multipart(media_type, body).unwrap_or_else(|| ImportedBody::Text(body.to_owned()));
    }
    ImportedBody::Text(body.to_owned())
}

/// Converts an encoded form; a text if it is malformed.
pub fn form(body: &str) -> ImportedBody {
    if body.is_empty() {
        return ImportedBody::Form(Vec::new(), None);
    }
    // The plan would send an equals sign with each field.
    if !body.split('&').all(|field| field.contains('=')) {
        return ImportedBody::Text(body.to_owned());
    }
    let fields = pairs(body);
    // Bytes that are not UTF-8 would be changed.
    if fields.iter().any(|(name, value)| name.contains('\u{fffd}') || value.contains('\u{fffd}')) {
        return ImportedBody::Text(body.to_owned());
    }
    ImportedBody::Form(fields, Some(body.to_owned()))
}

/// Encodes the fields of a form or query like the plan would.
pub fn encoded(pairs: &[(String, String)]) -> String {
    let fields =
        pairs.iter().map(|(name, value)| format!("{}={}", form_encoded(name), form_encoded(value)));
    fields.collect::<Vec<_>>().join("&")
}

/// Decodes the fields of a form or query.
pub fn pairs(encoded: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text::clean_encoded(encoded).as_bytes())
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

/// Converts JSON; a text if it is malformed.
pub fn json(body: &str) -> ImportedBody {
    // JSON escapes could stand for the marks of variables, which are private characters.
    let has_marks =
        ["\\uf8f", "\\ue00"].iter().any(|escape| body.to_ascii_lowercase().contains(escape));
    let value = serde_json::from_str::<Value>(&with_quoted_variables(body));
    let Some(value) = value.ok().filter(|_| !has_marks) else {
        return ImportedBody::Text(body.to_owned());
    };
    let compact = value.to_string();
    let is_same = body == compact;
    ImportedBody::Json(value, (!is_same).then(|| body.to_owned()))
}

/// Quotes variables outside of JSON strings and marks them, so that the text becomes valid JSON.
fn with_quoted_variables(text: &str) -> Cow<'_, str> {
    if !text::has_variable(text) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_text = false;
    let mut escaped = false;
    for piece in text::pieces(text) {
        match piece {
            TextPiece::Literal(literal) => {
                out.push_str(literal);
                for c in literal.chars() {
                    in_text ^= c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                }
            }
            TextPiece::Variable(name) if in_text => out.push_str(&text::variable(name)),
            TextPiece::Variable(name) => {
                let _ = write!(out, "\"{NUMBER}{name}{NUMBER}\"");
            }
        }
    }
    out.into()
}

/// Converts a multipart body to parts of a plan; None if the plan would send different bytes.
fn multipart(media_type: &str, body: &str) -> Option<ImportedBody> {
    let mut parts = Vec::new();
    for RawPart { head, content } in raw_parts(media_type, body)? {
        let name = parameter(head, "name")?;
        let file = parameter(head, "filename");
        let kind =
            head.lines().find_map(|line| line.strip_prefix("Content-Type: ")).map(str::to_owned);
        let mut expected =
            format!("Content-Disposition: form-data; name=\"{}\"", escape_name(&name));
        expected.extend(file.iter().map(|file| format!("; filename=\"{}\"", escape_name(file))));
        expected.extend(kind.iter().map(|kind| format!("\nContent-Type: {kind}")));
        // Other header fields of a part would be lost.
        if head.lines().collect::<Vec<_>>().join("\n") != expected {
            return None;
        }
        // Browsers leave out the content of files.
        let has_content = !content.is_empty() && content != "(binary)";
        let part = match (file, kind) {
            (Some(_), _) if has_content => return None,
            (Some(file), kind) => MultipartPart::File { file, kind, filename: None },
            (None, Some(kind)) => MultipartPart::TypedText { text: content.to_owned(), kind },
            (None, None) => MultipartPart::Text(content.to_owned()),
        };
        parts.push((name, part));
    }
    (!parts.is_empty()).then_some(ImportedBody::Multipart(parts))
}

/// A part of a multipart body.
struct RawPart<'a> {
    head: &'a str,
    content: &'a str,
}

/// Splits a multipart body (RFC 7578) into its parts. None if it is malformed.
fn raw_parts<'a>(media_type: &str, body: &'a str) -> Option<Vec<RawPart<'a>>> {
    let position = media_type.to_ascii_lowercase().find("boundary=")?;
    let boundary =
        media_type[position + "boundary=".len()..].split(';').next()?.trim().trim_matches('"');
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    for part in body.split(&delimiter as &str).skip(1) {
        if part.starts_with("--") {
            break;
        }
        let part = part.trim_start_matches('\r').strip_prefix('\n')?;
        let (head, content) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))?;
        let content =
            content.strip_suffix("\r\n").or_else(|| content.strip_suffix('\n')).unwrap_or(content);
        parts.push(RawPart { head, content });
    }
    Some(parts)
}

/// Replaces the contents of parts of a multipart body. `replacement` receives the name
/// and content of a part.
pub fn with_parts(
    media_type: &str,
    body: &str,
    mut replacement: impl FnMut(&str, &str) -> String,
) -> String {
    let mut out = String::with_capacity(body.len());
    let mut copied = 0;
    for RawPart { head, content } in raw_parts(media_type, body).unwrap_or_default() {
        let Some(name) = parameter(head, "name") else { continue };
        // `content` is a part of `body`, so the difference of addresses is its position.
        let start = content.as_ptr() as usize - body.as_ptr() as usize;
        out.push_str(&body[copied..start]);
        out.push_str(&replacement(&name, content));
        copied = start + content.len();
    }
    out + &body[copied..]
}

/// Escapes a name for quotes in Content-Disposition.
fn escape_name(name: &str) -> String {
    // The HTML standard encodes only these three in names of multipart bodies.
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A parameter of Content-Disposition.
fn parameter(head: &str, name: &str) -> Option<String> {
    let line =
        head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))?;
    let prefix = format!(" {name}=\"");
    let begin = line.find(&prefix)? + prefix.len();
    let value = line[begin..].split('"').next()?;
    Some(value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bodies_are_parsed_by_their_media_type() {
        let fields =
            [("a", "b c"), ("d", "&")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            of("application/x-www-form-urlencoded; charset=UTF-8", "a=b+c&d=%26"),
            ImportedBody::Form(fields.to_vec(), Some("a=b+c&d=%26".into()))
        );
        assert_eq!(of(FORM, "{\"a\": 1}"), ImportedBody::Text("{\"a\": 1}".into()));
        assert_eq!(of(JSON, "{\"a\":1}"), ImportedBody::Json(json!({"a": 1}), None));
        for raw in ["{ \"a\": 1 }", "{\"a\": 2, \"a\": 1}", "{\"a\":1}\n"] {
            assert_eq!(of(JSON, raw), ImportedBody::Json(json!({"a": 1}), Some(raw.into())));
        }
        assert_eq!(of("text/plain", "x"), ImportedBody::Text("x".into()));
        let body = "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
                    --X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"p.png\"\r\nContent-Type: image/png\r\n\r\n\r\n--X--\r\n";
        let file = MultipartPart::File {
            file: "p.png".into(),
            kind: Some("image/png".into()),
            filename: None,
        };
        assert_eq!(
            of("multipart/form-data; boundary=X", body),
            ImportedBody::Multipart(vec![
                ("a".into(), MultipartPart::Text("1".into())),
                ("f".into(), file)
            ])
        );
    }

    #[test]
    fn parts_that_a_plan_cannot_represent_stay_text() {
        let kind = "multipart/form-data; boundary=X";
        let with = |head: &str, content: &str| {
            format!("--X\r\nContent-Disposition: {head}\r\n\r\n{content}\r\n--X--\r\n")
        };
        for body in [
            with("form-data; name=\"a\"; filename=b", "c"),
            with("form-data; name=\"a\"; filename=\"b\"\r\nContent-Type: text/plain", "c"),
            with("attachment; name=\"a\"", "c"),
            with("form-data; name=\"a\"\r\nX-Other: d", "c"),
        ] {
            assert_eq!(of(kind, &body), ImportedBody::Text(body.clone()), "{body}");
            let hidden = with_parts(kind, &body, |name, content| format!("{name}{content}"));
            assert_eq!(hidden, body.replace("\r\n\r\nc\r\n", "\r\n\r\nac\r\n"));
        }
        let typed = with("form-data; name=\"a\"\r\nContent-Type: application/json", "{}");
        let part = MultipartPart::TypedText { text: "{}".into(), kind: JSON.into() };
        assert_eq!(of(kind, &typed), ImportedBody::Multipart(vec![("a".into(), part)]));
    }
}
