//! Runs experiments: the order of trials, hooks, and managed servers.
//!
//! [`conduct()`] and [`pursue`] pass each trial of an [`Experiment`](brunt_model::Experiment) to a
//! [`ExperimentHost`], which makes the run and stores it. One process, several processes, and several
//! machines are all hosts.
//!
//! The crate measures nothing, computes no statistics, prints nothing and stores no runs.
//!
//! * [`host`]: the interface to the host. [`mod@conduct`]: runs hooks and servers around trials,
//!   either in a fixed order or as a [`Chooser`] picks them.
//! * [`mod@order`]: the order of trials.
//! * [`hooks`]: runs shell commands. [`server`]: starts and stops a server. [`ready`]: checks
//!   whether a server responds.
//! * [`guard`]: the process between brunt and a command, which ends all processes of the command.
//!   `guarded_command`: brunt's end of the pipes to it.
//! * [`ExperimentFolder`]: the folder of an experiment's files, removed at its end.
//! * [`pause`]: clocks that can wait. [`error`]: the errors that stop an experiment. `tail`: the
//!   end of a command's output.

pub mod conduct;
pub mod error;
mod folder;
pub mod guard;
mod guarded_command;
pub mod hooks;
pub mod host;
pub mod order;
pub mod pause;
pub mod ready;
pub mod server;
mod tail;

#[cfg(test)]
mod tests;

pub use conduct::{Chooser, ChosenTrial, ExperimentOutcome, conduct, pursue};
pub use error::RigFailure;
pub use folder::ExperimentFolder;
pub use guarded_command::RigContext;
pub use host::{ExperimentHost, RigMessage, TrialRun};
pub use order::{ContenderTurn, order, turns};
pub use pause::{RealClock, WaitingClock};
