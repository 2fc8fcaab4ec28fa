//! Contenders and a question → an experiment.
//!
//! * [`contenders`]: servers, each with a plan for each load.
//! * [`mod@comparison`]: the question of a comparison.
//! * [`find`]: a search for the capacity; [`pattern`]: the plan that all its trials have in common.
//! * [`at_capacity`]: contenders that are compared by their capacities.
//!
//! Out of scope: the order of trials, and their execution.

pub mod at_capacity;
pub mod comparison;
pub mod contenders;
pub mod find;
pub mod pattern;

pub use at_capacity::{CapacityTimeBudget, prepare_capacity_comparison, search_run_settings};
pub use comparison::{comparison, repetitions, sweep_repetitions};
pub use contenders::{TrialArrangement, experiment};
pub use find::question;
