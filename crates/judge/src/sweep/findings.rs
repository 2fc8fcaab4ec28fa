//! What a reader of a sweep should be told, a rule each.
//!
//! Out of scope: the limits themselves, and what is told of single runs (`explain`). docs/findings.md has the same rules
//! for users.

mod conclusions;
mod doubts;

use super::trials::Trials;
use crate::explain::Remark;
use crate::explain::command::RunCommand;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, LimitKind, LoadLimit};
use brunt_model::comparison::Pair;
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
    /// The contenders beside each other, by load.
    pairs: &'a [Pair],
}

/// A rule: a name that does not change, and what finds it, once for each contender or once.
type Rule = (&'static str, fn(&Facts) -> Vec<Remark>);

/// What must be said beside the conclusions, a row a rule: the gravest first, and of equal weight the earlier.
const DOUBTS: &[Rule] = &[
    ("trials_left_out", doubts::left_out),
    ("generator_limited", doubts::generator_limited),
    ("busy_machine", doubts::busy_machine),
    ("unexplained", doubts::unexplained),
    ("idle_users", doubts::idle_users),
    ("outliers", doubts::outliers),
    ("throughput_falls", doubts::falls),
    ("not_robust", doubts::not_robust),
    ("few_repetitions", doubts::few_repetitions),
    ("few_loads", doubts::few_loads),
    ("source", doubts::source),
];

/// Names of all findings on a sweep.
pub fn names() -> impl Iterator<Item = &'static str> {
    conclusions::RULES.iter().chain(DOUBTS).map(|(name, _)| *name)
}

/// The analysis, with its conclusions and findings.
pub fn told(
    seen: &Observations,
    trials: &[Trials],
    contenders: Vec<ContenderAnalysis>,
    pairs: Vec<Pair>,
    command: RunCommand,
) -> Analysis {
    let facts = Facts { seen, trials, contenders: &contenders, command, pairs: &pairs };
    let conclusions = found(conclusions::RULES, &facts);
    let mut findings = found(DOUBTS, &facts);
    findings.sort_by_key(|finding| Reverse(finding.weight));
    Analysis { conclusions, contenders, findings, pairs, ..Analysis::default() }
}

fn found(rules: &[Rule], facts: &Facts) -> Vec<Finding> {
    rules.iter().flat_map(|(name, find)| find(facts).into_iter().map(|said| said.under(name))).collect()
}

/// The limit of that kind.
fn limit(of: &ContenderAnalysis, kind: LimitKind) -> Option<(&LoadLimit, BandedFigure)> {
    let limit = of.limits.iter().find(|limit| limit.kind == kind)?;
    Some((limit, limit.at?))
}
