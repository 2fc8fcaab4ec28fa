//! A plan file → an experiment.
//!
//! * [`resolve`]: reads and resolves a plan file ([`load`]).
//! * `stages`: `setup` and `teardown`.
//! * [`setting_keys`]: keys → settings, by the table of settings.
//! * [`search`]: keys below `find`.
//! * [`mod@show`]: the resolved plan as a plan file.
//!
//! Out of scope: reading YAML, which [`plan`](crate::plan) does, and running the experiment.

mod joined;
pub mod resolve;
pub mod search;
pub mod setting_keys;
pub mod show;
mod stages;

pub use joined::join;
pub use resolve::{ResolvedPlan, UnresolvedPlan, load, open, open_text};

/// Value of `${dir}` if no folder is created. A run gets its own folder, with other
/// letters for the X.
pub const NO_FOLDER: &str = "/tmp/brunt-XXXXXX";

#[cfg(test)]
mod tests;
