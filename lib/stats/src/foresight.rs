//! Estimates how many blocks a decision needs.
//!
//! The result is the number of blocks for a decision with a probability of 80 %. Then the interval
//! of the shift excludes zero, or stays within the smallest relevant difference. The variance is
//! assumed to be that of the blocks so far. The computation uses the normal approximation, with
//! Student's t for few blocks. Lehr, Statistics in Medicine 11, 1992, is its rule of thumb. Later
//! blocks may differ from earlier ones, so the result is no guarantee.

use crate::order::student;
use statrs::distribution::{ContinuousCDF, Normal};

/// Quantile of the normal distribution at 80 %, the probability of a decision.
const FOUR_OF_FIVE: f64 = 0.841_621_233_572_914;
/// Minimum number of blocks to estimate their variance.
const FEWEST: usize = 3;
/// Number of blocks above which a decision counts as out of reach.
const MOST: f64 = 1000.0;

/// Returns the total number of blocks that a two-sided test at `level` needs. Differences within
/// `smallest` of zero count as equality. None if there are too few blocks for an estimate, or if
/// more than a thousand are needed.
pub fn blocks(differences: &[f64], level: f64, smallest: f64) -> Option<u32> {
    let n = differences.len();
    if n < FEWEST || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    // The test can show a difference or equality; the easier of the two counts.
    let distance = mean.abs().max(smallest - mean.abs());
    let normal = Normal::new(0.0, 1.0).ok()?.inverse_cdf(1.0 - level / 2.0);
    let t_ratio = student((n - 1) as f64) / student(1e9);
    let needed = (variance * ((normal * t_ratio + FOUR_OF_FIVE) / distance).powi(2)).ceil();
    // Ranks of fewer blocks cannot reach the level.
    (needed <= MOST).then(|| (needed as u32).max(crate::spending::fewest(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 41 differences with the given mean and a standard deviation of 0.02.
    fn spread(mean: f64) -> Vec<f64> {
        (0..41).map(|i| mean + 0.02 * f64::from(i - 20) / 143.5_f64.sqrt()).collect()
    }

    #[test]
    fn sixteen_times_the_variance_over_the_square_of_the_difference() {
        // Lehr's rule for paired differences is 8·s²/δ² at 5 % with 80 %. For half a standard
        // deviation this is 32; Student's t adds a few.
        let needed = blocks(&spread(0.01), 0.05, 0.0).unwrap();
        assert!((32..=36).contains(&needed), "{needed}");
    }

    #[test]
    fn without_a_variance_there_is_no_estimate() {
        assert_eq!(blocks(&[0.01, 0.02], 0.05, 0.02), None);
        assert_eq!(blocks(&[0.01, f64::INFINITY, 0.02], 0.05, 0.02), None);
        assert_eq!(blocks(&spread(0.0001), 0.05, 0.0), None);
    }

    #[test]
    fn the_blocks_for_equality_are_at_least_the_minimum_of_ranks() {
        let needed = blocks(&spread(0.0), 0.05, 0.02).unwrap();
        assert!((8..=9).contains(&needed), "{needed}");
        assert_eq!(blocks(&spread(1.0), 0.05, 0.02), Some(6));
    }
}
