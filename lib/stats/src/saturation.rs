//! Finds where a curve stops growing.
//!
//! The module fits y = min(slope · x, plateau), the two asymptotes of a server's throughput over
//! its load. Source: Lazowska, Zahorjan, Graham & Sevcik, "Quantitative System Performance", 1984,
//! ch. 5. The fit uses least absolute deviations, so that a few outliers have little influence. The
//! plateau is then Huber's location of the points after the corner. The curve near the corner and a
//! decline after it are not modeled.

use crate::robust;

/// A line through the origin that ends in a plateau.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Ratio y/x before the corner.
    pub slope: f64,
    /// Value of y after the corner; +∞ if a line through all points fits best.
    pub plateau: f64,
}

impl Saturation {
    /// Returns the fitted y.
    pub fn at(&self, x: f64) -> f64 {
        (self.slope * x).min(self.plateau)
    }

    /// Returns the x of the corner.
    pub fn corner(&self) -> f64 {
        self.plateau / self.slope
    }
}

/// Fits points (`x`, `y`), with `x` ascending and above 0. None for fewer than two points, or if
/// all y are 0.
pub fn fit(x: &[f64], y: &[f64]) -> Option<Saturation> {
    let n = x.len().min(y.len());
    if n < 2 {
        return None;
    }
    // The corner is after the first k points, which determine the slope.
    let candidates = (1..=n).filter_map(|k| {
        let slope = slope(&x[..k], &y[..k]);
        // With no points after the corner, the line goes through all points.
        let plateau = robust::median(&y[k..n]).unwrap_or(f64::INFINITY);
        (slope > 0.0).then_some(Saturation { slope, plateau })
    });
    let best =
        candidates.min_by(|a, b| total_deviation(a, x, y).total_cmp(&total_deviation(b, x, y)))?;
    let after: Vec<f64> =
        (0..n).filter(|&i| best.slope * x[i] >= best.plateau).map(|i| y[i]).collect();
    Some(Saturation { plateau: robust::location(&after).unwrap_or(best.plateau), ..best })
}

fn total_deviation(line: &Saturation, x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| (y - line.at(x)).abs()).sum()
}

/// Returns the slope b that minimizes Σ|y − b·x|: the median of y/x, weighted by x.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mut slopes: Vec<(f64, f64)> = x.iter().zip(y).map(|(x, y)| (y / x, *x)).collect();
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = x.iter().sum::<f64>() / 2.0;
    let mut weight = 0.0;
    let reached = slopes.iter().find(|(_, x)| {
        weight += x;
        weight >= half
    });
    reached.map_or(0.0, |s| s.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_corner_is_found_despite_two_outliers() {
        let x: Vec<f64> = (1..=20).map(|i| f64::from(i) * 5.0).collect();
        let mut y: Vec<f64> = x.iter().map(|x| x.min(35.0)).collect();
        (y[15], y[16]) = (23.9, 24.7);
        let fit = fit(&x, &y).unwrap();
        assert!((fit.plateau - 35.0).abs() < 1e-9 && (fit.slope - 1.0).abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn a_growing_curve_has_no_plateau() {
        let x: Vec<f64> = (1..=10).map(f64::from).collect();
        let fit = fit(&x, &x.iter().map(|x| 2.0 * x).collect::<Vec<_>>()).unwrap();
        assert!(fit.slope == 2.0 && fit.corner() >= 10.0, "{fit:?}");
    }

    #[test]
    fn too_few_points_have_no_fit() {
        assert_eq!(
            (fit(&[1.0], &[1.0]), fit(&[], &[]), fit(&[1.0, 2.0], &[0.0, 0.0])),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn noise_of_two_per_cent_moves_the_plateau_by_less_than_three(
            corner in 6.0f64..16.0,
            noise in prop::collection::vec(-0.02f64..0.02, 20),
        ) {
            let x: Vec<f64> = (1..=20).map(f64::from).collect();
            let y: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| 3.0 * x.min(corner) * (1.0 + e)).collect();
            let fit = fit(&x, &y).unwrap();
            prop_assert!((fit.plateau / (3.0 * corner) - 1.0).abs() < 0.03, "{:?}", fit);
            prop_assert!((fit.slope / 3.0 - 1.0).abs() < 0.03, "{:?}", fit);
        }
    }
}
