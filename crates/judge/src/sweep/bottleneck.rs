//! Finds the bottleneck of a contender's server from its trials at the highest loads.

use super::limits::ThroughputGrowth;
use brunt_model::analysis::{Bottleneck, Culprit};
use brunt_model::{Study, Trial};
use std::collections::BTreeMap;

/// Where a trial met its limit.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Server,
    Generator,
    /// Unknown, or no limit.
    NotFound,
}

/// Returns the bottleneck of the trials above the saturation point, or of those at the highest load
/// if saturation was not reached. More than half of these trials must have it on one side. Of the
/// server's bottlenecks, the most frequent one wins; of equal numbers, the one at the highest load.
pub fn of_contender(
    study: &Study,
    contender: usize,
    growth: ThroughputGrowth,
) -> Option<Bottleneck> {
    let highest = study.trials_of(contender).map(|trial| load(study, trial)).fold(0.0, f64::max);
    // Only under saturation does the bottleneck limit the throughput.
    let from = match growth {
        ThroughputGrowth::Ends { from, .. } => from,
        ThroughputGrowth::Flat { .. } => 0.0,
        ThroughputGrowth::Continues | ThroughputGrowth::Unknown => highest,
    };
    let mut trials: Vec<&Trial> =
        study.trials_of(contender).filter(|trial| load(study, trial) >= from).collect();
    trials.sort_by(|a, b| load(study, a).total_cmp(&load(study, b)));
    let majority = [Side::Server, Side::Generator]
        .into_iter()
        .find(|of| trials.iter().filter(|trial| side(trial) == *of).count() * 2 > trials.len())
        .unwrap_or(Side::NotFound);
    let candidates: Vec<&Bottleneck> = trials
        .into_iter()
        .filter(|trial| side(trial) == majority)
        .filter_map(|trial| trial.judgement.bottleneck.as_ref())
        .collect();
    let mut votes: BTreeMap<Culprit, usize> = BTreeMap::new();
    for bottleneck in &candidates {
        *votes.entry(bottleneck.culprit).or_default() += 1;
    }
    let votes_of = |bottleneck: &Bottleneck| votes.get(&bottleneck.culprit).copied().unwrap_or(0);
    candidates.into_iter().max_by_key(|bottleneck| votes_of(bottleneck)).cloned()
}

fn side(trial: &Trial) -> Side {
    match trial.judgement.bottleneck.as_ref().map(|bottleneck| bottleneck.culprit) {
        None | Some(Culprit::NotFound) => Side::NotFound,
        Some(Culprit::Generator) => Side::Generator,
        Some(_) => Side::Server,
    }
}

fn load(study: &Study, trial: &Trial) -> f64 {
    study.experiment.step(trial.place).map_or(0.0, |step| step.load)
}
