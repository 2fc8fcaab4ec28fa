//! Errors of a generator: brunt failed, not the server.

use brunt_engine::EngineError;
use brunt_script::ScriptError;
use brunt_wire::http::BadWire;

/// Reason why a plan cannot be carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    /// The connections cannot be set up: a certificate cannot be read, or the proxy is invalid.
    #[error("the connection cannot be set up")]
    Connection(#[from] BadWire),
    /// The plan's script cannot be compiled, or a file that it names cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The engine failed with an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
}
