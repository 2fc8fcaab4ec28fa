//! The stopwatch of the suite: how long a process took, and when a reading was taken.
//!
//! The one file of the suite proper that reads the clock (the floor loop has its own, being a generator). brunt's
//! rule that only its engine reads time is about measuring requests; here whole processes are timed, from outside.
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
