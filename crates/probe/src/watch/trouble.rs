//! Reasons why a reading failed.

use thiserror::Error;

/// Why a source gave no reading. Each message suggests what to check.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProbeError {
    /// No readable process matches the selection.
    #[error("no readable process {0}")]
    NoProcess(String),
    /// The plan does not name the pid of the managed server.
    #[error("no managed server: name its processes by pid, pid file, name, port or cgroup")]
    NoServer,
    /// The machine shows no files in /proc.
    #[error("{0} shows nothing in /proc")]
    NoProc(String),
    /// `ssh` could not be started, or it ended.
    #[error("ssh {host}: {why}")]
    Ssh {
        /// The host as passed to `ssh`.
        host: String,
        /// The error of `ssh` or of the system.
        why: String,
    },
    /// The page's address is not a valid URL.
    #[error("{url} is no URL of a status page: write http://HOST:PORT/PATH")]
    Url {
        /// The address as configured, without a password.
        url: String,
    },
    /// The page could not be loaded.
    #[error("{url}: {why}")]
    Unreachable {
        /// The page's address, without a password.
        url: String,
        /// The error of the connection or the transfer.
        why: String,
    },
    /// The page's status is not 200.
    #[error("{url} answers {status}: {hint}")]
    Status {
        /// The page's address, without a password.
        url: String,
        /// HTTP status code.
        status: u16,
        /// What to check for this status.
        hint: &'static str,
    },
    /// The page has another content than expected.
    #[error("{url} is not {expected}")]
    Unknown {
        /// The page's address, without a password.
        url: String,
        /// The expected content, and how to configure the server for it.
        expected: &'static str,
    },
}
