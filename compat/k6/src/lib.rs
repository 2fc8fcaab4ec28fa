//! Runs scripts of k6.
//!
//! A script is evaluated once to read its options ([`K6Script`]), and then by each virtual user. A user's script
//! has a separate stack: `http.get()` leaves the stack with a step of the engine, and enters it again with the
//! reply. So pacing, clocks, connections and reports are those of all users of brunt.
//!
//! * [`script`]: the script before and after the load. [`options`], [`scenarios`], [`thresholds`]: its demands.
//! * `machine`: a JavaScript engine with a script. `natives`, `values`: the functions for the modules in `js/`.
//!   `modules`, `paths`: imports. `archive`: the files of a script. `host`: the world of one script.
//! * [`driver`]: virtual users. `user_side`: a user. `facts`: shared settings. `link`: the border between a script
//!   and the engine. `exchange`: a request and its reply. [`registry`], [`kinds`]: figures.
//! * [`summary`], `numbers`: the text at the end. `duration`: `1m30s`.
//!
//! The crate contains no code of k6. Its behavior follows the documentation and the published types.

mod archive;
pub mod driver;
mod duration;
mod exchange;
mod facts;
mod host;
pub mod kinds;
mod link;
mod machine;
mod modules;
mod natives;
mod numbers;
pub mod options;
mod paths;
pub mod registry;
pub mod scenarios;
pub mod script;
pub mod summary;
pub mod thresholds;
mod user_side;
mod values;

pub use archive::Archive;
pub use driver::Program;
pub use facts::ScenarioFacts;
pub use script::K6Script;
