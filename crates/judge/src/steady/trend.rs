//! Detects figures that rise or fall during a whole run.
//!
//! Causes are leaks, growing data, throttling, or another load on the machine. A change point
//! cannot show them, because the figures have no constant level before it. Out of scope: the
//! transient at the start, which [`super::steady`] cuts off.

use super::quantiles;
use brunt_model::series::SeriesPoint;
use brunt_model::time::seconds_of;
use brunt_stats::{Sketch, trend};

/// Minimum relative change over the whole run for a warning.
const MATTERS: f64 = 0.1;
/// Minimum relative change of the part after the transient that shows that
/// the figure still changes.
const CONTINUES: f64 = 0.05;
/// Number of parts of the run, of which the first and the last are shown.
const PARTS: usize = 5;

/// A figure with a significant trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Figure that has the trend.
    pub figure: TrendFigure,
    /// Value over the first fifth of the measured time.
    pub first: f64,
    /// Value over the last fifth of the measured time.
    pub last: f64,
}

/// A figure that is tested for a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrendFigure {
    /// A quantile of the response time, in seconds.
    Response(f64),
    /// Completed requests per second.
    Throughput,
}

impl TrendFigure {
    fn series(self, points: &[SeriesPoint]) -> Vec<f64> {
        match self {
            Self::Response(q) => {
                quantiles(points, q).into_iter().map(|nanos| nanos / 1e9).collect()
            }
            Self::Throughput => points.iter().map(SeriesPoint::throughput).collect(),
        }
    }

    fn over(self, points: &[SeriesPoint]) -> f64 {
        match self {
            Self::Response(q) => {
                let all: Sketch = points.iter().map(|point| &point.response).collect();
                seconds_of(all.quantile(q))
            }
            Self::Throughput => {
                points.iter().map(SeriesPoint::throughput).sum::<f64>() / points.len() as f64
            }
        }
    }
}

/// Returns the figures that changed by a tenth or more over `points`, and have a significant trend
/// after the first `cut` points.
pub fn trends(points: &[SeriesPoint], cut: usize) -> Vec<Trend> {
    let figures =
        [TrendFigure::Response(0.5), TrendFigure::Response(0.99), TrendFigure::Throughput];
    figures.into_iter().filter_map(|figure| trend_of(figure, points, cut)).collect()
}

/// MSER cuts half of a series that rises all the time. Therefore the test examines the rest of it,
/// and the figures come from the whole.
fn trend_of(figure: TrendFigure, points: &[SeriesPoint], cut: usize) -> Option<Trend> {
    let rest = &points[cut..];
    let change = trend::change(&figure.series(rest))?;
    let part = points.len() / PARTS;
    let first = figure.over(&points[..part]);
    let last = figure.over(&points[points.len() - part..]);
    let is_continuing = change.abs() >= CONTINUES * figure.over(rest);
    let is_same_direction = change * (last - first) > 0.0;
    let matters = (last - first).abs() >= MATTERS * first;
    (is_continuing && is_same_direction && matters).then_some(Trend { figure, first, last })
}
