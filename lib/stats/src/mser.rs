//! Where a series of figures became steady.
//!
//! What it is: MSER-5 (White, Cobb & Spratt, "A comparison of five steady-state truncation heuristics for simulation",
//! WSC 2000): the series, five points averaged into one, is cut where the rest has the least marginal standard error.
//! It also says whether the series changed for good in its second half. Out of scope: a proof of stationarity; a
//! change slower than the series is long cannot be seen in it.

use crate::blocks;

/// Points that are averaged into one.
pub const BATCH: usize = 5;
/// Fewer averages say nothing.
const FEWEST: usize = 10;
/// The greatest of many correlated test statistics of one change, at 1 % (Andrews, "Tests for parameter instability and
/// structural change with unknown change point: a corrigendum", Econometrica 71, 2003, Table I: one parameter, 15 %).
const SUP_WALD: f64 = 12.16;
/// A change of less than this share of the mean is not worth a word.
const MATTERS: f64 = 0.01;

/// Where to cut a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Points to cut off at its beginning; at most half of them.
    pub cut: usize,
    /// The rest is steady: it did not change for good in the second half.
    pub steady: bool,
}

/// Where to cut `series`; None where it has fewer than 50 points.
///
/// The cut minimises the marginal standard error over the first half. If the minimum over the whole series lies in the
/// second half (White's rule that the run is then too short), and the means before and behind that place differ by
/// more than chance does (sup-Wald at 1 %, with the variance of [`blocks::spread`]) and by more than 1 %, then
/// the series never became steady.
pub fn truncate(series: &[f64]) -> Option<Truncation> {
    let means: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if means.len() < FEWEST {
        return None;
    }
    let errors = marginal_errors(&means);
    let early = least(&errors[..=means.len() / 2]);
    // A tenth of the series, and five averages at least, stay: the variance of less is chance.
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
    let (mut count, mut centre, mut squares) = (0.0, 0.0, 0.0);
    let mut errors: Vec<f64> = means
        .iter()
        .rev()
        .map(|y| {
            count += 1.0;
            let away = y - centre;
            centre += away / count;
            squares += away * (y - centre);
            squares / (count * count)
        })
        .collect();
    errors.reverse();
    errors
}

fn least(errors: &[f64]) -> usize {
    let mut at = 0;
    for (d, error) in errors.iter().enumerate() {
        if *error < errors[at] {
            at = d;
        }
    }
    at
}

/// Whether the mean of `means` is another from `at` on. What does not settle has changed all along.
fn changes(means: &[f64], at: usize) -> bool {
    let (before, behind) = means.split_at(at);
    let (was, is) = (mean(before), mean(behind));
    let residues: Vec<f64> = before.iter().map(|y| y - was).chain(behind.iter().map(|y| y - is)).collect();
    let squared = (was - is).powi(2);
    let chance = |variance: f64| variance * (1.0 / before.len() as f64 + 1.0 / behind.len() as f64);
    let beyond_chance = blocks::spread(&residues).is_none_or(|s| squared > SUP_WALD * chance(s.variance));
    beyond_chance && squared.sqrt() > MATTERS * mean(means).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wave(i: usize) -> f64 {
        [0.0, 1.0, -1.0, 2.0, -2.0, 1.5, -0.5][i * i % 7]
    }

    #[test]
    fn the_marginal_error_is_that_of_the_definition() {
        // 9 1 2 3: ȳ = 3.75, Σ = 38.75; 1 2 3: 2/9; 2 3: 0.5/4; 3: 0.
        let errors = marginal_errors(&[9.0, 1.0, 2.0, 3.0]);
        for (got, wanted) in errors.iter().zip([38.75 / 16.0, 2.0 / 9.0, 0.125, 0.0]) {
            assert!((got - wanted).abs() < 1e-12, "{errors:?}");
        }
    }

    #[test]
    fn a_slow_beginning_is_cut() {
        let series: Vec<f64> = (0..600).map(|i| if i < 100 { 300.0 } else { 100.0 } + wave(i)).collect();
        let found = truncate(&series).unwrap();
        assert!(found.steady && (100..=150).contains(&found.cut), "{found:?}");
    }

    #[test]
    fn a_beginning_that_dies_away_is_cut() {
        let series: Vec<f64> = (0..600).map(|i| 100.0 + wave(i) + 100.0 * (-(i as f64) / 30.0).exp()).collect();
        let found = truncate(&series).unwrap();
        assert!(found.steady && (60..=250).contains(&found.cut), "{found:?}");
    }

    #[test]
    fn a_drift_and_a_late_step_are_never_steady() {
        let drift: Vec<f64> = (0..600).map(|i| 100.0 + wave(i) + i as f64 / 10.0).collect();
        let step: Vec<f64> = (0..600).map(|i| if i < 400 { 100.0 } else { 110.0 } + wave(i)).collect();
        assert!(!truncate(&drift).unwrap().steady);
        assert!(!truncate(&step).unwrap().steady);
    }

    #[test]
    fn a_change_too_small_to_matter_is_none() {
        let step: Vec<f64> = (0..600).map(|i| if i < 400 { 1000.0 } else { 1005.0 } + wave(i)).collect();
        assert!(truncate(&step).unwrap().steady);
    }

    #[test]
    fn what_does_not_vary_is_steady_and_what_is_short_is_unknown() {
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
