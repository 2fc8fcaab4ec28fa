//! The values of plans that differ, each with its place in the plan of the JSON report.

use crate::texts::{Viewer, message};
use brunt_model::Plan;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of characters of a value.
const MAX_LETTERS: usize = 200;

/// Number of characters before the first difference of long values.
const BEFORE_DIFFERENCE: usize = 40;

/// A value that is not the same in all plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferentValue {
    /// Its place, such as `populations[0].name`.
    pub place: String,
    /// The value in each plan; None if the plan has no such place.
    pub values: Vec<Option<String>>,
}

/// Returns the values that are not the same in all plans.
pub fn different_values(plans: &[Option<&Plan>], viewer: &Viewer) -> Vec<DifferentValue> {
    let documents = plans.iter().map(|plan| plan.and_then(|plan| serde_json::to_value(plan).ok()));
    different(&documents.map(Option::unwrap_or_default).collect::<Vec<_>>(), viewer)
}

fn different(documents: &[Value], viewer: &Viewer) -> Vec<DifferentValue> {
    let mut all: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (number, document) in documents.iter().enumerate() {
        flatten(document, String::new(), &mut |place, value| {
            all.entry(place).or_insert_with(|| vec![None; documents.len()])[number] = Some(value);
        });
    }
    let rows = all.into_iter().filter(|(_, values)| values.iter().any(|value| *value != values[0]));
    rows.map(|(place, values)| DifferentValue { place, values: excerpts(values, viewer) }).collect()
}

/// Cuts long values, so that their first difference is visible.
fn excerpts(values: Vec<Option<String>>, viewer: &Viewer) -> Vec<Option<String>> {
    let first = values[0].clone().unwrap_or_default();
    let common = values.iter().flatten().map(|value| common_letters(&first, value)).min();
    let from = common.unwrap_or(0).saturating_sub(BEFORE_DIFFERENCE);
    values.into_iter().map(|value| value.map(|text| excerpt(text, from, viewer))).collect()
}

/// Length of the common beginning of two texts, in characters.
fn common_letters(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

fn excerpt(text: String, from: usize, viewer: &Viewer) -> String {
    let length = text.chars().count();
    if length <= MAX_LETTERS {
        return text;
    }
    let piece: String = text.chars().skip(from).take(MAX_LETTERS).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if from + MAX_LETTERS < length { "…" } else { "" };
    let excerpt = format!("{before}{piece}{after}");
    viewer.format(&message!("compare-excerpt", excerpt, count = length))
}

/// Calls `add` with each value of a document and its place.
fn flatten(value: &Value, place: String, add: &mut impl FnMut(String, String)) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let dot = if place.is_empty() { "" } else { "." };
                flatten(member, format!("{place}{dot}{name}"), add);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (number, item) in items.iter().enumerate() {
                flatten(item, format!("{place}[{number}]"), add);
            }
        }
        Value::Null => {}
        Value::String(text) => add(place, text.clone()),
        other => add(place, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_different_values_are_listed() {
        let documents = [
            json!({"name": "a", "load": {"rate": 100, "parts": [1, 2]}, "seed": 7}),
            json!({"name": "a", "load": {"rate": 200, "parts": [1]}, "seed": 7, "proxy": "p"}),
        ];
        let row = |place: &str, a: Option<&str>, b: Option<&str>| DifferentValue {
            place: place.into(),
            values: vec![a.map(str::to_owned), b.map(str::to_owned)],
        };
        assert_eq!(
            different(&documents, &Viewer::default()),
            [
                row("load.parts[1]", Some("2"), None),
                row("load.rate", Some("100"), Some("200")),
                row("proxy", None, Some("p")),
            ]
        );
        assert_eq!(
            different(&[documents[0].clone(), documents[0].clone()], &Viewer::default()),
            []
        );
    }

    #[test]
    fn long_values_show_their_first_difference() {
        let body = |mark: &str| json!(format!("{}{mark}{}", "a".repeat(5000), "b".repeat(5000)));
        let rows = different(&[body("x"), body("y")], &Viewer::default());
        for (value, mark) in rows[0].values.iter().zip(["x", "y"]) {
            let value = value.as_deref().unwrap();
            assert!(value.starts_with("…aaa") && value.contains(mark), "{value}");
            assert!(value.ends_with("bbb… (10,001 characters)"), "{value}");
        }
    }
}
