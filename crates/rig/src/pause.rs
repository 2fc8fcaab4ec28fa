//! Clocks that can wait. The real clock is that of `brunt-engine`.

use brunt_engine::{RunEpoch, WorkerClock};
use brunt_model::{Clock, Tick};
use std::thread;
use std::time::Duration;

/// First interval between two polls.
const MIN_POLL: Duration = Duration::from_millis(1);
/// Longest interval between two polls.
const MAX_POLL: Duration = Duration::from_millis(50);

/// A clock that can also wait.
pub trait WaitingClock: Clock {
    /// Waits for the duration `time`.
    fn pause(&self, time: Duration);
}

/// The real clock. It waits by sleeping in the calling thread.
pub struct RealClock(WorkerClock);

impl Default for RealClock {
    fn default() -> Self {
        Self(WorkerClock::new(RunEpoch::now()))
    }
}

impl Clock for RealClock {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl WaitingClock for RealClock {
    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Calls `poll` repeatedly until it returns a value, for at most `limit`.
pub fn wait_for<T>(
    time: &dyn WaitingClock,
    limit: Duration,
    mut poll: impl FnMut() -> Option<T>,
) -> Option<T> {
    let mut interval = MIN_POLL;
    let end = time.now() + limit;
    loop {
        if let Some(value) = poll() {
            return Some(value);
        }
        let now = time.now();
        if now >= end {
            return None;
        }
        time.pause(interval.min(end - now));
        interval = (interval * 2).min(MAX_POLL);
    }
}
