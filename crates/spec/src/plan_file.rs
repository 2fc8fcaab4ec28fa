//! A plan file → an experiment.
//!
//! * [`resolve`]: the whole way, [`load`]. `stages`: `setup` and `teardown`. [`told`]: keys → settings, by the table of settings.
//!   [`search`]: what stands below `find`. [`mod@show`]: the resolved plan as a plan file again.
//!
//! Out of scope: YAML is read in [`plan`](crate::plan), and nothing is carried out here.

mod joined;
pub mod resolve;
pub mod search;
pub mod show;
mod stages;
pub mod told;

pub use joined::join;
pub use resolve::{Loaded, Opened, load, open};

/// What `${dir}` is shown as where no folder is made. A run gets one of its own, with other letters for the X.
pub const NO_FOLDER: &str = "/tmp/brunt-XXXXXX";

#[cfg(test)]
mod tests;
