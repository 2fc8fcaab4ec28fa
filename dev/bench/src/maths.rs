//! Medians, ratios within a round, and their spread.
//!
//! Pure functions on plain numbers. With two to ten rounds, the median with the smallest and the
//! largest value is shown; they are too few for an interval. [`Ratio`] has the interval for paired
//! rounds, of which there are more.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A median, and the range of its values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MedianRange {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl MedianRange {
    /// `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().reduce(f64::min)?;
        let max = values.iter().copied().reduce(f64::max)?;
        Some(Self { median: median(values)?, min, max })
    }
}

/// A ratio with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// Geometric mean of paired ratios, with Student's interval of the mean of their logarithms.
    /// `None` for fewer than two ratios, or if one is not above 0.
    pub fn of(ratios: &[f64]) -> Option<Self> {
        let n = ratios.len() as f64;
        if ratios.len() < 2 || ratios.iter().any(|ratio| *ratio <= 0.0) {
            return None;
        }
        // With logarithms, a ratio and its inverse are equally far from 1.
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half =
            StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975) * (variance / n).sqrt();
        Some(Self { estimate: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() })
    }

    /// Half the width of the interval, as a share of 1.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The middle value, or the mean of the two middle values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns `value / reference` in each round that has both, so that disturbances of
/// a round cancel out.
pub fn ratios_within_rounds(values: &[(usize, f64)], references: &[(usize, f64)]) -> Vec<f64> {
    let mut ratios = Vec::new();
    for (round, value) in values {
        let reference =
            references.iter().find(|reference| reference.0 == *round).map(|reference| reference.1);
        // A reference of 0 gives no ratio.
        ratios.extend(
            reference.filter(|reference| *reference != 0.0).map(|reference| value / reference),
        );
    }
    ratios
}

/// Median of a figure over its rounds; NaN without rounds.
pub fn median_of_rounds(values: &[(usize, f64)]) -> f64 {
    median(&values.iter().map(|value| value.1).collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

/// Median of the ratios within rounds; NaN without a common round.
pub fn median_ratio(values: &[(usize, f64)], references: &[(usize, f64)]) -> f64 {
    median(&ratios_within_rounds(values, references)).unwrap_or(f64::NAN)
}

/// Absolute deviation of `value` from `expected`, as a share of `expected`.
pub fn deviation(value: f64, expected: f64) -> f64 {
    (value / expected - 1.0).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 3.0]), Some(4.0));
    }

    #[test]
    fn a_spread_has_its_extremes() {
        assert_eq!(
            MedianRange::of(&[2.0, 1.0, 4.0]),
            Some(MedianRange { median: 2.0, min: 1.0, max: 4.0 })
        );
        assert_eq!(MedianRange::of(&[]), None);
    }

    #[test]
    fn ratios_pair_rounds_and_omit_unpaired_ones() {
        let values = [(0, 10.0), (1, 30.0), (2, 5.0), (3, 8.0)];
        let references = [(1, 10.0), (0, 20.0), (3, 0.0)];
        assert_eq!(ratios_within_rounds(&values, &references), vec![0.5, 3.0]);
    }

    #[test]
    fn a_drift_of_the_machine_cancels_out_of_the_ratio() {
        let slow_then_fast = [(0, 12.0), (1, 6.0)];
        let reference = [(0, 10.0), (1, 5.0)];
        assert_eq!(ratios_within_rounds(&slow_then_fast, &reference), vec![1.2, 1.2]);
    }

    #[test]
    fn a_ratio_has_students_interval_of_its_logarithm() {
        // t(0.975; 4) = 2.776445, times the standard error of the five logarithms.
        let ratio = Ratio::of(&[0.98, 1.02, 1.01, 0.99, 1.00]).unwrap();
        assert!((ratio.estimate - 0.999_899).abs() < 1e-5, "{ratio:?}");
        assert!(
            (ratio.low - 0.980_4).abs() < 2e-4 && (ratio.high - 1.019_8).abs() < 2e-4,
            "{ratio:?}"
        );
        assert_eq!(Ratio::of(&[1.0]), None);
        assert_eq!(Ratio::of(&[1.0, 0.0]), None);
    }

    #[test]
    fn deviation_has_no_sign() {
        assert!((deviation(1998.0, 2000.0) - 0.001).abs() < 1e-12);
        assert!((deviation(2002.0, 2000.0) - 0.001).abs() < 1e-12);
    }
}
