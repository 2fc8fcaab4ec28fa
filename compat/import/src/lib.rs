//! Converts recordings, descriptions of requests, and plans of JMeter to the text of a plan file.
//!
//! ```text
//! curl, URLs, OpenAPI, Postman ─▶ ImportedPlan of brunt_har ─▶ YAML
//! HAR ─▶ brunt_har
//! ```
//!
//! * [`curl`], [`urls`], [`openapi`], [`postman`]: one reader for each
//!   format. [`jmx`]: plans of JMeter.
//! * [`mod@detect`]: the format of an input. `input`: formats and options. `yaml`: reads YAML as JSON.
//!
//! Out of scope: file access. Input and output are texts.

pub mod curl;
pub mod detect;
pub mod jmx;
pub mod openapi;
pub mod postman;
pub mod urls;

mod input;
mod yaml;

pub use brunt_har::ImportError;
pub use input::{EnvironmentFile, ImportFormat, ImportOptions};

use brunt_har::{recording, text, write};

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
        ImportFormat::Har => recording::read(text, &options.recording())?,
        ImportFormat::Openapi => openapi::read(text, options)?,
        ImportFormat::Postman => postman::read(text, options)?,
        ImportFormat::Curl => curl::read(text, options)?,
        ImportFormat::Urls => urls::read(text, options)?,
    };
    write::yaml(&plan, &options.file)
}
