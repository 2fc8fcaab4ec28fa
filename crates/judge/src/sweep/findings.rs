//! Findings on a sweep, one rule for each.
//!
//! Out of scope: the limits themselves, and findings on single runs (`explain`). docs/findings.md
//! documents the same rules.

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

/// Input of the rules.
struct Facts<'a> {
    /// All observations.
    observations: &'a Observations,
    /// The usable observations, by contender.
    trials: &'a [Trials<'a>],
    /// The analyses, by contender.
    contenders: &'a [ContenderAnalysis],
    /// The command line of the study.
    command: RunCommand<'a>,
    /// Comparisons of two contenders, by load.
    pairs: &'a [Pair],
}

/// A rule: its stable name, and a function that returns its findings.
type Rule = (&'static str, fn(&Facts) -> Vec<Remark>);

/// Doubts about the conclusions, one row for each rule. They are sorted by weight; of equal weight,
/// the earlier row comes first.
const DOUBTS: &[Rule] = &[
    ("trials_left_out", doubts::excluded),
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

/// Returns the analysis, with its conclusions and findings.
pub fn analysis(
    observations: &Observations,
    trials: &[Trials],
    contenders: Vec<ContenderAnalysis>,
    pairs: Vec<Pair>,
    command: RunCommand,
) -> Analysis {
    let facts = Facts { observations, trials, contenders: &contenders, command, pairs: &pairs };
    let conclusions = apply(conclusions::RULES, &facts);
    let mut findings = apply(DOUBTS, &facts);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    Analysis { conclusions, contenders, findings, pairs, ..Analysis::default() }
}

fn apply(rules: &[Rule], facts: &Facts) -> Vec<Finding> {
    rules
        .iter()
        .flat_map(|(name, find)| find(facts).into_iter().map(|remark| remark.into_finding(name)))
        .collect()
}

/// Returns the limit of this kind, if it has a value.
fn limit(contender: &ContenderAnalysis, kind: LimitKind) -> Option<(&LoadLimit, BandedFigure)> {
    let limit = contender.limits.iter().find(|limit| limit.kind == kind)?;
    Some((limit, limit.at?))
}
