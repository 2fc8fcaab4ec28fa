//! Decides whether a value satisfies a schema of a request (OAS 3.0.3, 3.1, Swagger 2.0).
//!
//! Fields of replies (`readOnly`) are refused, and `required` does not apply to them. What brunt cannot decide
//! counts as satisfied: unknown formats, expressions that it cannot read, references that lead nowhere.

use super::document::Document;
use super::pattern::in_syntax_of_rust;
use super::range::NumberRange;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum depth of schemas within each other.
const MAX_DEPTH: usize = 60;

/// Maximum memory of a compiled expression.
const MAX_PATTERN_BYTES: usize = 50 << 20;

/// Decides on values of one description.
pub(super) struct Acceptance<'a> {
    document: &'a Document,
    /// Expressions that were compiled; None for one that brunt cannot read.
    patterns: RefCell<HashMap<String, Option<fancy_regex::Regex>>>,
}

impl<'a> Acceptance<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, patterns: RefCell::default() }
    }

    /// True if a value satisfies a schema.
    pub(super) fn accepts(&self, schema: &Value, value: &Value) -> bool {
        self.accepts_at(schema, value, 0)
    }

    fn accepts_at(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            // A schema may refer to itself.
            return true;
        }
        if let Some(allowed) = schema.as_bool() {
            return allowed;
        }
        let accepts = |schema: &Value| self.accepts_at(schema, value, depth + 1);
        if let Some(reference) = schema["$ref"].as_str()
            && !self.document.target(reference).is_none_or(accepts)
        {
            return false;
        }
        // In 3.0, `type` has no list with null.
        if value.is_null() && schema["nullable"] == true {
            return true;
        }
        let one_of = list(schema, "oneOf");
        let any_of = list(schema, "anyOf");
        has_type(schema, value)
            && (schema.get("const").is_none() || schema["const"] == *value)
            && (schema["enum"].as_array().is_none_or(|all| all.contains(value)))
            && list(schema, "allOf").iter().all(accepts)
            && (any_of.is_empty() || any_of.iter().any(accepts))
            && (one_of.is_empty() || one_of.iter().filter(|one| accepts(one)).count() == 1)
            && (schema.get("not").is_none() || !accepts(&schema["not"]))
            && match value {
                Value::Number(number) => {
                    NumberRange::of([schema]).admits(number.as_f64().unwrap_or_default())
                }
                Value::String(text) => self.accepts_text(schema, text),
                Value::Array(items) => self.accepts_items(schema, items, depth),
                Value::Object(entries) => self.accepts_entries(schema, entries, depth),
                Value::Null | Value::Bool(_) => true,
            }
    }

    fn accepts_text(&self, schema: &Value, text: &str) -> bool {
        is_count_in_range(schema, "minLength", "maxLength", text.chars().count())
            && schema["pattern"].as_str().is_none_or(|pattern| self.matches(pattern, text))
            && has_format(schema["format"].as_str().unwrap_or_default(), text)
    }

    /// True if an expression is found in a text, or cannot be read.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.borrow_mut();
        let compiled = patterns.entry(pattern.to_owned()).or_insert_with(|| {
            let builder = &mut fancy_regex::RegexBuilder::new(&in_syntax_of_rust(pattern));
            builder.delegate_size_limit(MAX_PATTERN_BYTES).build().ok()
        });
        compiled.as_ref().is_none_or(|regex| regex.is_match(text).unwrap_or(true))
    }

    fn accepts_items(&self, schema: &Value, items: &[Value], depth: usize) -> bool {
        let first = list(schema, "prefixItems");
        let accepts = |(number, item): (usize, &Value)| {
            let of_item = first.get(number).or(schema.get("items"));
            of_item.is_none_or(|of_item| self.accepts_at(of_item, item, depth + 1))
        };
        is_count_in_range(schema, "minItems", "maxItems", items.len())
            && items.iter().enumerate().all(accepts)
            && (schema["uniqueItems"] != true || is_unique(items))
    }

    fn accepts_entries(&self, schema: &Value, entries: &Map<String, Value>, depth: usize) -> bool {
        let properties = schema["properties"].as_object();
        let patterns = schema["patternProperties"].as_object();
        let accepts_entry = |(name, value): (&String, &Value)| {
            let of_name = properties.and_then(|properties| properties.get(name));
            let mut of_pattern = patterns
                .into_iter()
                .flatten()
                .filter(|(pattern, _)| self.matches(pattern, name))
                .map(|(_, schema)| schema)
                .peekable();
            if of_name.is_none() && of_pattern.peek().is_none() {
                let additional = schema.get("additionalProperties");
                return additional.is_none_or(|rule| self.accepts_at(rule, value, depth + 1));
            }
            of_name.into_iter().chain(of_pattern).all(|schema| {
                !self.is_read_only(schema) && self.accepts_at(schema, value, depth + 1)
            })
        };
        // In Swagger 2.0, `required: true` of a parameter is no list.
        let mut required = list(schema, "required").iter().filter_map(Value::as_str);
        is_count_in_range(schema, "minProperties", "maxProperties", entries.len())
            && required.all(|name| {
                entries.contains_key(name) || self.is_read_only(&schema["properties"][name])
            })
            && entries.iter().all(accepts_entry)
    }

    /// True for a property that only replies have.
    pub(super) fn is_read_only(&self, schema: &Value) -> bool {
        schema["readOnly"] == true || self.document.resolve(schema)["readOnly"] == true
    }
}

/// The items of a list at a key; none for other values.
pub(super) fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema[key].as_array().map_or(&[], Vec::as_slice)
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        // A file of Swagger 2.0 is sent as a text.
        "string" | "file" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

fn is_count_in_range(schema: &Value, least: &str, most: &str, count: usize) -> bool {
    let count = count as u64;
    schema[least].as_u64().is_none_or(|least| count >= least)
        && schema[most].as_u64().is_none_or(|most| count <= most)
}

fn is_unique(items: &[Value]) -> bool {
    items.iter().enumerate().all(|(number, item)| !items[..number].contains(item))
}

/// True if a text has a format; true for unknown formats.
fn has_format(format: &str, text: &str) -> bool {
    match format {
        "date" => chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok() && text.len() == 10,
        "date-time" => chrono::DateTime::parse_from_rfc3339(text).is_ok(),
        "uuid" => {
            let parts: Vec<usize> = text.split('-').map(str::len).collect();
            parts == [8, 4, 4, 4, 12] && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
        }
        "email" | "idn-email" => text.contains('@'),
        "uri" | "url" => url::Url::parse(text).is_ok(),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "byte" => STANDARD.decode(text).is_ok(),
        _ => true,
    }
}
