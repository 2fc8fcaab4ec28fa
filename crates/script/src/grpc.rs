//! Services of gRPC: messages from JSON, and JSON from replies.
//!
//! Without the feature `grpc` there are none, and a call gets an error that says so. Out of scope: whence descriptors come
//! (files, or the server by reflection); `spec` and `runner` know.

#[cfg(not(feature = "grpc"))]
mod absent;
#[cfg(feature = "grpc")]
mod describe;
#[cfg(feature = "grpc")]
mod present;

#[cfg(not(feature = "grpc"))]
pub use absent::Services;
use brunt_model::{Body, Request};
#[cfg(feature = "grpc")]
pub use present::Services;

/// The method that a URL calls: `package.Service/Method`, its path without the first slash.
pub fn method_of(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// A request whose message, if it has one, is encoded.
///
/// # Errors
///
/// In words: the JSON is no such message.
pub fn encoded(request: Request, services: Option<&Services>) -> Result<Request, String> {
    let Body::Message(message) = &request.body else { return Ok(request) };
    let Some(services) = services else { return Err("the plan has no descriptors of services".to_owned()) };
    let body = services.body(&message.method, message.json.as_bytes(), message.interval)?;
    Ok(Request { body, ..request })
}
