//! The plan that all trials of a search have in common, and the settings of the search. Each trial's load comes later.

use anyhow::{Result, bail, ensure};
use brunt_model::experiment::Step;
use brunt_model::goal::Until;
use brunt_model::question::ObjectiveSet;
use brunt_model::{Find, Objective};
use brunt_spec::words::shape::Loads;

/// Which of the options that trials have in common were said, and are not the usual ones of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said {
    /// `--warmup`.
    pub warmup: bool,
    /// `--grace`.
    pub grace: bool,
}

/// The one load that a search begins with.
pub fn only_load(option: &str, loads: &Loads) -> Result<f64> {
    let one = match loads {
        Loads::One(shape) if shape.duration().is_none() => shape.as_constant(),
        _ => None,
    };
    match one {
        Some(load) => Ok(load),
        None => bail!("{option}: a search chooses its loads itself and begins with one; write one number, such as 100"),
    }
}

/// Bounds on the same figure make a capacity each; the others belong to all of them.
pub fn objective_sets(all: &[Objective]) -> Result<Vec<ObjectiveSet>> {
    let alike = |one: &Objective| all.iter().filter(|other| other.metric == one.metric).count();
    let several: Vec<&Objective> = all.iter().filter(|one| alike(one) > 1).collect();
    let each = several.iter().all(|one| one.metric == several[0].metric);
    ensure!(each, "--objective: bounds of several figures more than once each; write one figure with several bounds");
    let named = |all: Vec<Objective>| ObjectiveSet {
        name: all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        all,
    };
    if several.is_empty() {
        return Ok(vec![named(all.to_vec())]);
    }
    let common: Vec<Objective> = all.iter().filter(|one| alike(one) == 1).copied().collect();
    Ok(several.into_iter().map(|own| named([&[*own], &common[..]].concat())).collect())
}

/// Makes a step the pattern of a search's trials: it has no objectives of its own, since half the trials are to miss them,
/// and ends when its side is decided.
pub fn make(step: &mut Step, find: &Find) {
    step.plan.objectives.clear();
    step.plan.until = Some(Until { goals: Vec::new(), least: find.trial.least });
}
