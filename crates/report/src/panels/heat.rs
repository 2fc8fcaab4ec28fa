//! A heat map: how often each response time occurred in each interval.

use crate::figure::{Axis, Figure, Heat, Scale, Unit};
use brunt_model::series::Point;
use brunt_model::{Phase, Run};

/// Columns are joined until there are no more than this.
const MOST_COLUMNS: usize = 150;
/// Rows to each power of ten.
const ROWS_A_DECADE: f64 = 8.0;

/// The response time of a run over its time.
pub fn of(run: &Run) -> Figure {
    let heat = cells(&run.series.points().collect::<Vec<_>>(), run);
    Figure {
        id: "heat".into(),
        title: "Response times".into(),
        y: Axis { label: "response time".into(), unit: Unit::Seconds, scale: Scale::Log },
        heat,
        ..Figure::default()
    }
}

fn cells(points: &[Point], run: &Run) -> Option<Heat> {
    let answered: Vec<&Point> = points.iter().filter(|point| point.response.count() > 0).collect();
    let least = answered.iter().filter_map(|p| p.response.cells().next()).map(|cell| cell.0.max(1)).min()?;
    let most = answered.iter().map(|p| p.response.max().max(1)).max()?;
    let (first, last) = (row(least), row(most));
    let y: Vec<f64> = (first..=last + 1).map(|n| 10f64.powf(n as f64 / ROWS_A_DECADE) / 1e9).collect();
    let zero = run.began(Phase::Measure).unwrap_or_default();
    let since = |tick: brunt_model::Tick| (tick.0 as f64 - zero.0 as f64) / 1e9;
    let joined = points.len().div_ceil(MOST_COLUMNS).max(1);
    let columns: Vec<&[Point]> = points.chunks(joined).collect();
    let mut x: Vec<f64> = columns.iter().filter_map(|column| Some(since(column.first()?.from))).collect();
    x.extend(points.last().map(|point| since(point.to)));
    let counts = columns.iter().map(|column| counted(column, first, y.len() - 1)).collect();
    Some(Heat { x, y, counts })
}

fn row(nanos: u64) -> i64 {
    ((nanos.max(1) as f64).log10() * ROWS_A_DECADE + 1e-9).floor() as i64
}

fn counted(column: &[Point], first: i64, rows: usize) -> Vec<u64> {
    let mut counts = vec![0; rows];
    for (nanos, count) in column.iter().flat_map(|point| point.response.cells()) {
        let at = (row(nanos) - first).clamp(0, rows as i64 - 1);
        counts[at as usize] += count;
    }
    counts
}
