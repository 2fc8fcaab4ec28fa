//! Limits the rate at which an open loop opens connections.

use brunt_model::Tick;

/// Burst that is permitted after a quiet time, as a time at the bounded rate:
/// 20 ms, in nanoseconds.
const BURST_NANOS: u64 = 20_000_000;

/// Permits openings at a rate, with a burst of 20 ms: the generic cell
/// rate algorithm (ITU-T I.371).
#[derive(Debug)]
pub struct OpeningRate {
    gap: u64,
    /// When the next opening would be due at equal distances.
    next: Tick,
}

impl OpeningRate {
    /// Creates a limit of `rate` openings per second.
    pub fn new(rate: f64) -> Self {
        Self { gap: (1e9 / rate) as u64, next: Tick::ZERO }
    }

    /// Takes one opening at `now`.
    ///
    /// # Errors
    ///
    /// Returns when the next opening is permitted.
    pub fn take(&mut self, now: Tick) -> Result<(), Tick> {
        let permitted = Tick(self.next.0.saturating_sub(BURST_NANOS));
        if now < permitted {
            return Err(permitted);
        }
        self.next = Tick(self.next.max(now).0 + self.gap);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_applies_after_the_initial_burst() {
        let mut opening = OpeningRate::new(1000.0);
        let at_once = (0..100).take_while(|_| opening.take(Tick(5_000_000)).is_ok()).count();
        assert_eq!(at_once, 21);
        assert_eq!(opening.take(Tick(5_000_000)), Err(Tick(6_000_000)));
        assert_eq!(opening.take(Tick(6_000_000)), Ok(()));
        assert_eq!(opening.take(Tick(6_500_000)), Err(Tick(7_000_000)));
    }

    #[test]
    fn a_slow_rate_permits_an_initial_burst_of_one() {
        let mut opening = OpeningRate::new(2.0);
        assert_eq!(opening.take(Tick(7)), Ok(()));
        assert_eq!(opening.take(Tick(8)), Err(Tick(480_000_007)));
        assert_eq!(opening.take(Tick(10_000_000_000)), Ok(()));
        assert!(opening.take(Tick(10_000_000_001)).is_err());
    }
}
