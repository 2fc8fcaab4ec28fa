//! Carries a plan out, or an experiment of many: the engine with real sockets and the real clock, in one process or several, heard by listeners.
//!
//! A [`Session`] has what all runs of a command share: the store, the redactor, who may end it. It carries out a [`RunRequest`],
//! the stages of a test, or an experiment: an [`Engine`] makes the events, every [`Listen`]er hears them, and the
//! [`Run`](brunt_model::Run) and its judgement come back.
//! A [`Control`](brunt_engine::Control) ends the run early.
//!
//! It does not parse arguments, print, handle signals, read environment variables or exit. A single run is judged in the crate
//! `judge`.
//!
//! * [`session`]: the state that all runs of a command share. [`mod@run`]: engines, listeners, and the bus between them.
//! * [`world`]: real sockets and the real clock for the engine. [`processes`]: a run in several processes.
//!   [`witness`]: what single connections said, for those who ask.
//! * [`mailbox`]: hands a run to a listener that may be slow.
//! * [`keep`]: listeners that keep the run and read the server. `steer`: what is said to a run while it goes on.
//! * [`live_output`]: sends figures to other systems while the run goes on.
//! * [`event_log`]: writes the event log of a run.
//! * [`result_file`]: writes the samples of a run as JMeter's result files. [`trace`]: shows them as text.
//! * [`stages`]: plans that run one after the other, such as setup, load and teardown.
//! * [`experiment`]: many runs, kept in a study. [`interrupt`]: whether somebody wants them to end.
//! * [`route`]: the way to the server, without a connection. [`decide`]: what a study comes to. [`exit`]: the exit code.
//! * [`mod@check`]: a look at the server and this machine before a load. [`reflection`]: what a server of gRPC tells of itself.
//! * [`error`]: why a run cannot be carried out.

pub mod check;
pub mod decide;
pub mod error;
pub mod event_log;
pub mod exit;
pub mod experiment;
pub mod interrupt;
pub mod keep;
pub mod live_output;
pub mod mailbox;
pub mod processes;
pub mod reflection;
pub mod result_file;
pub mod route;
pub mod run;
pub mod session;
pub mod stages;
mod steer;
pub mod trace;
pub mod witness;
pub mod world;

pub use error::RunError;
pub use event_log::EventLog;
pub use interrupt::Interrupt;
pub use live_output::LiveOutputs;
pub use mailbox::Mailbox;
pub use result_file::ResultFile;
pub use run::{Engine, Listen};
pub use session::{RunRequest, RunResult, Session, Storage};
pub use stages::StageSequence;
pub use world::Real;
