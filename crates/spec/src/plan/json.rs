//! Converts a tree to JSON, for bodies and for `brunt plan show --json`.

use super::node::{PlanNode, PlanValue};
use brunt_script::expression::TextPart;
use brunt_script::template;
use serde_json::Value as Json;

/// Converts the tree to JSON. Unquoted numbers, true and false keep their type; every other
/// scalar is a text.
pub fn json(node: &PlanNode) -> Json {
    match &node.value {
        PlanValue::Null => Json::Null,
        // Only a text without quotes can be a number or boolean in YAML.
        PlanValue::Text { text, plain: true } => scalar(text),
        PlanValue::Text { text, plain: false } => Json::from(text.as_str()),
        PlanValue::List(nodes) => nodes.iter().map(json).collect(),
        PlanValue::Map(entries) => {
            entries.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect()
        }
    }
}

/// Converts the tree to JSON with expressions, which each request fills in.
///
/// An unquoted expression that is the whole value becomes the number, true, false, null, list or
/// map of its value. Every other expression becomes a part of a text.
pub fn json_text(node: &PlanNode) -> String {
    let mut stretches = Vec::new();
    push_json(node, &mut stretches);
    template::expression_text(&stretches)
}

fn push_json(node: &PlanNode, stretches: &mut Vec<TextPart>) {
    match &node.value {
        PlanValue::Text { text, plain } => {
            match template::json_value_stretch(text).filter(|_| *plain) {
                Some(stretch) => stretches.push(stretch),
                // The number is copied as it was written: 1.0 stays 1.0, and long integers keep all
                // digits.
                None if *plain && !scalar(text).is_string() => stretches.push(literal(text)),
                None => stretches.extend(template::json_text_stretches(text)),
            }
        }
        PlanValue::List(nodes) => {
            stretches.push(literal("["));
            for (number, node) in nodes.iter().enumerate() {
                stretches.extend((number > 0).then(|| literal(",")));
                push_json(node, stretches);
            }
            stretches.push(literal("]"));
        }
        PlanValue::Map(entries) => {
            stretches.push(literal("{"));
            for (number, entry) in entries.iter().enumerate() {
                stretches.extend((number > 0).then(|| literal(",")));
                stretches.extend(template::json_text_stretches(&entry.key));
                stretches.push(literal(":"));
                push_json(&entry.node, stretches);
            }
            stretches.push(literal("}"));
        }
        PlanValue::Null => stretches.push(literal("null")),
    }
}

fn literal(text: &str) -> TextPart {
    TextPart::Literal(text.to_owned())
}

/// True if a text without quotes is a number, true or false in a JSON body.
pub(super) fn is_typed(text: &str) -> bool {
    !scalar(text).is_string()
}

/// True if a text is one expression. Without quotes, its value has its own type in a JSON body.
pub(super) fn is_expression(text: &str) -> bool {
    template::json_value_stretch(text).is_some()
}

fn scalar(text: &str) -> Json {
    // serde_json also accepts white space around a value, which only a quoted text has.
    let value = serde_json::from_str(text).ok().filter(|_| text.trim() == text);
    value
        .filter(|value: &Json| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| Json::from(text))
}
