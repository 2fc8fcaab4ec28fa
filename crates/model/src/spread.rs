//! How arrivals are spread over time: how many were planned, and how many begun, in short bins.
//!
//! Out of scope: the lag of single requests, which has a histogram. This is about clumps and gaps.

use crate::Tick;
use crate::time::seconds_of;
use std::collections::VecDeque;

/// Length of a bin in nanoseconds: 10 ms.
pub const BIN_NANOS: u64 = 10_000_000;
/// Bins that are open at a time; what comes later than so many counts in the oldest.
const OPEN: usize = 32;

/// What fell into the 10 ms that begin at `number` × 10 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// Which.
    pub number: u64,
    /// Arrivals planned for it.
    pub planned: u64,
    /// Arrivals acted on in it: begun, or dropped.
    pub acted: u64,
}

impl Bin {
    /// The number of the bin in which an instant lies.
    #[inline]
    pub fn number_at(at: Tick) -> u64 {
        at.0 / BIN_NANOS
    }

    /// The bin of that number, made where there is none. It is mostly one of the last.
    #[inline]
    pub fn find(bins: &mut Vec<Self>, number: u64) -> &mut Self {
        let at = bins.iter().rposition(|bin| bin.number == number).unwrap_or_else(|| {
            bins.push(Self { number, ..Self::default() });
            bins.len() - 1
        });
        &mut bins[at]
    }

    /// Adds what another worker saw in the same bin.
    pub fn add(&mut self, other: &Self) {
        self.planned += other.planned;
        self.acted += other.acted;
    }
}

/// How arrivals were spread over a run: sums over spans of 10 ms, 100 ms and 1 s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    /// Over spans of growing length.
    pub levels: [Level; 3],
    /// Bins to which something may yet be added.
    open: VecDeque<Bin>,
}

impl Default for Spread {
    fn default() -> Self {
        let level = |bins_each| Level { bins_each, ..Level::default() };
        Self { levels: [1, 10, 100].map(level), open: VecDeque::new() }
    }
}

/// Sums over spans of one length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    /// How many bins of 10 ms make a span.
    pub bins_each: u64,
    /// Spans counted.
    pub spans: u64,
    /// Spans in which so much was begun late that they say nothing of the spacing; they are not among `spans`.
    pub displaced: u64,
    /// What was planned.
    pub planned: Moments,
    /// What was acted on.
    pub acted: Moments,
    /// The span that is not whole yet, and how many bins it has.
    filling: (Bin, u64),
}

/// The first two moments of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// The sum.
    pub sum: u64,
    /// The sum of squares.
    pub squares: u64,
}

impl Moments {
    fn add(&mut self, n: u64) {
        self.sum += n;
        self.squares += n * n;
    }
}

impl Spread {
    /// Adds the bins of the next snapshot.
    pub fn push(&mut self, bins: &[Bin]) {
        for bin in bins {
            let first = self.open.front().map_or(bin.number, |b| b.number);
            while self.open.len() < OPEN || self.open.back().is_some_and(|last| last.number < bin.number) {
                let number = self.open.back().map_or(first, |last| last.number + 1);
                self.open.push_back(Bin { number, ..Bin::default() });
            }
            while self.open.len() > OPEN {
                self.close_first();
            }
            let first = self.open.front().map_or(0, |b| b.number);
            self.open[bin.number.saturating_sub(first) as usize].add(bin);
        }
    }

    fn close_first(&mut self) {
        if let Some(bin) = self.open.pop_front() {
            self.levels.iter_mut().for_each(|level| level.push(&bin));
        }
    }

    /// The shortest spans in which there are enough arrivals to speak of their spacing, and enough of them; None where
    /// there are none.
    pub fn telling(&self) -> Option<&Level> {
        const ARRIVALS: u64 = 20;
        const SPANS: u64 = 20;
        let enough =
            |level: &&Level| level.planned.sum >= ARRIVALS * level.spans && level.spans + level.displaced >= SPANS;
        self.levels.iter().find(enough)
    }
}

impl Level {
    fn push(&mut self, bin: &Bin) {
        let (span, filled) = &mut self.filling;
        span.add(bin);
        *filled += 1;
        if *filled == self.bins_each {
            let (Bin { planned, acted, .. }, _) = std::mem::take(&mut self.filling);
            self.close(planned, acted);
        }
    }

    fn close(&mut self, planned: u64, acted: u64) {
        if planned.abs_diff(acted) > (planned / 4).max(3) {
            self.displaced += 1;
            return;
        }
        self.spans += 1;
        self.planned.add(planned);
        self.acted.add(acted);
    }

    /// The length of a span, in seconds.
    pub fn seconds(&self) -> f64 {
        seconds_of(self.bins_each * BIN_NANOS)
    }

    /// The index of dispersion (variance over mean of the counts; Fano 1947) of what was planned and of what was acted
    /// on: 1 for Poisson arrivals, 0 for even ones. None without arrivals.
    pub fn dispersion(&self) -> Option<(f64, f64)> {
        let index = |m: Moments| {
            let (n, sum) = (self.spans as f64, m.sum as f64);
            (m.sum > 0).then(|| m.squares as f64 / sum - sum / n)
        };
        Some((index(self.planned)?, index(self.acted)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: impl Iterator<Item = (u64, u64)>) -> Spread {
        let (mut bins, mut spread) = (Vec::new(), Spread::default());
        for (planned, acted) in arrivals {
            Bin::find(&mut bins, Bin::number_at(Tick(planned))).planned += 1;
            Bin::find(&mut bins, Bin::number_at(Tick(acted))).acted += 1;
            if bins.len() > 10 {
                spread.push(&std::mem::take(&mut bins));
            }
        }
        spread
    }

    #[test]
    fn what_is_begun_in_time_is_spread_as_planned() {
        let spread = of((0..10_000).map(|i| (i * 500_000 + 1, i * 500_000 + 100_000)));
        let level = spread.telling().unwrap();
        assert!(level.spans > 450 && level.displaced == 0, "{spread:?}");
        assert_eq!((level.seconds(), level.dispersion()), (0.01, Some((0.0, 0.0))));
    }

    #[test]
    fn a_generator_that_clumps_is_seen() {
        let due = |i: u64| i * 500_000 + 1;
        let spread = of((0..10_000).map(|i| (due(i), due(i).next_multiple_of(100_000_000))));
        assert!(spread.levels[0].displaced > spread.levels[0].spans, "{spread:?}");
    }

    #[test]
    fn gaps_count_as_bins_without_arrivals() {
        let spread = of((0..200).map(|i| (i * 1_000_000_000 + 1, i * 1_000_000_000 + 2)));
        let (planned, acted) = spread.levels[0].dispersion().unwrap();
        assert!(spread.levels[0].spans > 15_000 && planned == acted && planned > 0.98, "{spread:?}");
        assert!(spread.telling().is_none() && spread.levels[2].spans > 150);
    }
}
