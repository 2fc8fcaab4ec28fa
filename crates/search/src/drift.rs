//! Detects a drift of the server's capacity during the search.
//!
//! The method is a regression of the pace (1 ÷ mean response time) on load and time, over the
//! trials near the capacity. For a single worker, the pace falls linearly with the load and reaches
//! zero at saturation (1/mean = μ − λ). For other servers this is nearly true. If the pace at the
//! same load changes with time, the capacity has drifted. Means are known far better than the share
//! of slow requests. A search follows a drift, so its loads fall or rise with time. Only prior
//! knowledge of the line separates the effects of load and time.

/// Mean response time of a trial, for the regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialMean {
    /// Load of the trial.
    pub load: f64,
    /// Time of its middle, in seconds.
    pub time: f64,
    /// Mean response time, in seconds.
    pub mean: f64,
    /// Variance of that mean.
    pub variance: f64,
}

/// The capacity at both ends of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Capacity at the first trial.
    pub first: f64,
    /// Capacity at the last trial.
    pub last: f64,
}

/// Minimum number of trials near the capacity. Two determine the line, a third shows a movement.
const FEWEST: usize = 4;
/// Minimum decrease of the sum of squares when the line may move: χ² with one degree of freedom,
/// exceeded by chance once in 1000 cases.
const CLEAR: f64 = 10.8;
/// Loads near the capacity, as shares of it. If the capacity fell, a load above it
/// was below it before.
const NEAR: std::ops::Range<f64> = 0.85..1.3;
/// Smallest drift that is reported, as a share of the capacity.
const MIN_DRIFT: f64 = 0.03;

/// Returns the drift of a capacity that is `at` in the middle, for a server that saturates at
/// `saturation`. None if there is no significant drift.
pub fn drift(paces: &[TrialMean], at: f64, saturation: f64) -> Option<Drift> {
    let near: Vec<TrialMean> =
        paces.iter().copied().filter(|pace| NEAR.contains(&(pace.load / at))).collect();
    if near.len() < FEWEST {
        return None;
    }
    let mut from = f64::INFINITY;
    let mut to = 0.0_f64;
    for pace in &near {
        from = from.min(pace.time);
        to = to.max(pace.time);
    }
    let mut rows: Vec<Row> = near.iter().map(|pace| Row::from_pace(pace, at, from, to)).collect();
    rows.push(Row::prior(&near, saturation / at - 1.0));
    let fit = least_squares(&rows);
    // The pace must fall with the load; otherwise the trials contain no information about a drift.
    let by = -fit.time / fit.load;
    (fit.improvement > CLEAR && fit.load < 0.0 && 2.0 * by.abs() > MIN_DRIFT && by.abs() < 0.5)
        .then_some(Drift { first: at * (1.0 - by), last: at * (1.0 + by) })
}

/// One equation of the regression, weighted by the certainty of its pace.
struct Row {
    /// The terms 1, load relative to the capacity, and time from −1 to 1, times the weight.
    terms: [f64; 3],
    pace: f64,
}

impl Row {
    fn from_pace(pace: &TrialMean, at: f64, from: f64, to: f64) -> Self {
        let time = if to > from { 2.0 * (pace.time - from) / (to - from) - 1.0 } else { 0.0 };
        // Each mean also has an error of a few percent that no curve explains.
        let weight = pace.mean.powi(2) / (pace.variance + (UNEXPLAINED * pace.mean).powi(2)).sqrt();
        Self {
            terms: [weight, weight * (pace.load / at - 1.0), weight * time],
            pace: weight / pace.mean,
        }
    }

    /// Prior knowledge of the line: the pace falls to zero while the load grows
    /// by the share `left`.
    fn prior(near: &[TrialMean], left: f64) -> Self {
        let pace = near.iter().map(|pace| 1.0 / pace.mean).sum::<f64>() / near.len() as f64;
        let slope = -LESS_STEEP * pace / left.max(0.01);
        let weight = 1.0 / (UNSURE * slope.abs());
        Self { terms: [0.0, weight, 0.0], pace: weight * slope }
    }
}

/// Slope near the capacity as a share of the average slope up to saturation. With several workers,
/// or with similar service times, the pace falls less steeply there.
const LESS_STEEP: f64 = 0.7;
/// Standard deviation of that slope, as a share of it.
const UNSURE: f64 = 0.4;
/// Standard deviation of a trial's mean from the line, as a share, however long the trial is.
const UNEXPLAINED: f64 = 0.035;

/// Result of the regression.
struct LinearFit {
    /// Change of the pace per unit of load.
    load: f64,
    /// Change of the pace per unit of time.
    time: f64,
    /// Decrease of the sum of squares because of the term for time.
    improvement: f64,
}

/// Solves the least squares problem by Gram–Schmidt: from each column, subtracts the part that the
/// columns before it explain.
fn least_squares(rows: &[Row]) -> LinearFit {
    let ones: Vec<f64> = rows.iter().map(|row| row.terms[0]).collect();
    let load = residual(&rows.iter().map(|row| row.terms[1]).collect::<Vec<f64>>(), &ones);
    let time = residual(&rows.iter().map(|row| row.terms[2]).collect::<Vec<f64>>(), &ones);
    let pace = residual(&rows.iter().map(|row| row.pace).collect::<Vec<f64>>(), &ones);
    let time_rest = residual(&time, &load);
    let pace_rest = residual(&pace, &load);
    let by_time = dot(&pace_rest, &time_rest) / dot(&time_rest, &time_rest).max(f64::MIN_POSITIVE);
    let by_load = (dot(&pace, &load) - by_time * dot(&time, &load))
        / dot(&load, &load).max(f64::MIN_POSITIVE);
    LinearFit {
        load: by_load,
        time: by_time,
        improvement: by_time * by_time * dot(&time_rest, &time_rest),
    }
}

/// Returns a column without its projection on another.
fn residual(column: &[f64], other: &[f64]) -> Vec<f64> {
    let share = dot(column, other) / dot(other, other).max(f64::MIN_POSITIVE);
    column.iter().zip(other).map(|(value, other)| value - share * other).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a single worker of 1100 requests/s at first. Its capacity rises by the share
    /// `rise` each second. Trials start every ten seconds.
    fn paces(loads: &[f64], rise: f64) -> Vec<TrialMean> {
        loads
            .iter()
            .enumerate()
            .map(|(index, load)| {
                let time = 10.0 * index as f64;
                let saturation = 1100.0 * (1.0 + rise * time);
                TrialMean { load: *load, time, mean: 1.0 / (saturation - load), variance: 1e-8 }
            })
            .collect()
    }

    #[test]
    fn a_constant_capacity_has_no_drift() {
        assert_eq!(
            drift(&paces(&[950.0, 1020.0, 970.0, 1010.0, 1000.0], 0.0), 1000.0, 1100.0),
            None
        );
    }

    #[test]
    fn a_decreasing_capacity_is_reported_with_both_ends() {
        let Drift { first, last } =
            drift(&paces(&[980.0, 1010.0, 960.0, 970.0, 950.0], -0.0015), 970.0, 1100.0)
                .expect("a drift");
        // 1100 at the beginning and 1034 at the end: a loss of 66 of 970.
        assert!((first - last - 66.0).abs() < 8.0, "{first} {last}");
    }

    #[test]
    fn three_trials_are_too_few() {
        assert_eq!(drift(&paces(&[980.0, 1010.0, 960.0], -0.0015), 970.0, 1100.0), None);
    }
}
