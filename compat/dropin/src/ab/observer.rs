//! Observes single connections for ab: the first TLS handshake, and with `-v` every reply head.

use super::print::TlsLines;
use super::secure::report_tls;
use crate::caller::Caller;
use crate::witness::Witness;
use brunt_wire::tls::Handshake;
use brunt_wire::{Prepared, ReplyDetails};
use std::sync::{Arc, OnceLock};

/// The witness of an ab run.
pub struct ConnectionObserver {
    verbosity: i64,
    tls: OnceLock<TlsLines>,
    server: OnceLock<String>,
    caller: Arc<Caller>,
}

impl ConnectionObserver {
    /// Creates an observer that has seen nothing.
    pub fn new(verbosity: i64, caller: &Arc<Caller>) -> Self {
        Self {
            verbosity,
            tls: OnceLock::new(),
            server: OnceLock::new(),
            caller: Arc::clone(caller),
        }
    }

    /// Describes the first TLS handshake.
    pub fn tls(&self) -> TlsLines {
        self.tls.get().cloned().unwrap_or_default()
    }

    /// Returns the value of the `Server` header.
    pub fn server(&self) -> Option<&String> {
        self.server.get()
    }
}

impl Witness for ConnectionObserver {
    fn on_handshake(&self, handshake: &Handshake) {
        let _ = self.tls.get_or_init(|| report_tls(handshake));
    }

    fn needs_heads(&self) -> bool {
        self.verbosity >= 2
    }

    fn on_reply(&self, _: &Prepared, details: &ReplyDetails) {
        details.server.as_ref().map(|server| self.server.get_or_init(|| server.clone()));
        self.caller.out_bytes(&log(&details.first_bytes, self.verbosity));
    }
}

/// Formats a reply head for the log of `-v`.
fn log(first_bytes: &[u8], verbosity: i64) -> Vec<u8> {
    let mut out = b"LOG: header received:\n".to_vec();
    out.extend_from_slice(first_bytes);
    out.push(b'\n');
    // ab takes a head without a status for an error 500.
    let status = String::from_utf8_lossy(first_bytes.get(9..12).unwrap_or(b"500")).into_owned();
    if !status.starts_with('2') {
        out.extend_from_slice(format!("WARNING: Response code not 2xx ({status})\n").as_bytes());
    } else if verbosity >= 3 {
        out.extend_from_slice(format!("LOG: Response code = {status}\n").as_bytes());
    }
    out
}
