//! Errors that prevent a league. A tool that fails is no error: that is its outcome.

use std::io;

/// Reason why a league cannot start or finish.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    /// The scratch directory of a trial cannot be created.
    #[error("no scratch directory")]
    Scratch(#[source] io::Error),
    /// The reference server does not start.
    #[error("the reference server cannot be started")]
    Start(#[source] io::Error),
    /// The reference server has no pipe for its output.
    #[error("the reference server has no output")]
    NoOutput,
    /// The reference server did not print its port.
    #[error("the reference server printed `{0}`")]
    NoPort(String),
    /// The reference server cannot be frozen as the case requires.
    #[error("the reference server cannot be stopped")]
    Freeze(#[source] io::Error),
    /// The reference server did not end by itself with success.
    #[error("the reference server did not end as it should: {0}")]
    Ending(String),
    /// The command line of a tool is empty.
    #[error("{0} has no command")]
    NoCommand(&'static str),
    /// The truth of a plan cannot be computed.
    #[error("{0}")]
    Truth(String),
    /// The reference server does not accept the options of a case.
    #[error(transparent)]
    Options(#[from] clap::Error),
    /// The report of the reference server cannot be parsed.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file or a child process fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}
