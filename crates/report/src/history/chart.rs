//! The chart of a history: runs with their intervals, levels between changes, change points.

use super::words;
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit, HighlightedValue};
use crate::texts::message;
use crate::utc;
use brunt_model::run_history::{HistoryEntry, HistorySegment, MeasuredFigure, RunHistory};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Returns the chart over the time of day and date.
pub fn chart(history: &RunHistory) -> Chart {
    let x = Axis {
        label: message!("history-chart.start"),
        unit: ChartUnit::Clock,
        scale: AxisScale::Linear,
    };
    let mut chart = drawn(history, x, |unix_seconds| unix_seconds);
    chart.marks = history
        .changes
        .iter()
        .map(|change| HighlightedValue {
            x: change.unix_seconds,
            name: words::size(history.measure, change).into(),
            ..HighlightedValue::default()
        })
        .collect();
    chart
}

/// Returns the chart over days since the first run, for drawings in characters.
pub fn of_days(history: &RunHistory) -> Chart {
    let first = history.entries.first().map_or(0.0, |entry| entry.started_unix_seconds);
    let label = message!("history-chart.days", day = utc::date(first));
    let x = Axis { label, ..Axis::default() };
    drawn(history, x, |unix_seconds| (unix_seconds - first) / DAY)
}

fn drawn(history: &RunHistory, x: Axis, position: impl Fn(f64) -> f64 + Copy) -> Chart {
    let counted = |entry: &&HistoryEntry| entry.exclusion.is_none();
    let runs = history.entries.iter().filter(counted);
    let runs =
        runs.filter_map(|entry| Some(point(position(entry.started_unix_seconds), entry.figure?)));
    let mut lines = vec![ChartLine {
        name: message!("history-chart.run"),
        points: runs.collect(),
        ..ChartLine::default()
    }];
    if !history.changes.is_empty() {
        lines.push(ChartLine {
            name: message!("history-chart.median"),
            dash: 1,
            points: levels(history, position),
            ..ChartLine::default()
        });
    }
    let excluded: Vec<ChartPoint> = history
        .entries
        .iter()
        .filter(|entry| entry.exclusion.is_some())
        .filter_map(|entry| Some((position(entry.started_unix_seconds), entry.figure?)))
        .flat_map(|(x, figure)| isolated(x, figure))
        .collect();
    if !excluded.is_empty() {
        let name = message!("history-chart.excluded");
        lines.push(ChartLine { name, dash: 2, points: excluded, ..ChartLine::default() });
    }
    let is_positive = lines.iter().flat_map(ChartLine::known).all(|(_, value)| value > 0.0);
    // On a linear axis, which begins at 0, a change of 5 % is hardly visible.
    let scale = if is_positive { AxisScale::Log } else { AxisScale::Linear };
    let title = history.measure.title();
    Chart {
        id: format!("history-{}", history.measure.key()),
        title: title.clone(),
        about: words::about(history),
        group: "history".into(),
        x,
        y: Axis { label: title, unit: words::unit_of(history.measure), scale },
        lines,
        ..Chart::default()
    }
}

fn point(x: f64, figure: MeasuredFigure) -> ChartPoint {
    ChartPoint { x, y: Some(figure.value), low: figure.low, high: figure.high }
}

/// A point, and a gap after it.
fn isolated(x: f64, figure: MeasuredFigure) -> [ChartPoint; 2] {
    [point(x, figure), ChartPoint { x, ..ChartPoint::default() }]
}

/// The levels of the segments, from their first to their last run, with gaps between.
fn levels(history: &RunHistory, position: impl Fn(f64) -> f64) -> Vec<ChartPoint> {
    let start = |id: &str| {
        let entry = history.entries.iter().find(|entry| entry.id == id);
        entry.map_or(0.0, |entry| position(entry.started_unix_seconds))
    };
    // Without gaps, a step would look like a slow change.
    let mut points = Vec::new();
    for HistorySegment { first_id, last_id, level, .. } in &history.segments {
        let first = start(first_id);
        let last = start(last_id);
        points.push(point(first, *level));
        points.push(point(last, *level));
        points.push(ChartPoint { x: last, ..ChartPoint::default() });
    }
    points
}
