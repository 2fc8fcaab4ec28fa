//! Reduces a plan for `--trace`, so that each of its samples can be read.

use crate::settings::RunSettings;
use brunt_model::load::{Load, LoadShape, ThinkTime};
use brunt_model::{Experiment, Plan, Question};
use std::time::Duration;

/// Maximum duration of a run with a trace.
const MAX_DURATION: Duration = Duration::from_hours(1);

/// Options that are allowed together with a plan file and `--trace`.
pub const ALLOWED_OPTIONS: [&str; 2] = ["connections", "iterations"];

/// Reduces a plan to few users and iterations, as in the settings, without a warm-up. It ends when
/// all users are done, or at the duration or number of requests of the plan.
pub fn reduce(plan: &mut Plan, settings: &RunSettings) {
    let users =
        settings.load.connections.as_ref().map_or(1.0, |loads| loads.lowest_peak().max(1.0));
    let iterations = settings.stop.iterations_per_user.unwrap_or(1);
    for population in &mut plan.populations {
        // One process carries out the trace.
        population.group = None;
        let think = match &population.load {
            Load::Closed { think, .. } => *think,
            Load::Open { .. } => ThinkTime::NONE,
        };
        population.load = Load::Closed { users: LoadShape::constant(users), think };
        population.stop.warmup = Duration::ZERO;
        population.stop.warmup_until_steady = false;
        population.stop.duration =
            // Without this limit, a trace of an endless loop would never end.
            Some(population.stop.duration.map_or(MAX_DURATION, |planned| planned.min(MAX_DURATION)));
        population.stop.iterations_per_user = Some(iterations);
    }
    plan.threads = 1;
    plan.processes = 1;
    plan.until = None;
    plan.precise = false;
    // A few requests of one user do not show whether a server meets an objective.
    plan.objectives.clear();
}

/// Reduces an experiment to a single such run of each contender.
pub fn reduce_all(experiment: &mut Experiment, settings: &RunSettings) {
    experiment.repetitions = 1;
    experiment.cooldown = Duration::ZERO;
    experiment.question = Question::Sweep;
    for contender in &mut experiment.contenders {
        contender.steps.truncate(1);
        contender.probes.clear();
        contender.steps.iter_mut().for_each(|step| reduce(&mut step.plan, settings));
    }
}
