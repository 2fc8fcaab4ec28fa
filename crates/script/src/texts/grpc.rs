//! Encodes gRPC messages from JSON, and decodes replies to JSON.
//!
//! Without the feature `grpc` a call returns an error. Out of scope: reading descriptors from
//! files, or from the server by reflection; `spec` and `runner` do it.

#[cfg(not(feature = "grpc"))]
mod absent;
#[cfg(feature = "grpc")]
mod describe;
#[cfg(feature = "grpc")]
mod editions;
#[cfg(feature = "grpc")]
mod present;

#[cfg(not(feature = "grpc"))]
pub use absent::Services;
use brunt_model::Body;
use brunt_model::request::MessageStream;
#[cfg(feature = "grpc")]
pub use present::Services;

/// Rules for sending the messages of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageRules {
    /// When and how often the messages are sent.
    pub stream: MessageStream,
    /// True if each message is compressed (`grpc-encoding: gzip`).
    pub is_compressed: bool,
}

/// The messages of a call, before they are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSource<'a> {
    /// A message as JSON; of a client that sends several, a list. Empty: an empty message.
    Json(&'a [u8]),
    /// An encoded message; of a client that sends several, each after its length as a varint.
    Binary(&'a [u8]),
}

/// Returns the method that a URL calls, `package.Service/Method`: the path without the first slash.
pub fn method_of(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// Encodes a body that is a gRPC message.
///
/// # Errors
///
/// Describes JSON that does not match the message type.
pub fn encoded(body: Body, services: Option<&Services>) -> Result<Body, String> {
    let Body::Message(message) = &body else { return Ok(body) };
    let Some(services) = services else {
        return Err("the plan has no descriptors of services".to_owned());
    };
    let rules = MessageRules { stream: message.stream, is_compressed: message.compressed };
    services.body(&message.method, MessageSource::Json(message.json.as_bytes()), rules)
}
