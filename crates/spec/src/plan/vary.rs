//! The plans of all contenders, from one plan and its overrides: by the value of a variable,
//! by contender, by factor.

use super::fill::{FillInputs, Scope, UnknownNames};
use super::node::{NamedNode, PlanNode, PlanValue};
use crate::error::SourcePosition;
use crate::error::{SpecError, nearest};

/// Maximum number of contenders.
const MAX_CONTENDERS: usize = 1000;

/// Keys of the whole experiment, which contenders cannot override.
// A contender cannot override them, because the experiment has one value of each.
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
    pub at: SourcePosition,
    pub tree: PlanNode,
}

/// Applies the overrides of `choose` for the values of variables, in their order.
pub(super) fn choose(plan: &mut PlanNode, inputs: FillInputs<'_>) -> Result<(), SpecError> {
    let Some(choices) = plan.child("choose").cloned() else { return Ok(()) };
    for choice in map(&choices, "choose")? {
        let path = format!("choose.{}", choice.key);
        let vars = plan.child("vars");
        let value = Scope { vars, inputs, contender: None, unknown: UnknownNames::Error }
            .variable(&choice.key)?;
        let Some(value) = value else {
            let names =
                vars.map_or(&[][..], PlanNode::entries).iter().map(|entry| entry.key.as_str());
            let instead = nearest(&choice.key, names)
                .map_or("write it below vars".into(), |near| format!("write {near}"));
            return Err(SpecError::new(&choice.at, path, format!("unknown variable; {instead}")));
        };
        // Checked even if the value is not chosen, so that a mistake shows at once.
        map(&choice.node, &path)?;
        if let Some(over) = choice.node.child(&value) {
            map(over, &format!("{path}.{value}"))?;
            plan.merge(over);
        }
    }
    Ok(())
}

/// Creates the contenders, each with its whole plan. `default_name` is the name of the contender of
/// a plan without contenders and factors.
pub(super) fn variants(plan: &PlanNode, default_name: &str) -> Result<Vec<Variant>, SpecError> {
    let mut base = plan.clone();
    if let PlanValue::Map(entries) = &mut base.value {
        entries.retain(|entry| !["contenders", "factors"].contains(&entry.key.as_str()));
    }
    // The plan itself is the one variant if nothing varies.
    let mut all =
        vec![Variant { name: String::new(), factors: Vec::new(), at: plan.at.clone(), tree: base }];
    let contenders = plan.child("contenders");
    let factors = plan.child("factors");
    if let Some(levels) = contenders {
        // With factors, the contenders are the levels of a factor, too.
        let factor = factors.map(|_| "contender");
        all = product(&all, factor, levels, "contenders")?;
    }
    for factor in factors.map_or(Ok(&[][..]), |node| map(node, "factors"))? {
        all = product(&all, Some(&factor.key), &factor.node, &format!("factors.{}", factor.key))?;
    }
    if contenders.is_none() && factors.is_none() {
        default_name.clone_into(&mut all[0].name);
    }
    match all
        .iter()
        .enumerate()
        .find(|(n, one)| all[..*n].iter().any(|other| other.name == one.name))
    {
        Some((_, one)) => Err(SpecError::new(
            &one.at,
            "",
            format!("two contenders have the name `{}`; give one level another name", one.name),
        )),
        None => Ok(all),
    }
}

/// Combines each variant with each level.
fn product(
    all: &[Variant],
    factor: Option<&str>,
    levels: &PlanNode,
    path: &str,
) -> Result<Vec<Variant>, SpecError> {
    let entries = map(levels, path)?;
    if entries.is_empty() {
        return Err(SpecError::new(
            &levels.at,
            path,
            "it is empty; write a name with its overrides, or leave it out",
        ));
    }
    // Each contender gets a copy of the plan, so their number is checked before that.
    let count = all.len() * entries.len();
    if count > MAX_CONTENDERS {
        return Err(SpecError::new(
            &levels.at,
            path,
            format!(
                "the plan has {count} contenders (maximum: {MAX_CONTENDERS}); write fewer levels"
            ),
        ));
    }
    for level in entries {
        check_overrides(level, &format!("{path}.{}", level.key))?;
    }
    Ok(all
        .iter()
        .flat_map(|one| entries.iter().map(move |level| with_level(one, factor, level)))
        .collect())
}

fn with_level(variant: &Variant, factor: Option<&str>, level: &NamedNode) -> Variant {
    let mut new = variant.clone();
    new.name = [variant.name.as_str(), &level.key]
        .iter()
        .filter(|name| !name.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    new.factors.extend(factor.map(|factor| (factor.to_owned(), level.key.clone())));
    new.at = level.at.clone();
    // A level without overrides is the plan as it is.
    if level.node.value != PlanValue::Null {
        new.tree.merge(&level.node);
    }
    new
}

/// Checks the overrides of a level: they are null or a map, without keys of the whole experiment.
fn check_overrides(level: &NamedNode, path: &str) -> Result<(), SpecError> {
    if level.node.value == PlanValue::Null {
        return Ok(());
    }
    let entries = map(&level.node, path)?;
    let key = entries
        .iter()
        .find(|entry| OF_THE_WHOLE.contains(&entry.key.as_str()))
        .map(|entry| (entry.key.clone(), &entry.at));
    match key
        .or_else(|| experiment_hook(level, "before"))
        .or_else(|| experiment_hook(level, "after"))
    {
        Some((key, at)) => Err(SpecError::new(
            at,
            format!("{path}.{key}"),
            "it is the same for all contenders; write it at the top of the plan",
        )),
        None => Ok(()),
    }
}

/// The key and the place of a hook around the whole experiment, among the overrides of a level.
fn experiment_hook<'n>(level: &'n NamedNode, when: &str) -> Option<(String, &'n SourcePosition)> {
    let key = format!("hooks.{when}.experiment");
    let node = level.node.below(&key)?;
    Some((key, &node.at))
}

/// Entries of a map; any other value is an error.
pub(super) fn map<'a>(node: &'a PlanNode, path: &str) -> Result<&'a [NamedNode], SpecError> {
    match &node.value {
        PlanValue::Map(entries) => Ok(entries),
        PlanValue::Null => Ok(&[]),
        _ => Err(SpecError::new(
            &node.at,
            path,
            format!("{} instead of a map; write `name: …` below it", node.kind()),
        )),
    }
}
