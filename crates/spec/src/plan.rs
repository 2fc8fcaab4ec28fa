//! The plan file: YAML in, what it says of an experiment and each of its contenders out.
//!
//! ```text
//! text ─yaml─▶ tree with places ─choose, contenders × factors, --set─▶ a tree each ─${…}─▶ typed words ─▶ PlanFile
//! ```
//!
//! It has no defaults, reads no file and no environment (what `${…}` stands for is handed in as
//! [`PlanInputs`]), and does not read the values that are options of `brunt run`: those go on as [`Keyed`]s, with their places.
//!
//! * `yaml`, `node`: text → tree. `vary`: overrides. `sets`: `--set`. `fill`: `${name}`.
//! * `sections`: the keys that are settings, from their table. `written`, `scenario`, `words`, `probes`, `compare`: the others, as types.
//! * `read`: tree → types. `schema`: types → JSON Schema.
//! * `file`: the way from one end to the other. [`mod@write`]: YAML of plan files.
//! * [`edit`](fn@edit): another value in the text of a plan file.

mod edit;
mod file;
mod fill;
mod json;
mod node;
mod probes;
pub(crate) mod read;
pub mod scenario;
mod schema;
mod sections;
mod sets;
mod vary;
pub(crate) mod words;
pub mod write;
mod written;
mod yaml;

pub use edit::edit;

pub use crate::error::Position;
pub use file::{Draft, Keyed, PlanFile, Planned, PlannedHook, PlannedHooks, PlannedServer, PlannedUsers};
pub use fill::PlanInputs;
pub use json::{json, json_text};
pub use node::{Entry, Node, Value};
pub use probes::PlannedProbe;
pub(crate) use read::read;
pub use schema::{keys, schema};
pub use sections::{Form, PlanKey, plan_keys};
pub use sets::{set_in_text, variables};
pub use write::Yaml;
pub use yaml::parse;

#[cfg(test)]
mod tests;
