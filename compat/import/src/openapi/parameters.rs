//! Converts parameters of operations, with example values, by their styles: the tables "Style Values" and
//! "Style Examples" of OAS 3.0.3, `collectionFormat` of Swagger 2.0.

use super::examples::Examples;
use brunt_har::body::pairs;
use brunt_har::plan::ImportedRequest;
use brunt_har::text::encode_part;
use serde_json::Value;

/// Header fields that cannot be parameters (`OpenAPI` 3.1, section 4.8.12.1).
const IGNORED_FIELDS: [&str; 3] = ["accept", "content-type", "authorization"];

/// How the items of a list, or the entries of a map, follow each other in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// One after the other, with this delimiter.
    Joined(&'static str),
    /// As further fields of the same name; entries of a map by their own names.
    Repeated,
    /// Entries of a map as `name[key]`.
    Deep,
}

impl Style {
    /// The style of a parameter, of a field of a form, or of its entry in `encoding`.
    pub(super) fn of(holder: &Value, place: &str) -> Self {
        let repeats = matches!(place, "query" | "cookie" | "formData");
        match (holder["collectionFormat"].as_str(), holder["style"].as_str()) {
            (Some("multi"), _) => Self::Repeated,
            (Some("ssv"), _) => Self::Joined(" "),
            (Some("tsv"), _) => Self::Joined("\t"),
            (Some("pipes"), _) => Self::Joined("|"),
            (_, Some("deepObject")) => Self::Deep,
            (None, style) if repeats => {
                // Only the style `form` repeats by default, and none in Swagger 2.0.
                let is_form = style.is_none_or(|style| style == "form");
                let is_swagger = holder.get("type").is_some();
                let explode = holder["explode"].as_bool().unwrap_or(is_form && !is_swagger);
                match style {
                    _ if explode => Self::Repeated,
                    Some("spaceDelimited") => Self::Joined(" "),
                    Some("pipeDelimited") => Self::Joined("|"),
                    _ => Self::Joined(","),
                }
            }
            _ => Self::Joined(","),
        }
    }

    /// The fields of a value in a query, a form or a cookie.
    pub(super) fn fields(self, name: &str, value: &Value) -> Vec<(String, String)> {
        let field = |name: &str, value: &Value| (name.to_owned(), plain(value));
        match (self, value) {
            (Self::Repeated, Value::Array(items)) => {
                items.iter().map(|item| field(name, item)).collect()
            }
            (Self::Repeated, Value::Object(entries)) => {
                entries.iter().map(|(key, value)| field(key, value)).collect()
            }
            (Self::Deep, Value::Object(entries)) => {
                let entries = entries.iter();
                entries
                    .flat_map(|(key, value)| match value {
                        Value::Array(_) => Self::Repeated.fields(&format!("{name}[{key}]"), value),
                        _ => vec![field(&format!("{name}[{key}]"), value)],
                    })
                    .collect()
            }
            (Self::Joined(delimiter), value) => {
                vec![(name.to_owned(), joined(value, delimiter, delimiter, plain))]
            }
            (_, value) => vec![field(name, value)],
        }
    }
}

/// Adds parameters that are required or have an example.
pub(super) fn add<'a>(
    examples: &Examples<'a>,
    parameters: &[&'a Value],
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let mut left_out = Vec::new();
    let mut invalid = Vec::new();
    let mut cookies = Vec::new();
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default();
        let place = parameter["in"].as_str().unwrap_or_default();
        let is_ignored =
            place == "header" && IGNORED_FIELDS.contains(&name.to_ascii_lowercase().as_str());
        if name.is_empty() || ["body", "formData"].contains(&place) || is_ignored {
            continue;
        }
        // Path parameters are always required, even if a description does not mark them.
        if place != "path" && parameter["required"] != true && !examples.has_example(parameter) {
            left_out.push(name);
            continue;
        }
        let example = examples.of_parameter(parameter);
        if !example.is_valid {
            invalid.push(name);
        }
        // Without `allowEmptyValue`, a value is needed.
        let is_empty = example.value.is_null()
            || (example.value == "" && parameter["allowEmptyValue"] != true);
        if is_empty && place != "path" && parameter["required"] != true {
            left_out.push(name);
            continue;
        }
        let value = if is_empty { Value::from(name) } else { example.value };
        let style = Style::of(parameter, place);
        match place {
            "path" => {
                let part = path_part(name, parameter, &value);
                request.path = request.path.replace(&format!("{{{name}}}"), &part);
            }
            "query" => request.query.extend(style.fields(name, &value)),
            "header" => {
                request
                    .headers
                    .push((name.to_owned(), joined(&value, ",", sign_of(parameter), plain)));
            }
            "cookie" => cookies.extend(style.fields(name, &value)),
            _ => {}
        }
    }
    if !cookies.is_empty() {
        let pairs = cookies.iter().map(|(name, value)| format!("{name}={value}"));
        request.headers.push(("Cookie".to_owned(), pairs.collect::<Vec<_>>().join("; ")));
    }
    if !left_out.is_empty() {
        comments.push(format!("left out: optional parameters {}", left_out.join(", ")));
    }
    if !invalid.is_empty() {
        comments
            .push(format!("no value satisfies the schema of {}: write yours", invalid.join(", ")));
    }
}

/// Writes the commas of lists as they are in a query: encoded, they would be part of a value (RFC 6570
/// section 3.2.8).
pub(super) fn keep_delimiters(request: &mut ImportedRequest) {
    if request.query.iter().any(|(_, value)| value.contains(',')) {
        let fields = request.query.iter().map(|(name, value)| {
            let items: Vec<String> = value.split(',').map(encode_part).collect();
            format!("{}={}", encode_part(name), items.join(","))
        });
        let query = fields.collect::<Vec<_>>().join("&");
        request.query = pairs(&query);
        request.raw_query = Some(query);
    }
}

fn is_exploded(parameter: &Value) -> bool {
    parameter["explode"] == true
}

/// What stands between a key and its value in a path or a header field.
fn sign_of(parameter: &Value) -> &'static str {
    if is_exploded(parameter) { "=" } else { "," }
}

/// A parameter in a path by its style `simple`, `label` or `matrix`, percent-encoded.
fn path_part(name: &str, parameter: &Value, value: &Value) -> String {
    let sign = sign_of(parameter);
    let is_exploded = is_exploded(parameter) && (value.is_array() || value.is_object());
    match parameter["style"].as_str() {
        Some("label") if is_exploded => format!(".{}", joined(value, ".", sign, encode_plain)),
        Some("label") => format!(".{}", joined(value, ",", sign, encode_plain)),
        Some("matrix") if is_exploded => {
            let fields = Style::Repeated.fields(name, value);
            let parts = fields.iter().flat_map(|(name, value)| {
                [";".to_owned(), encode_part(name), "=".to_owned(), encode_part(value)]
            });
            parts.collect()
        }
        Some("matrix") => format!(";{name}={}", joined(value, ",", sign, encode_plain)),
        _ => joined(value, ",", sign, encode_plain),
    }
}

fn encode_plain(value: &Value) -> String {
    encode_part(&plain(value))
}

/// The items of a list, or the keys and values of a map, with a delimiter between them. `sign` stands between a
/// key and its value.
fn joined(
    value: &Value,
    delimiter: &str,
    sign: &str,
    text_of: impl Fn(&Value) -> String,
) -> String {
    match value {
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(delimiter),
        Value::Object(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{key}{sign}{}", text_of(value)));
            entries.collect::<Vec<_>>().join(delimiter)
        }
        value => text_of(value),
    }
}

/// A value as text. A list or map within another value is JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
