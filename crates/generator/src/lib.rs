//! The load generator of one process: the engine with sockets, the real clock, and a plan's script.
//!
//! `engine`, `wire` and `script` are generic, and tests use them with a fake clock and a fake network.
//! This crate is where they become machine code: once, at the level of optimization that the
//! measuring path needs, while crates that call it are compiled quickly.
//!
//! * [`Generator`]: runs a plan. [`GeneratorError`]: reasons why it cannot.
//! * [`exchange`]: a request without a load, such as a question to a server before a run.
//!
//! Out of scope: further processes, agents, stores and listeners, which are in `agents` and `runner`.

mod error;
pub mod exchange;
mod generator;

pub use error::GeneratorError;
pub use generator::Generator;
