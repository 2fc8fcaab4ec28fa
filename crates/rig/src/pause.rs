//! Time, for whoever waits. Out of scope: a clock of its own; the real one is the engine's.

use brunt_engine::{Epoch, Time};
use brunt_model::{Clock, Tick};
use std::thread;
use std::time::Duration;

/// Between two looks at something that is waited for: short at first, then longer.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// A clock that one can wait by.
pub trait Pause: Clock {
    /// Waits for this time.
    fn pause(&self, time: Duration);
}

/// The real clock; the thread sleeps.
pub struct Real(Time);

impl Default for Real {
    fn default() -> Self {
        Self(Time::new(Epoch::now()))
    }
}

impl Clock for Real {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl Pause for Real {
    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Polls until there is something, for this time at most.
pub fn wait_for<T>(time: &dyn Pause, limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let (mut between, longest) = LOOKS;
    let end = time.now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        let now = time.now();
        if now >= end {
            return None;
        }
        time.pause(between.min(end - now));
        between = (between * 2).min(longest);
    }
}
