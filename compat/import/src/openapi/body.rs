//! Converts bodies of operations, with example values.

use super::document::Document;
use super::examples::{Example, Examples};
use super::parameters::{Style, plain};
use super::xml;
use brunt_har::body::{FORM, JSON, MULTIPART};
use brunt_har::plan::{ImportedBody, ImportedRequest, MultipartPart};
use serde_json::Value;

/// Text that stands for the content of a file.
const FILE_CONTENT: &str = "content of a file";

/// Sets the body of an operation of `OpenAPI` 3.x, from its `content` by media types.
pub(super) fn of_content<'a>(
    document: &'a Document,
    examples: &Examples<'a>,
    content: &'a Value,
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let kinds: Vec<(&'a String, &'a Value)> = content.as_object().into_iter().flatten().collect();
    let of_kind = |is_kind: fn(&str) -> bool| kinds.iter().find(|(kind, _)| is_kind(kind));
    // Generated examples are JSON values, which other media types may not represent.
    let first = of_kind(|kind| is_json(kind) && !kind.contains('*'))
        .or_else(|| of_kind(is_json))
        .or_else(|| of_kind(|kind| kind.contains("form")))
        .or(kinds.first());
    let Some((kind, media)) = first else { return };
    let example = examples.example_of(media, "");
    note_validity(&example, comments);
    let schema = document.resolve(&media["schema"]);
    let essence = essence(kind);
    request.body = if essence == FORM {
        let entries = example.value.as_object().into_iter().flatten();
        let fields = entries.flat_map(|(name, value)| {
            let encoding = &media["encoding"][name];
            let is_styled = encoding.get("style").or(encoding.get("explode")).is_some();
            match value {
                // A map is JSON unless its encoding has a style (OAS 3.0.3, "Encoding Object").
                Value::Object(_) if !is_styled => vec![(name.clone(), value.to_string())],
                value => Style::of(encoding, "query").fields(name, value),
            }
        });
        ImportedBody::Form(fields.collect(), None)
    } else if essence == MULTIPART {
        let entries = example.value.as_object().into_iter().flatten();
        let parts = entries.flat_map(|(name, value)| {
            let property = document.resolve(&schema["properties"][name]);
            let kinds = media["encoding"][name]["contentType"].as_str();
            let kind = kinds.map(|kinds| kinds.split(',').next().unwrap_or_default().trim());
            parts_of(document, name, value, property, kind, comments)
        });
        ImportedBody::Multipart(parts.collect())
    } else {
        of_value(document, kind, &media["schema"], example.value, comments)
    };
    set_type(kind, request);
}

/// The body of a value, in a media type other than a form's.
fn of_value(
    document: &Document,
    kind: &str,
    schema: &Value,
    value: Value,
    comments: &mut Vec<String>,
) -> ImportedBody {
    if is_json(kind) {
        return ImportedBody::Json(value, None);
    }
    // An example of XML is a text that states the whole body.
    if is_xml(kind) && !value.is_string() {
        return ImportedBody::Text(xml::body(document, schema, &value));
    }
    if is_xml(kind) {
        return ImportedBody::Text(plain(&value));
    }
    comments.push(format!("the body of the type {kind} is made up; write your own"));
    ImportedBody::Text(plain(&value))
}

/// The parts of a property: one for each item of a list. `kind` is the media type that its encoding states.
fn parts_of<'a>(
    document: &'a Document,
    name: &str,
    value: &Value,
    property: &'a Value,
    kind: Option<&str>,
    comments: &mut Vec<String>,
) -> Vec<(String, MultipartPart)> {
    if let Value::Array(items) = value {
        let of_item = document.resolve(&property["items"]);
        let mut parts = Vec::new();
        for item in items {
            parts.extend(parts_of(document, name, item, of_item, kind, comments));
        }
        return parts;
    }
    let is_file = property["format"] == "binary" || property.get("contentMediaType").is_some();
    if is_file {
        comments.push(format!("`{name}` is a file; write {{file: …}} to send one"));
    }
    let text = if is_file { FILE_CONTENT.to_owned() } else { plain(value) };
    let kind = kind.filter(|kind| !kind.contains('*')).or(value.is_object().then_some(JSON));
    let part = match kind {
        Some(kind) => MultipartPart::TypedText { text, kind: kind.to_owned() },
        None => MultipartPart::Text(text),
    };
    vec![(name.to_owned(), part)]
}

/// Sets the body of a Swagger 2.0 operation, which is one of its parameters.
pub(super) fn of_swagger<'a>(
    document: &Document,
    examples: &Examples<'a>,
    root: &'a Value,
    operation: &'a Value,
    parameters: &[&'a Value],
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let consumes = operation.get("consumes").unwrap_or(&root["consumes"]);
    let kinds: Vec<&str> =
        consumes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(parameter) = parameters.iter().find(|parameter| parameter["in"] == "body") {
        let kind =
            kinds.iter().find(|kind| is_json(kind)).or(kinds.first()).copied().unwrap_or(JSON);
        let example = examples.example_of(parameter, "");
        note_validity(&example, comments);
        request.body = of_value(document, kind, &parameter["schema"], example.value, comments);
        return set_type(kind, request);
    }
    let form: Vec<&&Value> =
        parameters.iter().filter(|parameter| parameter["in"] == "formData").collect();
    if form.is_empty() {
        return;
    }
    let has_file = form.iter().any(|parameter| parameter["type"] == "file");
    let mut fields = Vec::new();
    for parameter in form {
        let name = parameter["name"].as_str().unwrap_or_default();
        if parameter["type"] == "file" {
            comments.push(format!("`{name}` is a file; write {{file: …}} to send one"));
            fields.push((name.to_owned(), FILE_CONTENT.to_owned()));
        } else {
            let example = examples.of_parameter(parameter);
            fields.extend(Style::of(parameter, "formData").fields(name, &example.value));
        }
    }
    if has_file || kinds.first() == Some(&MULTIPART) {
        request.body = ImportedBody::Multipart(
            fields.into_iter().map(|(name, value)| (name, MultipartPart::Text(value))).collect(),
        );
    } else {
        request.headers.push(("Content-Type".to_owned(), FORM.to_owned()));
        request.body = ImportedBody::Form(fields, None);
    }
}

fn note_validity(example: &Example, comments: &mut Vec<String>) {
    if !example.is_valid {
        comments.push("no value satisfies the schema of the body: write yours".to_owned());
    }
}

/// Adds the type of a body as a header field.
fn set_type(kind: &str, request: &mut ImportedRequest) {
    // The plan adds the type of a multipart body, with its boundary.
    if essence(kind) != MULTIPART {
        // A range such as `image/*` is not a type.
        let kind = match kind {
            range if range.contains('*') && is_json(range) => JSON,
            range if range.contains('*') => "application/octet-stream",
            kind => kind,
        };
        request.headers.push(("Content-Type".to_owned(), kind.to_owned()));
    }
}

fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_xml(kind: &str) -> bool {
    let essence = essence(kind);
    ["application/xml", "text/xml"].contains(&essence.as_str()) || essence.ends_with("+xml")
}

fn is_json(kind: &str) -> bool {
    let essence = essence(kind);
    essence == JSON || essence.ends_with("+json")
}
