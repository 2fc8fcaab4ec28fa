//! Estimates the relative size of a change.

use crate::order::NORMAL;
use crate::rank;
use crate::shift::middle;

/// Maximum number of values for which the exact distribution of the rank sum is computed.
const MAX_EXACT: usize = 40;

/// Relative change between two groups of values, with a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeChange {
    /// Ratio of the level after the change to that before it, minus 1.
    pub value: f64,
    /// Lower end of the interval; None if it is not bounded.
    pub low: Option<f64>,
    /// Upper end of the interval; None if it is not bounded.
    pub high: Option<f64>,
}

/// Returns the relative change of the level of positive values: the estimate of Hodges & Lehmann on
/// their logarithms, and the interval of the rank test. `autocorrelation` widens it. None if a
/// value is not positive.
pub fn relative_change(
    before: &[f64],
    after: &[f64],
    autocorrelation: f64,
) -> Option<RelativeChange> {
    let is_positive = before.iter().chain(after).all(|value| *value > 0.0 && value.is_finite());
    if !is_positive || before.is_empty() || after.is_empty() {
        return None;
    }
    let mut ratios: Vec<f64> =
        after.iter().flat_map(|b| before.iter().map(move |a| (b / a).ln())).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let excluded = excluded(before.len(), after.len(), autocorrelation);
    let low = excluded.map(|n| ratios[n].exp_m1());
    let high = excluded.map(|n| ratios[ratios.len() - 1 - n].exp_m1());
    Some(RelativeChange { value: middle(&ratios).exp_m1(), low, high })
}

/// Number of ratios at each end that are outside of the interval. None if groups of these sizes
/// have no interval.
fn excluded(before: usize, after: usize, autocorrelation: f64) -> Option<usize> {
    let pairs = (before * after) as f64;
    let widening = ((1.0 + autocorrelation) / (1.0 - autocorrelation)).sqrt();
    let deviation = (pairs * (before + after + 1) as f64 / 12.0).sqrt() * widening;
    let by_approximation = (pairs / 2.0 - NORMAL * deviation - 0.5).floor();
    let approximate = (by_approximation >= 0.0).then_some(by_approximation as usize);
    if before + after > MAX_EXACT {
        return approximate;
    }
    let critical = rank::count(before, after, 0.025)?;
    let exact = before * after - critical;
    // The exact distribution assumes independent values; the wider interval of both holds.
    if autocorrelation == 0.0 { Some(exact) } else { approximate.map(|n| n.min(exact)) }
}
