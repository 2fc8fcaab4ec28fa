//! A graph in characters: a mark at each measured point, dots between.

use crate::figures::{seconds, three};
use crate::layout::{clean, pad, shorten};
use crate::outline::{Graph, Line, Scale};
use crate::view::{Ink, View};

const ROWS: usize = 10;
const LABEL: usize = 8;
const MARKS: [char; 6] = ['●', '○', '◆', '◇', '▲', '△'];

/// The graph with its title, axes and legend.
pub fn text(view: &View, graph: &Graph) -> String {
    let columns = view.columns.saturating_sub(LABEL + 4).clamp(20, 100);
    let points = || graph.lines.iter().flat_map(|line| &line.1);
    let x = Axis::over(points().map(|p| p.0), Scale::PerSecond, columns);
    let y = Axis::over(points().map(|p| p.1), graph.scale, ROWS);
    let cells = cells(graph, &x, &y, columns);
    let mut out = view.hang("", &format!("{}{}", view.paint(Ink::Strong, &graph.title), legend(graph)));
    for (row, cells) in cells.iter().rev().enumerate() {
        let labelled = [0, ROWS / 2, ROWS - 1].contains(&row);
        let label = if labelled { written(graph.scale, y.value(ROWS - 1 - row)) } else { String::new() };
        let line = format!(
            "{}{label} ┤{}",
            " ".repeat(LABEL.saturating_sub(label.chars().count())),
            cells.iter().collect::<String>()
        );
        out += line.trim_end();
        out.push('\n');
    }
    let (left, right) = (three(x.low), format!("{}  {}", three(x.high), graph.x));
    let axis = pad(&left, columns.saturating_sub(right.chars().count()));
    out + &format!("{:LABEL$} └{}\n{:LABEL$}  {axis}{right}\n", "", "─".repeat(columns), "")
}

/// The marks, where there are several lines.
fn legend(graph: &Graph) -> String {
    if graph.lines.len() < 2 {
        return String::new();
    }
    let name = |(i, line): (usize, &Line)| format!("   {} {}", MARKS[i % MARKS.len()], shorten(&clean(&line.0), 24));
    graph.lines.iter().enumerate().map(name).collect()
}

/// Rows of characters, the lowest first.
fn cells(graph: &Graph, x: &Axis, y: &Axis, columns: usize) -> Vec<Vec<char>> {
    let mut cells = vec![vec![' '; columns]; ROWS];
    let place = |(at, value): &(f64, f64)| (x.place(*at), y.place(*value));
    for (_, points) in &graph.lines {
        for pair in points.windows(2) {
            let ((from, low), (to, high)) = (place(&pair[0]), place(&pair[1]));
            let row = |column: usize| {
                let share = (column - from) as f64 / (to - from) as f64;
                (low as f64 + share * (high as f64 - low as f64)).round() as usize
            };
            (from..to).for_each(|column| cells[row(column)][column] = '·');
        }
    }
    for (i, (_, points)) in graph.lines.iter().enumerate() {
        for (column, row) in points.iter().map(place) {
            cells[row][column] = MARKS[i % MARKS.len()];
        }
    }
    cells
}

fn written(scale: Scale, value: f64) -> String {
    match scale {
        Scale::PerSecond => three(value),
        Scale::Seconds => seconds(value),
    }
}

/// Values along so many characters.
struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    length: usize,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, scale: Scale, length: usize) -> Self {
        let high = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let low = if scale == Scale::PerSecond { 0.0 } else { values.fold(high, f64::min) };
        Self { low, high, scale, length }
    }

    fn place(&self, value: f64) -> usize {
        let share = match self.scale {
            Scale::PerSecond => value / self.high,
            Scale::Seconds if self.high > self.low => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Seconds => 0.0,
        };
        (share * (self.length - 1) as f64).round().clamp(0.0, (self.length - 1) as f64) as usize
    }

    fn value(&self, place: usize) -> f64 {
        let share = place as f64 / (self.length - 1) as f64;
        match self.scale {
            Scale::PerSecond => share * self.high,
            Scale::Seconds => self.low * (self.high / self.low).powf(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_at_their_places() {
        let lines = vec![("a".into(), vec![(100.0, 100.0), (200.0, 200.0), (400.0, 200.0)])];
        let graph = Graph { title: "Throughput".into(), x: "load, /s".into(), scale: Scale::PerSecond, lines };
        let text = text(&View { columns: 33, ..View::default() }, &graph);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn any_values_fit() {
        for points in [vec![(1.0, 1e-9), (1.0, 1e9), (2.0, 5.0)], vec![(0.0, 1.0), (0.0, 1.0)]] {
            for scale in [Scale::PerSecond, Scale::Seconds] {
                let graph =
                    Graph { title: "t".into(), x: "x".into(), scale, lines: vec![("a".into(), points.clone())] };
                let text = text(&View { columns: 60, ..View::default() }, &graph);
                assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
            }
        }
    }
}
