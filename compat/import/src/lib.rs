//! Converts recordings, descriptions of requests, and plans of JMeter to the text of a plan file.
//!
//! ```text
//! HAR, curl, URLs, OpenAPI, Postman ─▶ plan::ImportedPlan: model steps, requests, comments ─▶ YAML
//! ```
//!
//! Secrets are never copied: each becomes a variable that takes its value from the environment.
//! Comments in the plan name the parts of the input that a plan cannot express.
//!
//! * [`plan`]: the typed description. [`write`](mod@write): its
//!   YAML. [`text`]: texts with variables.
//! * [`har`], [`curl`], [`urls`], [`openapi`], [`postman`]: one reader for each
//!   format. [`jmx`]: plans of JMeter.
//! * [`mod@detect`]: the format of an input. `input`: formats and options. `request`, `body`, `server`, `secrets`, `json`,
//!   `yaml`: shared by several readers.
//!
//! Out of scope: file access. Input and output are texts.

pub mod curl;
pub mod detect;
pub mod error;
pub mod har;
pub mod jmx;
pub mod openapi;
pub mod plan;
pub mod postman;
pub mod text;
pub mod urls;
pub mod write;

mod body;
mod input;
mod json;
mod request;
mod secrets;
mod server;
mod yaml;

pub use error::ImportError;
pub use input::{ImportFormat, ImportOptions};
pub use plan::ImportedPlan;
pub use secrets::Names;

/// Reads an input and writes the plan.
///
/// # Errors
///
/// [`ImportError`] with its place if the input is malformed, has no request, or is too large for a
/// plan.
pub fn import(
    format: ImportFormat,
    text: &str,
    options: &ImportOptions,
) -> Result<String, ImportError> {
    // A byte order mark is not part of the text.
    let text = &text::clean(text.strip_prefix('\u{feff}').unwrap_or(text));
    let plan = match format {
        ImportFormat::Har => har::read(text, options)?,
        ImportFormat::Openapi => openapi::read(text, options)?,
        ImportFormat::Postman => postman::read(text, options)?,
        ImportFormat::Curl => curl::read(text, options)?,
        ImportFormat::Urls => urls::read(text, options)?,
    };
    write::yaml(&plan, &options.file)
}
