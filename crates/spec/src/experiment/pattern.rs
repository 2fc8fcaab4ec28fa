//! The plan that all trials of a search have in common, and the settings of the search. Each trial's load comes later.

use crate::error::{Result, require};
use crate::settings::SettingSources;
use crate::words::shape::Loads;
use brunt_model::experiment::Step;
use brunt_model::goal::Until;
use brunt_model::question::ObjectiveSet;
use brunt_model::{Find, Objective};

/// The one load that a search begins with.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn only_load(option: &'static str, loads: &Loads, said: &SettingSources) -> Result<f64> {
    let one = match loads {
        Loads::One(shape) if shape.duration().is_none() => shape.as_constant(),
        _ => None,
    };
    match one {
        Some(load) => Ok(load),
        None => Err(said.refuse(|names| {
            let chooses = "a search chooses its loads itself and begins with one";
            format!("{}: {chooses}; write one number, such as 100", names.of(option))
        })),
    }
}

/// Bounds on the same figure make a capacity each; the others belong to all of them.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn objective_sets(all: &[Objective], said: &SettingSources) -> Result<Vec<ObjectiveSet>> {
    let alike = |one: &Objective| all.iter().filter(|other| other.metric == one.metric).count();
    let several: Vec<&Objective> = all.iter().filter(|one| alike(one) > 1).collect();
    let each = several.iter().all(|one| one.metric == several[0].metric);
    require!(said, each, |names| {
        let several = "bounds of several figures more than once each";
        format!("{}: {several}; write one figure with several bounds", names.of("objective"))
    });
    let named = |all: Vec<Objective>| ObjectiveSet {
        name: all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        all,
    };
    if several.is_empty() {
        return Ok(vec![named(all.to_vec())]);
    }
    let common: Vec<Objective> = all.iter().filter(|one| alike(one) == 1).cloned().collect();
    Ok(several.into_iter().map(|own| named([std::slice::from_ref(own), &common[..]].concat())).collect())
}

/// Makes a step the pattern of a search's trials: it has no objectives of its own, since half the trials are to miss them,
/// and ends when its side is decided.
pub fn make(step: &mut Step, find: &Find) {
    step.plan.objectives.clear();
    step.plan.until = Some(Until { goals: Vec::new(), least: find.trial.least });
}
