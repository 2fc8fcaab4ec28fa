//! Definitions of a limit of the load.
//!
//! Each definition is in a separate file and maps a curve to a load. Out of scope: choosing one of
//! them; a disagreement between them is information.

mod highest_load;
mod knee;
mod saturation;

pub use highest_load::{has_few_errors, kept_throughout};
pub use saturation::{ThroughputGrowth, growth, peak, plateau};

use super::trials::Trials;
use brunt_model::analysis::LoadLimit;

/// Returns all limits that apply. `undisturbed` are those of `trials` that were not disturbed: a
/// bend that another process causes is no limit of the server. What a disturbed trial met, the
/// server alone meets, too.
pub fn limits(trials: &Trials, undisturbed: &Trials) -> Vec<LoadLimit> {
    if trials.steps.is_empty() {
        return Vec::new();
    }
    let mut limits = Vec::new();
    // At a single load, nothing can bend or saturate.
    if trials.steps.len() > 1 {
        limits.extend([knee::limit(undisturbed), saturation::limit(undisturbed)]);
        limits.extend(saturation::asymptotes(undisturbed));
    }
    limits.extend(highest_load::limits(trials));
    limits
}
