//! A histogram small enough to keep one for each point of a time series.
//!
//! What it is: the non-empty buckets of a [`Histogram`], eight joined into one (128 to each power of two, so a value is
//! known to 0.8 %), as a sorted list. Mergeable, so that points of a series may be joined when it grows too long.
//! What it is not: something to record into; it is made from a histogram.

use crate::histogram::{high_of, index_of, low_of};
use crate::{Histogram, quantile};
use serde::{Deserialize, Serialize};

const JOINED: usize = 8;

/// Counts of values at 0.8 %.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// (bucket number, count), sorted by bucket.
    cells: Vec<(u16, u32)>,
    max: u64,
}

impl From<&Histogram> for Sketch {
    fn from(histogram: &Histogram) -> Self {
        let mut cells: Vec<(u16, u32)> = Vec::new();
        for (index, count) in histogram.cells() {
            let (cell, count) = ((index / JOINED) as u16, u32::try_from(count).unwrap_or(u32::MAX));
            match cells.last_mut() {
                Some(last) if last.0 == cell => last.1 = last.1.saturating_add(count),
                _ => cells.push((cell, count)),
            }
        }
        cells.shrink_to_fit();
        Self { cells, max: histogram.max() }
    }
}

impl Sketch {
    /// How many values it holds.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|c| u64::from(c.1)).sum()
    }

    /// The greatest value, exactly; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        let mut joined: Vec<(u16, u32)> = Vec::with_capacity(self.cells.len() + other.cells.len());
        let (mut a, mut b) = (self.cells.iter().peekable(), other.cells.iter().peekable());
        while let Some(next) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        } {
            match joined.last_mut() {
                Some(last) if last.0 == next.0 => last.1 = last.1.saturating_add(next.1),
                _ => joined.push(*next),
            }
        }
        joined.shrink_to_fit();
        self.cells = joined;
        self.max = self.max.max(other.max);
    }

    /// The value at quantile `q`, as the greatest its bucket may hold; 0 when empty.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = quantile::rank(q, self.count());
        let mut seen = 0;
        for (cell, count) in &self.cells {
            seen += u64::from(*count);
            if seen >= rank {
                return high_of(*cell as usize * JOINED + JOINED - 1).min(self.max);
            }
        }
        self.max
    }

    /// The least and the greatest value of the bucket that holds `value`.
    pub fn edges(value: u64) -> (u64, u64) {
        let first = index_of(value) / JOINED * JOINED;
        (low_of(first), high_of(first + JOINED - 1))
    }

    /// The non-empty buckets as (least value, count).
    pub fn cells(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.cells.iter().map(|(cell, count)| (low_of(*cell as usize * JOINED), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        for v in values {
            h.record(*v);
        }
        h
    }

    proptest! {
        #[test]
        fn it_agrees_with_its_histogram(v in prop::collection::vec(1u64..1 << 45, 1..200), q in 0.0f64..=1.0) {
            let h = of(&v);
            let (exact, rough) = (h.quantile(q) as f64, Sketch::from(&h).quantile(q) as f64);
            prop_assert!((rough - exact).abs() <= exact * 0.0085 + 8.0, "{} {}", exact, rough);
        }

        #[test]
        fn merging_is_the_same_as_sketching_the_merged(a in prop::collection::vec(0u64..1 << 45, 0..80),
                                                       b in prop::collection::vec(0u64..1 << 45, 0..80)) {
            let mut merged = Sketch::from(&of(&a));
            merged.merge(&Sketch::from(&of(&b)));
            prop_assert_eq!(merged, Sketch::from(&of(&[a, b].concat())));
        }
    }
}
