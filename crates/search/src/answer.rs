//! Builds the answer of a search from its trials.
//!
//! The bottleneck is not known here. The caller, which has the runs, adds it and then creates the
//! sentence of the [`CapacityResult`] again.

use crate::drift::Drift;
use crate::limits::limits;
use crate::search::{PastTrial, Search};
use crate::summary::TrialSummary;
use crate::{capacity, recovery, sentence};
use brunt_model::answer::{Capacity, Estimate, SearchEnd, SearchTrial};
use brunt_model::question::TrialPurpose;
use brunt_model::{CapacityResult, Text};

/// Returns the answer of a search for one contender.
pub fn answer(
    search: &Search,
    contender: &str,
    trials: &[TrialSummary],
    history: &[PastTrial],
    ended: SearchEnd,
) -> CapacityResult {
    let states = history.last().map(|past| past.states.clone()).unwrap_or_default();
    let limit = trials.iter().filter_map(|trial| trial.limited.as_ref()).next_back();
    let value = states.first().and_then(|state| state.at.value);
    let drift = value.and_then(|at| capacity::drift(search, trials, history, at));
    let capacities = search.find.objectives.iter().enumerate().map(|(set, objectives)| {
        let state = states.get(set);
        let at =
            state.map(|state| widened(state.at, drift.filter(|_| set == 0))).unwrap_or_default();
        let sentence = if state.is_some_and(|state| state.is_stalled) {
            sentence::stalled(at, search.unit)
        } else {
            sentence::capacity(at, search.unit, ended, limit)
        };
        Capacity { objectives: objectives.clone(), at, sentence }
    });
    // The recovery trial shows a server that is still busy with its overload.
    let without_recovery: Vec<TrialSummary> = trials
        .iter()
        .zip(history)
        .filter(|(_, past)| past.purpose != TrialPurpose::Recovery)
        .map(|(trial, _)| trial.clone())
        .collect();
    let limits = limits(&without_recovery, search.unit);
    let mut answer = CapacityResult {
        contender: contender.to_owned(),
        unit: search.unit,
        sentence: Text::default(),
        capacities: capacities.collect(),
        knee: limits.knee,
        saturation: limits.saturation,
        collapse: limits.collapse,
        recovery: recovery::recovery(search, trials, history),
        bottleneck: None,
        trials: search_trials(search, trials, history),
        drift: drift.map(|drift| sentence::drift(drift, search.unit)),
        ended,
    };
    answer.sentence = sentence::sentence(&answer);
    answer
}

/// Widens an interval to contain the capacity at the first and at the last trial.
fn widened(at: Estimate, drift: Option<Drift>) -> Estimate {
    let Some(Drift { first, last }) = drift else { return at };
    let low = at.low.map(|low| low.min(first).min(last));
    let high = at.high.map(|high| high.max(first).max(last));
    Estimate { low, high, ..at }
}

fn search_trials(
    search: &Search,
    trials: &[TrialSummary],
    history: &[PastTrial],
) -> Vec<SearchTrial> {
    trials
        .iter()
        .zip(history)
        .map(|(trial, past)| SearchTrial {
            load: trial.load,
            why: past.why.clone(),
            seconds: trial.seconds,
            achieved: trial.achieved,
            sides: search.sides(trial),
            limited: trial.limited.clone(),
            running_estimate: past.states.first().map(|state| state.at).unwrap_or_default(),
        })
        .collect()
}
