//! When the run was steady, and how sure its figures are.
//!
//! What it is: the points of the measured time, handed to the mathematics of `stats`, and its answers in the units of
//! reports (seconds, per second). Out of scope: that mathematics; docs/method.md has its formulas and their limits.
//!
//! * [`percentile`]: percentiles with their intervals.
//! * [`known`]: which response times stand at which share of all.
//! * [`trend`]: figures that rise or fall during the whole run.
//! * [`until`]: whether the intervals are as narrow as was asked.

pub mod known;
pub mod percentile;
pub mod trend;
pub mod until;

use brunt_model::finding::{Estimate, Interval, Steady};
use brunt_model::series::Point;
use brunt_model::{Load, Phase, Run};
use brunt_stats::{blocks, mser, order};
use trend::Trend;

/// The quantiles that [`figures`] looks at.
pub const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Fewer correlation times are too short for an interval.
const FEWEST_TIMES: f64 = 30.0;

/// When the run was steady, the percentiles of its response time (seconds) and its throughput (per second), with their
/// intervals. Nothing where the load changes by plan: such a run is not steady, and has no one percentile.
pub fn figures(run: &Run) -> (Option<Steady>, Vec<Interval>, Option<Estimate>) {
    if !is_constant(run) {
        return (None, Vec::new(), None);
    }
    let points = measured(run);
    let mut steady = steady(&points);
    if let Some(steady) = &mut steady {
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

/// When the run was steady, by MSER-5 of its throughput and of its p50, the later of both; None below 50 points.
pub fn steady(points: &[Point]) -> Option<Steady> {
    let throughput: Vec<f64> = points.iter().map(Point::throughput).collect();
    let throughput = mser::truncate(&throughput)?;
    let p50 = mser::truncate(&quantiles(points, 0.5))?;
    let cut = throughput.cut.max(p50.cut);
    let begins = |p: &Point| p.from - points[0].from;
    Some(Steady {
        cut: points.get(cut).map(begins).unwrap_or_default(),
        reached: throughput.steady && p50.steady,
        method: format!(
            "MSER-5 of throughput and p50 on {} points, sup-Wald test of the second half, trend test",
            points.len()
        ),
    })
}

/// Returns the figures that rose or fell during the whole measured time, of which these are the points.
pub fn trends(points: &[Point], steady: &Steady) -> Vec<Trend> {
    let cut = points.iter().take_while(|point| point.from - points[0].from < steady.cut).count();
    trend::trends(points, cut)
}

/// The throughput (completed per second) and its interval by batch means; None where the run was too short for one.
pub fn throughput(run: &Run, points: &[Point]) -> Option<Estimate> {
    let seconds: f64 = points.iter().map(Point::seconds).sum();
    let rate = points.iter().map(|p| p.flow.completed).sum::<u64>() as f64 / seconds;
    let apart: Vec<f64> = points.iter().map(|p| p.flow.completed as f64 - rate * p.seconds()).collect();
    let spread = blocks::spread(&apart)?;
    let alone = apart.iter().map(|z| z * z).sum::<f64>() / apart.len() as f64;
    let times = if alone > 0.0 { apart.len() as f64 / (spread.variance / alone).max(1.0) } else { apart.len() as f64 };
    if times < FEWEST_TIMES {
        return None;
    }
    let half = order::student(spread.freedom) * (spread.variance * apart.len() as f64).sqrt() / seconds;
    // What was counted is the report's figure; the points' own rate differs from it by the last, torn point.
    let value = run.throughput();
    Some(Estimate { value, low: (value - half).max(0.0), high: Some(value + half) })
}

/// The points of the measured time.
pub fn measured(run: &Run) -> Vec<Point> {
    points(run, Phase::Measure)
}

/// When the warm-up was steady; None below 50 points.
pub fn of_warmup(run: &Run) -> Option<Steady> {
    steady(&points(run, Phase::Warmup))
}

fn points(run: &Run, phase: Phase) -> Vec<Point> {
    run.series.points().filter(|p| p.phase == phase && p.to > p.from).collect()
}

/// The quantile `q` of each point, in nanoseconds; a point without replies has that of the last one before it that had some.
fn quantiles(points: &[Point], q: f64) -> Vec<f64> {
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
