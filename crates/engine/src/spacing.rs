//! Whether what was begun is spaced as it was planned: both counted in short bins.
//!
//! What it is not: the lag of single requests, which the recorder keeps. This is about clumps and gaps.

use brunt_model::spread::Spread;
use brunt_model::{Phase, Tick};

/// Bins that are open at a time: what is begun later than these counts in the oldest.
const OPEN: usize = 16;

/// Counts of arrivals in bins, as planned and as begun; whole bins are added up.
#[derive(Default)]
pub struct Spacing {
    /// The number of the first open bin; None: nothing was counted yet.
    first: Option<u64>,
    /// Planned and begun, from the first open bin on.
    open: [(u64, u64); OPEN],
    whole: Spread,
}

impl Spacing {
    /// An arrival was planned for this instant.
    #[inline]
    pub fn planned(&mut self, at: Tick) {
        self.bin(at).0 += 1;
    }

    /// A request was begun at this instant.
    #[inline]
    pub fn begun(&mut self, at: Tick) {
        self.bin(at).1 += 1;
    }

    /// The sums of all bins since the last call that are whole. Those of the grace period are not: nothing is planned
    /// any more.
    pub fn take(&mut self, phase: Phase) -> Spread {
        let whole = std::mem::take(&mut self.whole);
        if phase == Phase::Grace { Spread::default() } else { whole }
    }

    fn bin(&mut self, at: Tick) -> &mut (u64, u64) {
        let number = at.0 / Spread::BIN_NANOS;
        let first = self.first.get_or_insert(number);
        while number >= *first + OPEN as u64 {
            let (planned, begun) = std::mem::take(&mut self.open[(*first % OPEN as u64) as usize]);
            self.whole.add(planned, begun);
            *first += 1;
        }
        &mut self.open[(number.max(*first) % OPEN as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_begun_in_time_is_spread_as_planned() {
        let mut spacing = Spacing::default();
        for i in 0..10_000u64 {
            spacing.planned(Tick(i * 500_000 + 1));
            spacing.begun(Tick(i * 500_000 + 100_000));
        }
        let spread = spacing.take(Phase::Measure);
        assert_eq!(spread.bins, 500 - OPEN as u64);
        assert_eq!(spread.dispersion(), Some((0.0, 0.0)));
    }

    #[test]
    fn a_generator_that_clumps_is_seen() {
        let mut spacing = Spacing::default();
        for i in 0..10_000u64 {
            let planned = i * 500_000 + 1;
            spacing.planned(Tick(planned));
            spacing.begun(Tick(planned.next_multiple_of(100_000_000)));
        }
        let spread = spacing.take(Phase::Measure);
        assert!(spread.displaced > spread.bins, "{spread:?}");
        assert!(spacing.take(Phase::Grace) == Spread::default());
    }
}
