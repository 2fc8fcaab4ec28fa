//! Destination of the report: standard output, or a buffer for another drop-in.

use crate::caller::Caller;
use brunt_model::sync::IgnorePoison;
use std::sync::{Arc, Mutex};

/// Destination of the report. Several threads may write to it.
pub enum ReportOutput {
    Stdout(Arc<Caller>),
    /// Collects the text for the caller.
    Buffer(Mutex<Vec<u8>>),
}

impl ReportOutput {
    /// Writes text at once. Write errors are ignored, since the reader may close the pipe early.
    pub fn print(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// Writes bytes at once.
    pub fn write(&self, bytes: &[u8]) {
        match self {
            Self::Stdout(caller) => caller.out_bytes(bytes),
            Self::Buffer(text) => {
                text.lock().ignore_poison().extend_from_slice(bytes);
            }
        }
    }

    /// The collected text; empty for standard output.
    pub fn text(&self) -> String {
        match self {
            Self::Stdout(_) => String::new(),
            Self::Buffer(text) => {
                String::from_utf8_lossy(&text.lock().ignore_poison()).into_owned()
            }
        }
    }
}
