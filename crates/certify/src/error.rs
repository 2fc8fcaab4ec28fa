//! What keeps a league from being held. A tool that fails is no error: that is its outcome.

use std::io;

/// Why a league cannot be held, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    /// A trial has no directory of its own.
    #[error("no scratch directory")]
    Scratch(#[source] io::Error),
    /// The reference server does not start.
    #[error("the reference server cannot be started")]
    Start(#[source] io::Error),
    /// The reference server was started without a pipe from it.
    #[error("the reference server has no output")]
    NoOutput,
    /// The reference server did not say where it listens.
    #[error("the reference server said `{0}`")]
    NoPort(String),
    /// The reference server does not stop where the case has it frozen.
    #[error("the reference server cannot be stopped")]
    Freeze(#[source] io::Error),
    /// The reference server ended otherwise than by itself and with success.
    #[error("the reference server did not end as it should: {0}")]
    Ending(String),
    /// A tool was asked to do something with no words.
    #[error("{0} has no command")]
    NoCommand(&'static str),
    /// The truth of a plan cannot be computed.
    #[error("{0}")]
    Truth(String),
    /// The options of a case are none of the reference server's.
    #[error(transparent)]
    Options(#[from] clap::Error),
    /// What the reference server knows cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file or a child cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}
