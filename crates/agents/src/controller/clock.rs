//! Estimates the offset of an agent's clock from the controller's, with bounds that hold.
//!
//! A reading has four instants: the controller sends (`sent`), the agent receives and replies
//! (`received`, `replied`), the controller receives (`returned`). Whatever the delays on the way, the
//! offset (agent − controller) is at least `replied − returned` and at most `received − sent`
//! (Cristian 1989). The middle of the narrowest range is the estimate. Clocks drift apart, so a range
//! widens with its age.
//!
//! Out of scope: sending readings, and wall-clock time.

use brunt_model::ClockOffset;
use brunt_model::agent::ClockReading;
use std::collections::VecDeque;

/// Maximum drift between two monotonic clocks: 1 nanosecond in this number. The kernel slews a clock
/// by at most 500 ppm (adjtimex(2)), each of two clocks, and crystals differ by up to 100 ppm.
const DRIFT: u64 = 900;

/// Number of readings that are kept.
const KEPT: usize = 64;

/// Range of the offset at one instant.
#[derive(Debug, Clone, Copy)]
struct OffsetRange {
    /// When the reading began, on the controller's clock.
    sent: u64,
    least: i64,
    most: i64,
    round_trip: u64,
}

/// Readings of one agent's clock, and what follows from them.
#[derive(Debug, Default)]
pub struct ClockEstimate {
    ranges: VecDeque<OffsetRange>,
    /// True if the agent states that its clock is the controller's.
    shares_clock: bool,
    /// Offset that the run in progress uses.
    used: i64,
    /// Largest bound of the difference between the used and the true offset since the run began.
    worst_error: u64,
}

impl ClockEstimate {
    /// Creates an estimate without readings.
    pub fn new(shares_clock: bool) -> Self {
        Self { shares_clock, ..Self::default() }
    }

    /// Adds a reading that returned at this instant of the controller's clock.
    pub fn add(&mut self, reading: ClockReading, returned: u64) {
        // The instants are of different machines, so they are only compared as differences.
        let range = OffsetRange {
            sent: reading.sent,
            least: difference(reading.replied, returned),
            most: difference(reading.received, reading.sent),
            round_trip: returned
                .saturating_sub(reading.sent)
                .saturating_sub(reading.replied.saturating_sub(reading.received)),
        };
        // A clock that both share has the offset 0. If that is impossible, they do not share it.
        self.shares_clock &= range.least <= 0 && range.most >= 0;
        // Just before a new reading, the bound is at its largest.
        if !self.ranges.is_empty() {
            self.worst_error = self.worst_error.max(self.error_at(returned));
        }
        if self.ranges.len() == KEPT {
            self.ranges.pop_front();
        }
        self.ranges.push_back(range);
    }

    /// Number of readings, up to a limit.
    pub fn readings(&self) -> usize {
        self.ranges.len()
    }

    /// Chooses the offset for a run that begins now. From here on, [`offset`](Self::offset) has its
    /// error.
    pub fn begin_run(&mut self, now: u64) {
        self.used = if self.shares_clock { 0 } else { self.middle(now) };
        self.worst_error = self.error_at(now);
    }

    /// Uses the offset that another controller has chosen. Call it before any reading.
    pub fn go_on(&mut self, used: i64) {
        self.used = used;
        self.worst_error = 0;
    }

    /// Returns the offset that the run uses, with the largest error since it began.
    pub fn offset(&self, now: u64) -> ClockOffset {
        ClockOffset {
            offset_nanos: self.used,
            error_nanos: self.worst_error.max(self.error_at(now)),
            round_trip_nanos: self.ranges.iter().map(|r| r.round_trip).min().unwrap_or(u64::MAX),
        }
    }

    /// Longest of the last round trips, in nanoseconds.
    pub fn longest_round_trip(&self) -> u64 {
        self.ranges.iter().map(|range| range.round_trip).max().unwrap_or(0)
    }

    /// Middle of the narrowest range.
    fn middle(&self, now: u64) -> i64 {
        let narrowest = self.ranges.iter().min_by_key(|range| range.width(now));
        narrowest.map_or(0, |range| range.least + (range.most - range.least) / 2)
    }

    /// Bound of the difference between the used and the true offset at this instant.
    fn error_at(&self, now: u64) -> u64 {
        if self.shares_clock {
            return 0;
        }
        self.ranges.iter().map(|range| range.error(self.used, now)).min().unwrap_or(u64::MAX)
    }
}

impl OffsetRange {
    /// Time by which the offset may have changed since the reading.
    fn drift(&self, now: u64) -> u64 {
        // Rounded up, because a bound may be too large but not too small.
        now.saturating_sub(self.sent).div_ceil(DRIFT)
    }

    fn width(&self, now: u64) -> u64 {
        self.most.abs_diff(self.least) + 2 * self.drift(now)
    }

    /// Bound of the difference between an offset and the true one.
    fn error(&self, offset: i64, now: u64) -> u64 {
        let above = self.most.saturating_sub(offset).max(0).unsigned_abs();
        let below = offset.saturating_sub(self.least).max(0).unsigned_abs();
        above.max(below) + self.drift(now)
    }
}

/// Returns `a − b`.
fn difference(a: u64, b: u64) -> i64 {
    // Instants since a boot: neither reaches 2^63 ns, which is 292 years.
    a as i64 - b as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reading at this instant, with these delays, of a clock that is ahead by `offset`.
    fn reading(sent: u64, there: u64, back: u64, offset: i64) -> (ClockReading, u64) {
        let agent = |controller: u64| (controller as i64 + offset) as u64;
        let received = sent + there;
        let replied = received + 3_000;
        let reading = ClockReading { sent, received: agent(received), replied: agent(replied) };
        (reading, replied + back)
    }

    #[test]
    fn a_symmetric_path_gives_the_exact_offset() {
        let mut clock = ClockEstimate::new(false);
        let (reading, returned) = reading(1_000_000, 50_000, 50_000, 77_000_000);
        clock.add(reading, returned);
        clock.begin_run(returned);
        let offset = clock.offset(returned);
        assert_eq!((offset.offset_nanos, offset.round_trip_nanos), (77_000_000, 100_000));
        // Half of the round trip, and the drift during it.
        assert!((50_000..51_000).contains(&offset.error_nanos), "{offset:?}");
    }

    #[test]
    fn a_shared_clock_has_no_error_unless_a_reading_contradicts() {
        let mut clock = ClockEstimate::new(true);
        let (shared, returned) = reading(5_000, 1_000, 900, 0);
        clock.add(shared, returned);
        clock.begin_run(returned);
        let offset = clock.offset(returned + 1_000_000_000);
        assert_eq!((offset.offset_nanos, offset.error_nanos), (0, 0));
        let (other, returned) = reading(10_000_000, 1_000, 900, 100_000_000_000_000);
        clock.add(other, returned);
        clock.begin_run(returned);
        assert!(clock.offset(returned).offset_nanos.abs_diff(100_000_000_000_000) < 1_000);
        assert!(clock.offset(returned).error_nanos > 900);
    }

    proptest! {
        #[test]
        fn the_stated_error_is_never_smaller_than_the_true_one(
            offset in -200_000_000_000_000_i64..200_000_000_000_000,
            drift_ppm in -1_000_i64..1_000,
            delays in prop::collection::vec((0_u64..20_000_000, 0_u64..20_000_000, 1_u64..900_000_000), 2..120),
        ) {
            let mut clock = ClockEstimate::new(false);
            let mut now = 300_000_000_000_000;
            let start = now;
            let true_offset = |now: u64| offset + (now - start) as i64 * drift_ppm / 1_000_000;
            let mut has_begun = false;
            for (there, back, pause) in delays {
                // The clock drifts between the two instants of the agent, too: by less than 1 ns.
                let (mut one, returned) = reading(now, there, back, 0);
                one.received = (one.received as i64 + true_offset(now + there)) as u64;
                one.replied = (one.replied as i64 + true_offset(now + there + 3_000)) as u64;
                clock.add(one, returned);
                now = returned;
                if !has_begun {
                    clock.begin_run(now);
                    has_begun = true;
                }
                for instant in [now, now + pause] {
                    let stated = clock.offset(instant);
                    let error = stated.offset_nanos.abs_diff(true_offset(instant));
                    prop_assert!(stated.error_nanos + 1 >= error, "{stated:?} {error}");
                }
                now += pause;
            }
        }
    }
}
