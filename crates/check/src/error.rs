//! Errors of a check: brunt failed, not the server.

use brunt_script::ScriptError;
use brunt_wire::http::BadWire;
use std::io;

/// Reason why a server cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The connections cannot be set up: a certificate cannot be read, or the proxy is invalid.
    #[error("the connection cannot be set up")]
    Connection(#[from] BadWire),
    /// The plan's script cannot be compiled, or a file that it names cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The plan has no request.
    #[error("there is no request")]
    NoRequest,
    /// The first request cannot be made.
    #[error("{0}")]
    Request(String),
    /// The clock or the runtime could not be set up.
    #[error(transparent)]
    Io(#[from] io::Error),
}
