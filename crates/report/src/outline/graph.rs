//! Draws throughput and p99 against the load, with a line for each contender.

use super::block::ReportBlock;
use super::{Subject, load_head};
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use crate::panels::load::points;
use brunt_model::analysis::{BandedFigure, CurvePoint};

/// Minimum number of points of a curve.
const MIN_POINTS: usize = 3;

/// Returns a graph of the throughput and one of p99, if there are enough loads.
pub fn blocks(subject: &Subject<'_>) -> Vec<ReportBlock> {
    let throughput = graph(
        subject,
        "Throughput, requests/s",
        ChartUnit::PerSecond,
        AxisScale::Linear,
        |point| Some(point.achieved),
    );
    let p99 =
        graph(subject, "p99 (logarithmic)", ChartUnit::Seconds, AxisScale::Log, |point| point.p99);
    [throughput, p99]
        .into_iter()
        .filter(|graph| !graph.lines.is_empty())
        .map(|graph| ReportBlock::Graph(Box::new(graph)))
        .collect()
}

fn graph(
    subject: &Subject<'_>,
    title: &str,
    unit: ChartUnit,
    scale: AxisScale,
    select: fn(&CurvePoint) -> Option<BandedFigure>,
) -> Chart {
    let mut lines = Vec::new();
    for contender in &subject.analysis.contenders {
        let points = drawable(points(contender, select));
        // With fewer points, the table shows the same in less space.
        if points.len() >= MIN_POINTS {
            lines.push(ChartLine {
                name: contender.contender.as_str().into(),
                points,
                ..ChartLine::default()
            });
        }
    }
    let x = Axis { label: load_head(subject.unit).into(), ..Axis::default() };
    let y = Axis { unit, scale, ..Axis::default() };
    Chart { title: title.into(), x, y, lines, ..Chart::default() }
}

/// Removes the points without a position on a logarithmic axis, and sorts the others by load.
fn drawable(mut points: Vec<ChartPoint>) -> Vec<ChartPoint> {
    // A logarithm exists only above 0.
    points.retain(|point| point.y.is_some_and(|y| y.is_finite() && y > 0.0));
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}
