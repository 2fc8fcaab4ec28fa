//! What the report is written on: standard output, or a text for somebody of ours.

use crate::caller::Caller;
use std::sync::{Arc, Mutex, PoisonError};

/// What the report is written on. Several threads may write.
pub enum Paper {
    /// Standard output.
    Stdout(Arc<Caller>),
    /// A text that is kept.
    Kept(Mutex<Vec<u8>>),
}

impl Paper {
    /// Writes, at once. Whoever reads it may stop when it has seen enough.
    pub fn say(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// The same for bytes.
    pub fn write(&self, bytes: &[u8]) {
        match self {
            Self::Stdout(caller) => caller.out_bytes(bytes),
            Self::Kept(text) => text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes),
        }
    }

    /// What was kept.
    pub fn text(&self) -> String {
        match self {
            Self::Stdout(_) => String::new(),
            Self::Kept(text) => {
                String::from_utf8_lossy(&text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
            }
        }
    }
}
