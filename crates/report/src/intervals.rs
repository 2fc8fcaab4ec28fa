//! Merges the intervals of a long run, so that a chart over time has a limited number of points.
//!
//! Counts are added and histograms are merged. Rates and states get their mean over the time, with
//! the lowest and the highest value as the band. Out of scope: the exports CSV and JSON, which
//! have every recorded interval.

use crate::figure;
use crate::readings::ValueSpan;
use brunt_model::series::SeriesPoint;
use brunt_model::{Phase, Run, Tick};

/// Maximum number of points on a line over time.
pub const MOST_POINTS: usize = 200;

const DAY: f64 = 86_400.0;

/// Widths of merged intervals, in seconds; longer ones are whole days.
const WIDTHS: [f64; 23] = [
    // Round widths only, because the label of the axis names the width.
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0,
    120.0, 300.0, 600.0, 1_800.0, 3_600.0, 21_600.0, DAY,
];

/// Points of a line over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged<T> {
    /// Merged points, in order of time.
    pub points: Vec<T>,
    /// Width of an interval in seconds; None for the recorded intervals.
    pub width: Option<f64>,
}

/// Returns the recorded intervals of a run, without the short ones at the ends of its phases.
pub fn recorded(run: &Run) -> Vec<SeriesPoint> {
    absorb_short(run.series.points().collect())
}

/// Returns the intervals of a run, merged to at most [`MOST_POINTS`].
pub fn of_run(run: &Run) -> Merged<SeriesPoint> {
    let points = recorded(run);
    let width = width_of(points.len(), seconds_of(&points));
    // Merging leaves a short interval at the end of each phase again.
    Merged { points: absorb_short(merge(&points, zero(run), width)), width }
}

/// Returns the intervals of a run, merged so that 9 of 10 have at least `least` response times.
/// None if fewer than three intervals would be that wide.
pub fn with_responses(run: &Run, least: u64) -> Option<Merged<SeriesPoint>> {
    let points = recorded(run);
    let seconds = seconds_of(&points);
    let narrowest = width_of(points.len(), seconds);
    let wider = WIDTHS
        .into_iter()
        .filter(|width| *width > narrowest.unwrap_or(0.0) && width * 3.0 <= seconds);
    let widths = std::iter::once(narrowest).chain(wider.map(Some));
    let merged = widths
        .map(|width| Merged { points: absorb_short(merge(&points, zero(run), width)), width });
    let mut enough = merged.filter(|merged| {
        // Intervals without a reply, as in a stall of the server, do not count against a width.
        let counts =
            merged.points.iter().map(|point| point.response.count()).filter(|count| *count > 0);
        let large = counts.clone().filter(|count| *count >= least).count();
        large >= 3 && large * 10 >= counts.count() * 9
    });
    enough.next()
}

/// Converts values over time to points of a chart.
pub fn of_spans(spans: &[ValueSpan]) -> Merged<figure::ChartPoint> {
    let from = spans.first().map_or(0.0, |span| span.from);
    let to = spans.last().map_or(0.0, |span| span.to);
    let Some(width) = width_of(spans.len(), to - from) else {
        let points = spans.iter().map(|span| figure::ChartPoint {
            x: span.at(),
            y: Some(span.value),
            ..figure::ChartPoint::default()
        });
        return Merged { points: points.collect(), width: None };
    };
    let groups = spans.chunk_by(|a, b| number(a.at(), width) == number(b.at(), width));
    Merged { points: groups.map(mean_of).collect(), width: Some(width) }
}

/// Returns the mean of values, weighted by their durations, with the lowest and the highest value.
fn mean_of(spans: &[ValueSpan]) -> figure::ChartPoint {
    let all: f64 = spans.iter().map(weight).sum();
    let low = spans.iter().map(|span| span.value).fold(f64::INFINITY, f64::min);
    let high = spans.iter().map(|span| span.value).fold(f64::NEG_INFINITY, f64::max);
    let mean = spans.iter().map(|span| span.value * weight(span)).sum::<f64>() / all;
    let band = (low < high).then_some((low, high));
    figure::ChartPoint {
        x: spans.iter().map(|span| span.at() * weight(span)).sum::<f64>() / all,
        // Rounding must not lift the mean of equal values above the highest.
        y: Some(mean.clamp(low, high)),
        low: band.map(|band| band.0),
        high: band.map(|band| band.1),
    }
}

/// Duration of a value; 1 for a state, which has no duration.
fn weight(span: &ValueSpan) -> f64 {
    if span.to > span.from { span.to - span.from } else { 1.0 }
}

/// Merges the points of each interval. Points of two phases stay separate.
fn merge(points: &[SeriesPoint], zero: Tick, width: Option<f64>) -> Vec<SeriesPoint> {
    let Some(width) = width else { return points.to_vec() };
    points
        .chunk_by(|a, b| {
            a.phase == b.phase && number_of(a, zero, width) == number_of(b, zero, width)
        })
        .map(SeriesPoint::join)
        .collect()
}

/// Merges intervals that are shorter than half the median into their neighbors. They occur at the
/// ends of phases, and their rates are noise.
fn absorb_short(points: Vec<SeriesPoint>) -> Vec<SeriesPoint> {
    let mut widths: Vec<f64> = points.iter().map(SeriesPoint::seconds).collect();
    widths.sort_by(f64::total_cmp);
    // The median, because a long series has merged pairs and no longer the interval of the plan.
    let shortest = widths.get(widths.len() / 2).copied().unwrap_or(0.0) / 2.0;
    let mut all: Vec<SeriesPoint> = Vec::new();
    for point in points {
        match all.last_mut() {
            Some(last) if last.seconds() < shortest || point.seconds() < shortest => {
                // The longer interval contains most of the requests, so its phase applies.
                let phase = if last.seconds() < shortest { point.phase } else { last.phase };
                last.follow(&point);
                last.phase = phase;
            }
            _ => all.push(point),
        }
    }
    all
}

/// Width of the intervals to which this number of points is merged; None if they need no merging.
fn width_of(count: usize, seconds: f64) -> Option<f64> {
    if count <= MOST_POINTS {
        return None;
    }
    let least = seconds / MOST_POINTS as f64;
    Some(
        WIDTHS
            .into_iter()
            .find(|width| *width >= least)
            .unwrap_or_else(|| (least / DAY).ceil() * DAY),
    )
}

/// Number of the merged interval that contains a point.
fn number_of(point: &SeriesPoint, zero: Tick, width: f64) -> i64 {
    number(f64::midpoint(since(point.from, zero), since(point.to, zero)), width)
}

/// Number of the interval that contains an instant.
fn number(instant: f64, width: f64) -> i64 {
    // Instants of the warm-up are negative: truncation would merge the intervals on both sides of
    // 0.
    (instant / width).floor() as i64
}

fn seconds_of(points: &[SeriesPoint]) -> f64 {
    let first = points.first().map_or(Tick::ZERO, |point| point.from);
    points.last().map_or(0.0, |point| since(point.to, first))
}

fn zero(run: &Run) -> Tick {
    run.phase_start(Phase::Measure).unwrap_or_default()
}

fn since(tick: Tick, zero: Tick) -> f64 {
    tick.seconds_from(zero)
}

#[cfg(test)]
mod tests;
