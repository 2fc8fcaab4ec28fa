//! What a reader of a sweep should be told, a rule each.
//!
//! Out of scope: the limits themselves, and what is told of single runs (`explain`). docs/findings.md has the same rules
//! for users.

mod answers;
mod doubts;

use super::trials::Trials;
use crate::explain::Remark;
use crate::explain::command::RunCommand;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, LimitKind, LoadLimit};
use brunt_model::finding::Finding;
use brunt_model::{Analysis, Observations};
use std::cmp::Reverse;

/// What the rules look at.
struct Facts<'a> {
    /// All that was seen.
    seen: &'a Observations,
    /// What of it can stand beside others, by contender.
    trials: &'a [Trials<'a>],
    /// What was decided, by contender.
    contenders: &'a [ContenderAnalysis],
    /// The command line of the study.
    command: RunCommand<'a>,
}

/// A rule: a name that does not change, and what finds it, once for each contender or once.
type Rule = (&'static str, fn(&Facts) -> Vec<Remark>);

/// What the sweep was made for, a row a rule, told in this order.
const ANSWERS: &[Rule] =
    &[("capacity", answers::capacity), ("difference", answers::difference), ("bottleneck", answers::bottleneck)];

/// What must be said with it, a row a rule: the gravest first, and of equal weight the earlier.
const DOUBTS: &[Rule] = &[
    ("trials_left_out", doubts::left_out),
    ("generator_limited", doubts::generator_limited),
    ("busy_machine", doubts::busy_machine),
    ("unexplained", doubts::unexplained),
    ("idle_users", doubts::idle_users),
    ("outliers", doubts::outliers),
    ("throughput_falls", answers::falls),
    ("not_robust", doubts::not_robust),
    ("few_repetitions", doubts::few_repetitions),
    ("few_loads", doubts::few_loads),
    ("source", doubts::source),
];

/// Names of all findings on a sweep.
pub fn names() -> impl Iterator<Item = &'static str> {
    ANSWERS.iter().chain(DOUBTS).map(|(name, _)| *name)
}

/// The analysis, with its findings.
pub fn told(
    seen: &Observations,
    trials: &[Trials],
    contenders: Vec<ContenderAnalysis>,
    command: RunCommand,
) -> Analysis {
    let facts = Facts { seen, trials, contenders: &contenders, command };
    let mut findings = found(ANSWERS, &facts);
    let mut doubts = found(DOUBTS, &facts);
    doubts.sort_by_key(|finding| Reverse(finding.weight));
    findings.append(&mut doubts);
    Analysis { contenders, findings, ..Analysis::default() }
}

fn found(rules: &[Rule], facts: &Facts) -> Vec<Finding> {
    rules.iter().flat_map(|(name, find)| find(facts).into_iter().map(|said| said.under(name))).collect()
}

/// The limit of that kind.
fn limit(of: &ContenderAnalysis, kind: LimitKind) -> Option<(&LoadLimit, BandedFigure)> {
    let limit = of.limits.iter().find(|limit| limit.kind == kind)?;
    Some((limit, limit.at?))
}

/// `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
