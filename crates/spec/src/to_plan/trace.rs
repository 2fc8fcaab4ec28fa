//! `--trace`: a plan made small, so that each of its samples can be read.

use crate::settings::RunSettings;
use brunt_model::load::{Load, Shape, Think};
use brunt_model::{Experiment, Plan, Question};
use std::time::Duration;

/// A run that is traced takes no longer.
const LONGEST: Duration = Duration::from_hours(1);

/// Options that may be said beside a plan file with `--trace`.
pub const BESIDE: [&str; 2] = ["connections", "iterations"];

/// Makes a plan one of few users and iterations, as the settings say: without a warm-up, until all have done their part, or the plan's
/// own duration or number of requests is over.
pub fn reduce(plan: &mut Plan, settings: &RunSettings) {
    let users = settings.load.connections.as_ref().map_or(1.0, |loads| loads.lowest_peak().max(1.0));
    let iterations = settings.stop.iterations_per_user.unwrap_or(1);
    for population in &mut plan.populations {
        let think = match &population.load {
            Load::Closed { think, .. } => *think,
            Load::Open { .. } => Think::NONE,
        };
        population.load = Load::Closed { users: Shape::constant(users), think };
        population.stop.warmup = Duration::ZERO;
        population.stop.warmup_until_steady = false;
        population.stop.duration = Some(population.stop.duration.map_or(LONGEST, |planned| planned.min(LONGEST)));
        population.stop.iterations_per_user = Some(iterations);
    }
    (plan.threads, plan.processes, plan.until, plan.precise) = (1, 1, None, false);
    plan.objectives.clear();
}

/// Makes an experiment one of a single such run of each contender.
pub fn reduce_all(experiment: &mut Experiment, settings: &RunSettings) {
    (experiment.repetitions, experiment.cooldown, experiment.question) = (1, Duration::ZERO, Question::Sweep);
    for contender in &mut experiment.contenders {
        contender.steps.truncate(1);
        contender.probes.clear();
        contender.steps.iter_mut().for_each(|step| reduce(&mut step.plan, settings));
    }
}
