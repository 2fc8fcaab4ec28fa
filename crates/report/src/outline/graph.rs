//! Draws throughput and a percentile against the load, with a line for each contender. The figure by
//! which contenders are compared comes first.

use super::block::ReportBlock;
use super::{Subject, load_head};
use crate::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use crate::panels::load::points;
use brunt_model::Measure;
use brunt_model::objective::Metric;

/// Minimum number of points of a curve.
const MIN_POINTS: usize = 3;

/// Returns a graph of the throughput and one of a percentile, if there are enough loads.
pub fn blocks(subject: &Subject<'_>) -> Vec<ReportBlock> {
    let throughput = graph(
        subject,
        "Throughput, requests/s",
        ChartUnit::PerSecond,
        AxisScale::Linear,
        Metric::Throughput,
    );
    let compared = compared_quantile(subject);
    let quantile = Metric::Quantile(compared.unwrap_or(0.99));
    let title = format!("{quantile} (logarithmic)");
    let response = graph(subject, &title, ChartUnit::Seconds, AxisScale::Log, quantile);
    let graphs = if compared.is_some() { [response, throughput] } else { [throughput, response] };
    graphs
        .into_iter()
        .filter(|graph| !graph.lines.is_empty())
        .map(|graph| ReportBlock::Graph(Box::new(graph)))
        .collect()
}

/// Quantile of the response time by which contenders are compared.
fn compared_quantile(subject: &Subject<'_>) -> Option<f64> {
    let mut firsts = subject.analysis.pairs.iter().filter_map(|pair| pair.measures.first());
    firsts.find_map(|first| match first.measure {
        Measure::Run(Metric::Quantile(quantile)) => Some(quantile),
        _ => None,
    })
}

fn graph(
    subject: &Subject<'_>,
    title: &str,
    unit: ChartUnit,
    scale: AxisScale,
    metric: Metric,
) -> Chart {
    let mut lines = Vec::new();
    for contender in &subject.analysis.contenders {
        let points = drawable(points(contender, metric));
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
