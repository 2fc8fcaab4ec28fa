//! How arrivals are spread over time: counts in short bins, summed up.

use serde::{Deserialize, Serialize};

/// Sums over bins of equal length: how many arrivals were planned in each, and how many were begun. Each worker has bins
/// of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Bins counted.
    pub bins: u64,
    /// Bins in which so much was begun late that they say nothing of the spacing; they are not among `bins`.
    pub displaced: u64,
    /// What was planned.
    pub planned: Moments,
    /// What was begun.
    pub begun: Moments,
}

/// The first two moments of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// The sum.
    pub sum: u64,
    /// The sum of squares.
    pub squares: u64,
}

impl Spread {
    /// Length of a bin in nanoseconds: 10 ms.
    pub const BIN_NANOS: u64 = 10_000_000;

    /// Adds a bin.
    pub fn add(&mut self, planned: u64, begun: u64) {
        if planned.abs_diff(begun) > (planned / 4).max(3) {
            self.displaced += 1;
            return;
        }
        self.bins += 1;
        for (moments, n) in [(&mut self.planned, planned), (&mut self.begun, begun)] {
            moments.sum += n;
            moments.squares += n * n;
        }
    }

    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bins += other.bins;
        self.displaced += other.displaced;
        for (ours, theirs) in [(&mut self.planned, other.planned), (&mut self.begun, other.begun)] {
            ours.sum += theirs.sum;
            ours.squares += theirs.squares;
        }
    }

    /// The index of dispersion (variance over mean of the counts; Fano 1947) of what was planned and of what was begun:
    /// 1 for Poisson arrivals, 0 for even ones. None without arrivals.
    pub fn dispersion(&self) -> Option<(f64, f64)> {
        let index = |m: Moments| {
            let (n, sum) = (self.bins as f64, m.sum as f64);
            (m.sum > 0).then(|| m.squares as f64 / sum - sum / n)
        };
        Some((index(self.planned)?, index(self.begun)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_arrivals_have_none_and_bunched_ones_have_much() {
        let mut even = Spread::default();
        (0..100).for_each(|_| even.add(20, 20));
        assert_eq!(even.dispersion(), Some((0.0, 0.0)));
        let mut shifted = Spread::default();
        (0..100).for_each(|i| shifted.add(20, if i % 2 == 0 { 19 } else { 21 }));
        assert_eq!(shifted.dispersion(), Some((0.0, 0.05)));
        let mut late = Spread::default();
        late.add(20, 0);
        late.add(20, 40);
        assert_eq!((late.bins, late.displaced, late.dispersion()), (0, 2, None));
    }
}
