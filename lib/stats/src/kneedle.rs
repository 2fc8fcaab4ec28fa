//! Where a curve bends.
//!
//! What it is: Kneedle (Satopää, Albrecht, Irwin & Raghavan, "Finding a 'Kneedle' in a Haystack", ICDCS Workshops 2011)
//! on a rising curve that is known as a whole: scaled to the unit square, a knee is where it lies furthest from the
//! diagonal, and a sensitivity rejects what is no more than a bump. Out of scope: a smoother (see [`crate::isotonic`]),
//! nor a test of whether the curve rises at all: a flat one fills the square as well, with its noise.

/// To which side a rising curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bend {
    /// Steep, then flat: throughput over load.
    Flattens,
    /// Flat, then steep: response time over load.
    Steepens,
}

/// A knee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Which point it is.
    pub index: usize,
    /// How far it lies from the diagonal, in the unit square.
    pub distance: f64,
}

/// The clearest knee of the curve through (`x`, `y`), `x` strictly ascending; None where there is none.
///
/// A local maximum of the distance counts where the distance then falls by more than `sensitivity` mean steps of x before
/// the next maximum (paper, §III.B; 1 is its usual value). A curve that steepens is turned by half a turn first, as there.
/// Of several knees, this is the one that lies furthest out.
pub fn knee(x: &[f64], y: &[f64], bend: Bend, sensitivity: f64) -> Option<Knee> {
    let (x, y) = (scaled(x)?, scaled(y)?);
    if x.len() < 3 {
        return None;
    }
    let mut away: Vec<f64> = match bend {
        Bend::Flattens => x.iter().zip(&y).map(|(x, y)| y - x).collect(),
        Bend::Steepens => x.iter().zip(&y).rev().map(|(x, y)| x - y).collect(),
    };
    let falls = sensitivity / (away.len() - 1) as f64;
    let maxima = maxima(&away);
    let ends = maxima.iter().skip(1).copied().chain([away.len()]);
    let sure = maxima.iter().zip(ends).filter(|&(&at, end)| away[at..end].iter().any(|d| *d < away[at] - falls));
    let at = sure.map(|(at, _)| *at).max_by(|a, b| away[*a].total_cmp(&away[*b]))?;
    if bend == Bend::Steepens {
        away.reverse();
        let index = away.len() - 1 - at;
        return Some(Knee { index, distance: away[index] });
    }
    Some(Knee { index: at, distance: away[at] })
}

/// To the unit interval; None where all are the same or one is no number.
fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let width = most - least;
    (width > 0.0 && values.iter().all(|v| v.is_finite())).then(|| values.iter().map(|v| (v - least) / width).collect())
}

/// Points above the diagonal that neither neighbour lies above; of a row of equal ones, the first.
fn maxima(away: &[f64]) -> Vec<usize> {
    let is_one = |i: &usize| away[*i] > away[i - 1] && away[*i] >= away[i + 1] && away[*i] > 0.0;
    (1..away.len() - 1).filter(is_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_paper_s_figure_2_bends_at_0_22() {
        // y = −1/(x + 0.1) + 5 over ten points from 0 to 1: the knee is at x = 0.22, y = 1.9.
        let x: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let y: Vec<f64> = x.iter().map(|x| -1.0 / (x + 0.1) + 5.0).collect();
        let knee = knee(&x, &y, Bend::Flattens, 1.0).unwrap();
        assert_eq!(knee.index, 2);
        assert!((y[2] - 1.897).abs() < 1e-3);
    }

    #[test]
    fn a_curve_that_steepens_bends_where_its_formula_says() {
        // Scaled, x/9 − (y − 1)/99 is greatest at 7: 0.778 − 0.192; before it 0.525, behind it 0.495.
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let y = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 15.0, 20.0, 40.0, 100.0];
        let knee = knee(&x, &y, Bend::Steepens, 1.0).unwrap();
        assert_eq!(knee.index, 7);
        assert!((knee.distance - (7.0 / 9.0 - 19.0 / 99.0)).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_bend_has_no_knee() {
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
        /// Two straight lines that meet at a point of the grid: the knee is there, whatever the units.
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
