//! Messages that wait to be sent. A separate thread writes them, so that a slow connection delays
//! neither the load nor its measurement.

use brunt_model::sync::IgnorePoison;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Bytes of messages that wait to be sent.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<OutboxState>,
    changed: Condvar,
}

#[derive(Default)]
struct OutboxState {
    waiting: Vec<u8>,
    /// Number of bytes that are being written.
    in_progress: usize,
}

impl Outbox {
    /// Adds a message.
    pub fn add(&self, message: &[u8]) {
        self.state().waiting.extend_from_slice(message);
        self.changed.notify_one();
    }

    /// Number of bytes that are not sent yet.
    pub fn unsent(&self) -> usize {
        let state = self.state();
        state.waiting.len() + state.in_progress
    }

    /// Writes all messages, until writing fails. Returns the error.
    pub fn write_all_to(&self, output: &mut impl Write) -> io::Error {
        loop {
            let mut state = self.state();
            state.in_progress = 0;
            while state.waiting.is_empty() {
                state = self.changed.wait(state).ignore_poison();
            }
            let bytes = std::mem::take(&mut state.waiting);
            state.in_progress = bytes.len();
            drop(state);
            if let Err(error) = output.write_all(&bytes).and_then(|()| output.flush()) {
                return error;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().ignore_poison()
    }
}
