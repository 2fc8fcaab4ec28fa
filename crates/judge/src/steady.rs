//! Determines when the run was steady, and the confidence intervals of its figures.
//!
//! The points of the measured time are the input of the methods in `stats`; the results are in the
//! units of reports (seconds, per second). Out of scope: the mathematics; docs/method.md has its
//! formulas and their limits.
//!
//! * [`percentile`]: percentiles with their intervals.
//! * [`response_times`]: all response times as buckets, with the number of those that are
//!   only known from below.
//! * [`trend`]: figures that rise or fall during the whole run.
//! * [`until`]: decides whether the intervals are as narrow as requested.

pub mod percentile;
pub mod response_times;
pub mod trend;
pub mod until;

use crate::texts::message;
use brunt_model::finding::{FigureEstimate, PercentileInterval, Steady};
use brunt_model::series::SeriesPoint;
use brunt_model::{Load, Phase, Run};
use brunt_stats::{blocks, mser, order};
use trend::Trend;

/// Quantiles that [`figures`] computes.
pub const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Minimum length of a run for an interval, in correlation times.
const FEWEST_TIMES: f64 = 30.0;

/// Returns the steady state, the percentiles of the response time (seconds) and the throughput (per
/// second), with their intervals. Empty if the load changes by plan: such a run is not steady, and
/// one percentile cannot describe it.
pub fn figures(run: &Run) -> (Option<Steady>, Vec<PercentileInterval>, Option<FigureEstimate>) {
    if !is_constant(run) {
        return (None, Vec::new(), None);
    }
    let points = measured(run);
    let mut steady = steady(&points);
    if let Some(steady) = &mut steady {
        // A rising or falling figure has no level, so MSER alone may call the run steady.
        steady.reached = steady.reached && trends(&points, steady).is_empty();
    }
    (steady, percentile::intervals(run, &points, &QUANTILES), throughput(run, &points))
}

fn is_constant(run: &Run) -> bool {
    run.plan.iter().flat_map(|plan| &plan.populations).all(|population| {
        let (Load::Closed { users: shape, .. } | Load::Open { rate: shape, .. }) = &population.load;
        shape.as_constant().is_some()
    })
}

/// Determines the steady state by MSER-5 of the throughput and of p50: the later of both cuts.
/// None below 50 points.
pub fn steady(points: &[SeriesPoint]) -> Option<Steady> {
    let throughput: Vec<f64> = points.iter().map(SeriesPoint::throughput).collect();
    let throughput = mser::truncate(&throughput)?;
    let p50 = mser::truncate(&quantiles(points, 0.5))?;
    let cut = throughput.cut.max(p50.cut);
    Some(Steady {
        cut: points.get(cut).map(|point| point.from - points[0].from).unwrap_or_default(),
        reached: throughput.steady && p50.steady,
        method: message!("method-of-run.steady", count = points.len().to_string()),
    })
}

/// Returns the figures that rose or fell during the whole measured time, from its points.
pub fn trends(points: &[SeriesPoint], steady: &Steady) -> Vec<Trend> {
    let cut = points.iter().take_while(|point| point.from - points[0].from < steady.cut).count();
    trend::trends(points, cut)
}

/// Returns the throughput (completed per second) and its interval by batch means; None if the run
/// was too short for one.
pub fn throughput(run: &Run, points: &[SeriesPoint]) -> Option<FigureEstimate> {
    let seconds: f64 = points.iter().map(SeriesPoint::seconds).sum();
    let rate = points.iter().map(|p| p.flow.completed).sum::<u64>() as f64 / seconds;
    let deviations: Vec<f64> =
        points.iter().map(|p| p.flow.completed as f64 - rate * p.seconds()).collect();
    let spread = blocks::spread(&deviations)?;
    let independent_variance =
        deviations.iter().map(|z| z * z).sum::<f64>() / deviations.len() as f64;
    // Negative correlation never makes the run longer than it is.
    let times = if independent_variance > 0.0 {
        deviations.len() as f64 / (spread.variance / independent_variance).max(1.0)
    } else {
        deviations.len() as f64
    };
    if times < FEWEST_TIMES {
        return None;
    }
    let half = order::student(spread.freedom) * (spread.variance * deviations.len() as f64).sqrt()
        / seconds;
    // The report shows the counted throughput. The rate of the points differs from it by
    // the last, incomplete point.
    let value = run.throughput();
    Some(FigureEstimate { value, low: (value - half).max(0.0), high: Some(value + half) })
}

/// Returns the points of the measured time.
pub fn measured(run: &Run) -> Vec<SeriesPoint> {
    points(run, Phase::Measure)
}

/// Returns the steady state of the warm-up; None below 50 points.
pub fn warmup_steady_state(run: &Run) -> Option<Steady> {
    steady(&points(run, Phase::Warmup))
}

fn points(run: &Run, phase: Phase) -> Vec<SeriesPoint> {
    run.series.points().filter(|p| p.phase == phase && p.to > p.from).collect()
}

/// Quantile `q` of each point, in nanoseconds. A point without replies has the quantile of the last
/// earlier point with replies.
fn quantiles(points: &[SeriesPoint], q: f64) -> Vec<f64> {
    let of_points: Vec<u64> = points.iter().map(|p| p.response.quantile(q)).collect();
    let mut last = of_points.iter().copied().find(|value| *value > 0).unwrap_or(0);
    let mut carried = Vec::with_capacity(of_points.len());
    for value in of_points {
        last = if value > 0 { value } else { last };
        carried.push(last as f64);
    }
    carried
}

#[cfg(test)]
mod tests;
