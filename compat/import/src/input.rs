//! Formats of input, and options of an import.

use brunt_har::HarOptions;
use std::io;
use std::path::Path;

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Name of the input, for errors and the plan's first comment.
    pub file: String,
    /// Server that replaces the one in the input.
    pub base: Option<String>,
    /// Folder of relative file names; empty if there is none.
    pub folder: String,
    /// `OpenAPI`: reads a further file of a description; None if only its main file may be read.
    pub read_file: Option<fn(&Path) -> io::Result<String>>,
    /// Postman: an environment, with values of variables.
    pub environment: Option<EnvironmentFile>,
    /// HAR: write recorded pauses between pages.
    pub think: bool,
    /// HAR: include images, scripts, style sheets and fonts.
    pub resources: bool,
    /// HAR: host whose requests are included; None for that of the first page.
    pub site: Option<String>,
    /// HAR: further hosts to include.
    pub hosts: Vec<String>,
    /// `OpenAPI`: include only operations with one of these tags.
    pub tags: Vec<String>,
    /// `OpenAPI`: include only these methods (upper case; empty for any) and path prefixes.
    pub only: Vec<(String, String)>,
}

/// An environment that Postman has exported.
#[derive(Debug, Clone)]
pub struct EnvironmentFile {
    /// Name of the file, for errors.
    pub file: String,
    /// Content of the file.
    pub text: String,
}

impl ImportOptions {
    /// The options that a recording has.
    pub(crate) fn recording(&self) -> HarOptions {
        HarOptions {
            file: self.file.clone(),
            base: self.base.clone(),
            think: self.think,
            resources: self.resources,
            site: self.site.clone(),
            hosts: self.hosts.clone(),
        }
    }
}

/// Format of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// A recording of a browser.
    Har,
    /// A description of an interface.
    Openapi,
    /// A collection of Postman.
    Postman,
    /// Command lines of curl.
    Curl,
    /// A list of URLs, in siege's format.
    Urls,
}

impl ImportFormat {
    /// All formats of input.
    pub const ALL: [Self; 5] = [Self::Har, Self::Openapi, Self::Postman, Self::Curl, Self::Urls];
}
