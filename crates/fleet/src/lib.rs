//! Agents on Kubernetes, and messages of agents over NATS.
//!
//! * [`kubernetes`]: starts agents as pods, and removes them.
//! * [`nats`]: carries the messages between a controller and its agents. [`seal`]: seals them.
//!   `stream`: byte streams over packets.
//! * [`handover`]: what a controller keeps on its disk, so that another one can take its place.
//! * [`run`]: the start of a fleet on Kubernetes, in calls that block.
//! * [`image`]: writes a container image of brunt.
//!
//! Out of scope: the messages themselves, and what an agent does. The crate knows bytes and processes only.

pub mod handover;
pub mod image;
pub mod kubernetes;
pub mod nats;
pub mod run;
pub mod seal;
mod stream;
