//! The capacities of a comparison: each the answer of a search of one contender in one repetition.
//!
//! Out of scope: the comparison, which is `judge`'s;, and a search that goes on.

use super::find::contended;
use brunt_model::comparison::FoundCapacity;
use brunt_model::question::AtCapacity;
use brunt_model::{Find, LoadUnit, Study};
use brunt_rig::{Turn, turns};
use brunt_search::NextStep;

/// A search begins at this share of the least capacity that was found in the repetition before, of whichever contender: all
/// searches of a repetition begin alike, so that what is exchanged in the test is alike.
const BELOW: f64 = 0.5;

/// All that were found so far, in the order of their searches. A search that was not ended has found none yet, and one whose
/// server answered no more never will.
pub fn searched(study: &Study, at: &AtCapacity) -> Vec<FoundCapacity> {
    turns(&study.experiment).into_iter().filter_map(|turn| one(study, at, turn)).collect()
}

fn one(study: &Study, at: &AtCapacity, turn: Turn) -> Option<FoundCapacity> {
    let begun_at = begun_at(study, turn)?;
    let contended = contended(study, &Find { start: begun_at, ..at.find.clone() }, turn)?;
    let NextStep::Done(ended) = contended.next() else { return None };
    if contended.is_silent() || contended.seen.is_empty() {
        return None;
    }
    let found = contended.answer(ended).capacities.first()?.at;
    let (contender, repetition) = (contended.name.to_owned(), turn.repetition + 1);
    Some(FoundCapacity { contender, repetition, at: found, trials: contended.made as u32, ended })
}

fn begun_at(study: &Study, turn: Turn) -> Option<f64> {
    let first = study.searched(turn.contender, turn.repetition).next()?;
    study.experiment.step(first.place).map(|step| step.load)
}

/// How the capacity is looked for in a turn.
pub fn find_of(study: &Study, at: &AtCapacity, turn: Turn) -> Find {
    let start = begun_at(study, turn).or_else(|| by_the_last(study, at, turn)).unwrap_or(at.find.start);
    Find { start, ..at.find.clone() }
}

fn by_the_last(study: &Study, at: &AtCapacity, turn: Turn) -> Option<f64> {
    let before = |contender| Some(Turn { repetition: turn.repetition.checked_sub(1)?, contender });
    let contenders = 0..study.experiment.contenders.len();
    let each = contenders.map(|contender| one(study, at, before(contender)?)?.at.value);
    let least = each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)?;
    let unit = study.experiment.contenders.get(turn.contender)?.unit();
    let start = match unit {
        LoadUnit::Users { .. } => (least * BELOW).round().max(1.0),
        LoadUnit::PerSecond => rounded(least * BELOW),
    };
    Some(at.find.most.map_or(start, |most| start.min(most)))
}

/// To three digits.
fn rounded(load: f64) -> f64 {
    let unit = 10_f64.powi(load.max(1e-9).log10().floor() as i32 - 2);
    (load / unit).round() * unit
}
