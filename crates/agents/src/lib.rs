//! Runs a plan on several agents, each with its share of the load: further processes of this machine, or of others.
//!
//! * [`controller`]: starts agents, assigns runs, and merges their messages. [`Fleet`]: the started agents.
//! * [`agent`]: the work of an agent.
//! * `error`: reasons why agents cannot be started, or cannot carry out a plan.
//!
//! The messages are in `model::agent`. Out of scope: agents on Kubernetes and messages over NATS, which are in `fleet`.

pub mod agent;
pub mod controller;
mod error;

pub use controller::Fleet;
pub use error::FleetError;
