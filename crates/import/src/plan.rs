//! The typed description of a plan: requests, and how they are grouped. Texts may have variables, see [`crate::text`].

use brunt_model::extract::ExtractFrom;
use serde_json::Value;
use std::time::Duration;

/// All that a plan file will say.
#[derive(Debug, Clone, Default)]
pub struct ImportedPlan {
    /// A sentence at the head.
    pub about: String,
    /// Comments at the head.
    pub notes: Vec<String>,
    /// The parts of the input that the plan does not have, and why.
    pub left_out: Vec<String>,
    /// Variables of the plan, in order.
    pub vars: Vec<Variable>,
    /// Variables that each user begins with.
    pub user_vars: Vec<(String, String)>,
    /// Keys of `connection` and their values.
    pub connection: Vec<(&'static str, Vec<String>)>,
    /// Redirects followed, where it is not the default.
    pub follow: Option<u32>,
    /// The server of requests that name none; a text.
    pub base: String,
    /// Header fields of all requests.
    pub headers: Vec<(String, String)>,
    /// What each user does.
    pub steps: Vec<Step>,
}

/// A variable of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Constant,
    /// A comment behind it.
    pub comment: String,
}

/// The value of a variable of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// This text.
    Text(String),
    /// The environment variable of this name.
    Environment(String),
}

/// A step, with comments above it.
#[derive(Debug, Clone)]
pub struct Step {
    /// Comments.
    pub comments: Vec<String>,
    /// What it does; None: it is only comments.
    pub kind: Option<StepKind>,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepKind {
    /// A request.
    Request(Box<Request>),
    /// A pause.
    Think(Duration),
    /// Steps that are timed together.
    Transaction {
        /// Its name.
        name: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps that belong together.
    Group {
        /// Its name.
        name: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Requests that are made at the same time.
    Parallel(Vec<Step>),
    /// One of several lists of steps, by weight.
    Choose(Vec<(u32, Vec<Step>)>),
}

impl From<StepKind> for Step {
    fn from(kind: StepKind) -> Self {
        Self { comments: Vec::new(), kind: Some(kind) }
    }
}

impl Step {
    /// Only a comment.
    pub fn comment(text: impl Into<String>) -> Self {
        Self { comments: vec![text.into()], kind: None }
    }
}

/// A request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The name under which it is summed; None: method and URL.
    pub name: Option<String>,
    /// GET, POST, …
    pub method: String,
    /// The server, such as `http://127.0.0.1:8080`; empty: that of the plan.
    pub server: String,
    /// The path, percent-encoded, without query. It is empty after a server that is a variable, else it begins with `/`.
    pub path: String,
    /// The recorded query, percent-encoded; written unless `query` differs from it.
    pub raw_query: Option<String>,
    /// The parts of the query, decoded.
    pub query: Vec<(String, String)>,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// `name:password`, sent as Basic authentication.
    pub basic: Option<String>,
    /// `name:password` for a server that asks for Digest authentication.
    pub digest: Option<String>,
    /// The body.
    pub body: Body,
    /// Variables that the reply sets.
    pub extract: Vec<(String, ExtractFrom)>,
    /// Statuses that are good, where that is not all below 400.
    pub status: Option<String>,
    /// The time limit.
    pub timeout: Option<Duration>,
}

/// What is sent behind the head.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// A text. Its media type stands in the header fields.
    Text(String),
    /// The content of a file.
    File(String),
    /// Texts and files, sent one after the other.
    Pieces(Vec<Piece>),
    /// JSON, and the text that it was where that differs; used as long as it has this value.
    Json(Value, Option<String>),
    /// The fields of a form, and the text that it was; used as long as it has these fields.
    Form(Vec<(String, String)>, Option<String>),
    /// The parts of `multipart/form-data`.
    Multipart(Vec<(String, Part)>),
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A text.
    Text(String),
    /// The content of a file.
    File {
        /// The file.
        file: String,
        /// How its content is sent.
        content: FileContent,
    },
}

/// How the content of a file is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileContent {
    /// As it is.
    Unchanged,
    /// Without CR, LF and NUL.
    WithoutLineBreaks,
    /// Percent-encoded.
    Encoded,
}

/// A part of `multipart/form-data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A text with a media type.
    TypedText {
        /// The text.
        text: String,
        /// Its media type.
        kind: String,
    },
    /// A file, and its media type where that is known.
    File {
        /// The file.
        file: String,
        /// Its media type.
        kind: Option<String>,
        /// The file name to send, if it differs from that of the file; empty: none.
        filename: Option<String>,
    },
}

/// Calls a function with each request of a list of steps, in order.
pub fn each_request(steps: &mut [Step], visit: &mut dyn FnMut(&mut Request)) {
    for step in steps {
        match &mut step.kind {
            Some(StepKind::Request(request)) => visit(request),
            Some(StepKind::Transaction { steps, .. } | StepKind::Group { steps, .. } | StepKind::Parallel(steps)) => {
                each_request(steps, visit);
            }
            Some(StepKind::Choose(branches)) => branches.iter_mut().for_each(|(_, steps)| each_request(steps, visit)),
            Some(StepKind::Think(_)) | None => {}
        }
    }
}
