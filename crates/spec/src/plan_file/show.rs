//! The resolved plan as a plan file again: what all contenders have in common once, and what differs at each.

use super::NO_FOLDER;
use super::resolve::Loaded;
use crate::estimate;
use crate::plan::{self, Entry, Keyed, Node, PlanFile, Position, Value, Yaml};
use brunt_model::Experiment;
use brunt_model::experiment::TrialOrder;

/// Explains the name of the folder.
const FOLDER_NOTE: &str = "# /tmp/brunt-XXXXXX: the folder of the experiment (${dir}), a new one for each run\n";

/// As YAML.
pub fn yaml(file: &PlanFile, loaded: &Loaded) -> String {
    let tree = Yaml::from(&tree(file, &loaded.experiment)).write();
    let folder = if tree.contains(NO_FOLDER) { FOLDER_NOTE } else { "" };
    format!("# {}\n{folder}{tree}", estimate::sentence(&loaded.experiment))
}

/// As JSON.
pub fn json(file: &PlanFile, loaded: &Loaded) -> String {
    format!("{:#}\n", plan::json(&tree(file, &loaded.experiment)))
}

fn tree(file: &PlanFile, experiment: &Experiment) -> Node {
    let all: Vec<&Node> = file.contenders.iter().map(|contender| &contender.resolved).collect();
    let at = &all.first().map_or_else(|| Position::whole("plan"), |node| node.at.clone());
    let text = |text: &str| Node { at: at.clone(), value: Value::Text { text: text.to_owned(), plain: true } };
    let entry = |key: &str, node: Node| Entry { key: key.to_owned(), at: at.clone(), node };
    let order = match experiment.order {
        TrialOrder::Interleaved => "interleaved",
        TrialOrder::Blocks => "blocks",
        TrialOrder::Random => "random",
    };
    let cooldown = format!("{}s", experiment.cooldown.as_secs_f64());
    let mut entries = vec![
        entry("name", text(&experiment.name)),
        entry("repetitions", text(&experiment.repetitions.to_string())),
        entry("order", text(order)),
        entry("cooldown", text(&cooldown)),
    ];
    if !experiment.about.is_empty() {
        entries.insert(1, entry("about", text(&experiment.about)));
    }
    for (section, keys) in [("compare", &file.compare), ("find", &file.find)] {
        let Some(keys) = keys else { continue };
        let below = |keyed: &Keyed| entry(&keyed.key[section.len() + 1..], keyed.node.clone());
        let value = Value::Map(keys.iter().map(below).collect());
        entries.push(entry(section, Node { at: at.clone(), value }));
    }
    entries.extend(file.outputs.iter().map(|outputs| entry("outputs", outputs.node.clone())));
    let common = common(&all);
    entries.extend(common.iter().flat_map(|node| node.entries().iter().cloned()));
    if all.len() > 1 {
        let own = |contender: &plan::Planned| {
            let own = beyond(&contender.resolved, common.as_ref());
            entry(&contender.name, own.unwrap_or_else(|| Node { at: at.clone(), value: Value::Map(Vec::new()) }))
        };
        let contenders = file.contenders.iter().map(own).collect();
        entries.push(entry("contenders", Node { at: at.clone(), value: Value::Map(contenders) }));
    }
    Node { at: at.clone(), value: Value::Map(entries) }
}

/// What several trees have in common.
fn common(all: &[&Node]) -> Option<Node> {
    let (first, others) = all.split_first()?;
    if others.iter().all(|other| same(first, other)) {
        return Some((*first).clone());
    }
    if !all.iter().all(|node| matches!(node.value, Value::Map(_))) {
        return None;
    }
    let shared = |entry: &Entry| {
        let nodes = all.iter().map(|node| node.child(&entry.key)).collect::<Option<Vec<_>>>()?;
        Some(Entry { node: common(&nodes)?, ..entry.clone() })
    };
    let entries: Vec<Entry> = first.entries().iter().filter_map(shared).collect();
    (!entries.is_empty()).then(|| Node { at: first.at.clone(), value: Value::Map(entries) })
}

/// What a tree has beyond what it has in common with others; None: nothing.
fn beyond(node: &Node, common: Option<&Node>) -> Option<Node> {
    let Some(common) = common else { return Some(node.clone()) };
    let Value::Map(entries) = &node.value else { return (!same(node, common)).then(|| node.clone()) };
    let own = |entry: &Entry| Some(Entry { node: beyond(&entry.node, common.child(&entry.key))?, ..entry.clone() });
    let own: Vec<Entry> = entries.iter().filter_map(own).collect();
    (!own.is_empty()).then(|| Node { at: node.at.clone(), value: Value::Map(own) })
}

/// Whether two trees say the same, wherever they were written.
fn same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::List(own), Value::List(others)) => {
            own.len() == others.len() && own.iter().zip(others).all(|(a, b)| same(a, b))
        }
        (Value::Map(own), Value::Map(others)) => {
            own.len() == others.len()
                && own.iter().all(|entry| other.child(&entry.key).is_some_and(|node| same(&entry.node, node)))
        }
        (own, others) => own == others,
    }
}
