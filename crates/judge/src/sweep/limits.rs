//! Definitions of a limit of the load.
//!
//! Each definition is in a separate file and maps a curve to a load. Out of scope: choosing one of
//! them; a disagreement between them is information.

mod highest_load;
mod knee;
mod saturation;

pub use saturation::{ThroughputGrowth, growth, peak, plateau};

use super::trials::Trials;
use brunt_model::analysis::LoadLimit;

/// Returns all limits that apply.
pub fn limits(trials: &Trials) -> Vec<LoadLimit> {
    if trials.steps.is_empty() {
        return Vec::new();
    }
    let mut limits = vec![knee::limit(trials), saturation::limit(trials)];
    limits.extend(saturation::asymptotes(trials));
    limits.extend(highest_load::limits(trials));
    limits
}
