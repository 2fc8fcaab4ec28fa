//! The plan that all trials of a search have in common, and its settings. Each trial
//! sets its load later.

use crate::error::{Result, require};
use crate::settings::SettingSources;
use crate::words::shape::Loads;
use brunt_model::experiment::LoadStep;
use brunt_model::goal::Until;
use brunt_model::objective::Metric;
use brunt_model::question::ObjectiveSet;
use brunt_model::{CapacitySearch, Objective};

/// Returns the first load of a search, which must be a single number.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn only_load(option: &'static str, loads: &Loads, sources: &SettingSources) -> Result<f64> {
    let load = match loads {
        // A stage with an end would end the trials before they are decided.
        Loads::One(shape) if shape.duration().is_none() => shape.as_constant(),
        _ => None,
    };
    match load {
        Some(load) => Ok(load),
        None => Err(sources.refuse(|names| {
            let chooses = "a search chooses its loads itself and begins with one";
            format!("{}: {chooses}; write one number, such as 100", names.name_of(option))
        })),
    }
}

/// Groups objectives by capacity. Bounds on the same figure result in a capacity each; all other
/// bounds belong to each of them.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn objective_sets(all: &[Objective], sources: &SettingSources) -> Result<Vec<ObjectiveSet>> {
    let several: Vec<&Objective> =
        all.iter().filter(|one| bounds_of_metric(all, one.metric) > 1).collect();
    // Several bounds of two figures would make sets of every combination.
    let is_one_metric = several.iter().all(|one| one.metric == several[0].metric);
    require!(sources, is_one_metric, |names| {
        let several = "bounds of several figures more than once each";
        format!("{}: {several}; write one figure with several bounds", names.name_of("objective"))
    });
    if several.is_empty() {
        return Ok(vec![named_set(all.to_vec())]);
    }
    // A bound on errors applies to each of `p99 < 1s, p99 < 3s`.
    let common: Vec<Objective> =
        all.iter().filter(|one| bounds_of_metric(all, one.metric) == 1).cloned().collect();
    Ok(several
        .into_iter()
        .map(|bound| named_set([std::slice::from_ref(bound), &common[..]].concat()))
        .collect())
}

fn bounds_of_metric(all: &[Objective], metric: Metric) -> usize {
    all.iter().filter(|objective| objective.metric == metric).count()
}

fn named_set(all: Vec<Objective>) -> ObjectiveSet {
    ObjectiveSet { name: all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), all }
}

/// Makes a step the pattern of the trials of a search. It has no objectives: a trial above the
/// capacity misses them by design, which is no failure.
pub fn make(step: &mut LoadStep, find: &CapacitySearch) {
    step.plan.objectives.clear();
    // No goals: the search chooses the time of each trial.
    step.plan.until = Some(Until { goals: Vec::new(), least: find.trial.measured });
}
