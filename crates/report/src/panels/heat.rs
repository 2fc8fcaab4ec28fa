//! Draws a heat map: the frequency of each response time in each interval.

use super::time;
use crate::figure::{Axis, AxisScale, Chart, ChartUnit, Heat};
use crate::intervals::Merged;
use crate::texts::message;
use brunt_model::series::SeriesPoint;
use brunt_model::{Phase, Run, text};

/// Number of rows for each power of ten.
const ROWS_PER_DECADE: f64 = 8.0;

/// Returns the heat map of a run, with a column for each point.
pub fn of(run: &Run, points: &Merged<SeriesPoint>) -> Chart {
    let heat = cells(&points.points, run);
    Chart {
        id: "heat".into(),
        title: message!("chart.response-times"),
        x: time::axis(points.width),
        y: Axis {
            label: text!("chart-label.response-time"),
            unit: ChartUnit::Seconds,
            scale: AxisScale::Log,
        },
        heat,
        ..Chart::default()
    }
}

fn cells(points: &[SeriesPoint], run: &Run) -> Option<Heat> {
    let with_replies: Vec<&SeriesPoint> =
        points.iter().filter(|point| point.response.count() > 0).collect();
    let least = with_replies
        .iter()
        .filter_map(|p| p.response.cells().next())
        .map(|cell| cell.0.max(1))
        .min()?;
    let most = with_replies.iter().map(|p| p.response.max().max(1)).max()?;
    let first = row(least);
    let last = row(most);
    let y: Vec<f64> =
        (first..=last + 1).map(|n| 10f64.powf(n as f64 / ROWS_PER_DECADE) / 1e9).collect();
    let zero = run.phase_start(Phase::Measure).unwrap_or_default();
    let mut x: Vec<f64> = points.iter().map(|point| point.from.seconds_from(zero)).collect();
    // There is one bound more than columns.
    x.extend(points.last().map(|point| point.to.seconds_from(zero)));
    let counts = points.iter().map(|point| counts_of(point, first, y.len() - 1)).collect();
    Some(Heat { x, y, counts })
}

fn row(nanos: u64) -> i64 {
    // The addend keeps an exact power of ten in its row although the logarithm is rounded.
    ((nanos.max(1) as f64).log10() * ROWS_PER_DECADE + 1e-9).floor() as i64
}

fn counts_of(point: &SeriesPoint, first: i64, rows: usize) -> Vec<u64> {
    let mut counts = vec![0; rows];
    for (nanos, count) in point.response.cells() {
        // A cell of a sketch represents a range, so its value may exceed the maximum slightly.
        let index = (row(nanos) - first).clamp(0, rows as i64 - 1);
        counts[index as usize] += count;
    }
    counts
}
