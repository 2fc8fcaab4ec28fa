//! The capacities of a comparison. Each is the result of a search of one
//! contender in one repetition.
//!
//! Out of scope: the comparison, which is in `judge`, and the conduct of a search.

use super::find::search_progress;
use brunt_model::comparison::FoundCapacity;
use brunt_model::question::AtCapacity;
use brunt_model::{CapacitySearch, LoadUnit, Study};
use brunt_rig::{ContenderTurn, turns};
use brunt_search::NextStep;

/// Start of a search, as a share of the lowest capacity of all contenders in the
/// previous repetition. All searches of a repetition begin at the same load, so that the
/// test exchanges comparable results.
const START_SHARE: f64 = 0.5;

/// Capacities so far, in the order of their searches. A search that has not ended has none yet. If
/// the server stopped replying, its search never has one.
pub fn found_capacities(study: &Study, at: &AtCapacity) -> Vec<FoundCapacity> {
    turns(&study.experiment).into_iter().filter_map(|turn| find_one(study, at, turn)).collect()
}

fn find_one(study: &Study, at: &AtCapacity, turn: ContenderTurn) -> Option<FoundCapacity> {
    let start = start_load(study, turn)?;
    let progress = search_progress(study, &CapacitySearch { start, ..at.find.clone() }, turn)?;
    let NextStep::Done(ended) = progress.next() else { return None };
    if progress.is_silent() || progress.summaries.is_empty() {
        return None;
    }
    let capacity = progress.answer(ended).capacities.first()?.at;
    let contender = progress.name.to_owned();
    let repetition = turn.repetition + 1;
    Some(FoundCapacity {
        contender,
        repetition,
        at: capacity,
        trials: progress.trial_count as u32,
        ended,
    })
}

fn start_load(study: &Study, turn: ContenderTurn) -> Option<f64> {
    // The first trial of a search records its start, so that a resumed search continues with it.
    let first = study.search_trials(turn.contender, turn.repetition).next()?;
    study.experiment.step(first.place).map(|step| step.load)
}

/// Settings of the search of a turn, with its start load.
pub fn find_of(study: &Study, at: &AtCapacity, turn: ContenderTurn) -> CapacitySearch {
    let start = start_load(study, turn)
        .or_else(|| start_by_previous_repetition(study, at, turn))
        .unwrap_or(at.find.start);
    CapacitySearch { start, ..at.find.clone() }
}

fn start_by_previous_repetition(
    study: &Study,
    at: &AtCapacity,
    turn: ContenderTurn,
) -> Option<f64> {
    let repetition = turn.repetition.checked_sub(1)?;
    let contenders = 0..study.experiment.contenders.len();
    let capacities = contenders
        .map(|contender| find_one(study, at, ContenderTurn { repetition, contender })?.at.value);
    // Without a capacity of each contender, a common start could exclude one of them.
    let smallest = capacities.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)?;
    let unit = study.experiment.contenders.get(turn.contender)?.unit();
    let start = match unit {
        LoadUnit::Users { .. } => (smallest * START_SHARE).round().max(1.0),
        LoadUnit::PerSecond => rounded(smallest * START_SHARE),
    };
    Some(at.find.most.map_or(start, |most| start.min(most)))
}

/// Rounds a load to three digits.
fn rounded(load: f64) -> f64 {
    let unit = 10_f64.powi(load.max(1e-9).log10().floor() as i32 - 2);
    (load / unit).round() * unit
}
