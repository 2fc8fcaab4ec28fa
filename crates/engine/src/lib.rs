//! The loop that turns a plan into events.
//!
//! A [`Pacer`] decides when a request is due, a [`VirtualUser`] decides its content, and a
//! [`Transport`](brunt_wire::Transport) sends it. A [`Sink`] receives the events. Each worker
//! thread owns a runtime, its connections and its recorder. Threads share only the queue of free
//! connections of an open loop, and send one snapshot per interval.
//!
//! The crate knows no terminal, file format, script language or other machine. It has no defaults:
//! the plan contains all settings.
//!
//! * [`run()`]: starts workers and sends events. `message`: messages of workers. `gather`: merges
//!   their snapshots. `control`: commands to a run.
//! * [`run_part`], [`parts`]: the same in several processes, for one part and for all of them.
//! * [`clock`]: real and fake time. [`pace`]: due times of requests.
//! * [`user`]: decisions of a virtual user.
//! * `worker`: one thread's run, from its first connection to its last snapshot.
//! * `population`: a population on a worker. `run_clock`: its clock. `active_tasks`: its users and
//!   connections. `request_context`: its transport, users and recorder.
//! * `actor`: sends the requests of a virtual user. `lanes`: gets a lane for a request.
//! * `iteration`: the steps of a user for one arrival. `parallel`: requests of a user at the same
//!   time. `work`: source of an actor's requests.
//! * `activity`: notices a worker that does not return from a script or a text. `ledger`: sums by which open
//!   requests are closed that were lost with a worker or a process.
//! * `arrivals`: begins the arrivals of an open loop, and opens further connections.
//! * `pool`: free connections of an open loop, and arrivals that wait for one.
//! * `recorder`: turns samples into snapshots. `check`: decides whether a reply is good. `labels`:
//!   names and numbers of labels. `tickets`: numbers of requests, and their limit.

mod active_tasks;
mod activity;
mod actor;
mod arrivals;
mod check;
pub mod clock;
mod control;
mod gate;
mod gather;
mod iteration;
mod labels;
mod lanes;
mod ledger;
mod message;
pub mod pace;
mod parallel;
pub mod parts;
pub mod pool;
mod population;
mod race;
mod recorder;
mod request_context;
mod run;
mod run_clock;
mod run_state;
mod tickets;
mod transactions;
pub mod user;
mod work;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::{RunEpoch, WorkerClock};
pub use control::{PartHandle, RunControl};
pub use message::Sink;
pub use pace::Pacer;
pub use run::{EngineError, RunEnvironment, UserSetup, run, run_part};
pub use run_state::NoRun;
pub use user::{
    Numbering, RequestAttempt, RunState, UserStep, UserTurn, UserVerdict, Users, VirtualUser,
    Waiting,
};
