//! Finds where a series becomes steady.
//!
//! The method is MSER-5 (White, Cobb & Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", WSC 2000). Each five points are averaged, and the series is cut
//! where the rest has the smallest marginal standard error. The result also shows whether the
//! series changed permanently in its second half. It does not prove stationarity: a change slower
//! than the length of the series is not visible in it.

use crate::blocks;

/// Number of points per average.
pub const BATCH: usize = 5;
/// Minimum number of averages.
const FEWEST: usize = 10;
/// Critical value at 1 % for the maximum of many correlated test statistics of one change. Source:
/// Andrews, "Tests for parameter instability and structural change with unknown change point: a
/// corrigendum", Econometrica 71, 2003, Table I: one parameter, 15 %.
const SUP_WALD: f64 = 12.16;
/// Smallest relevant change, as a share of the mean.
const MIN_CHANGE: f64 = 0.01;

/// The warm-up of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Number of points to cut off at the beginning; at most half of all.
    pub cut: usize,
    /// True if the rest is steady: it did not change permanently in the second half.
    pub steady: bool,
}

/// Returns where to cut `series`. None if it has fewer than 50 points.
///
/// The cut minimizes the marginal standard error over the first half. The series never became
/// steady if three conditions are met. First, the minimum over the whole series is in the second
/// half (White's rule that the run is then too short). Second, the means before and after that
/// place differ significantly (sup-Wald at 1 %, with the variance of [`blocks::spread`]). Third,
/// they differ by more than 1 %.
pub fn truncate(series: &[f64]) -> Option<Truncation> {
    let means: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if means.len() < FEWEST {
        return None;
    }
    let errors = marginal_errors(&means);
    let early = least(&errors[..=means.len() / 2]);
    // At least a tenth of the series and five averages remain: the variance of fewer is chance.
    let last = means.len() - (means.len() / 10).max(5);
    let anywhere = least(&errors[..=last]);
    let changed = anywhere > means.len() / 2 && changes(&means[early..], anywhere - early);
    Some(Truncation { cut: early * BATCH, steady: !changed })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// For each d: Σ(yᵢ − ȳ)² / (n − d)² over i ≥ d (MSER).
fn marginal_errors(means: &[f64]) -> Vec<f64> {
    let mut count = 0.0;
    let mut centre = 0.0;
    let mut squares = 0.0;
    let mut errors: Vec<f64> = means
        .iter()
        .rev()
        .map(|y| {
            count += 1.0;
            let deviation = y - centre;
            centre += deviation / count;
            squares += deviation * (y - centre);
            squares / (count * count)
        })
        .collect();
    errors.reverse();
    errors
}

/// Index of the smallest error; of equal ones, the first.
fn least(errors: &[f64]) -> usize {
    let mut at = 0;
    for (d, error) in errors.iter().enumerate() {
        if *error < errors[at] {
            at = d;
        }
    }
    at
}

/// True if the mean of `means` changes at index `at`. If the variance of the series cannot be
/// estimated, it counts as changed.
fn changes(means: &[f64], at: usize) -> bool {
    let (before, after) = means.split_at(at);
    let mean_before = mean(before);
    let mean_after = mean(after);
    let residuals_before = before.iter().map(|y| y - mean_before);
    let residuals: Vec<f64> =
        residuals_before.chain(after.iter().map(|y| y - mean_after)).collect();
    let squared = (mean_before - mean_after).powi(2);
    let inverse_lengths = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let is_significant = blocks::spread(&residuals)
        .is_none_or(|s| squared > SUP_WALD * (s.variance * inverse_lengths));
    is_significant && squared.sqrt() > MIN_CHANGE * mean(means).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wave(i: usize) -> f64 {
        [0.0, 1.0, -1.0, 2.0, -2.0, 1.5, -0.5][i * i % 7]
    }

    #[test]
    fn the_marginal_error_follows_its_definition() {
        // 9 1 2 3: ȳ = 3.75, Σ = 38.75; 1 2 3: 2/9; 2 3: 0.5/4; 3: 0.
        let errors = marginal_errors(&[9.0, 1.0, 2.0, 3.0]);
        for (got, wanted) in errors.iter().zip([38.75 / 16.0, 2.0 / 9.0, 0.125, 0.0]) {
            assert!((got - wanted).abs() < 1e-12, "{errors:?}");
        }
    }

    #[test]
    fn a_slow_beginning_is_cut() {
        let series: Vec<f64> =
            (0..600).map(|i| if i < 100 { 300.0 } else { 100.0 } + wave(i)).collect();
        let found = truncate(&series).unwrap();
        assert!(found.steady && (100..=150).contains(&found.cut), "{found:?}");
    }

    #[test]
    fn a_decaying_beginning_is_cut() {
        let series: Vec<f64> =
            (0..600).map(|i| 100.0 + wave(i) + 100.0 * (-(i as f64) / 30.0).exp()).collect();
        let found = truncate(&series).unwrap();
        assert!(found.steady && (60..=250).contains(&found.cut), "{found:?}");
    }

    #[test]
    fn a_drift_and_a_late_step_are_never_steady() {
        let drift: Vec<f64> = (0..600).map(|i| 100.0 + wave(i) + i as f64 / 10.0).collect();
        let step: Vec<f64> =
            (0..600).map(|i| if i < 400 { 100.0 } else { 110.0 } + wave(i)).collect();
        assert!(!truncate(&drift).unwrap().steady);
        assert!(!truncate(&step).unwrap().steady);
    }

    #[test]
    fn a_negligible_change_is_not_cut() {
        let step: Vec<f64> =
            (0..600).map(|i| if i < 400 { 1000.0 } else { 1005.0 } + wave(i)).collect();
        assert!(truncate(&step).unwrap().steady);
    }

    #[test]
    fn constant_series_are_steady_and_short_ones_unknown() {
        assert_eq!(truncate(&[5.0; 100]), Some(Truncation { cut: 0, steady: true }));
        assert_eq!(truncate(&[5.0; 49]), None);
    }

    proptest! {
        #[test]
        fn at_most_half_is_cut(series in prop::collection::vec(0.0f64..1e6, 50..400)) {
            prop_assert!(truncate(&series).unwrap().cut * 2 <= series.len());
        }
    }
}
