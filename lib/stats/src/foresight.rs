//! How many blocks it would take to decide.
//!
//! What it is: the number of blocks at which an interval around the shift, about as wide as those so far would have, leaves
//! out zero, or stays within what matters, with four chances in five (normal approximation, with Student's t for few blocks:
//! Lehr, Statistics in Medicine 11, 1992, is its rule of thumb). Out of scope: a promise; blocks to come need not be like those that were.

use crate::order::student;
use statrs::distribution::{ContinuousCDF, Normal};

/// The quantile of the normal distribution at 80 %: in four of five cases it is then decided.
const FOUR_OF_FIVE: f64 = 0.841_621_233_572_914;
/// Of fewer blocks nobody knows how they vary.
const FEWEST: usize = 3;
/// More blocks than this are as good as never.
const MOST: f64 = 1000.0;

/// So many blocks in all, for differences like these, at a two-sided level; those within `smallest` of zero are as good as
/// none. None: too few to say, or more than a thousand.
pub fn blocks(differences: &[f64], level: f64, smallest: f64) -> Option<u32> {
    let n = differences.len();
    if n < FEWEST || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    // Away from zero, or within what matters: whichever is sooner known.
    let away = mean.abs().max(smallest - mean.abs());
    let normal = Normal::new(0.0, 1.0).ok()?.inverse_cdf(1.0 - level / 2.0);
    let wider = student((n - 1) as f64) / student(1e9);
    let needed = (variance * ((normal * wider + FOUR_OF_FIVE) / away).powi(2)).ceil();
    (needed <= MOST).then(|| (needed as u32).max(crate::spending::fewest(level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mean of `mean` and a standard deviation of 0.02, of 41 blocks.
    fn spread(mean: f64) -> Vec<f64> {
        (0..41).map(|i| mean + 0.02 * f64::from(i - 20) / 143.5_f64.sqrt()).collect()
    }

    #[test]
    fn sixteen_times_the_variance_over_the_square_of_the_difference() {
        // Lehr's rule: of paired differences 8·s²/δ², at 5 % with 80 %: 32 for a difference of half a deviation; Student's t adds some.
        let needed = blocks(&spread(0.01), 0.05, 0.0).unwrap();
        assert!((32..=36).contains(&needed), "{needed}");
    }

    #[test]
    fn none_where_nothing_is_known_of_them() {
        assert_eq!(blocks(&[0.01, 0.02], 0.05, 0.02), None);
        assert_eq!(blocks(&[0.01, f64::INFINITY, 0.02], 0.05, 0.02), None);
        assert_eq!(blocks(&spread(0.0001), 0.05, 0.0), None);
    }

    #[test]
    fn equality_is_foreseen_too_and_never_less_than_ranks_allow() {
        let needed = blocks(&spread(0.0), 0.05, 0.02).unwrap();
        assert!((8..=9).contains(&needed), "{needed}");
        assert_eq!(blocks(&spread(1.0), 0.05, 0.02), Some(6));
    }
}
