//! Checks objectives against results that were read from files.

use brunt_model::objective::Relation;
use brunt_model::{Objective, Observation, Observations};

/// Checks each trial against these objectives, which replace those of the file. If a figure is
/// unknown, its objective is neither met nor missed.
pub fn check_objectives(observations: &mut Observations, objectives: &[Objective]) {
    observations.objectives = objectives.to_vec();
    for observation in &mut observations.observations {
        observation.objectives =
            objectives.iter().map(|objective| is_met(objective, observation)).collect();
    }
}

fn is_met(objective: &Objective, observation: &Observation) -> Option<bool> {
    if objective.step.is_some() {
        // A table of trials has no figures of single steps.
        return None;
    }
    let (value, at_least) = observation.figure(objective.metric)?;
    let upper = matches!(objective.relation, Relation::Below | Relation::AtMost);
    let holds = objective.holds(value);
    // A lower bound of the figure can show that an upper limit is missed, but never that it is met.
    if at_least && upper { Some(false) } else { Some(holds) }
}
