//! Reads the time. No other file of the lab does.
//!
//! A *tick* is a `u64`: nanoseconds of `CLOCK_MONOTONIC` since the start of the server. The kernel
//! stamps received packets with `CLOCK_REALTIME`. Such a stamp is converted by its age, so that a
//! step of the wall clock between two requests has no effect.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::units::SECOND;

/// Maximum age of a kernel stamp, in nanoseconds. An older one means that the
/// wall clock was stepped.
const MAX_STAMP_AGE: u64 = 10 * SECOND;

/// Ticks since an origin on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub struct TickClock {
    origin: u64,
    /// The same instant for the timers of QUIC.
    instant: Instant,
}

impl TickClock {
    /// Creates a clock that reads zero now.
    #[allow(clippy::disallowed_methods, reason = "this is where the time is read")]
    pub fn start() -> Self {
        Self { origin: monotonic(), instant: Instant::now() }
    }

    /// Returns the current tick.
    pub fn now(&self) -> u64 {
        self.tick_of(monotonic())
    }

    /// Converts an instant of [`monotonic`] to a tick.
    pub fn tick_of(&self, instant: u64) -> u64 {
        instant.saturating_sub(self.origin)
    }

    /// Returns the current instant for the timers of QUIC.
    pub fn instant(&self) -> Instant {
        self.instant + Duration::from_nanos(self.now())
    }

    /// Converts an instant of QUIC's timers to a tick.
    pub fn tick_of_instant(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.instant).as_nanos() as u64
    }

    /// Converts a tick to an instant on `CLOCK_MONOTONIC` for a timer. It is never zero, which
    /// would disarm the timer.
    pub fn timespec(&self, tick: u64) -> Timespec {
        let instant = self.origin.saturating_add(tick).max(1);
        Timespec { tv_sec: (instant / SECOND) as i64, tv_nsec: (instant % SECOND) as i64 }
    }

    /// Converts a kernel receive stamp (nanoseconds of `CLOCK_REALTIME`) to a tick. None if
    /// its age is implausible.
    pub fn tick_of_stamp(&self, stamp: u64) -> Option<u64> {
        let now = self.now();
        let age = nanos(clock_gettime(ClockId::Realtime)).checked_sub(stamp)?;
        (age < MAX_STAMP_AGE).then(|| now.saturating_sub(age))
    }
}

/// Returns `CLOCK_MONOTONIC` in nanoseconds. All processes of a machine share it.
pub fn monotonic() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// Returns the CPU time that this process has used, in nanoseconds.
pub fn cpu_time() -> u64 {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
