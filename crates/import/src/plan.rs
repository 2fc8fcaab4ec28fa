//! The typed description of a plan: requests and their grouping. Texts
//! may contain variables, see [`crate::text`].

use brunt_model::extract::Extractor;
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
    /// Steps of each user.
    pub steps: Vec<ImportedStep>,
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

/// The value of a variable of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// A constant text, as written.
    Text(String),
    /// Value of the environment variable with this name.
    Environment(String),
}

/// A step, with comments above it.
#[derive(Debug, Clone)]
pub struct ImportedStep {
    /// Comments above the step, one line each.
    pub comments: Vec<String>,
    /// Effect of the step; None if it has only comments.
    pub kind: Option<StepKind>,
}

/// Effect of a step.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// Sends a single request.
    Request(Box<ImportedRequest>),
    /// Pauses for a fixed time.
    Think(Duration),
    /// Steps that are timed together.
    Transaction {
        /// Name of the transaction, for reports.
        name: String,
        /// Steps of the transaction, in order.
        steps: Vec<ImportedStep>,
    },
    /// Steps with a common name.
    Group {
        /// Name of the group, for readers.
        name: String,
        /// Steps of the group, in order.
        steps: Vec<ImportedStep>,
    },
    /// Requests that are sent concurrently.
    Parallel(Vec<ImportedStep>),
    /// Alternative lists of steps, with weights.
    Choose(Vec<(u32, Vec<ImportedStep>)>),
}

impl From<StepKind> for ImportedStep {
    fn from(kind: StepKind) -> Self {
        Self { comments: Vec::new(), kind: Some(kind) }
    }
}

impl ImportedStep {
    /// Creates a step that is only a comment.
    pub fn comment(text: impl Into<String>) -> Self {
        Self { comments: vec![text.into()], kind: None }
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

/// Calls a function for each request of a list of steps, in order.
pub fn each_request(steps: &mut [ImportedStep], visit: &mut dyn FnMut(&mut ImportedRequest)) {
    for step in steps {
        match &mut step.kind {
            Some(StepKind::Request(request)) => visit(request),
            Some(
                StepKind::Transaction { steps, .. }
                | StepKind::Group { steps, .. }
                | StepKind::Parallel(steps),
            ) => {
                each_request(steps, visit);
            }
            Some(StepKind::Choose(branches)) => {
                for (_, steps) in branches {
                    each_request(steps, visit);
                }
            }
            Some(StepKind::Think(_)) | None => {}
        }
    }
}
