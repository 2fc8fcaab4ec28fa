//! Reads plan files: YAML → the content for an experiment and each of its contenders.
//!
//! ```text
//! text ─yaml─▶ tree with places ─choose, contenders × factors, --set─▶ a tree each ─${…}─▶ typed values ─▶ PlanFile
//! ```
//!
//! It has no defaults, and reads no file and no environment: values for `${…}` come from
//! [`FillInputs`]. Values that are options of `brunt run` are not read here; they are passed on as
//! [`KeyedValue`]s with their places.
//!
//! * `yaml`, `node`: text → tree.
//! * `vary`: overrides.
//! * `sets`: `--set`.
//! * `fill`: `${name}`.
//! * `sections`: keys that are settings, from their table.
//! * `written`, `scenario`, `words`, `probes`: other keys, as types.
//! * `read`: tree → types.
//! * `schema`: types → JSON Schema. [`parts`]: keys of the parts of a plan, for forms.
//! * `file`: combines all of these.
//! * [`mod@write`]: YAML of plan files.
//! * [`edit`](mod@edit): changes the text of a plan file. `steps`: paths of steps by their labels.
//! * [`replace_file`]: writes a plan file.

pub mod edit;
mod file;
mod fill;
mod json;
mod node;
pub mod parts;
mod probes;
pub(crate) mod read;
mod replace;
pub mod scenario;
mod schema;
mod sections;
mod sets;
mod steps;
mod vary;
pub(crate) mod words;
pub mod write;
mod written;
mod yaml;

pub use edit::edit;

pub use crate::error::SourcePosition;
pub use file::{
    KeyedValue, PlanFile, PlanTree, PlannedContender, PlannedHook, PlannedHooks, PlannedServer,
    PlannedUsers,
};
pub use fill::FillInputs;
pub use json::{json, json_text};
pub use node::{NamedNode, PlanNode, PlanValue};
pub use probes::PlannedProbe;
pub(crate) use read::read;
pub use replace::replace_file;
pub use schema::{keys, schema};
pub use sections::{Form, PlanKey, plan_keys};
pub use sets::{PlanVariable, set_in_text, variables};
pub use steps::paths_of_label;
pub use write::Yaml;
pub use yaml::{MAX_BYTES, parse};

#[cfg(test)]
mod tests;
