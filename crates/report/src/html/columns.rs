//! Converts a figure to the page's form: lines as columns, with no more digits than
//! a screen can show.

use crate::figure::{Axis, Chart, ChartLine, ChartPoint, Heat, HighlightedValue};
use serde::Serialize;

/// A figure, with its lines as columns.
#[derive(Debug, Serialize)]
pub struct FigureColumns<'a> {
    id: &'a str,
    title: &'a str,
    about: &'a str,
    group: &'a str,
    x: &'a Axis,
    y: &'a Axis,
    lines: Vec<LineColumns<'a>>,
    marks: &'a [HighlightedValue],
    heat: Option<&'a Heat>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    histogram: bool,
}

/// A line: `y[i]` and its band belong to `x[i]`.
#[derive(Debug, Serialize)]
struct LineColumns<'a> {
    name: &'a str,
    contender: Option<usize>,
    dash: u8,
    x: Vec<Option<f64>>,
    y: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    high: Vec<Option<f64>>,
}

impl<'a> From<&'a Chart> for FigureColumns<'a> {
    fn from(f: &'a Chart) -> Self {
        Self {
            id: &f.id,
            title: &f.title,
            about: &f.about,
            group: &f.group,
            x: &f.x,
            y: &f.y,
            lines: f.lines.iter().map(LineColumns::from).collect(),
            marks: &f.marks,
            heat: f.heat.as_ref(),
            histogram: f.is_histogram,
        }
    }
}

impl<'a> From<&'a ChartLine> for LineColumns<'a> {
    fn from(line: &'a ChartLine) -> Self {
        // Most lines have no band. Two columns of nulls for each would enlarge the page.
        let has_band = line.points.iter().any(|p| p.low.is_some() && p.high.is_some());
        Self {
            name: &line.name,
            contender: line.contender,
            dash: line.dash,
            x: line.points.iter().map(|p| rounded(p.x, INSTANT_DIGITS)).collect(),
            y: column(line, |p| p.y),
            low: if has_band { column(line, |p| p.low) } else { Vec::new() },
            high: if has_band { column(line, |p| p.high) } else { Vec::new() },
        }
    }
}

fn column(line: &ChartLine, select: fn(&ChartPoint) -> Option<f64>) -> Vec<Option<f64>> {
    line.points.iter().map(|point| select(point).and_then(|x| rounded(x, VALUE_DIGITS))).collect()
}

/// Significant digits of a value. More are invisible, and all digits would take three times the space.
const VALUE_DIGITS: usize = 7;
/// Significant digits of a value of x: an instant in seconds since 1970, to the hundredth.
const INSTANT_DIGITS: usize = 12;

/// Rounds to significant digits; None if the number is not finite.
fn rounded(x: f64, digits: usize) -> Option<f64> {
    // Rounded as text: a division by a power of ten would leave up to 17 digits in JSON.
    x.is_finite().then(|| format!("{x:.*e}", digits - 1).parse().unwrap_or(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_in_columns() {
        let point = |x: f64, y| ChartPoint { x, y, low: None, high: None };
        let noon = 1_782_907_200.5;
        let points =
            vec![point(0.1 + 0.2, Some(1.0 / 3.0)), point(2.0, None), point(noon, Some(f64::NAN))];
        let figure =
            Chart { lines: vec![ChartLine { points, ..ChartLine::default() }], ..Chart::default() };
        let json = serde_json::to_value(FigureColumns::from(&figure)).unwrap();
        assert_eq!(json["lines"][0]["x"], serde_json::json!([0.3, 2.0, noon]));
        assert_eq!(json["lines"][0]["y"], serde_json::json!([0.333_333_3, null, null]));
        assert!(json["lines"][0].get("low").is_none());
    }
}
