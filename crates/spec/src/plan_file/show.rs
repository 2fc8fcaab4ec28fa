//! Writes the resolved plan as a plan file: the common keys of all contenders once, and
//! the differences of each.

use super::NO_FOLDER;
use super::resolve::ResolvedPlan;
use crate::estimate;
use crate::plan::{self, NamedNode, PlanFile, PlanNode, PlanValue, SourcePosition, Yaml};
use brunt_model::Experiment;
use brunt_model::experiment::TrialOrder;

/// Comment about the name of the folder.
const FOLDER_NOTE: &str =
    "# /tmp/brunt-XXXXXX: the folder of the experiment (${dir}), a new one for each run\n";

/// Returns the plan as YAML.
pub fn yaml(file: &PlanFile, loaded: &ResolvedPlan) -> String {
    let tree = Yaml::from(&tree(file, &loaded.experiment)).write();
    // The folder is created only for a run, so a placeholder is shown.
    let folder = if tree.contains(NO_FOLDER) { FOLDER_NOTE } else { "" };
    format!("# {}\n{folder}{tree}", estimate::sentence(&loaded.experiment))
}

/// Returns the plan as JSON.
pub fn json(file: &PlanFile, loaded: &ResolvedPlan) -> String {
    format!("{:#}\n", plan::json(&tree(file, &loaded.experiment)))
}

fn tree(file: &PlanFile, experiment: &Experiment) -> PlanNode {
    let all: Vec<&PlanNode> = file.contenders.iter().map(|contender| &contender.resolved).collect();
    let at = &all.first().map_or_else(|| SourcePosition::whole("plan"), |node| node.at.clone());
    let order = match experiment.order {
        TrialOrder::Interleaved => "interleaved",
        TrialOrder::Blocks => "blocks",
        TrialOrder::Random => "random",
    };
    let cooldown = format!("{}s", experiment.cooldown.as_secs_f64());
    let mut entries = vec![
        text_entry("name", &experiment.name, at),
        text_entry("repetitions", &experiment.repetitions.to_string(), at),
        text_entry("order", order, at),
        text_entry("cooldown", &cooldown, at),
    ];
    if !experiment.about.is_empty() {
        entries.insert(1, text_entry("about", &experiment.about, at));
    }
    for (section, keys) in [("compare", &file.compare), ("find", &file.find)] {
        let Some(keys) = keys else { continue };
        let entries_below =
            keys.iter().map(|keyed| entry(&keyed.key[section.len() + 1..], keyed.node.clone(), at));
        entries.push(entry(section, map(entries_below.collect(), at), at));
    }
    entries.extend(file.outputs.iter().map(|outputs| entry("outputs", outputs.node.clone(), at)));
    // Keys with equal values in all contenders are shown once.
    let common = common(&all);
    entries.extend(common.iter().flat_map(|node| node.entries().iter().cloned()));
    if all.len() > 1 {
        let contenders = file.contenders.iter().map(|contender| {
            let differences = differences(&contender.resolved, common.as_ref());
            entry(&contender.name, differences.unwrap_or_else(|| map(Vec::new(), at)), at)
        });
        entries.push(entry("contenders", map(contenders.collect(), at), at));
    }
    map(entries, at)
}

fn map(entries: Vec<NamedNode>, at: &SourcePosition) -> PlanNode {
    PlanNode { at: at.clone(), value: PlanValue::Map(entries) }
}

fn entry(key: &str, node: PlanNode, at: &SourcePosition) -> NamedNode {
    NamedNode { key: key.to_owned(), at: at.clone(), node }
}

fn text_entry(key: &str, text: &str, at: &SourcePosition) -> NamedNode {
    let value = PlanValue::Text { text: text.to_owned(), plain: true };
    entry(key, PlanNode { at: at.clone(), value }, at)
}

/// The common part of several trees; None if they have nothing in common.
fn common(all: &[&PlanNode]) -> Option<PlanNode> {
    let (first, others) = all.split_first()?;
    if others.iter().all(|other| same(first, other)) {
        return Some((*first).clone());
    }
    if !all.iter().all(|node| matches!(node.value, PlanValue::Map(_))) {
        return None;
    }
    let mut entries = Vec::new();
    for entry in first.entries() {
        let nodes: Option<Vec<&PlanNode>> = all.iter().map(|node| node.child(&entry.key)).collect();
        if let Some(node) = nodes.and_then(|nodes| common(&nodes)) {
            entries.push(NamedNode { node, ..entry.clone() });
        }
    }
    (!entries.is_empty()).then(|| PlanNode { at: first.at.clone(), value: PlanValue::Map(entries) })
}

/// The part of a tree that differs from the common part; None if there is no difference.
fn differences(node: &PlanNode, common: Option<&PlanNode>) -> Option<PlanNode> {
    let Some(common) = common else { return Some(node.clone()) };
    let PlanValue::Map(entries) = &node.value else {
        return (!same(node, common)).then(|| node.clone());
    };
    let mut different = Vec::new();
    for entry in entries {
        if let Some(node) = differences(&entry.node, common.child(&entry.key)) {
            different.push(NamedNode { node, ..entry.clone() });
        }
    }
    (!different.is_empty()).then(|| map(different, &node.at))
}

/// True if two trees have the same values, at any places.
fn same(one: &PlanNode, other: &PlanNode) -> bool {
    match (&one.value, &other.value) {
        (PlanValue::List(nodes), PlanValue::List(others)) => {
            nodes.len() == others.len() && nodes.iter().zip(others).all(|(a, b)| same(a, b))
        }
        (PlanValue::Map(entries), PlanValue::Map(others)) => {
            // The order of keys has no meaning.
            entries.len() == others.len()
                && entries.iter().all(|entry| {
                    other.child(&entry.key).is_some_and(|node| same(&entry.node, node))
                })
        }
        (value, other_value) => value == other_value,
    }
}
