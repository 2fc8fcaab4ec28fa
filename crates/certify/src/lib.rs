//! Load generators, held against a server whose truth is known: the league table of `brunt certify`.
//!
//! [`Settings`] come in; a [`League`] is held, trial by trial, until a [`Control`](brunt_engine::Control) stops it; one of
//! the [`FORMATS`] writes it to whatever the caller names. The server is the lab, started from the program that calls this
//! crate, which must know the command `lab`; the generators are that program and whatever else is installed. All of them
//! are children on loopback, and end with the caller.
//!
//! It does not measure: `brunt-lab` computes the true response times, and the tools' own reports hold the measured ones. It does
//! not print, parse arguments or set an exit code.
//!
//! * [`settings`], [`cases`], [`tools`]: what is asked, of which server, of whom; tables.
//! * [`figures`], [`verdict`]: what is told and true, and how far the one is from the other.
//! * [`trial`], [`league`]: one trial, all of them. `process`, `lab`, `quiet`: children, the reference server, whether
//!   others used the machine.
//! * [`table`], [`show`]: what comes of it. [`error`]: what keeps a league from being held.

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
pub use league::{Entry, League, LeagueVerdict};
pub use settings::Settings;
pub use show::{FORMATS, Format};
pub use tools::{LoadMode, TOOLS};
