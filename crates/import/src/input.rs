//! The kinds of input, and the choices of the caller.

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
