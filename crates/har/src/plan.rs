//! The typed description of a plan: steps of the model, and requests with variables in their
//! texts (see [`crate::text`]).

use brunt_model::extract::Extractor;
use brunt_model::scenario::ScenarioStep;
use serde_json::Value;
use std::time::Duration;

/// Contents of a plan file.
#[derive(Debug, Clone, Default)]
pub struct ImportedPlan {
    /// A sentence for the first comment.
    pub about: String,
    /// Further comments at the top.
    pub notes: Vec<String>,
    /// Parts of the input that the plan does not have, with reasons.
    pub left_out: Vec<String>,
    /// Variables of the plan, in order.
    pub vars: Vec<Variable>,
    /// Initial variables of each user.
    pub user_vars: Vec<(String, String)>,
    /// Keys of `connection` with their values.
    pub connection: Vec<(&'static str, Vec<String>)>,
    /// Maximum number of redirects; None means the default.
    pub follow: Option<u32>,
    /// Server of requests that name none.
    pub base: String,
    /// Header fields that all requests share.
    pub headers: Vec<(String, String)>,
    /// Steps of each user, in terms of `requests`.
    pub steps: Vec<ScenarioStep>,
    /// Requests of the steps, and comments between them.
    pub requests: ImportedRequests,
}

/// A variable of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name in the plan file.
    pub name: String,
    /// Value of the variable, constant during a run.
    pub value: Constant,
    /// Comment after the value.
    pub comment: String,
}

impl Variable {
    /// Origin of a variable that replaces a secret of the input.
    pub const SECRET: &str = "a secret was here";

    /// Creates a variable with a constant text.
    pub fn constant(name: String, value: String) -> Self {
        Self { name, value: Constant::Text(value), comment: String::new() }
    }

    /// Creates a variable with the value of the environment variable of the same name in capital
    /// letters. `origin` begins its comment.
    pub fn of_environment(name: &str, origin: &str) -> Self {
        let environment = name.to_ascii_uppercase();
        let comment = format!("{origin}; export {environment}=…");
        Self { name: name.to_owned(), value: Constant::Environment(environment), comment }
    }
}

/// The value of a variable of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// A constant text, as written.
    Text(String),
    /// Value of the environment variable with this name.
    Environment(String),
}

/// The requests of a plan in its order, and comments between them. Steps refer to them by number.
#[derive(Debug, Clone, Default)]
pub struct ImportedRequests(Vec<CommentedRequest>);

/// A request with the comments above it, or only comments.
#[derive(Debug, Clone)]
pub struct CommentedRequest {
    /// Comments, one line each.
    pub comments: Vec<String>,
    /// The request; None if there are only comments.
    pub request: Option<ImportedRequest>,
}

impl ImportedRequests {
    /// Adds a request with comments above it, and returns its step.
    pub fn add(&mut self, comments: Vec<String>, request: ImportedRequest) -> ScenarioStep {
        self.push(CommentedRequest { comments, request: Some(request) })
    }

    /// Adds comments without a request, and returns the step that stands for them.
    pub fn add_comments(&mut self, comments: Vec<String>) -> ScenarioStep {
        self.push(CommentedRequest { comments, request: None })
    }

    fn push(&mut self, item: CommentedRequest) -> ScenarioStep {
        self.0.push(item);
        ScenarioStep::Request(self.0.len() as u32 - 1)
    }

    /// The request or the comments of a step.
    pub fn get(&self, number: u32) -> Option<&CommentedRequest> {
        self.0.get(number as usize)
    }

    /// True if there is a request.
    pub fn has_request(&self) -> bool {
        self.0.iter().any(|item| item.request.is_some())
    }

    /// The requests, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut ImportedRequest> {
        self.0.iter_mut().filter_map(|item| item.request.as_mut())
    }
}

/// A request of the plan.
#[derive(Debug, Clone, Default)]
pub struct ImportedRequest {
    /// Label in reports; None means method and URL.
    pub name: Option<String>,
    /// Method, in upper case.
    pub method: String,
    /// Server such as `http://127.0.0.1:8080`; empty means that of the plan.
    pub server: String,
    /// Path, percent-encoded, without query. Begins with `/`, but is empty after a
    /// server that is a variable.
    pub path: String,
    /// Recorded query, percent-encoded. It is written unless `query` differs from it.
    pub raw_query: Option<String>,
    /// Fields of the query, decoded.
    pub query: Vec<(String, String)>,
    /// Header fields, in order.
    pub headers: Vec<(String, String)>,
    /// `name:password` for Basic authentication.
    pub basic: Option<String>,
    /// `name:password` for Digest authentication.
    pub digest: Option<String>,
    /// Body of the request.
    pub body: ImportedBody,
    /// Variables that are extracted from the reply.
    pub extract: Vec<Extractor>,
    /// Statuses that are good; None means all below 400.
    pub status: Option<String>,
    /// Timeout of the request; None means the default.
    pub timeout: Option<Duration>,
    /// True for a step of a WebSocket. Its method is OPEN, SEND or AWAIT.
    pub is_websocket: bool,
    /// True if a message of a WebSocket has no reply.
    pub awaits_no_message: bool,
}

impl ImportedRequest {
    /// Value of the first header field with this name, in any spelling of its letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&field.1)
    }
}

/// Body of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ImportedBody {
    /// The request has no body.
    #[default]
    None,
    /// A text. A header field states its media type.
    Text(String),
    /// The content of a file.
    File(String),
    /// Texts and files in sequence.
    Pieces(Vec<BodyPiece>),
    /// JSON, and the original text if it differs. The text is used as long as
    /// the value is the same.
    Json(Value, Option<String>),
    /// Fields of a form, and the original text. The text is used as long as
    /// the fields are the same.
    Form(Vec<(String, String)>, Option<String>),
    /// Named parts of `multipart/form-data`.
    Multipart(Vec<(String, MultipartPart)>),
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyPiece {
    /// A literal text with variables.
    Text(String),
    /// The content of a file.
    File {
        /// Path of the file.
        file: String,
        /// Conversion of its content.
        content: FileContent,
    },
}

/// Conversion of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileContent {
    /// Sends the content unchanged.
    Unchanged,
    /// Removes CR, LF and NUL.
    WithoutLineBreaks,
    /// Percent-encodes the whole content.
    Encoded,
}

/// A part of `multipart/form-data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MultipartPart {
    /// A text without media type.
    Text(String),
    /// A text with a media type.
    TypedText {
        /// Text of the part.
        text: String,
        /// Media type of the part.
        kind: String,
    },
    /// A text that is sent as a file.
    SentFile {
        /// Content of the file.
        text: String,
        /// Name of the file.
        filename: String,
        /// Media type; None if it is unknown.
        kind: Option<String>,
    },
    /// A file with an optional media type.
    File {
        /// Path of the file.
        file: String,
        /// Media type; None if it is unknown.
        kind: Option<String>,
        /// File name to send, if it differs from the file's own; empty means none.
        filename: Option<String>,
    },
}
