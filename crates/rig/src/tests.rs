//! Experiments carried out with a host that makes no runs: hooks, servers and their order are real,
//! time is real where processes are.

mod order;
mod pursue;
mod servers;
mod story;
