//! Tests of sweeps with known answers: a published table, formulas, a queue.

mod closed;
mod coverage;
mod published;
mod queue;
mod repeated;
mod studies;
mod whatever;

use super::*;
use brunt_model::analysis::{BandedFigure, LimitKind, LoadLimit};
use brunt_model::{LoadUnit, Observation, Observations};

/// Observations of open loops.
fn open(contenders: &[&str], observations: Vec<Observation>) -> Observations {
    Observations {
        contenders: contenders.iter().map(|name| (*name).to_owned()).collect(),
        factors: Vec::new(),
        unit: LoadUnit::PerSecond,
        observations,
        objectives: Vec::new(),
        notes: Vec::new(),
    }
}

/// The limit of a kind.
fn limit(of: &ContenderAnalysis, kind: LimitKind) -> &LoadLimit {
    of.limits
        .iter()
        .find(|limit| limit.kind == kind)
        .unwrap_or_else(|| panic!("no {kind:?}: {of:?}"))
}

/// The value of a limit.
fn at(of: &ContenderAnalysis, kind: LimitKind) -> BandedFigure {
    let limit = limit(of, kind);
    limit.at.unwrap_or_else(|| panic!("{limit:?}"))
}

/// The sentences of a rule.
fn said<'a>(analysis: &'a Analysis, rule: &str) -> Vec<&'a str> {
    let all = analysis.conclusions.iter().chain(&analysis.findings);
    all.filter(|finding| finding.rule == rule).map(|finding| &finding.sentence[..]).collect()
}
