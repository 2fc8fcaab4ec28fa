//! The last of what a command wrote. Out of scope: a log; what came before is forgotten.

use crate::pause::{Pause, wait_for};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that are kept.
const KEPT: usize = 64 * 1024;
/// How long to read output after a command's end; a daemon that it left may keep the pipe open for
/// good.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The last 64 KiB of what comes out of a pipe. A thread reads it until its end, so that the writer never waits.
pub struct Tail(Arc<TailState>);

#[derive(Default)]
struct TailState {
    bytes: Mutex<VecDeque<u8>>,
    ended: AtomicBool,
}

impl Tail {
    /// Begins to read.
    pub fn of(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(TailState::default());
        let writer = Arc::clone(&kept);
        thread::Builder::new().name("brunt-output".into()).spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                writer.push(&buffer[..n]);
            }
            writer.ended.store(true, Ordering::Release);
        })?;
        Ok(Self(kept))
    }

    /// What is kept, once all is read that was written until now, as text.
    pub fn text(&self, time: &dyn Pause) -> String {
        wait_for(time, LAST_WORDS, || self.0.ended.load(Ordering::Acquire).then_some(()));
        let bytes = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, second) = bytes.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}

impl TailState {
    fn push(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(new);
        let excess = bytes.len().saturating_sub(KEPT);
        bytes.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pause::Real;

    #[test]
    fn the_end_is_kept() {
        let written = [b"first".repeat(KEPT), b"last".to_vec()].concat();
        let text = Tail::of(io::Cursor::new(written)).unwrap().text(&Real::default());
        assert!(text.len() == KEPT && text.ends_with("firstlast"));
    }
}
