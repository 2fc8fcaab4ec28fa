//! A tree as JSON: what is sent as a body, and what `brunt plan show --json` prints.

use super::node::{Node, Value};
use serde_json::Value as Json;

/// The tree as JSON. What stood without quotes and is a number, true or false is one; every other text is a text.
pub fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Text { text, plain: true } => scalar(text),
        Value::Text { text, plain: false } => Json::from(text.as_str()),
        Value::List(nodes) => nodes.iter().map(json).collect(),
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect(),
    }
}

fn scalar(text: &str) -> Json {
    let parsed = serde_json::from_str(text).ok();
    parsed.filter(|value: &Json| value.is_number() || value.is_boolean()).unwrap_or_else(|| Json::from(text))
}
