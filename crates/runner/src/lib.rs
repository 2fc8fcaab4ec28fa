//! Carries out a plan, or an experiment of many plans, with real sockets and the real clock, in
//! one process or several.
//!
//! A [`CommandSession`] has the state that all runs of a command share, such as the store, the
//! redactor and the interrupt. It carries out a [`RunRequest`], the stages of a test, or an
//! experiment. A [`PlanExecutor`] creates the events, every [`EventListener`] receives them, and the
//! result is the [`Run`](brunt_model::Run) with its judgement. A
//! [`RunControl`](brunt_engine::RunControl) ends the run early.
//!
//! It does not parse arguments, print, handle signals, read environment variables or exit. The
//! crate `judge` judges a run.
//!
//! * [`session`]: the state that all runs of a command share.
//! * [`mod@run`]: engines, listeners, and the bus between them.
//! * [`world`]: the load generator of this process, or agents.
//! * [`attach`]: goes on with a run whose controller has died.
//! * [`mailbox`]: passes the events of a run to a listener that may be slow.
//! * [`keep`]: listeners that store the run and read the server.
//! * [`control_socket`]: takes orders for an active run from other processes, through a [`line_socket`].
//! * `data_files`: size and hash of data files.
//! * `steer`: ends a warm-up or a run early.
//! * [`event_log`]: writes the event log of a run.
//! * [`trace`]: shows them as text.
//! * [`stages`]: plans that run one after the other, such as setup, load and teardown.
//! * [`experiment`]: many runs, stored as a study.
//! * [`interrupt`]: stops runs early.
//! * [`decide`]: results of a study. [`history`]: a figure over comparable runs.
//! * [`exit`]: the exit code.
//! * [`error`]: errors of a run.

pub mod attach;
pub mod control_socket;
mod data_files;
pub mod decide;
pub mod error;
pub mod event_log;
pub mod exit;
pub mod experiment;
pub mod history;
pub mod interrupt;
pub mod keep;
pub mod line_socket;
pub mod mailbox;
pub mod run;
pub mod session;
pub mod stages;
mod steer;
mod texts;
pub mod trace;
pub mod world;

pub use error::RunError;
pub use event_log::EventLog;
pub use interrupt::Interrupt;
pub use mailbox::Mailbox;
pub use run::{EventListener, PlanExecutor};
pub use session::{CommandSession, RunRequest, RunResult, Storage};
pub use stages::StageSequence;
pub use world::RealWorld;
