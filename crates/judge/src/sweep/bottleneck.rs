//! What limited a contender's server: what its trials at the highest loads say.

use super::limits::Growth;
use brunt_model::analysis::{Bottleneck, Culprit};
use brunt_model::{Study, Trial};
use std::collections::BTreeMap;

/// What most trials behind the saturation point name, or those at the highest load where it was not reached. Something
/// found outweighs nothing found; of equal numbers, the one at the highest load counts.
pub fn of(study: &Study, contender: usize, growth: Growth) -> Option<Bottleneck> {
    let highest = study.of(contender).map(|trial| load(study, trial)).fold(0.0, f64::max);
    let from = match growth {
        Growth::Ends { from, .. } => from,
        Growth::Flat { .. } => 0.0,
        Growth::Goes | Growth::Unknown => highest,
    };
    let mut named: Vec<(f64, &Bottleneck)> = study
        .of(contender)
        .filter_map(|trial| Some((load(study, trial), trial.judgement.bottleneck.as_ref()?)))
        .filter(|(load, _)| *load >= from)
        .collect();
    named.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut votes: BTreeMap<Culprit, usize> = BTreeMap::new();
    for (_, bottleneck) in &named {
        *votes.entry(bottleneck.culprit).or_default() += 1;
    }
    let weight = |b: &Bottleneck| (b.culprit != Culprit::NotFound, votes.get(&b.culprit).copied().unwrap_or(0));
    named.into_iter().map(|(_, bottleneck)| bottleneck).max_by_key(|bottleneck| weight(bottleneck)).cloned()
}

fn load(study: &Study, trial: &Trial) -> f64 {
    study.experiment.step(trial.place).map_or(0.0, |step| step.load)
}
