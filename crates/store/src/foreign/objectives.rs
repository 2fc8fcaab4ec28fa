//! Bounds, held against what was read.

use brunt_model::objective::{Metric, Relation};
use brunt_model::{Objective, Observation, Observations};

/// Holds each trial against these bounds, in place of those that came with the file; a figure that is not known keeps
/// and misses none.
pub fn hold(observations: &mut Observations, objectives: &[Objective]) {
    observations.objectives = objectives.to_vec();
    for observation in &mut observations.observations {
        observation.objectives = objectives.iter().map(|objective| kept(objective, observation)).collect();
    }
}

fn kept(objective: &Objective, of: &Observation) -> Option<bool> {
    if objective.step.is_some() {
        // A table of trials has no steps.
        return None;
    }
    let (value, at_least) = match objective.metric {
        Metric::Quantile(q) => {
            let known = of.quantiles.iter().find(|known| (known.quantile - q).abs() < 1e-9)?;
            (known.seconds, known.at_least)
        }
        Metric::Mean => (of.mean?, false),
        Metric::Max => (of.max?, false),
        Metric::Errors => (of.errors?, false),
        Metric::Throughput => (of.achieved, false),
        Metric::Goodput => return None,
    };
    let upper = matches!(objective.relation, Relation::Below | Relation::AtMost);
    let holds = objective.holds(value);
    // From below only: it may miss an upper bound, and cannot be known to keep it.
    if at_least && upper { Some(false) } else { Some(holds) }
}
