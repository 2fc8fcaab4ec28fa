//! Stores the end of a command's output.

use crate::pause::{WaitingClock, wait_for};
use brunt_model::sync::IgnorePoison;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Number of bytes that are stored.
const CAPACITY: usize = 64 * 1024;
/// Time to read output after a command's end. A daemon that it started may never close the pipe.
const LAST_OUTPUT_LIMIT: Duration = Duration::from_millis(200);

/// The last 64 KiB of a pipe's output. A thread reads the pipe until its end, so
/// the writer never blocks.
pub struct Tail(Arc<TailState>);

#[derive(Default)]
struct TailState {
    bytes: Mutex<VecDeque<u8>>,
    ended: AtomicBool,
}

impl Tail {
    /// Starts a thread that reads `pipe`.
    pub fn start(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let state = Arc::new(TailState::default());
        let writer = Arc::clone(&state);
        thread::Builder::new().name("brunt-output".into()).spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                writer.push(&buffer[..n]);
            }
            writer.ended.store(true, Ordering::Release);
        })?;
        Ok(Self(state))
    }

    /// Returns the stored output as text, after a short wait for output that is still in the pipe.
    pub fn text(&self, time: &dyn WaitingClock) -> String {
        wait_for(time, LAST_OUTPUT_LIMIT, || self.0.ended.load(Ordering::Acquire).then_some(()));
        let bytes = self.0.bytes.lock().ignore_poison();
        let (first, second) = bytes.as_slices();
        // The oldest bytes were cut off, possibly in the middle of a character.
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}

impl TailState {
    fn push(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().ignore_poison();
        bytes.extend(new);
        let excess = bytes.len().saturating_sub(CAPACITY);
        bytes.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pause::RealClock;

    #[test]
    fn the_tail_contains_the_last_bytes() {
        let written = [b"first".repeat(CAPACITY), b"last".to_vec()].concat();
        let text = Tail::start(io::Cursor::new(written)).unwrap().text(&RealClock::default());
        assert!(text.len() == CAPACITY && text.ends_with("firstlast"));
    }
}
