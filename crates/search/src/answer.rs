//! Builds the answer of a search from its trials.
//!
//! The bottleneck is not known here. The caller, which has the runs, adds it and then creates the
//! sentence of the [`CapacityResult`] again.

use crate::capacity::CapacityState;
use crate::confirm::{self, End};
use crate::limits::limits;
use crate::search::{PastTrial, Search};
use crate::summary::TrialSummary;
use crate::{recovery, sentence};
use brunt_model::answer::{Capacity, SearchEnd, SearchTrial};
use brunt_model::question::TrialPurpose;
use brunt_model::{CapacityResult, Text};
use std::time::Duration;

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
    let capacities = search.find.objectives.iter().enumerate().map(|(set, objectives)| {
        let state = states.get(set);
        let at = state.map(|state| state.at).unwrap_or_default();
        let sentence = if state.is_some_and(|state| state.ends.is_stalled) && at.low.is_none() {
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
    let worsened = states.iter().find_map(|state| state.ends.worsened);
    let watched: f64 = trials.iter().map(|trial| trial.seconds).sum();
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
        change: worsened.map(|(met, missed)| sentence::worsened(met, missed, search.unit)),
        watched: Duration::try_from_secs_f64(watched).unwrap_or_default(),
        needed_budget: needed_budget(search, &states, trials),
        ended,
    };
    answer.sentence = sentence::sentence(&answer);
    answer
}

/// Time budget that confirms all ends; None if they are confirmed, or if no budget confirms them.
fn needed_budget(
    search: &Search,
    states: &[CapacityState],
    trials: &[TrialSummary],
) -> Option<Duration> {
    let mut needed: Option<f64> = None;
    let within = search.find.within.as_secs_f64();
    let confirmations = within / confirm::length(&search.find).as_secs_f64();
    for state in states {
        let open = [
            (End::Met, state.met.filter(|_| state.ends.met.is_none())),
            (End::Missed, state.missed.filter(|_| state.ends.missed.is_none())),
        ];
        for (wanted, load) in open.into_iter().filter_map(|(end, load)| Some((end, load?))) {
            let nearest = trials.iter().find(|trial| trial.load == load)?;
            let requests = confirm::enough_requests(&search.find, wanted);
            let seconds = requests / nearest.offered.max(1e-9);
            // Time for the choice of loads grows with the confirmations.
            let budget = (2.0 * within).max(1.1 * confirmations * seconds);
            needed = Some(needed.map_or(budget, |needed| needed.max(budget)));
        }
    }
    needed.and_then(|seconds| Duration::try_from_secs_f64(seconds.ceil()).ok())
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
            sides: search.sides(trial, trials),
            limited: trial.limited.clone(),
            running_estimate: past.states.first().map(|state| state.at).unwrap_or_default(),
        })
        .collect()
}
