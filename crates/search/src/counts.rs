//! Counts of one objective in the blocks of a trial, and their variance.

use crate::summary::{BoundCount, TrialBlock};
use brunt_stats::blocks;

/// Counts of one objective in a block, or their sum.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Count above the bound.
    pub over: f64,
    /// Total, in the unit of `over`.
    pub total: f64,
}

impl Counts {
    /// Ratio of the two; None without requests.
    pub fn ratio(self) -> Option<f64> {
        (self.total > 0.0).then(|| self.over / self.total)
    }
}

/// One of the two ways to evaluate the trials. Each treats all trials
/// alike, whatever their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Includes all effects of lag.
    WithLag,
    /// Excludes all possible effects of lag.
    WithoutLag,
}

impl View {
    /// Returns the counts of objective `index` of a set in some blocks.
    pub fn counts<'a>(
        self,
        blocks: impl Iterator<Item = &'a TrialBlock>,
        set: usize,
        index: usize,
    ) -> Vec<Counts> {
        let parts = blocks.filter_map(|block| block.parts.get(set)?.get(index));
        parts.map(|part| Counts { over: self.over(part), total: part.total }).collect()
    }

    fn over(self, part: &BoundCount) -> f64 {
        match self {
            Self::WithLag => part.over,
            Self::WithoutLag => part.without_lag,
        }
    }
}

/// Returns the sums over some blocks.
pub fn sum(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |sum, count| Counts {
        over: sum.over + count.over,
        total: sum.total + count.total,
    })
}

/// Returns the variance of the sum above a bound, around the ratio of all, with its degrees of
/// freedom: by batch means. It is a ratio estimator, since the number of requests in a block is
/// random too. If the ratio is a share of requests, the variance is at least that of independent
/// ones.
pub fn variance(counts: &[Counts], is_share: bool) -> (f64, f64) {
    let Counts { over, total } = sum(counts);
    if over <= 0.0 || total <= 0.0 {
        return (0.0, 1.0);
    }
    let ratio = over / total;
    let deviations: Vec<f64> =
        counts.iter().map(|count| count.over - ratio * count.total).collect();
    let (variance, freedom) = match blocks::spread(&deviations) {
        Some(spread) => (spread.variance * deviations.len() as f64, spread.freedom),
        None => coarse_variance(&deviations),
    };
    let least = if is_share { over * (1.0 - ratio).max(0.0) } else { 0.0 };
    (variance.max(least), freedom)
}

/// Variance of the sum from five batches, for blocks that are autocorrelated at every block size.
fn coarse_variance(deviations: &[f64]) -> (f64, f64) {
    let batch = deviations.len() / 5;
    if batch == 0 {
        return (0.0, 1.0);
    }
    let sums: Vec<f64> = deviations.chunks_exact(batch).map(|chunk| chunk.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let variance =
        sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
    (variance * sums.len() as f64, 3.0)
}
