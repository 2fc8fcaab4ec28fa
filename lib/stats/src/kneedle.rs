//! Finds the knee of a curve.
//!
//! The method is Kneedle (Satopää, Albrecht, Irwin & Raghavan, "Finding a 'Kneedle' in a Haystack",
//! ICDCS Workshops 2011) on a complete rising curve. The curve is scaled to the unit square. A knee
//! is the point with the greatest distance from the diagonal, and a sensitivity rejects small
//! bumps. The curve is not smoothed (see [`crate::isotonic`]). A flat curve also fills the square
//! with its noise, so the caller must know that the curve rises.

/// Direction in which a rising curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bend {
    /// Steep, then flat, such as throughput over load.
    Flattens,
    /// Flat, then steep, such as response time over load.
    Steepens,
}

/// A knee of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Index of the point.
    pub index: usize,
    /// Distance from the diagonal, in the unit square.
    pub distance: f64,
}

/// Returns the clearest knee of the curve through (`x`, `y`), with `x` strictly ascending. None if
/// there is no knee.
///
/// A local maximum of the distance counts if the distance then falls clearly: by more than
/// `sensitivity` mean steps of x before the next maximum (paper, §III.B; 1 is the usual value). A
/// curve that steepens is first rotated by 180 degrees, as in the paper. Of several knees, the one
/// with the greatest distance is returned.
pub fn knee(x: &[f64], y: &[f64], bend: Bend, sensitivity: f64) -> Option<Knee> {
    let x = scaled(x)?;
    let y = scaled(y)?;
    if x.len() < 3 {
        return None;
    }
    let mut distances: Vec<f64> = match bend {
        Bend::Flattens => x.iter().zip(&y).map(|(x, y)| y - x).collect(),
        Bend::Steepens => x.iter().zip(&y).rev().map(|(x, y)| x - y).collect(),
    };
    let min_fall = sensitivity / (distances.len() - 1) as f64;
    let maxima = maxima(&distances);
    let ends = maxima.iter().skip(1).copied().chain([distances.len()]);
    let significant = maxima.iter().zip(ends).filter(|&(&at, end)| {
        distances[at..end].iter().any(|distance| *distance < distances[at] - min_fall)
    });
    let at =
        significant.map(|(at, _)| *at).max_by(|a, b| distances[*a].total_cmp(&distances[*b]))?;
    if bend == Bend::Steepens {
        distances.reverse();
        let index = distances.len() - 1 - at;
        return Some(Knee { index, distance: distances[index] });
    }
    Some(Knee { index: at, distance: distances[at] })
}

/// Scales values to the unit interval. None if all are the same or one is not finite.
fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    let (least, most) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let width = most - least;
    (width > 0.0 && values.iter().all(|v| v.is_finite()))
        .then(|| values.iter().map(|v| (v - least) / width).collect())
}

/// Indices of points above the diagonal that are local maxima; of equal neighbors, the first.
fn maxima(distances: &[f64]) -> Vec<usize> {
    (1..distances.len() - 1)
        .filter(|&i| {
            distances[i] > distances[i - 1]
                && distances[i] >= distances[i + 1]
                && distances[i] > 0.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figure_2_of_the_paper_has_its_knee_at_0_22() {
        // y = −1/(x + 0.1) + 5 over ten points from 0 to 1: the knee is at x = 0.22, y = 1.9.
        let x: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let y: Vec<f64> = x.iter().map(|x| -1.0 / (x + 0.1) + 5.0).collect();
        let knee = knee(&x, &y, Bend::Flattens, 1.0).unwrap();
        assert_eq!(knee.index, 2);
        assert!((y[2] - 1.897).abs() < 1e-3);
    }

    #[test]
    fn a_steepening_curve_has_the_knee_of_its_formula() {
        // Scaled, x/9 − (y − 1)/99 is greatest at 7 (0.778 − 0.192). It is 0.525
        // before and 0.495 after.
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let y = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 15.0, 20.0, 40.0, 100.0];
        let knee = knee(&x, &y, Bend::Steepens, 1.0).unwrap();
        assert_eq!(knee.index, 7);
        assert!((knee.distance - (7.0 / 9.0 - 19.0 / 99.0)).abs() < 1e-12);
    }

    #[test]
    fn a_straight_line_has_no_knee() {
        let x: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(knee(&x, &x, Bend::Steepens, 1.0), None);
        assert_eq!(knee(&x, &[3.0; 20], Bend::Steepens, 1.0), None);
        assert_eq!(knee(&[1.0, 2.0], &[1.0, 2.0], Bend::Flattens, 1.0), None);
        assert_eq!(knee(&[], &[], Bend::Flattens, 1.0), None);
    }

    #[test]
    fn a_bump_is_rejected_by_a_higher_sensitivity() {
        let x: Vec<f64> = (0..11).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x + if *x == 5.0 { 0.6 } else { 0.0 }).collect();
        assert_eq!(knee(&x, &y, Bend::Flattens, 0.3).map(|k| k.index), Some(5));
        assert_eq!(knee(&x, &y, Bend::Flattens, 1.0), None);
    }

    proptest! {
        /// Two straight lines that meet at a grid point have their knee there, in any unit.
        #[test]
        fn two_lines_meet_at_their_knee(at in 3usize..17, steep in 3.0f64..50.0, scale in 0.01f64..100.0) {
            let x: Vec<f64> = (0..20).map(|i| f64::from(i) * scale).collect();
            let corner = x[at];
            let rises: Vec<f64> = x.iter().map(|x| x + (steep - 1.0) * (x - corner).max(0.0)).collect();
            let flat: Vec<f64> = x.iter().map(|x| steep * x.min(corner) + (x - corner).max(0.0)).collect();
            prop_assert_eq!(knee(&x, &rises, Bend::Steepens, 1.0).map(|k| k.index), Some(at));
            prop_assert_eq!(knee(&x, &flat, Bend::Flattens, 1.0).map(|k| k.index), Some(at));
        }
    }
}
