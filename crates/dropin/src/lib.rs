//! The old names: other tools' command lines, carried out by brunt, in the words that their users' scripts read.
//!
//! `brunt ab …`, or a link named `ab`, takes ab's arguments and prints ab's report. Each tool is a row of [`tools::COMPAT`] and a
//! folder: its arguments become a [`Plan`](brunt_model::Plan), its text is made of the run's samples. All of them share:
//!
//! * [`tools`]: which tools there are. [`caller`]: what a tool has of the process that it runs in. [`error`]: what went wrong.
//! * `getopt`: options, read as `getopt` and `getopt_long` read them. `side`: the options that are ours, `--brunt-…`.
//! * `ciphers`: OpenSSL's names. `epoch`: the time of day. `carry`: the plan carried out, and all that is not the tool's
//!   own report.
//!
//! There is no engine code here: a tool that needs single requests has the plan record samples. Nothing here prints, ends the process
//! or reads the environment: the caller hands in what is needed ([`caller`]).

mod ab;
mod autobench;
mod bench2graph;
pub mod caller;
mod carry;
mod ciphers;
mod epoch;
pub mod error;
mod getopt;
mod httperf;
mod jmeter;
mod side;
mod siege;
pub mod tools;

pub use caller::{Caller, Reports, StorePlace};
pub use carry::prepare_stage;
pub use error::ToolError;
pub use jmeter::report::html as dashboard_page;
pub use tools::{COMPAT, Tool, asked};
