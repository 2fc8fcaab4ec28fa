//! Recordings and descriptions of requests → the text of a plan file that sends them.
//!
//! ```text
//! HAR, curl, URLs, OpenAPI, Postman ─▶ plan::ImportedPlan ─▶ YAML with comments
//! ```
//!
//! Secrets are never copied: each becomes a variable whose value comes from the environment. What a plan cannot say is left out, with
//! a comment in the plan.
//!
//! * [`plan`]: the typed description. [`write`](mod@write): its YAML. [`text`]: texts with variables in them.
//! * [`har`], [`curl`], [`urls`], [`openapi`], [`postman`]: one reader for each format.
//! * `request`, `body`, `server`, `secrets`, `json`, `yaml`: steps that several readers share.
//!
//! Out of scope: files. Text is handed in, and text comes out.

pub mod curl;
pub mod error;
pub mod har;
pub mod openapi;
pub mod plan;
pub mod postman;
pub mod text;
pub mod urls;
pub mod write;

mod body;
mod json;
mod request;
mod secrets;
mod server;
mod yaml;

pub use error::ImportError;
pub use plan::ImportedPlan;

/// What the caller chooses.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the input, for errors and the head of the plan.
    pub file: String,
    /// The server in place of the one in the input.
    pub base: Option<String>,
    /// The folder before names of files that are relative; empty: none.
    pub folder: String,
    /// HAR: pauses between pages as they were recorded.
    pub think: bool,
    /// HAR: images, scripts, style sheets and fonts, too.
    pub resources: bool,
    /// HAR: further hosts whose requests are kept.
    pub hosts: Vec<String>,
    /// `OpenAPI`: only operations with one of these tags.
    pub tags: Vec<String>,
    /// `OpenAPI`: only operations with one of these methods (upper case; empty: any) and beginnings of the path.
    pub only: Vec<(String, String)>,
}

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Recordings of browsers.
    Har,
    /// Descriptions of interfaces.
    Openapi,
    /// Collections of Postman.
    Postman,
    /// Command lines of curl.
    Curl,
    /// A list of URLs, as siege reads it.
    Urls,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Har, Self::Openapi, Self::Postman, Self::Curl, Self::Urls];
}

/// Reads an input and writes the plan.
///
/// # Errors
///
/// [`ImportError`] with its place if the input is malformed, has no request, or is too large for a plan.
pub fn import(format: Format, text: &str, options: &Options) -> Result<String, ImportError> {
    let text = &text::clean(text.strip_prefix('\u{feff}').unwrap_or(text));
    let plan = match format {
        Format::Har => har::read(text, options)?,
        Format::Openapi => openapi::read(text, options)?,
        Format::Postman => postman::read(text, options)?,
        Format::Curl => curl::read(text, options)?,
        Format::Urls => urls::read(text, options)?,
    };
    write::yaml(&plan, &options.file)
}
