//! What the trials of a search came to, as an answer.
//!
//! The fold of all that the other modules find. Out of scope: the place where the bottleneck is known; who
//! has the runs puts it in, and asks [`Answer`] for its sentence again.

use crate::drift::Drift;
use crate::limits::limits;
use crate::search::{PastTrial, Search};
use crate::summary::TrialSummary;
use crate::{capacity, recovery, sentence};
use brunt_model::Answer;
use brunt_model::answer::{Capacity, Estimate, SearchEnd, SearchTrial};
use brunt_model::question::TrialPurpose;

/// The answer of a search, of one contender.
pub fn answer(search: &Search, contender: &str, seen: &[TrialSummary], made: &[PastTrial], ended: SearchEnd) -> Answer {
    let known = made.last().map(|made| made.known.clone()).unwrap_or_default();
    let limit = seen.iter().filter_map(|trial| trial.limited.as_deref()).next_back();
    let value = known.first().and_then(|known| known.at.value);
    let drift = value.and_then(|at| capacity::drift(search, seen, made, at));
    let capacities = search.find.objectives.iter().enumerate().map(|(set, objectives)| {
        let state = known.get(set);
        let at = state.map(|known| widened(known.at, drift.filter(|_| set == 0))).unwrap_or_default();
        let sentence = if state.is_some_and(|known| known.is_stalled) {
            sentence::stalled(at, search.unit)
        } else {
            sentence::capacity(at, search.unit, ended, limit)
        };
        Capacity { objectives: objectives.clone(), at, sentence }
    });
    let loaded: Vec<TrialSummary> = seen
        .iter()
        .zip(made)
        .filter(|(_, made)| made.purpose != TrialPurpose::Recovery)
        .map(|(trial, _)| trial.clone())
        .collect();
    let limits = limits(&loaded, search.unit);
    let mut answer = Answer {
        contender: contender.to_owned(),
        unit: search.unit,
        sentence: String::new(),
        capacities: capacities.collect(),
        knee: limits.knee,
        saturation: limits.saturation,
        collapse: limits.collapse,
        recovery: recovery::recovery(search, seen, made),
        bottleneck: None,
        trials: tried(search, seen, made),
        drift: drift.map(|drift| sentence::drift(drift, search.unit)),
        ended,
    };
    answer.sentence = sentence::sentence(&answer);
    answer
}

/// An interval that holds the capacity at the beginning and at the end.
fn widened(at: Estimate, drift: Option<Drift>) -> Estimate {
    let Some(Drift { first, last }) = drift else { return at };
    let low = at.low.map(|low| low.min(first).min(last));
    let high = at.high.map(|high| high.max(first).max(last));
    Estimate { low, high, ..at }
}

fn tried(search: &Search, seen: &[TrialSummary], made: &[PastTrial]) -> Vec<SearchTrial> {
    let one = |(trial, made): (&TrialSummary, &PastTrial)| SearchTrial {
        load: trial.load,
        why: made.why.clone(),
        seconds: trial.seconds,
        achieved: trial.achieved,
        sides: search.sides(trial),
        limited: trial.limited.clone(),
        known: made.known.first().map(|known| known.at).unwrap_or_default(),
    };
    seen.iter().zip(made).map(one).collect()
}
