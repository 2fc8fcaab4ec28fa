//! Writes a value as XML by the `xml` keys of its schema (OAS 3.0.3, "XML Object").

use super::document::Document;
use serde_json::Value;
use std::fmt::Write;

/// Maximum depth of references and `allOf`.
const MAX_DEPTH: usize = 32;

/// Writes a body. Its root element has the name in the schema, else that of the component.
pub(super) fn body(document: &Document, schema: &Value, value: &Value) -> String {
    let component = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next());
    let name = component.unwrap_or("root");
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned();
    match value {
        // A document has one root element.
        Value::Array(items) if !is_wrapped(document, schema) => {
            let of_item = key(document, schema, "items", 0).unwrap_or(&Value::Null);
            let name = element_name(document, schema, name);
            let _ = write!(out, "<{name}>");
            for item in items {
                element(document, of_item, &name, item, &mut out);
            }
            let _ = write!(out, "</{name}>");
        }
        value => element(document, schema, name, value, &mut out),
    }
    out
}

/// Writes the element of a value, or one element for each item of a list.
fn element(document: &Document, schema: &Value, name: &str, value: &Value, out: &mut String) {
    if let Value::Array(items) = value {
        let of_item = key(document, schema, "items", 0).unwrap_or(&Value::Null);
        let wrapper = is_wrapped(document, schema).then(|| element_name(document, schema, name));
        if let Some(wrapper) = &wrapper {
            let _ = write!(out, "<{wrapper}>");
        }
        for item in items {
            element(document, of_item, wrapper.as_deref().unwrap_or(name), item, out);
        }
        if let Some(wrapper) = &wrapper {
            let _ = write!(out, "</{wrapper}>");
        }
        return;
    }
    let tag = element_name(document, schema, name);
    let _ = write!(out, "<{tag}");
    let xml = xml_of(document, schema);
    if let Some(namespace) = xml["namespace"].as_str() {
        let prefix = xml["prefix"].as_str().map(|prefix| format!(":{prefix}")).unwrap_or_default();
        let _ = write!(out, " xmlns{prefix}=\"{}\"", escaped(namespace));
    }
    let Value::Object(entries) = value else {
        // The attribute of a namespace belongs to the tag, before its end.
        let _ = write!(out, ">{}</{tag}>", text(value));
        return;
    };
    let mut children = String::new();
    for (name, value) in entries {
        let property = property(document, schema, name, 0).unwrap_or(&Value::Null);
        // Attributes precede the children, whatever the order of the properties.
        if xml_of(document, property)["attribute"] == true {
            let name = element_name(document, property, name);
            let _ = write!(out, " {name}=\"{}\"", text(value));
        } else {
            element(document, property, name, value, &mut children);
        }
    }
    let _ = write!(out, ">{children}</{tag}>");
}

/// Name of an element or attribute with its prefix: that of the schema, else `name`.
fn element_name(document: &Document, schema: &Value, name: &str) -> String {
    let xml = xml_of(document, schema);
    let name = xml["name"].as_str().unwrap_or(name);
    match xml["prefix"].as_str() {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name.to_owned(),
    }
}

fn is_wrapped(document: &Document, schema: &Value) -> bool {
    xml_of(document, schema)["wrapped"] == true
}

fn xml_of<'a>(document: &'a Document, schema: &'a Value) -> &'a Value {
    key(document, schema, "xml", 0).unwrap_or(&Value::Null)
}

/// The value of a key in a schema, in its target, or in its `allOf`.
fn key<'a>(
    document: &'a Document,
    schema: &'a Value,
    name: &str,
    depth: usize,
) -> Option<&'a Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let schema = document.resolve(schema);
    schema.get(name).or_else(|| {
        let mut parts = schema["allOf"].as_array().into_iter().flatten();
        parts.find_map(|part| key(document, part, name, depth + 1))
    })
}

/// The schema of a property, also of the parts of a schema.
fn property<'a>(
    document: &'a Document,
    schema: &'a Value,
    name: &str,
    depth: usize,
) -> Option<&'a Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let schema = document.resolve(schema);
    schema["properties"].get(name).or_else(|| {
        let parts =
            ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
        parts.flatten().find_map(|part| property(document, part, name, depth + 1))
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => escaped(text),
        Value::Null => String::new(),
        other => escaped(&other.to_string()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
