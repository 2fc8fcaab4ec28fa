//! Services of gRPC: messages from JSON, and JSON from replies.
//!
//! Without the feature `grpc` there are none, and a call gets an error that says so. Out of scope: whence descriptors come
//! (files, or the server by reflection); `spec` and `runner` know.

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
use brunt_model::request::PieceInterval;
#[cfg(feature = "grpc")]
pub use present::Services;

/// How the messages of a call are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageRules {
    /// When each message but the first is sent; None: all at once.
    pub interval: Option<PieceInterval>,
    /// Each message is compressed (`grpc-encoding: gzip`).
    pub is_compressed: bool,
}

/// The method that a URL calls: `package.Service/Method`, its path without the first slash.
pub fn method_of(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// A body whose message, if it is one, is encoded.
///
/// # Errors
///
/// In words: the JSON is no such message.
pub fn encoded(body: Body, services: Option<&Services>) -> Result<Body, String> {
    let Body::Message(message) = &body else { return Ok(body) };
    let Some(services) = services else { return Err("the plan has no descriptors of services".to_owned()) };
    let rules = MessageRules { interval: message.interval, is_compressed: message.compressed };
    services.body(&message.method, message.json.as_bytes(), rules)
}
