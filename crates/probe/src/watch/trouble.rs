//! Why there is no reading.

use thiserror::Error;

/// Why a source gave no reading. Each says what to look at.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Trouble {
    /// Nobody to read.
    #[error("no readable process {0}")]
    NoProcess(String),
    /// The pid of a managed server was never put in.
    #[error("no managed server: name its processes by pid, pid file, name, port or cgroup")]
    NoServer,
    /// The machine shows nothing in /proc.
    #[error("{0} shows nothing in /proc")]
    NoProc(String),
    /// `ssh` could not be started, or ended.
    #[error("ssh {host}: {why}")]
    Ssh {
        /// What `ssh` was given.
        host: String,
        /// What it said, or the system.
        why: String,
    },
    /// The page's address is none.
    #[error("{url} is no URL of a status page: write http://HOST:PORT/PATH")]
    Url {
        /// As it was given, without a password.
        url: String,
    },
    /// The page did not come.
    #[error("{url}: {why}")]
    Unreachable {
        /// Its address, without a password.
        url: String,
        /// What was in the way.
        why: String,
    },
    /// Another status than 200.
    #[error("{url} answers {status}: {hint}")]
    Status {
        /// Its address, without a password.
        url: String,
        /// The status.
        status: u16,
        /// What to look at.
        hint: &'static str,
    },
    /// It came, and is something else.
    #[error("{url} is not {expected}")]
    Unknown {
        /// Its address, without a password.
        url: String,
        /// What it should be, and how the server is made to show it.
        expected: &'static str,
    },
}
