//! The JSON Schema of plan files, for editors, and the keys that it names.

use super::sections::plan_keys;
use super::written::Written;
use serde_json::Value;

/// The JSON Schema of a plan file.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Written).to_value();
    for key in plan_keys() {
        // Settings at the top of a plan are described by their rows, too.
        if let Some(property) = schema["properties"].get_mut(key.path) {
            property["description"] = key.description().into();
        }
    }
    schema
}

/// The keys at the top of a plan.
pub fn top() -> Vec<String> {
    properties(&schema()).map(|(key, _)| key.clone()).collect()
}

/// Every key down to the second level, as a dotted path such as `repetitions` or `load.rate`.
pub fn keys() -> Vec<String> {
    let schema = schema();
    let mut all = Vec::new();
    for (key, value) in properties(&schema) {
        all.push(key.clone());
        if let Some(section) = section(&schema, value) {
            all.extend(properties(section).map(|(below, _)| format!("{key}.{below}")));
        }
    }
    all
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// Section that a property refers to; None if it is not a section.
fn section<'a>(schema: &'a Value, value: &'a Value) -> Option<&'a Value> {
    let any = value["anyOf"].as_array().into_iter().flatten();
    let reference = std::iter::once(value).chain(any).find_map(|one| one["$ref"].as_str())?;
    schema.pointer(reference.strip_prefix('#')?)
}
