//! Scripts of k6.
//!
//! A script is evaluated once to read its options ([`K6Script`]), and then by each virtual user. A user's script
//! runs on a stack of its own: `http.get()` leaves the stack with a step of the engine, and enters it again with the
//! reply. So pacing, clocks, connections and reports are those of all users of brunt.
//!
//! * [`script`]: the script before and after the load. [`options`], [`scenarios`], [`thresholds`]: what it asks for.
//! * `machine`: a JavaScript engine with a script. `host`, `user_side`: what scripts call. `modules`: what they
//!   import. `archive`: what they have read.
//! * [`driver`]: virtual users. `link`: the border between a script and the engine. `exchange`: a request and its
//!   reply. `registry`: figures.
//! * [`summary`], `numbers`: the text at the end. `duration`: `1m30s`.
//!
//! No code of k6 is contained; its documentation and its published types say what is expected.

mod archive;
pub mod driver;
mod duration;
mod exchange;
mod host;
mod link;
mod machine;
mod modules;
mod numbers;
pub mod options;
pub mod registry;
pub mod scenarios;
pub mod script;
pub mod summary;
pub mod thresholds;
mod user_side;

pub use archive::Archive;
pub use driver::Program;
pub use duration::parse as parse_duration;
pub use script::K6Script;
pub use user_side::ScenarioFacts;
