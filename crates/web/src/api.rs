//! The HTTP API for programs, below `/api/`: JSON in both directions, with a token in a header.

pub mod leases;
pub mod runs;
pub mod start;
pub mod types;

use crate::layout::{Problem, json};
use crate::shared::{READ_TIMEOUT, Shared, read_body};
use crate::visitor::Visitor;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use types::{ErrorReply, SessionReply};

/// Maximum size of the JSON of a request: the text of a plan.
const MAX_JSON_BYTES: usize = 4 << 20;

/// Returns an error as JSON.
pub fn error_reply(status: StatusCode, error: String) -> Response {
    let text = serde_json::to_string(&ErrorReply { error }).unwrap_or_default();
    let media_type = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, media_type)], text).into_response()
}

/// Reads the JSON of a request.
///
/// # Errors
///
/// It is too long, too slow, or has another form.
pub async fn read_json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    let bytes = read_body(MAX_JSON_BYTES, READ_TIMEOUT, body).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let text = format!(
            "The JSON of the request is malformed: {error}. GET /openapi.json describes it."
        );
        Problem::bad_request(text)
    })
}

/// Returns name and permission of the token.
///
/// # Errors
///
/// The request has no token.
pub async fn session() -> Result<Response, Problem> {
    let visitor = visitor()?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    json(&SessionReply { name: visitor.name, permission: visitor.permission, version })
}

/// Returns the `OpenAPI` document.
pub async fn openapi(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    json(&shared.openapi)
}

/// Returns the visitor of the request.
pub fn visitor() -> Result<Visitor, Problem> {
    Visitor::current().ok_or_else(|| Problem::not_found("This request has no visitor."))
}
