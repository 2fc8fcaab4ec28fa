//! Finds paths of a value in JSON.

use super::{Located, ValuePair, verified};
use brunt_model::extract::{ExtractFrom, ReplyPart};
use brunt_script::proposals;
use serde_json::Value;

/// Maximum number of paths per value.
const MAX_PATHS: usize = 8;

/// A value of a JSON document.
struct Leaf<'v> {
    steps: Vec<Step<'v>>,
    /// The lists and maps around it, from the outermost.
    parents: Vec<&'v Value>,
}

#[derive(Clone, PartialEq)]
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// Returns paths that yield the value in both bodies.
pub(super) fn paths(first: &str, second: &str, value: &ValuePair) -> Vec<Located> {
    if !looks_like_json(first) || !looks_like_json(second) {
        return Vec::new();
    }
    let (Ok(first_json), Ok(second_json)) =
        (serde_json::from_str::<Value>(first), serde_json::from_str::<Value>(second))
    else {
        return Vec::new();
    };
    let leaves = leaves(&first_json, &value.first);
    let others = self::leaves(&second_json, &value.second);
    let mut all = Vec::new();
    for leaf in leaves.iter().take(MAX_PATHS) {
        let name = leaf.key();
        for (path, rank) in leaf.paths(&others) {
            let from = ExtractFrom::JsonPath(path);
            if let Some(found) = verified(from, ReplyPart::Body, [first, second], value) {
                all.push(Located { name: name.to_owned(), rank, ..found });
            }
        }
    }
    all
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

impl Leaf<'_> {
    /// The innermost key.
    fn key(&self) -> &str {
        let keys = self.steps.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        });
        keys.into_iter().next().unwrap_or_default()
    }

    /// Paths to try, with their ranks.
    fn paths(&self, others: &[Leaf<'_>]) -> Vec<(String, u8)> {
        let has_index = self.steps.iter().any(|step| matches!(step, Step::Index(_)));
        if others.iter().any(|other| other.steps == self.steps) {
            let mut all = vec![(path(&self.steps), if has_index { 2 } else { 0 })];
            // An item with the same properties in both recordings is more robust than its position.
            all.extend(self.filters().into_iter().map(|path| (path, 1)));
            return all;
        }
        let mut all: Vec<(String, u8)> = self.filters().into_iter().map(|path| (path, 1)).collect();
        all.extend(self.path_from_end().map(|path| (path, 3)));
        all
    }

    /// Paths that select the innermost list item by another property of it.
    fn filters(&self) -> Vec<String> {
        let Some(at) = self.steps.iter().rposition(|step| matches!(step, Step::Index(_))) else {
            return Vec::new();
        };
        let Some(Value::Object(item)) = self.parents.get(at + 1) else { return Vec::new() };
        let Some(Value::Array(list)) = self.parents.get(at) else { return Vec::new() };
        let mut all = Vec::new();
        for (key, property) in item {
            let Some(text) = property.as_str().filter(|text| is_plain(text)) else { continue };
            let is_own = matches!(self.steps.get(at + 1), Some(Step::Key(own)) if own == key);
            let same = list.iter().filter(|other| other.get(key) == Some(property)).count();
            if is_own || same != 1 {
                continue;
            }
            let filter = format!("[?@{}=='{text}']", step_text(&Step::Key(key)));
            all.push(format!("{}{filter}{}", path(&self.steps[..at]), tail(&self.steps[at + 1..])));
            if all.len() == 2 {
                break;
            }
        }
        all
    }

    /// The path with the position counted from the end of the innermost list.
    fn path_from_end(&self) -> Option<String> {
        let at = self.steps.iter().rposition(|step| matches!(step, Step::Index(_)))?;
        let Step::Index(index) = self.steps[at] else { return None };
        let length = self.parents[at].as_array()?.len();
        let before = path(&self.steps[..at]);
        Some(format!("{before}[-{}]{}", length - index, tail(&self.steps[at + 1..])))
    }
}

/// True for a text that needs no escapes in a filter, and is short enough for a plan.
fn is_plain(text: &str) -> bool {
    (1..=40).contains(&text.len())
        && !text.contains(['\'', '\\'])
        && !text.contains(char::is_control)
}

fn path(steps: &[Step<'_>]) -> String {
    format!("${}", tail(steps))
}

fn tail(steps: &[Step<'_>]) -> String {
    steps.iter().map(step_text).collect()
}

fn step_text(step: &Step<'_>) -> String {
    match step {
        Step::Index(index) => format!("[{index}]"),
        Step::Key(key) => proposals::step(key),
    }
}

/// The values of a document with this text.
fn leaves<'v>(root: &'v Value, text: &str) -> Vec<Leaf<'v>> {
    let mut all = Vec::new();
    let mut steps = Vec::new();
    let mut parents = Vec::new();
    collect(root, text, &mut steps, &mut parents, &mut all);
    all
}

fn collect<'v>(
    value: &'v Value,
    text: &str,
    steps: &mut Vec<Step<'v>>,
    parents: &mut Vec<&'v Value>,
    all: &mut Vec<Leaf<'v>>,
) {
    match value {
        Value::Array(items) => {
            parents.push(value);
            for (index, item) in items.iter().enumerate() {
                steps.push(Step::Index(index));
                collect(item, text, steps, parents, all);
                steps.pop();
            }
            parents.pop();
        }
        Value::Object(entries) => {
            parents.push(value);
            for (key, item) in entries {
                steps.push(Step::Key(key));
                collect(item, text, steps, parents, all);
                steps.pop();
            }
            parents.pop();
        }
        Value::String(leaf) if leaf == text => {
            all.push(Leaf { steps: steps.clone(), parents: parents.clone() });
        }
        Value::Number(number) if !steps.is_empty() && number.to_string() == text => {
            all.push(Leaf { steps: steps.clone(), parents: parents.clone() });
        }
        _ => {}
    }
}
