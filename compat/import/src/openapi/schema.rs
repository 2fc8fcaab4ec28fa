//! Generates example values for requests from the schemas of an `OpenAPI` document.

use serde_json::{Map, Number, Value, json};

/// Maximum depth of an example, and maximum length of a chain of references, which may be cyclic.
const MAX_DEPTH: usize = 12;
/// Maximum number of values of an example.
const MAX_VALUES: usize = 2000;

/// Generates example values from the schemas of a document.
pub(super) struct Examples<'a> {
    root: &'a Value,
}

/// Progress of an example within its limits.
struct Progress<'a> {
    /// References that are being resolved.
    open_references: Vec<&'a str>,
    /// Depth of the current value.
    depth: usize,
    /// Number of values that may still be generated.
    remaining_values: usize,
}

impl<'a> Examples<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// Follows references within the document. Null if a target is missing or in another document,
    /// or after [`MAX_DEPTH`] references.
    pub(super) fn resolve(&self, value: &'a Value) -> &'a Value {
        let mut value = value;
        for _ in 0..MAX_DEPTH {
            let Some(reference) = value["$ref"].as_str() else { return value };
            let Some(target) = self.target(reference) else { return &Value::Null };
            value = target;
        }
        &Value::Null
    }

    /// Target of a reference `#/…`; None if it does not exist or is in another document.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        let pointer = reference.strip_prefix('#')?;
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
        self.root.pointer(&pointer)
    }

    /// Example of a media type or parameter: an explicit one, or one generated from its schema.
    pub(super) fn example_of(&self, holder: &'a Value) -> Value {
        self.explicit_example(holder).unwrap_or_else(|| self.of_schema(&holder["schema"]))
    }

    /// The first example that the document states for a media type or parameter; None without one
    /// or if it is null.
    pub(super) fn explicit_example(&self, holder: &'a Value) -> Option<Value> {
        let examples = &holder["examples"];
        let first = examples
            .as_object()
            .and_then(|all| all.values().next())
            .map(|one| &self.resolve(one)["value"]);
        let example = holder
            .get("example")
            .or(first)
            .or_else(|| examples.as_array().and_then(|all| all.first()));
        example.filter(|example| !example.is_null()).cloned()
    }

    /// Generates an example of a schema; null if that is impossible.
    pub(super) fn of_schema(&self, schema: &'a Value) -> Value {
        let mut progress =
            Progress { open_references: Vec::new(), depth: 0, remaining_values: MAX_VALUES };
        self.example_within("", schema, &mut progress).unwrap_or(Value::Null)
    }

    /// Generates an example within the limits; `name` is the text of strings. None if the schema
    /// refers to itself or to a missing target, or if the example is too deep or too large.
    fn example_within(
        &self,
        name: &str,
        schema: &'a Value,
        progress: &mut Progress<'a>,
    ) -> Option<Value> {
        if progress.depth >= MAX_DEPTH || progress.remaining_values == 0 {
            return None;
        }
        progress.remaining_values -= 1;
        if let Some(reference) = schema["$ref"].as_str() {
            if progress.open_references.contains(&reference) {
                return None;
            }
            let target = self.target(reference)?;
            progress.open_references.push(reference);
            let example = self.example_within(name, target, progress);
            progress.open_references.pop();
            return example;
        }
        progress.depth += 1;
        let example = value_of_schema(schema).or_else(|| self.generate(name, schema, progress));
        progress.depth -= 1;
        example
    }

    /// Generates an example of a schema that states no value, from `allOf`, else from the first
    /// `oneOf` or `anyOf` that is not null, else from the type. None if a part has no example.
    fn generate(
        &self,
        name: &str,
        schema: &'a Value,
        progress: &mut Progress<'a>,
    ) -> Option<Value> {
        if let Some(all) = schema["allOf"].as_array() {
            let mut merged = Map::new();
            let mut other = None;
            for part in all {
                match self.example_within(name, part, progress) {
                    Some(Value::Object(entries)) => merged.extend(entries),
                    Some(value) => other = Some(value),
                    None => {}
                }
            }
            if schema.get("properties").is_some() {
                merged.extend(self.object(schema, progress));
            }
            return if merged.is_empty() { other } else { Some(Value::Object(merged)) };
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(options) = schema[choice].as_array() {
                let first = options.iter().find(|option| option["type"] != "null")?;
                let mut example = self.example_within(name, first, progress)?;
                if let (Value::Object(entries), true) =
                    (&mut example, schema.get("properties").is_some())
                {
                    entries.extend(self.object(schema, progress));
                }
                return Some(example);
            }
        }
        let kind = match &schema["type"] {
            Value::String(kind) => kind.as_str(),
            Value::Array(kinds) => kinds
                .iter()
                .filter_map(Value::as_str)
                .find(|kind| *kind != "null")
                .unwrap_or("null"),
            _ if schema.get("properties").is_some() => "object",
            _ if schema.get("items").is_some() => "array",
            _ => "string",
        };
        Some(match kind {
            "object" => Value::Object(self.object(schema, progress)),
            "array" => Value::Array(
                self.example_within(name, &schema["items"], progress).into_iter().collect(),
            ),
            "integer" => integer(schema),
            "number" => number(schema),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => Value::String(string(name, schema)),
        })
    }

    /// Generates all properties of an object that a request may contain, required or not.
    fn object(&self, schema: &'a Value, progress: &mut Progress<'a>) -> Map<String, Value> {
        let mut entries = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            // Only replies contain properties with `readOnly`.
            if property["readOnly"] == true || self.resolve(property)["readOnly"] == true {
                continue;
            }
            if let Some(value) = self.example_within(name, property, progress) {
                entries.insert(name.clone(), value);
            }
        }
        entries
    }
}

/// The first value other than null that the schema states.
fn value_of_schema(schema: &Value) -> Option<Value> {
    let candidates = [
        schema.get("example"),
        schema["examples"].as_array().and_then(|all| all.first()),
        schema.get("const"),
        schema.get("default"),
        schema["enum"].as_array().and_then(|all| all.first()),
    ];
    candidates.into_iter().flatten().find(|value| !value.is_null()).cloned()
}

/// The least allowed integer, 1 without a minimum, but at most `maximum`. `exclusiveMaximum` is
/// ignored.
fn integer(schema: &Value) -> Value {
    let minimum = schema["minimum"].as_i64();
    let maximum = schema["maximum"].as_i64();
    // In 3.1, `exclusiveMinimum` is a number; in 3.0 it is `true`.
    let excluded = schema["exclusiveMinimum"].as_i64();
    let excluded = excluded.or_else(|| minimum.filter(|_| schema["exclusiveMinimum"] == true));
    let value = excluded.map(|excluded| excluded.saturating_add(1)).or(minimum).unwrap_or(1);
    Value::from(maximum.map_or(value, |maximum| value.min(maximum)))
}

/// The minimum, else the maximum, else 1.5. Exclusive limits are ignored.
fn number(schema: &Value) -> Value {
    let value = schema["minimum"].as_f64().or(schema["maximum"].as_f64()).unwrap_or(1.5);
    Number::from_f64(value).map_or(json!(1.5), Value::Number)
}

/// A text by format, else the property's name, filled up or cut to the length limits.
fn string(name: &str, schema: &Value) -> String {
    let text = match schema["format"].as_str().unwrap_or_default() {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "ann@example.com",
        "uuid" => "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "uri" | "url" | "iri" => "http://127.0.0.1/",
        "uri-reference" => "/",
        "hostname" | "idn-hostname" => "localhost",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "byte" => "dGV4dA==",
        _ if name.is_empty() => "text",
        _ => name,
    };
    // A huge `minLength` must not exceed the size of a plan file.
    let least = schema["minLength"].as_u64().unwrap_or(0).min(1000) as usize;
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let filled: String = text
        .chars()
        .chain(std::iter::repeat_n('x', least.saturating_sub(text.chars().count())))
        .collect();
    filled.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect()
}
