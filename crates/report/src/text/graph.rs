//! Draws a graph in characters: a mark at each measured point, dots between.

use crate::figure::{AxisScale, Chart, ChartLine, ChartUnit};
use crate::layout::{clean, pad, shorten};
use crate::view::{Emphasis, View};
use brunt_model::numbers::{seconds, three_digits};

/// Height of the graph, in lines.
const ROWS: usize = 10;
/// Width of the labels of the y axis, in columns.
const LABEL_WIDTH: usize = 8;
const MARKS: [char; 6] = ['●', '○', '◆', '◇', '▲', '△'];

/// Draws a graph with its title, axes and legend.
pub fn text(view: &View, graph: &Chart) -> String {
    let columns = view.columns.saturating_sub(LABEL_WIDTH + 4).clamp(20, 100);
    let points: Vec<(f64, f64)> = graph.lines.iter().flat_map(ChartLine::known).collect();
    let x = TextAxis::over(points.iter().map(|point| point.0), graph.x.scale, columns);
    let y = TextAxis::over(points.iter().map(|point| point.1), graph.y.scale, ROWS);
    let cells = cells(graph, &x, &y, columns);
    let mut out =
        view.hang("", &format!("{}{}", view.paint(Emphasis::Strong, &graph.title), legend(graph)));
    for (row, cells) in cells.iter().rev().enumerate() {
        let has_label = [0, ROWS / 2, ROWS - 1].contains(&row);
        let label = if has_label {
            formatted(graph.y.unit, y.value(ROWS - 1 - row))
        } else {
            String::new()
        };
        let line = format!(
            "{}{label} ┤{}",
            " ".repeat(LABEL_WIDTH.saturating_sub(label.chars().count())),
            cells.iter().collect::<String>()
        );
        out += line.trim_end();
        out.push('\n');
    }
    let low = three_digits(x.low);
    let high = format!("{}  {}", three_digits(x.high), graph.x.label);
    let axis = pad(&low, columns.saturating_sub(high.chars().count()));
    out + &format!(
        "{:LABEL_WIDTH$} └{}\n{:LABEL_WIDTH$}  {axis}{high}\n",
        "",
        "─".repeat(columns),
        ""
    )
}

/// Returns the names of the marks; empty for a single line.
fn legend(graph: &Chart) -> String {
    if graph.lines.len() < 2 {
        return String::new();
    }
    let mut legend = String::new();
    for (i, line) in graph.lines.iter().enumerate() {
        legend += &format!("   {} {}", MARKS[i % MARKS.len()], shorten(&clean(&line.name), 24));
    }
    legend
}

/// Returns rows of characters, lowest first.
fn cells(graph: &Chart, x: &TextAxis, y: &TextAxis, columns: usize) -> Vec<Vec<char>> {
    let mut cells = vec![vec![' '; columns]; ROWS];
    let places: Vec<Vec<(usize, usize)>> = graph
        .lines
        .iter()
        .map(|line| line.known().map(|(at, value)| (x.place(at), y.place(value))).collect())
        .collect();
    for places in &places {
        for pair in places.windows(2) {
            for (column, row) in straight_line(pair[0], pair[1]) {
                cells[row][column] = '·';
            }
        }
    }
    // After all lines: a dot of one line must not cover the mark of another.
    for (i, places) in places.iter().enumerate() {
        for (column, row) in places {
            cells[*row][*column] = MARKS[i % MARKS.len()];
        }
    }
    cells
}

/// Returns the columns and rows of a straight line from `start` to `end`, without the end.
fn straight_line(
    start: (usize, usize),
    end: (usize, usize),
) -> impl Iterator<Item = (usize, usize)> {
    let (from, low) = start;
    let (to, high) = end;
    (from..to).map(move |column| {
        let share = (column - from) as f64 / (to - from) as f64;
        (column, (low as f64 + share * (high as f64 - low as f64)).round() as usize)
    })
}

fn formatted(unit: ChartUnit, value: f64) -> String {
    if unit == ChartUnit::Seconds { seconds(value) } else { three_digits(value) }
}

/// Maps values to characters.
struct TextAxis {
    low: f64,
    high: f64,
    scale: AxisScale,
    length: usize,
}

impl TextAxis {
    fn over(values: impl Iterator<Item = f64> + Clone, scale: AxisScale, length: usize) -> Self {
        // If all values are 0, a range of 0 would make every share NaN.
        let high = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let low = if scale == AxisScale::Log { values.fold(high, f64::min) } else { 0.0 };
        Self { low, high, scale, length }
    }

    fn place(&self, value: f64) -> usize {
        let share = match self.scale {
            AxisScale::Log if self.high > self.low => {
                (value / self.low).ln() / (self.high / self.low).ln()
            }
            AxisScale::Log => 0.0,
            AxisScale::Linear | AxisScale::Quantile => value / self.high,
        };
        (share * (self.length - 1) as f64).round().clamp(0.0, (self.length - 1) as f64) as usize
    }

    fn value(&self, place: usize) -> f64 {
        let share = place as f64 / (self.length - 1) as f64;
        if self.scale == AxisScale::Log {
            self.low * (self.high / self.low).powf(share)
        } else {
            share * self.high
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{self, ChartPoint};

    fn graph(
        title: &str,
        x: &str,
        unit: ChartUnit,
        scale: AxisScale,
        points: &[(f64, f64)],
    ) -> Chart {
        let points = points
            .iter()
            .map(|(x, y)| ChartPoint { x: *x, y: Some(*y), ..ChartPoint::default() })
            .collect();
        Chart {
            title: title.into(),
            x: figure::Axis { label: x.into(), ..figure::Axis::default() },
            y: figure::Axis { unit, scale, ..figure::Axis::default() },
            lines: vec![ChartLine { name: "a".into(), points, ..ChartLine::default() }],
            ..Chart::default()
        }
    }

    #[test]
    fn points_are_drawn_at_their_positions() {
        let points = [(100.0, 100.0), (200.0, 200.0), (400.0, 200.0)];
        let graph =
            graph("Throughput", "load, /s", ChartUnit::PerSecond, AxisScale::Linear, &points);
        let text = text(&View { columns: 33, ..View::default() }, &graph);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn any_values_fit() {
        for points in [vec![(1.0, 1e-9), (1.0, 1e9), (2.0, 5.0)], vec![(0.0, 1.0), (0.0, 1.0)]] {
            for (unit, scale) in
                [(ChartUnit::PerSecond, AxisScale::Linear), (ChartUnit::Seconds, AxisScale::Log)]
            {
                let graph = graph("t", "x", unit, scale, &points);
                let text = text(&View { columns: 60, ..View::default() }, &graph);
                assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
            }
        }
    }
}
