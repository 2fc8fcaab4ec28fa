//! Instants and durations of a run.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// An instant, in nanoseconds since the run began. A run begins with its first
/// connection, before any warm-up.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Tick(pub u64);

impl Tick {
    /// Start of the run.
    pub const ZERO: Self = Self(0);
    /// An instant that is never reached.
    pub const NEVER: Self = Self(u64::MAX);

    /// Nanoseconds from `earlier` to this instant; 0 if `earlier` is later.
    #[inline]
    pub fn nanos_since(self, earlier: Self) -> u64 {
        // An instant that never happened is 0, so `earlier` may be greater.
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds since the run began.
    pub fn seconds(self) -> f64 {
        seconds_of(self.0)
    }

    /// Seconds from `earlier` to this instant; 0 if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        seconds_of(self.nanos_since(earlier))
    }

    /// Seconds from `zero` to this instant, negative if `zero` is later.
    pub fn seconds_from(self, zero: Self) -> f64 {
        // Signed, because instants of the warm-up are before the zero of a chart.
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

/// Converts a duration to nanoseconds; the greatest `u64` if it does not fit (584 years).
pub fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

/// Converts nanoseconds to seconds.
pub fn seconds_of(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// A clock. The only real one is in `engine/src/clock.rs`; tests have their own.
pub trait Clock {
    /// Returns the current instant.
    fn now(&self) -> Tick;
}

/// Serializes durations as seconds.
pub mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    /// Writes a duration as a number of seconds.
    pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(d.as_secs_f64())
    }

    /// Reads a number of seconds.
    ///
    /// # Errors
    ///
    /// The value is not a number, negative, or too large.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        // `from_secs_f64` panics for negative numbers, which JSON may contain.
        Duration::try_from_secs_f64(f64::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}

/// Serializes optional durations as seconds or null.
pub mod optional_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    /// Writes a duration as a number of seconds, or null.
    #[allow(clippy::ref_option)] // serde passes a reference to the field
    pub fn serialize<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        d.map(|d| d.as_secs_f64()).serialize(s)
    }

    /// Reads a number of seconds, or null.
    ///
    /// # Errors
    ///
    /// The value is neither null nor a number, or it is negative or too large.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        Option::<f64>::deserialize(d)?
            .map(|s| Duration::try_from_secs_f64(s).map_err(serde::de::Error::custom))
            .transpose()
    }
}
