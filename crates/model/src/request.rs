//! What to ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A request as the user wrote it. URL, header values and a text body may hold placeholders such as `{n}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Name of its samples in reports; by default the URL.
    pub label: String,
    /// Method: `GET`, `POST`, …
    pub method: String,
    /// An absolute http, https, ws or wss URL.
    pub url: String,
    /// Header names and values, in the order of the wire. Host, Content-Length and Connection are added where absent.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: Body,
    /// Relative frequency within the list.
    pub weight: u32,
    /// All of its bytes, head and body, sent as they are in place of what the other fields say, without placeholders; null:
    /// brunt writes them.
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
    /// A GET of this URL, reported under it.
    pub fn get(url: &str) -> Self {
        let (label, method, url) = (url.to_owned(), "GET".to_owned(), url.to_owned());
        Self { label, method, url, headers: Vec::new(), body: Body::None, weight: 1, verbatim: None, reply_policy: 0 }
    }

    /// Whether its URL is one of WebSocket.
    pub fn is_websocket(&self) -> bool {
        ["ws:", "wss:"].iter().any(|scheme| self.url.starts_with(scheme))
    }

    /// Whether its URL asks for TLS.
    pub fn is_encrypted(&self) -> bool {
        ["https:", "wss:"].iter().any(|scheme| self.url.starts_with(scheme))
    }
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyFragment {
    /// Text with placeholders.
    Text(String),
    /// Bytes, sent unchanged.
    Bytes(Vec<u8>),
}

/// Request body.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// No body, and no Content-Length.
    #[default]
    None,
    /// Text with placeholders.
    Text(String),
    /// Bytes, sent unchanged.
    Bytes(Vec<u8>),
    /// Texts with placeholders, and bytes between them.
    Mixed(Vec<BodyFragment>),
    /// Bytes that are sent in pieces while the request is under way.
    Pieces(BodyPieces),
    /// Messages of gRPC, encoded when the request is made.
    Message(JsonMessage),
}

impl Body {
    /// Its bytes as they are written, of a message its text; empty where texts and bytes alternate. None: there is no body.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::None => None,
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            Self::Pieces(pieces) => Some(&pieces.bytes),
            Self::Message(message) => Some(message.json.as_bytes()),
            Self::Mixed(_) => Some(&[]),
        }
    }
}

/// A body in pieces, such as the messages of a stream of gRPC. The first piece is sent with the head of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BodyPieces {
    /// All pieces, one after the other.
    pub bytes: Vec<u8>,
    /// Where each piece ends in `bytes`, in increasing order; the last is the length.
    pub ends: Vec<usize>,
    /// When the next piece is sent.
    pub interval: PieceInterval,
}

/// Messages of gRPC as JSON with expressions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JsonMessage {
    /// The method that they are sent to: `package.Service/Method`.
    pub method: String,
    /// One message, or a list of them.
    pub json: String,
    /// When each message but the first is sent; null: all at once.
    pub interval: Option<PieceInterval>,
    /// Each message is compressed with gzip.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
}

/// When the next piece of a body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PieceInterval {
    /// This long after the one before, counted from the begin of the request, so that a late piece delays no other.
    Time(Duration),
    /// When the next message of the reply has come.
    Reply,
}
