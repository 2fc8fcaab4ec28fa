//! The plans of all contenders, from one plan and its overrides: by the value of a variable, by contender, by factor.

use super::fill::{PlanInputs, Scope, Unknown};
use super::node::{Entry, Node, Value};
use crate::error::Position;
use crate::error::{SpecError, nearest};

/// The most contenders.
const MOST: usize = 1000;

/// Keys of the whole experiment: no contender has its own.
pub(super) const OF_THE_WHOLE: [&str; 12] = [
    "name",
    "about",
    "ports",
    "choose",
    "repetitions",
    "compare",
    "order",
    "cooldown",
    "find",
    "outputs",
    "contenders",
    "factors",
];

/// A contender's name, its level of each factor, and the plan with its overrides.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub name: String,
    pub factors: Vec<(String, String)>,
    pub at: Position,
    pub tree: Node,
}

/// Lays over the plan what `choose` says for the values of variables, in the order in which it stands there.
pub(super) fn choose(plan: &mut Node, given: PlanInputs<'_>) -> Result<(), SpecError> {
    let Some(choices) = plan.child("choose").cloned() else { return Ok(()) };
    for choice in map(&choices, "choose")? {
        let path = format!("choose.{}", choice.key);
        let vars = plan.child("vars");
        let value = Scope { vars, given, who: None, unknown: Unknown::Refused }.variable(&choice.key)?;
        let Some(value) = value else {
            let names = vars.map_or(&[][..], Node::entries).iter().map(|entry| entry.key.as_str());
            let instead =
                nearest(&choice.key, names).map_or("write it below vars".into(), |near| format!("write {near}"));
            return Err(SpecError::new(&choice.at, path, format!("unknown variable; {instead}")));
        };
        map(&choice.node, &path)?;
        if let Some(over) = choice.node.child(&value) {
            map(over, &format!("{path}.{value}"))?;
            plan.merge(over);
        }
    }
    Ok(())
}

/// The contenders, each with the whole plan as it is for it. `usual` is the name of the only one.
pub(super) fn variants(plan: &Node, usual: &str) -> Result<Vec<Variant>, SpecError> {
    let mut base = plan.clone();
    if let Value::Map(entries) = &mut base.value {
        entries.retain(|entry| !["contenders", "factors"].contains(&entry.key.as_str()));
    }
    let mut all = vec![Variant { name: String::new(), factors: Vec::new(), at: plan.at.clone(), tree: base }];
    let (contenders, factors) = (plan.child("contenders"), plan.child("factors"));
    if let Some(levels) = contenders {
        let factor = factors.map(|_| "contender");
        all = product(&all, factor, levels, "contenders")?;
    }
    for factor in factors.map_or(Ok(&[][..]), |node| map(node, "factors"))? {
        all = product(&all, Some(&factor.key), &factor.node, &format!("factors.{}", factor.key))?;
    }
    if contenders.is_none() && factors.is_none() {
        usual.clone_into(&mut all[0].name);
    }
    match all.iter().enumerate().find(|(n, one)| all[..*n].iter().any(|other| other.name == one.name)) {
        Some((_, one)) => Err(SpecError::new(
            &one.at,
            "",
            format!("two contenders have the name `{}`; give one level another name", one.name),
        )),
        None => Ok(all),
    }
}

/// Each variant with each level.
fn product(all: &[Variant], factor: Option<&str>, levels: &Node, path: &str) -> Result<Vec<Variant>, SpecError> {
    let entries = map(levels, path)?;
    if entries.is_empty() {
        return Err(SpecError::new(&levels.at, path, "it is empty; write a name with its overrides, or leave it out"));
    }
    let count = all.len() * entries.len();
    if count > MOST {
        return Err(SpecError::new(
            &levels.at,
            path,
            format!("the plan has {count} contenders (maximum: {MOST}); write fewer levels"),
        ));
    }
    for level in entries {
        overrides(level, &format!("{path}.{}", level.key))?;
    }
    let with = |one: &Variant, level: &Entry| {
        let mut new = one.clone();
        new.name = [one.name.as_str(), &level.key]
            .iter()
            .filter(|name| !name.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        new.factors.extend(factor.map(|factor| (factor.to_owned(), level.key.clone())));
        new.at = level.at.clone();
        if level.node.value != Value::Null {
            new.tree.merge(&level.node);
        }
        new
    };
    Ok(all.iter().flat_map(|one| entries.iter().map(move |level| with(one, level))).collect())
}

/// Overrides are a map, or nothing, and of the contender's own keys.
fn overrides(level: &Entry, path: &str) -> Result<(), SpecError> {
    if level.node.value == Value::Null {
        return Ok(());
    }
    let entries = map(&level.node, path)?;
    let hook = |when: &str| {
        level.node.below(&format!("hooks.{when}.experiment")).map(|node| (format!("hooks.{when}.experiment"), &node.at))
    };
    let key = entries
        .iter()
        .find(|entry| OF_THE_WHOLE.contains(&entry.key.as_str()))
        .map(|entry| (entry.key.clone(), &entry.at));
    match key.or_else(|| hook("before")).or_else(|| hook("after")) {
        Some((key, at)) => Err(SpecError::new(
            at,
            format!("{path}.{key}"),
            "it is the same for all contenders; write it at the top of the plan",
        )),
        None => Ok(()),
    }
}

/// The entries of a map; anything else is an error.
pub(super) fn map<'a>(node: &'a Node, path: &str) -> Result<&'a [Entry], SpecError> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        Value::Null => Ok(&[]),
        _ => Err(SpecError::new(&node.at, path, format!("{} instead of a map; write `name: …` below it", node.kind()))),
    }
}
