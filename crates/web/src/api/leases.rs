//! Leases on servers.

use super::{read_json, visitor};
use crate::layout::{Problem, json};
use crate::leases::{LeaseRefusal, LeaseRequest};
use crate::shared::Shared;
use crate::token::Token;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

impl From<LeaseRefusal> for Problem {
    fn from(refusal: LeaseRefusal) -> Self {
        let status = match refusal {
            LeaseRefusal::Held { .. } => StatusCode::CONFLICT,
            LeaseRefusal::Unknown => StatusCode::NOT_FOUND,
            LeaseRefusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
            LeaseRefusal::Target(_)
            | LeaseRefusal::Targets(_)
            | LeaseRefusal::Purpose(_)
            | LeaseRefusal::Seconds(_) => StatusCode::BAD_REQUEST,
        };
        Self { status, text: refusal.to_string().into() }
    }
}

/// Lists the leases.
pub async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let entries = shared.leases().entries(shared.now());
    json(&entries)
}

/// Takes a lease.
///
/// # Errors
///
/// Another lease has one of its targets, or the request is malformed.
pub async fn take(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let request: LeaseRequest = read_json(body).await?;
    let key = Token::random().map_err(|error| Problem::internal(&error))?;
    // The holder is not in the request: a member must not take a lease for another one.
    let lease = shared.leases().take(&request, visitor()?.holder(), shared.now(), key)?;
    Ok((StatusCode::CREATED, json(&lease)?).into_response())
}

/// Renews a lease.
///
/// # Errors
///
/// The visitor has no lease with this key.
pub async fn renew(
    State(shared): State<Arc<Shared>>,
    Path(key): Path<String>,
) -> Result<Response, Problem> {
    let lease = shared.leases().renew(&key, visitor()?.holder(), shared.now())?;
    json(&lease)
}

/// Ends a lease: by its key that of the visitor, by its number that of any member.
///
/// # Errors
///
/// There is no such lease.
pub async fn end(
    State(shared): State<Arc<Shared>>,
    Path(key): Path<String>,
) -> Result<StatusCode, Problem> {
    // A key is longer than any number.
    match key.parse() {
        Ok(number) => shared.leases().end(number)?,
        Err(_) => shared.leases().release(&key, visitor()?.holder())?,
    }
    Ok(StatusCode::NO_CONTENT)
}
