//! Requests of a scenario.

mod shared;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use shared::Shared;

/// A request as the user wrote it. URL, header values and a text body may contain
/// placeholders such as `{n}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Name of its samples in reports; by default the URL.
    pub label: String,
    /// Method: `GET`, `POST`, …
    pub method: String,
    /// An absolute http, https, ws or wss URL.
    pub url: String,
    /// Absolute URL against which the URL is resolved if it is relative once its variables have values; null: it
    /// is absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Header names and values, in the order of sending. Host, Content-Length and Connection are
    /// added if they are missing.
    pub headers: Vec<(String, String)>,
    /// Body of the request.
    pub body: Body,
    /// Relative frequency within the list.
    pub weight: u32,
    /// Complete request, head and body, which is sent unchanged instead of the other fields,
    /// without placeholders; null: brunt builds it from the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Vec<u8>>,
    /// Reply policy, as an index into the plan's policies.
    #[serde(default, skip_serializing_if = "is_first")]
    pub reply_policy: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_first(number: &u32) -> bool {
    *number == 0
}

impl Request {
    /// Creates a GET request of a URL, with the URL as its label.
    pub fn get(url: &str) -> Self {
        Self {
            label: url.to_owned(),
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            base: None,
            verbatim: None,
            reply_policy: 0,
        }
    }

    /// True if the URL has a scheme of WebSocket.
    pub fn is_websocket(&self) -> bool {
        ["ws:", "wss:"].iter().any(|scheme| self.url.starts_with(scheme))
    }

    /// True if the URL has a scheme with TLS.
    pub fn is_encrypted(&self) -> bool {
        ["https:", "wss:"].iter().any(|scheme| self.url.starts_with(scheme))
    }
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyFragment {
    /// A text with placeholders.
    Text(String),
    /// Bytes that are sent unchanged.
    Bytes(Vec<u8>),
}

/// Body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// No body, and no Content-Length.
    #[default]
    None,
    /// A text with placeholders.
    Text(Shared<String>),
    /// Bytes that are sent unchanged.
    Bytes(Shared<Vec<u8>>),
    /// Texts with placeholders, and bytes between them.
    Mixed(Vec<BodyFragment>),
    /// Bytes that are sent in pieces while the request is in flight.
    Pieces(BodyPieces),
    /// gRPC messages, encoded when the request is sent.
    Message(JsonMessage),
    /// A long body in a stored plan, which contains only its length and digest.
    Omitted(OmittedBody),
}

/// A body that is too long for a stored plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OmittedBody {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl Body {
    /// Creates a body from a text with placeholders.
    pub fn from_text(text: String) -> Self {
        Self::Text(text.into())
    }

    /// Creates a body from bytes that are sent unchanged.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }

    /// Returns the bytes of the body; for a message its text, and nothing if texts and bytes
    /// alternate. None: there is no body.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::None | Self::Omitted(_) => None,
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            Self::Pieces(pieces) => Some(&pieces.bytes),
            Self::Message(message) => Some(message.json.as_bytes()),
            Self::Mixed(_) => Some(&[]),
        }
    }
}

/// A body in pieces, such as the messages of a gRPC stream. The first piece is sent with the
/// head of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BodyPieces {
    /// Bytes of all pieces.
    pub bytes: Vec<u8>,
    /// End of each piece in `bytes`, ascending; the last one is the length.
    pub ends: Vec<usize>,
    /// Time at which the next piece is sent.
    pub interval: PieceInterval,
    /// Number of pieces that are sent, the first again after the last; null: no limit.
    pub count: Option<u64>,
    /// Time from the begin of the request after which no further piece is sent. A request that was
    /// sent before ends then. Null: no limit.
    pub duration: Option<Duration>,
}

/// Rules for the messages of a stream of gRPC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageStream {
    /// Time at which each message after the first is sent; null: all at once.
    pub interval: Option<PieceInterval>,
    /// Number of messages that are sent, the first again after the last; null: each once, or without
    /// limit if there is a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Time after which no further message is sent. A call of which all messages were sent ends
    /// then. Null: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
}

/// gRPC messages as JSON with expressions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JsonMessage {
    /// gRPC method: `package.Service/Method`.
    pub method: String,
    /// One message, or a list of them.
    pub json: String,
    /// When and how often the messages are sent.
    #[serde(flatten)]
    pub stream: MessageStream,
    /// True: each message is compressed with gzip.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
}

/// Time at which the next piece of a body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PieceInterval {
    /// This long after the previous piece, counted from the begin of the request, so that a late
    /// piece delays no other.
    Time(Duration),
    /// After the next message of the reply.
    Reply,
}
