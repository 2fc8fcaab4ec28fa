//! The one loop that turns a plan into events.
//!
//! A [`Pacer`] says *when*, a [`VirtualUser`] *what next*, a [`Transport`](brunt_wire::Transport) *how*, a [`Sink`] listens.
//! Each worker thread owns a runtime, its connections and its recorder; threads share nothing but the queue of free
//! connections of an open loop, and hand over one snapshot an interval.
//!
//! It knows no terminal, no file format, no script language and no other machine. It has no
//! defaults: all is in the plan.
//!
//! * [`run()`]: workers started, events out. `message`: messages of workers. `gather`: their snapshots joined. `control`: what a run may be told.
//! * [`run_part`], [`parts`]: the same in several processes: one's part, and all of them joined.
//! * [`clock`]: time, real and fake. [`pace`]: when requests are due.
//! * [`user`]: what a virtual user does next.
//! * `worker`: one thread's run, from its first connection to its last snapshot.
//! * `population`: a population on a worker. `run_clock`: its clock. `active_tasks`: users and connections. `request_context`: the means of requests.
//! * `actor`: a virtual user, and the clocks of its requests. `lanes`: how it comes by a lane.
//! * `iteration`: what a user makes of one arrival. `parallel`: requests of a user at the same time.
//!   `work`: where an actor's requests come from.
//! * `arrivals`: when the arrivals of an open loop are dealt out, and when another connection is opened.
//! * `pool`: the free connections of an open loop and the arrivals that wait for one.
//! * `recorder`: samples into snapshots. `check`: whether a reply is good. `labels`: names and their numbers.
//!   `tickets`: numbers of requests, and their limit.

mod active_tasks;
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
mod surroundings;
mod tickets;
mod transactions;
pub mod user;
mod work;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::{Epoch, Time};
pub use control::{Control, PartHandle};
pub use message::Sink;
pub use pace::Pacer;
pub use run::{EngineError, UsersOf, World, run, run_part};
pub use surroundings::Alone;
pub use user::{Exchange, Numbering, Step, Surroundings, Turn, UserVerdict, Users, VirtualUser, Waiting};
