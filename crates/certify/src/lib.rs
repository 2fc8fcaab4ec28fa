//! Compares load generators with a server that knows its true response times: the league
//! table of `brunt certify`.
//!
//! A [`League`] runs the trials that [`CertifySettings`] request, until a
//! [`RunControl`](brunt_engine::RunControl) stops it. One of the [`FORMATS`] writes the results to the
//! caller's output. The server is the lab, started from the program that uses this crate, which
//! must have the command `lab`. The load generators are that program and other installed tools. All
//! of them are child processes on loopback, and end with the caller.
//!
//! It does not measure: `brunt-lab` computes the true response times, and the tools' own reports
//! have the measured ones. It does not print, parse arguments or set an exit code.
//!
//! * [`settings`], [`cases`], [`tools`]: tables of the requested trials,
//!   servers and load generators.
//! * [`figures`], [`verdict`]: reported and true figures, and the deviation between them.
//! * [`trial`], [`league`]: one trial, and all of them. `process`, `lab`, `quiet`: child processes,
//!   the reference server, usage of the machine by other processes.
//! * [`table`], [`show`]: the results as tables. [`error`]: reasons why a league fails.

pub mod cases;
pub mod error;
pub mod figures;
mod lab;
pub mod league;
mod process;
mod quiet;
pub mod settings;
pub mod show;
pub mod table;
pub mod tools;
pub mod trial;
pub mod verdict;

pub use cases::CASES;
pub use error::CertifyError;
pub use league::{League, LeagueEntry, LeagueVerdict};
pub use settings::CertifySettings;
pub use show::{FORMATS, LeagueFormat};
pub use tools::{LoadMode, TOOLS};
