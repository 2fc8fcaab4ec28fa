//! Finds the bottleneck of a contender's server from its trials at the highest loads.

use super::limits::ThroughputGrowth;
use brunt_model::analysis::{Bottleneck, Culprit};
use brunt_model::{Study, Trial};
use std::collections::BTreeMap;

/// Returns the bottleneck that most trials above the saturation point have, or those at the highest
/// load if saturation was not reached. A bottleneck that was found outweighs one that was not. Of
/// equal numbers, the one at the highest load wins.
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
    let mut candidates: Vec<(f64, &Bottleneck)> = study
        .trials_of(contender)
        .filter_map(|trial| Some((load(study, trial), trial.judgement.bottleneck.as_ref()?)))
        .filter(|(load, _)| *load >= from)
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut votes: BTreeMap<Culprit, usize> = BTreeMap::new();
    for (_, bottleneck) in &candidates {
        *votes.entry(bottleneck.culprit).or_default() += 1;
    }
    let votes_of = |bottleneck: &Bottleneck| votes.get(&bottleneck.culprit).copied().unwrap_or(0);
    candidates
        .into_iter()
        .map(|(_, bottleneck)| bottleneck)
        .max_by_key(|bottleneck| (bottleneck.culprit != Culprit::NotFound, votes_of(bottleneck)))
        .cloned()
}

fn load(study: &Study, trial: &Trial) -> f64 {
    study.experiment.step(trial.place).map_or(0.0, |step| step.load)
}
