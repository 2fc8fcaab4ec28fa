//! Drop-in replacements: other tools' command lines, run by brunt, with the output
//! that their users' scripts parse.
//!
//! `brunt ab …`, or a link named `ab`, takes ab's arguments and prints ab's report. Each tool is a
//! row of [`tools::COMPAT`] and a folder. Its arguments become a [`Plan`](brunt_model::Plan), and
//! its text is computed from the run's samples. The tools share:
//!
//! * [`tools`]: the list of tools. [`caller`]: the process that a tool runs in. [`error`]: errors.
//! * `witness`: passes events of single connections and replies to a tool.
//! * `getopt`: options, parsed like `getopt` and `getopt_long`.
//!   `brunt_options`: brunt's own options, `--brunt-…`.
//! * `ciphers`: OpenSSL's names. `epoch`: the time of day. `local_time`: its text in the
//!   time zone of the machine. `run_setup`: runs the plan and writes
//!   everything except the tool's own report. [`result_file`]: writes the samples of a run to a
//!   result file of JMeter.
//!
//! There is no engine code here: a tool that needs single requests has the plan record
//! samples. Nothing here prints, ends the process or reads the environment: the caller
//! passes in everything needed ([`caller`]).

mod ab;
mod autobench;
mod bench2graph;
mod brunt_options;
pub mod caller;
mod ciphers;
mod epoch;
pub mod error;
mod getopt;
mod httperf;
mod jmeter;
mod k6;
mod local_time;
pub mod result_file;
mod run_setup;
mod siege;
pub mod tools;
mod witness;

pub use caller::{Caller, LANGUAGES, Reports, StorePlace};
pub use error::ToolError;
pub use jmeter::report::html as dashboard_page;
pub use result_file::ResultFile;
pub use run_setup::prepare_stage;
pub use tools::{COMPAT, DropinTool, find_tool};
