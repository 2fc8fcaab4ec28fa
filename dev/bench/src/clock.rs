//! The stopwatch of the suite: measures the time of a process, and the times of readings.
//!
//! It is the only file of the suite proper that reads the clock (the floor loop reads its own,
//! because it is a load generator). brunt's rule that only its engine reads the time concerns
//! requests; the suite times whole processes, from outside.
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
