//! `--set NAME=VALUE`: another value for a variable of the plan, or for the key at a dotted path.
//! `brunt plan set` changes the text of the file.

use super::node::{NamedNode, PlanNode, PlanValue};
use super::{Yaml, edit, schema, yaml};
use crate::error::SourcePosition;
use crate::error::{SpecError, nearest};

/// Returns the changes of `--set` as a tree to merge into the plan.
pub(super) fn sets(words: &[String], plan: &PlanNode) -> Result<Option<PlanNode>, SpecError> {
    let mut all: Option<PlanNode> = None;
    for word in words {
        let change = parse_set(word, plan)?;
        match &mut all {
            Some(all) => all.merge(&change),
            None => all = Some(change),
        }
    }
    Ok(all)
}

fn parse_set(word: &str, plan: &PlanNode) -> Result<PlanNode, SpecError> {
    let at = SourcePosition::whole(&format!("--set {word}"));
    let (name, value) = assignment(word, &at)?;
    let path: Vec<&str> = if is_variable(name, plan) { vec!["vars", name] } else { path(name) };
    let first = path.first().copied().unwrap_or_default();
    if path.contains(&"") || !schema::top().iter().any(|key| key == first) {
        return Err(SpecError::new(&at, "", unknown(name, plan)));
    }
    let mut node = value;
    for key in path.iter().rev() {
        let entry = NamedNode { key: (*key).to_owned(), at: at.clone(), node };
        node = PlanNode { at: at.clone(), value: PlanValue::Map(vec![entry]) };
    }
    Ok(node)
}

/// Returns the text of a plan file with a value from `NAME=VALUE`. The name is a variable of the
/// plan, or a path as for [`edit`](fn@edit). An empty value removes the key. `file` is the name of
/// the file in errors.
///
/// # Errors
///
/// [`SpecError`] if the name is unknown, or the file cannot be changed at this place only.
pub fn set_in_text(text: &str, file: &str, word: &str) -> Result<String, SpecError> {
    let at = SourcePosition::whole(word);
    let (name, value) = assignment(word, &at)?;
    // An invalid file is an error of the edit, with its place.
    let plan = yaml::parse(text, file).unwrap_or_else(|_| PlanNode::empty(at.clone()));
    let path = if is_variable(name, &plan) { format!("vars[\"{name}\"]") } else { name.to_owned() };
    if !is_known(&path) {
        return Err(SpecError::new(&at, "", unknown(name, &plan)));
    }
    // Null removes the key from the text.
    let value = (value.value != PlanValue::Null).then(|| Yaml::from(&value));
    edit(text, file, &path, value.as_ref())
}

/// True if a path begins with a key of plan files, and continues with one if that
/// key has known keys.
fn is_known(path: &str) -> bool {
    let first = path.split(['.', '[']).next().unwrap_or_default();
    let keys = schema::keys();
    let is_section = path.len() > first.len() && keys.iter().any(|key| is_below(key, first));
    keys.iter().any(|key| (path == key || is_below(path, key)) && (!is_section || key != first))
}

fn is_below(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Splits `NAME=VALUE` into its name and value.
fn assignment<'w>(word: &'w str, at: &SourcePosition) -> Result<(&'w str, PlanNode), SpecError> {
    let pair = word.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = pair.ok_or_else(|| {
        SpecError::new(at, "", "not a pair; write NAME=VALUE, such as load.rate=100..500+50")
    })?;
    Ok((name.trim(), parse_value(value.trim(), at)?))
}

fn is_variable(name: &str, plan: &PlanNode) -> bool {
    plan.child("vars").and_then(|vars| vars.child(name)).is_some()
}

/// Splits a dotted path into keys. One key contains a dot.
fn path(name: &str) -> Vec<&str> {
    match name.strip_suffix(".http1.0") {
        // The only key with a dot in its name.
        Some(section) => section.split('.').chain(["http1.0"]).collect(),
        None => name.split('.').collect(),
    }
}

/// Reads a list or map in brackets; any other value is a text.
fn parse_value(value: &str, at: &SourcePosition) -> Result<PlanNode, SpecError> {
    // The three notations of null in YAML; null removes a key.
    if value.is_empty() || value == "null" || value == "~" {
        return Ok(PlanNode { at: at.clone(), value: PlanValue::Null });
    }
    // Any other value is not read as YAML, so it needs no quotes.
    if !value.starts_with(['[', '{']) {
        return Ok(PlanNode {
            at: at.clone(),
            value: PlanValue::Text { text: value.to_owned(), plain: true },
        });
    }
    let node = yaml::parse(value, "value").map_err(|e| SpecError::new(at, "", e.wrong))?;
    Ok(with_position(node, at))
}

fn with_position(mut node: PlanNode, at: &SourcePosition) -> PlanNode {
    node.at = at.clone();
    match &mut node.value {
        PlanValue::List(nodes) => {
            for node in nodes {
                *node = with_position(node.clone(), at);
            }
        }
        PlanValue::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.at = at.clone();
            entry.node = with_position(entry.node.clone(), at);
        }),
        PlanValue::Null | PlanValue::Text { .. } => {}
    }
    node
}

/// A variable of a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVariable {
    /// Name of the variable.
    pub name: String,
    /// Its value; None if that is a list or a map.
    pub value: Option<String>,
}

/// Variables of a plan file; empty if the file is invalid.
pub fn variables(source: &str) -> Vec<PlanVariable> {
    let plan = yaml::parse(source, "plan").ok();
    let vars = plan.as_ref().and_then(|plan| plan.child("vars"));
    let variable = |entry: &NamedNode| PlanVariable {
        name: entry.key.clone(),
        value: match &entry.node.value {
            PlanValue::Text { text, .. } => Some(text.clone()),
            PlanValue::Null => Some(String::new()),
            PlanValue::List(_) | PlanValue::Map(_) => None,
        },
    };
    vars.map_or(&[][..], PlanNode::entries).iter().map(variable).collect()
}

fn vars(plan: &PlanNode) -> Vec<String> {
    plan.child("vars")
        .map_or(&[][..], PlanNode::entries)
        .iter()
        .map(|entry| entry.key.clone())
        .collect()
}

fn unknown(name: &str, plan: &PlanNode) -> String {
    let vars = vars(plan);
    let keys = schema::keys();
    match nearest(name, vars.iter().chain(&keys).map(String::as_str)) {
        Some(near) => format!("unknown variable or key `{name}`; write {near}=…"),
        None if vars.is_empty() => {
            format!(
                "unknown key `{name}`, and the plan has no vars; write a key such as load.rate=500"
            )
        }
        None => format!(
            "unknown variable or key `{name}`; write one of {}, or a key such as load.rate=500",
            vars.join(", ")
        ),
    }
}
