//! The error type of recordings.

use brunt_har::ImportError;
use std::io;
use std::net::SocketAddr;

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
    /// A file of the proxy's certificate cannot be used.
    #[error("`{path}`: {reason}; {remedy}")]
    ProxyFile {
        /// Path of the file or directory.
        path: String,
        /// Reason.
        reason: String,
        /// Remedy for the user.
        remedy: String,
    },
    /// The address of the proxy cannot be used.
    #[error(
        "--proxy {address}: {reason}; write an address of this machine with a free port, such as --proxy 127.0.0.1:0"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        reason: io::Error,
    },
    /// Other machines can reach the proxy, and need no password.
    #[error(
        "--proxy {0}: other machines can reach this address, so they must authenticate; add --proxy-user NAME"
    )]
    NoPassword(SocketAddr),
    /// The settings of TLS for servers cannot be used.
    #[error("TLS to servers: {0}; correct --cacert FILE, or leave it out")]
    Tls(String),
    /// A recording cannot be converted.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A file or directory cannot be read or written.
    #[error("cannot use a temporary profile: {0}")]
    Profile(#[from] io::Error),
}
