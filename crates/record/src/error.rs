//! The error type of recordings.

use brunt_import::ImportError;
use std::io;

/// A recording that failed, or that is no HAR.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// No browser was found.
    #[error(
        "no browser found: looked for {names} in PATH; install Chromium, or write --browser PATH"
    )]
    NoBrowser {
        /// Names of the programs that were searched for.
        names: String,
    },
    /// The browser did not start.
    #[error("cannot start the browser `{program}`: {reason}; write another one: --browser PATH")]
    Start {
        /// Path of the program.
        program: String,
        /// Error of the system.
        reason: String,
    },
    /// The browser ended, or its pipe was closed.
    #[error("the browser ended{0}")]
    Ended(String),
    /// The browser refused a command of the protocol.
    #[error("the browser refused {method}: {message}")]
    Refused {
        /// Method of the DevTools protocol.
        method: String,
        /// Message of the browser.
        message: String,
    },
    /// The browser did not answer in time.
    #[error("no reply from the browser to {method} within {seconds} s")]
    Timeout {
        /// Method of the DevTools protocol.
        method: String,
        /// Time limit.
        seconds: u64,
    },
    /// A recording cannot be converted.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A file or directory cannot be read or written.
    #[error("cannot use a temporary profile: {0}")]
    Profile(#[from] io::Error),
}
