//! An experiment, carried out: order of trials, hooks, managed servers.
//!
//! An [`Experiment`](brunt_model::Experiment) comes in; each of its trials goes to a [`Host`], who makes the run and keeps
//! it. One process, several, or a fleet are hosts alike.
//!
//! It measures nothing itself and knows no statistics; it prints nothing, and keeps no run.
//!
//! * [`host`]: what it is handed, and what it says. [`mod@conduct`]: hooks and servers around trials, in order,
//!   or as a [`Chooser`] chooses them one after the other.
//! * [`mod@order`]: which trial comes when.
//! * [`hooks`]: shell commands. [`server`]: a server, from its start until nothing of it is left. [`ready`]: whether it
//!   answers.
//! * [`guard`]: the process between us and a command, which ends whatever the command started. `ward`: our end of it.
//! * [`ExperimentFolder`]: the folder of an experiment's files, removed at its end.
//! * [`pause`]: time, for whoever waits. [`error`]: what stops an experiment. `tail`: the last of what a command wrote.

pub mod conduct;
pub mod error;
mod folder;
pub mod guard;
pub mod hooks;
pub mod host;
pub mod order;
pub mod pause;
pub mod ready;
pub mod server;
mod tail;
mod ward;

#[cfg(test)]
mod tests;

pub use conduct::{Chooser, Chosen, End, conduct, pursue};
pub use error::Failure;
pub use folder::ExperimentFolder;
pub use host::{Host, News, Work};
pub use order::{Turn, order, turns};
pub use pause::{Pause, Real};
pub use ward::RigContext;
