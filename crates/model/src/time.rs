//! Instants and durations.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// An instant: nanoseconds since the run began (since its first connection was opened, before any warm-up).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Tick(pub u64);

impl Tick {
    /// When the run began.
    pub const ZERO: Self = Self(0);
    /// Later than anything.
    pub const NEVER: Self = Self(u64::MAX);

    /// Nanoseconds from `earlier` to here; 0 where `earlier` is later.
    #[inline]
    pub fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds since the run began.
    pub fn seconds(self) -> f64 {
        seconds_of(self.0)
    }

    /// Seconds from `earlier` to here; 0 where `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        seconds_of(self.nanos_since(earlier))
    }

    /// Seconds from `zero` to here, negative where `zero` is later.
    pub fn seconds_from(self, zero: Self) -> f64 {
        (self.0 as f64 - zero.0 as f64) / 1e9
    }
}

impl Add<Duration> for Tick {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(nanos(d)))
    }
}

impl AddAssign<Duration> for Tick {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub for Tick {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }
}

/// A duration in whole nanoseconds; the greatest `u64` where it does not fit (584 years).
pub fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds as seconds.
pub fn seconds_of(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Who tells the time. There is one real one, in `engine/src/clock.rs`; tests have their own.
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Tick;
}

/// Durations written as seconds.
pub mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    /// Writes a duration as a number of seconds.
    ///
    /// # Errors
    ///
    /// The serializer fails.
    pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(d.as_secs_f64())
    }

    /// Reads a number of seconds; refuses what is negative, infinite or no number.
    ///
    /// # Errors
    ///
    /// It is no number, negative, or too large.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}

/// Optional durations written as seconds.
pub mod optional_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    /// Writes a duration as a number of seconds, or null.
    ///
    /// # Errors
    ///
    /// The serializer fails.
    #[allow(clippy::ref_option)] // serde hands the field over like this
    pub fn serialize<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        d.map(|d| d.as_secs_f64()).serialize(s)
    }

    /// Reads a number of seconds, or null.
    ///
    /// # Errors
    ///
    /// It is neither null nor a number, or it is negative or too large.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        Option::<f64>::deserialize(d)?
            .map(|s| Duration::try_from_secs_f64(s).map_err(serde::de::Error::custom))
            .transpose()
    }
}
