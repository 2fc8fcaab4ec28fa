//! Converts parameters and bodies of operations, with example values.

use super::schema::Examples;
use brunt_har::body::{FORM, JSON, MULTIPART};
use brunt_har::plan::{ImportedBody, ImportedRequest, MultipartPart};
use brunt_har::text;
use serde_json::Value;

/// Header fields that cannot be parameters (`OpenAPI` 3.1, section 4.8.12.1).
const IGNORED_FIELDS: [&str; 3] = ["accept", "content-type", "authorization"];

/// Adds parameters that are required or have an example.
pub(super) fn add<'a>(
    examples: &Examples<'a>,
    parameters: &[&'a Value],
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let mut left_out = Vec::new();
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default();
        let place = parameter["in"].as_str().unwrap_or_default();
        if name.is_empty() || ["body", "formData"].contains(&place) {
            continue;
        }
        let content = parameter["content"].as_object().and_then(|content| content.values().next());
        let schema = examples.resolve(&parameter["schema"]);
        let has_example = examples.explicit_example(parameter).is_some()
            || ["example", "default"]
                .iter()
                .any(|key| !schema[*key].is_null() || !parameter[*key].is_null());
        // Path parameters are always required, even if a description does not mark them.
        if place != "path" && parameter["required"] != true && !has_example {
            left_out.push(name);
            continue;
        }
        let value = match content {
            Some(media) => Value::from(examples.example_of(media).to_string()),
            // In Swagger 2.0 the type is not in a schema.
            None if parameter.get("schema").is_none() => examples
                .explicit_example(parameter)
                .unwrap_or_else(|| examples.of_schema(parameter)),
            None => examples.example_of(parameter),
        };
        let value = if value.is_null() { Value::from(name) } else { value };
        match place {
            "path" => {
                let plain = text::encode_part(&plain(&value));
                request.path = request.path.replace(&format!("{{{name}}}"), &plain);
            }
            "query" => request.query.extend(query(name, parameter, &value)),
            "header" if !IGNORED_FIELDS.contains(&name.to_ascii_lowercase().as_str()) => {
                request.headers.push((name.to_owned(), plain(&value)));
            }
            "cookie" => {
                request.headers.push(("Cookie".to_owned(), format!("{name}={}", plain(&value))));
            }
            _ => {}
        }
    }
    if !left_out.is_empty() {
        comments.push(format!("left out: optional parameters {}", left_out.join(", ")));
    }
}

/// A value as text. Items of a list are separated by commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The fields of a query parameter. A list is repeated or joined; a map has its own names.
fn query(name: &str, parameter: &Value, value: &Value) -> Vec<(String, String)> {
    let is_swagger = parameter.get("schema").is_none();
    // Lists are repeated by default in 3.x (style `form`), and joined in Swagger 2.0 (`csv`).
    let explode = parameter["explode"]
        .as_bool()
        .unwrap_or(!is_swagger || parameter["collectionFormat"] == "multi");
    let is_deep = parameter["style"] == "deepObject";
    match value {
        Value::Array(items) if explode => {
            items.iter().map(|item| (name.to_owned(), plain(item))).collect()
        }
        Value::Object(entries) if is_deep => {
            entries.iter().map(|(key, value)| (format!("{name}[{key}]"), plain(value))).collect()
        }
        Value::Object(entries) if explode => {
            entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
        }
        other => vec![(name.to_owned(), plain(other))],
    }
}

/// Sets a body of this media type.
pub(super) fn body<'a>(
    examples: &Examples<'a>,
    kind: &str,
    media: &'a Value,
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let example = examples.example_of(media);
    request.body = if essence == JSON || essence.ends_with("+json") {
        ImportedBody::Json(example, None)
    } else if essence == FORM {
        ImportedBody::Form(fields(&example), None)
    } else if essence == MULTIPART {
        let schema = examples.resolve(&media["schema"]);
        let parts = fields(&example).into_iter().map(|(name, value)| {
            let property = examples.resolve(&schema["properties"][&name]);
            let is_file =
                property["format"] == "binary" || property.get("contentMediaType").is_some();
            if is_file {
                comments.push(format!("`{name}` is a file; write {{file: …}} to send one"));
            }
            (
                name,
                MultipartPart::Text(if is_file { "content of a file".to_owned() } else { value }),
            )
        });
        ImportedBody::Multipart(parts.collect())
    } else {
        comments.push(format!("the body of the type {kind} is made up; write your own"));
        ImportedBody::Text(plain(&example))
    };
    // The plan adds the type of a multipart body, with its boundary.
    if essence != MULTIPART {
        // A range such as `image/*` is not a type.
        let kind = if kind.contains('*') { "application/octet-stream" } else { kind };
        request.headers.push(("Content-Type".to_owned(), kind.to_owned()));
    }
}

/// The entries of an example as texts.
fn fields(example: &Value) -> Vec<(String, String)> {
    let entries = example.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.clone(), plain(value))).collect()
}

/// Sets the body of a Swagger 2.0 operation, which is one of its parameters.
pub(super) fn body_of_swagger<'a>(
    examples: &Examples<'a>,
    root: &'a Value,
    operation: &'a Value,
    parameters: &[&'a Value],
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let consumes = operation.get("consumes").unwrap_or(&root["consumes"])[0].as_str();
    if let Some(parameter) = parameters.iter().find(|parameter| parameter["in"] == "body") {
        return body(examples, consumes.unwrap_or(JSON), parameter, request, comments);
    }
    let form: Vec<&&Value> =
        parameters.iter().filter(|parameter| parameter["in"] == "formData").collect();
    if form.is_empty() {
        return;
    }
    let has_file = form.iter().any(|parameter| parameter["type"] == "file");
    let mut fields = Vec::new();
    for parameter in form {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        let value = if parameter["type"] == "file" {
            comments.push(format!("`{name}` is a file; write {{file: …}} to send one"));
            "content of a file".to_owned()
        } else {
            plain(
                &examples
                    .explicit_example(parameter)
                    .unwrap_or_else(|| examples.of_schema(parameter)),
            )
        };
        fields.push((name, value));
    }
    if has_file || consumes == Some(MULTIPART) {
        request.body = ImportedBody::Multipart(
            fields.into_iter().map(|(name, value)| (name, MultipartPart::Text(value))).collect(),
        );
    } else {
        request.headers.push(("Content-Type".to_owned(), FORM.to_owned()));
        request.body = ImportedBody::Form(fields, None);
    }
}
