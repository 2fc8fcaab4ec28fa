//! Throughput and p99 against the load, a line for each contender.

use super::block::Block;
use super::{Subject, load_head};
use crate::figure::{Axis, Figure, Line, Point, Scale, Unit};
use crate::panels::load::points;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, CurvePoint};

/// Fewer points make no curve.
const FEWEST_POINTS: usize = 3;

/// A graph of the throughput and one of p99, where there are enough loads.
pub fn blocks(subject: &Subject<'_>) -> Vec<Block> {
    let graph = |title: &str, unit, scale, of: fn(&CurvePoint) -> Option<BandedFigure>| {
        let line = |found: &ContenderAnalysis| Line {
            name: found.contender.clone(),
            points: drawable(points(found, of)),
            ..Line::default()
        };
        let lines = subject.analysis.contenders.iter().map(line).filter(|line| line.points.len() >= FEWEST_POINTS);
        let (x, y) = (
            Axis { label: load_head(subject.unit).into(), ..Axis::default() },
            Axis { unit, scale, ..Axis::default() },
        );
        Figure { title: title.into(), x, y, lines: lines.collect(), ..Figure::default() }
    };
    let throughput = graph("Throughput, requests/s", Unit::PerSecond, Scale::Linear, |at| Some(at.achieved));
    let p99 = graph("p99 (logarithmic)", Unit::Seconds, Scale::Log, |at| at.p99);
    [throughput, p99]
        .into_iter()
        .filter(|graph| !graph.lines.is_empty())
        .map(|graph| Block::Graph(Box::new(graph)))
        .collect()
}

/// The points that have a place on a logarithmic axis, too, by their load.
fn drawable(mut points: Vec<Point>) -> Vec<Point> {
    points.retain(|point| point.y.is_some_and(|y| y.is_finite() && y > 0.0));
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}
