//! Throughput and p99 against the load, a line for each contender.

use super::{Block, Subject, load_head};
use brunt_model::analysis::CurvePoint;

/// Fewer points make no curve.
const FEWEST_POINTS: usize = 3;

/// Curves against the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// What is drawn.
    pub title: String,
    /// What stands below the horizontal axis.
    pub x: String,
    /// How the vertical axis goes, and what it counts.
    pub scale: Scale,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a graph: its name, and its points by load.
pub type Line = (String, Vec<(f64, f64)>);

/// A vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Requests per second, in equal steps from 0.
    PerSecond,
    /// Seconds, in equal ratios.
    Seconds,
}

/// A graph of the throughput and one of p99, where there are enough loads.
pub fn blocks(subject: &Subject<'_>) -> Vec<Block> {
    let graph = |title: &str, scale, y: fn(&CurvePoint) -> Option<f64>| {
        let line = |found: &brunt_model::analysis::ContenderAnalysis| {
            let point = |at: &CurvePoint| Some((at.load, y(at).filter(|y| y.is_finite() && *y > 0.0)?));
            let mut points: Vec<(f64, f64)> = found.curve.iter().filter_map(point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            (found.contender.clone(), points)
        };
        let lines = subject.analysis.contenders.iter().map(line).filter(|(_, points)| points.len() >= FEWEST_POINTS);
        let lines: Vec<_> = lines.collect();
        let x = load_head(subject.unit).to_owned();
        (!lines.is_empty()).then(|| Block::Graph(Graph { title: title.into(), x, scale, lines }))
    };
    let throughput = graph("Throughput, requests/s", Scale::PerSecond, |at| Some(at.achieved.value));
    let p99 = graph("p99 (logarithmic)", Scale::Seconds, |at| Some(at.p99?.value));
    throughput.into_iter().chain(p99).collect()
}
