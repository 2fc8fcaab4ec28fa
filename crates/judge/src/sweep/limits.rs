//! The definitions of a limit, side by side.
//!
//! What it is: each definition in a file of its own, from a curve to a load. Out of scope: a choice among them; where
//! they disagree, that is information.

mod held;
mod knee;
mod saturation;

pub use saturation::{Growth, growth, peak, plateau};

use super::trials::Trials;
use brunt_model::LoadUnit;
use brunt_model::analysis::LoadLimit;

/// All that apply.
pub fn limits(trials: &Trials) -> Vec<LoadLimit> {
    if trials.steps.is_empty() {
        return Vec::new();
    }
    let mut limits = vec![knee::limit(trials), saturation::limit(trials)];
    limits.extend(saturation::asymptotes(trials));
    limits.extend(held::limits(trials));
    limits
}

/// The unit of loads, as a limit has it.
fn unit(of: LoadUnit) -> String {
    of.behind().trim_start().into()
}
