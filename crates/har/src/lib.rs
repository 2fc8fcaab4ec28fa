//! Converts recordings of requests (HAR) to the text of a plan file.
//!
//! ```text
//! HAR ─▶ plan::ImportedPlan: model steps, requests, comments ─▶ YAML
//! ```
//!
//! Readers of other formats make an `ImportedPlan`, too (`compat/import`). Secrets are never copied: each becomes a variable that
//! takes its value from the environment. Comments in the plan name the parts of the input that a plan cannot express.
//!
//! * [`recording`]: reads a HAR.
//! * [`plan`]: the typed description. [`write`](mod@write): its YAML. [`text`]: texts with variables.
//! * [`request`], [`body`], [`server`], [`secrets`], [`json`]: shared by readers. [`error`]: errors with their place.
//!
//! Out of scope: file access. Input and output are texts.

pub mod body;
pub mod error;
pub mod json;
pub mod plan;
pub mod recording;
pub mod request;
pub mod secrets;
pub mod server;
pub mod text;
pub mod write;

pub use error::ImportError;
pub use plan::ImportedPlan;
pub use recording::HarOptions;
pub use secrets::Names;
