//! Findings that users miss, a rule each.

use brunt_model::{Finding, Judgement, Run};

/// What the reader of this run should be told, the gravest first. `so_far`: what was decided before.
pub fn findings(_run: &Run, _so_far: &Judgement) -> Vec<Finding> {
    Vec::new()
}
