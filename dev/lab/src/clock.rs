//! The lab's clock: the one file that reads the time.
//!
//! A *tick* is a `u64`: nanoseconds of `CLOCK_MONOTONIC` since the server started. The kernel stamps received packets
//! with `CLOCK_REALTIME`; such a stamp becomes a tick by its age, so that a step of the wall clock between two requests
//! harms neither.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::units::SECOND;

/// A kernel stamp older than this is not believed: the wall clock was stepped.
const OLDEST_STAMP: u64 = 10 * SECOND;

/// Ticks since an origin on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: u64,
    /// The same instant, as QUIC's timers want it.
    instant: Instant,
}

impl Clock {
    /// A clock that reads zero now.
    #[allow(clippy::disallowed_methods, reason = "this is where the time is read")]
    pub fn start() -> Self {
        Self { origin: monotonic(), instant: Instant::now() }
    }

    /// The present tick.
    pub fn now(&self) -> u64 {
        self.tick_of(monotonic())
    }

    /// The tick of an instant of [`monotonic`].
    pub fn tick_of(&self, instant: u64) -> u64 {
        instant.saturating_sub(self.origin)
    }

    /// Now, as QUIC's timers want it.
    pub fn instant(&self) -> Instant {
        self.instant + Duration::from_nanos(self.now())
    }

    /// The tick of such an instant.
    pub fn tick_of_instant(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.instant).as_nanos() as u64
    }

    /// The instant of `tick` on `CLOCK_MONOTONIC`, as timers want it. Never the zero that would disarm one.
    pub fn timespec(&self, tick: u64) -> Timespec {
        let instant = self.origin.saturating_add(tick).max(1);
        Timespec { tv_sec: (instant / SECOND) as i64, tv_nsec: (instant % SECOND) as i64 }
    }

    /// The tick of a kernel receive stamp (nanoseconds of `CLOCK_REALTIME`), unless its age cannot be true.
    pub fn tick_of_stamp(&self, stamp: u64) -> Option<u64> {
        let now = self.now();
        let age = nanos(clock_gettime(ClockId::Realtime)).checked_sub(stamp)?;
        (age < OLDEST_STAMP).then(|| now.saturating_sub(age))
    }
}

/// `CLOCK_MONOTONIC`, in nanoseconds: all processes of a machine share it.
pub fn monotonic() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// CPU time that this process has used so far, in nanoseconds.
pub fn cpu_time() -> u64 {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
