//! Lays out a figure as a drawing: computes the position of every shape.
//!
//! Out of scope: the choice of charts ([`crate::panels`]) and of colors ([`crate::scene`]).

mod legend;

use crate::figure::{AxisScale, Chart, ChartLine, ChartPoint, Heat, HighlightedValue};
use crate::font;
use crate::scene::{Anchor, DrawingElement, Ink, Scene, TextDirection};
use crate::ticks::Ruler;

/// Width of every figure, in points.
pub const WIDTH: f64 = 720.0;
/// Height of the plot area, in points.
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const BELOW: f64 = 46.0;
/// Height of the heading, in points.
const HEAD: f64 = 28.0;
/// Font size of labels, in points.
pub const SMALL: f64 = 12.0;
const LARGE: f64 = 15.0;
/// Maximum number of points on a line that are drawn as dots.
const MAX_DOTS: usize = 40;
/// Dashes and gaps of the lines of one contender, in points.
const DASHES: [&[f64]; 5] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[14.0, 4.0]];

/// The area in which lines are drawn, with its axes.
struct PlotArea {
    top: f64,
    bottom: f64,
    x: Ruler,
    y: Ruler,
}

/// Draws a figure; None if it is empty.
pub fn scene(figure: &Chart) -> Option<Scene> {
    let mut shapes = vec![text((LEFT, 19.0), Anchor::Start, &figure.title, LARGE, Ink::Strong)];
    let (legend, rows) = legend::shapes(figure, LEFT, HEAD, WIDTH - RIGHT);
    shapes.extend(legend);
    let area = PlotArea::new(figure, HEAD + rows + mark_rows(figure))?;
    // Later shapes cover earlier ones: lines are above bands and marks.
    shapes.extend(area.grid());
    if let Some(heat) = &figure.heat {
        shapes.extend(area.cells(heat));
    }
    shapes.extend(figure.lines.iter().flat_map(|line| area.bands(line, ink_of(figure, line))));
    shapes.extend(area.marks(&figure.marks));
    shapes.extend(figure.lines.iter().flat_map(|line| {
        let ink = ink_of(figure, line);
        if figure.is_histogram { area.bars(line, ink) } else { area.line(line, ink) }
    }));
    shapes.extend(area.frame(figure));
    Some(Scene {
        id: figure.id.clone(),
        title: figure.title.to_string(),
        about: figure.about.to_string(),
        width: WIDTH,
        height: area.bottom + BELOW,
        shapes,
    })
}

/// Returns the ink of a line: the color of its contender. If no line has a contender, each
/// has a different color.
pub fn ink_of(figure: &Chart, line: &ChartLine) -> Ink {
    match line.contender {
        Some(contender) => Ink::Color(contender),
        // A line without a contender, such as the objective, applies to all contenders.
        None if figure.lines.iter().any(|l| l.contender.is_some()) => Ink::Axis,
        None => Ink::Color(figure.lines.iter().position(|l| std::ptr::eq(l, line)).unwrap_or(0)),
    }
}

/// Returns the dashes of a line.
pub fn dashes(line: &ChartLine) -> &'static [f64] {
    DASHES[usize::from(line.dash) % DASHES.len()]
}

/// Creates a horizontal text.
pub fn text(at: (f64, f64), anchor: Anchor, text: &str, size: f64, ink: Ink) -> DrawingElement {
    DrawingElement::Text {
        at,
        anchor,
        text: text.into(),
        size,
        ink,
        direction: TextDirection::Across,
    }
}

/// Returns the width of a label. Few fonts are wider than the font of pictures.
pub fn label_width(label: &str) -> f64 {
    font::width(label) * SMALL
}

/// Height of the names of marks. They are above the plot area, so that no line crosses them.
fn mark_rows(figure: &Chart) -> f64 {
    figure.marks.len() as f64 * 15.0 + 6.0
}

impl PlotArea {
    fn new(figure: &Chart, top: f64) -> Option<Self> {
        let bottom = top + HEIGHT;
        let points: Vec<&ChartPoint> = figure.lines.iter().flat_map(|line| &line.points).collect();
        let heat = figure.heat.as_ref();
        // Gaps at the ends of the lines need no space on the axis.
        let xs = points.iter().filter(|point| point.y.is_some()).map(|point| point.x);
        let xs = xs.chain(heat.iter().flat_map(|heat| heat.x.iter().copied()));
        let marks = figure.marks.iter().flat_map(|mark| [Some(mark.x), mark.until]).flatten();
        let xs: Vec<f64> = xs.chain(marks).collect();
        // Bands belong to the range of the axis, or they would leave the plot area.
        let values = points.iter().flat_map(|point| [point.y, point.low, point.high]).flatten();
        let ys = values.chain(heat.iter().flat_map(|heat| heat.y.iter().copied()));
        // A round end would leave an empty strip after the last load or instant.
        let last = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let x = Ruler::new(&figure.x, xs.into_iter(), (LEFT, WIDTH - RIGHT), 8)?.ending(last);
        let y = Ruler::new(&figure.y, ys, (bottom, top), 5)?;
        Some(Self { top, bottom, x, y })
    }

    fn grid(&self) -> Vec<DrawingElement> {
        let across =
            self.y.words().map(|(y, _)| ruled(vec![(LEFT, y), (WIDTH - RIGHT, y)], Ink::Grid));
        let down =
            self.x.words().map(|(x, _)| ruled(vec![(x, self.top), (x, self.bottom)], Ink::Grid));
        across.chain(down).collect()
    }

    /// Draws the axes and their labels. Of labels that would overlap, the later ones are omitted.
    fn frame(&self, figure: &Chart) -> Vec<DrawingElement> {
        let mut shapes = vec![
            ruled(vec![(LEFT, self.bottom), (WIDTH - RIGHT, self.bottom)], Ink::Axis),
            ruled(vec![(LEFT, self.top), (LEFT, self.bottom)], Ink::Axis),
        ];
        let mut free_from = f64::NEG_INFINITY;
        for (x, word) in self.x.words() {
            let half = label_width(&word) / 2.0;
            if x - half > free_from {
                shapes.push(text((x, self.bottom + 17.0), Anchor::Middle, &word, SMALL, Ink::Soft));
                free_from = x + half + 6.0;
            }
        }
        let words = self.y.words();
        shapes
            .extend(words.map(|(y, word)| {
                text((LEFT - 8.0, y + 4.0), Anchor::End, &word, SMALL, Ink::Soft)
            }));
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        shapes.push(text(
            (middle, self.bottom + 37.0),
            Anchor::Middle,
            &axis_title(&figure.x),
            SMALL,
            Ink::Soft,
        ));
        shapes.push(DrawingElement::Text {
            at: (15.0, f64::midpoint(self.top, self.bottom)),
            anchor: Anchor::Middle,
            text: axis_title(&figure.y),
            size: SMALL,
            ink: Ink::Soft,
            direction: TextDirection::Up,
        });
        shapes
    }

    fn position(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    fn line(&self, line: &ChartLine, ink: Ink) -> Vec<DrawingElement> {
        // Dash 3 is a reference line (offered load, objective); its ends are no measurements.
        let has_dots = line.points.len() <= MAX_DOTS && line.dash != 3;
        let mut shapes = Vec::new();
        for run in unbroken(&line.points, |p| p.y.filter(|y| y.is_finite()).map(|y| (p.x, y))) {
            let points: Vec<_> = run.into_iter().map(|(x, y)| self.position(x, y)).collect();
            // A single point has no line, and would be invisible without its dot.
            if has_dots || points.len() == 1 {
                shapes.extend(points.iter().map(|at| DrawingElement::Dot { at: *at, ink }));
            }
            if points.len() > 1 {
                shapes.push(DrawingElement::Line { points, ink, width: 1.8, dashes: dashes(line) });
            }
        }
        shapes
    }

    /// Draws the bars of a histogram as one filled outline.
    fn bars(&self, line: &ChartLine, ink: Ink) -> Vec<DrawingElement> {
        let values: Vec<(f64, f64)> = line.known().collect();
        let mut points = Vec::new();
        for pair in values.windows(2) {
            points.push(self.position(pair[0].0, pair[0].1));
            points.push(self.position(pair[1].0, pair[0].1));
        }
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
        let mut outline = vec![(first.0, self.bottom)];
        let end = (last.0, self.bottom);
        outline.append(&mut points);
        outline.push(end);
        let edge = outline.clone();
        vec![
            DrawingElement::Area { points: outline, ink },
            DrawingElement::Line { points: edge, ink, width: 1.2, dashes: &[] },
        ]
    }

    fn bands(&self, line: &ChartLine, ink: Ink) -> Vec<DrawingElement> {
        let mut shapes = Vec::new();
        for band in unbroken(&line.points, |point| {
            Some((point.x, point.low.or(point.y)?, point.high.or(point.y)?))
        }) {
            // An area of one point, or one without height, would draw nothing.
            if band.len() < 2 || !band.iter().any(|(_, low, high)| low < high) {
                continue;
            }
            // The outline runs along the upper edge, and back along the lower one.
            let upper = band.iter().map(|(x, _, high)| self.position(*x, *high));
            let lower = band.iter().rev().map(|(x, low, _)| self.position(*x, *low));
            shapes.push(DrawingElement::Area { points: upper.chain(lower).collect(), ink });
        }
        shapes
    }

    fn cells(&self, heat: &Heat) -> Vec<DrawingElement> {
        let most = heat.counts.iter().flatten().max().copied().unwrap_or(0);
        // Counts span orders of magnitude, so the scale is logarithmic.
        let scale = (most.max(1) as f64).ln_1p();
        let columns = heat.counts.iter().zip(heat.x.windows(2));
        let cells = columns.flat_map(|(counts, x)| {
            counts.iter().zip(heat.y.windows(2)).map(move |(n, y)| (*n, x, y))
        });
        let cells = cells.filter(|cell| cell.0 > 0).map(|(count, x, y)| {
            let (left, below) = self.position(x[0], y[0]);
            let (right, above) = self.position(x[1], y[1]);
            DrawingElement::Cell {
                at: (left, above),
                size: (right - left, below - above),
                heat: (count as f64).ln_1p() / scale,
            }
        });
        cells.collect()
    }

    /// Draws the marks. Their names are above the plot area in rows, in an order in which no
    /// line crosses a name.
    fn marks(&self, marks: &[HighlightedValue]) -> Vec<DrawingElement> {
        let mut rows: Vec<&HighlightedValue> = marks.iter().collect();
        rows.sort_by(|a, b| {
            match (self.has_space_to_the_right(a), self.has_space_to_the_right(b)) {
                (true, true) => a.x.total_cmp(&b.x),
                (false, false) => b.x.total_cmp(&a.x),
                (a_fits, b_fits) => a_fits.cmp(&b_fits),
            }
        });
        let mut shapes = Vec::new();
        for (row, mark) in rows.into_iter().enumerate() {
            let rows_below = marks.len() - 1 - row;
            let x = self.x.at(mark.x);
            let y = self.top - 7.0 - 15.0 * rows_below as f64;
            let ink = mark.contender.map_or(Ink::Axis, Ink::Color);
            let points = vec![(x, y + 3.0), (x, self.bottom)];
            let is_right = self.has_space_to_the_right(mark);
            let (at, anchor) =
                if is_right { (x + 5.0, Anchor::Start) } else { (x - 5.0, Anchor::End) };
            if let Some(until) = mark.until.map(|until| self.x.at(until)) {
                let (top, bottom) = (self.top, self.bottom);
                let points = vec![(x, top), (until, top), (until, bottom), (x, bottom)];
                shapes.push(DrawingElement::Area { points, ink });
            }
            shapes.push(DrawingElement::Line { points, ink, width: 1.2, dashes: DASHES[2] });
            shapes.push(text((at, y), anchor, &mark.name, SMALL, Ink::Soft));
        }
        shapes
    }

    fn has_space_to_the_right(&self, mark: &HighlightedValue) -> bool {
        self.x.at(mark.x) + 5.0 + label_width(&mark.name) < WIDTH
    }
}

fn ruled(points: Vec<(f64, f64)>, ink: Ink) -> DrawingElement {
    DrawingElement::Line { points, ink, width: 1.0, dashes: &[] }
}

/// Returns the title of an axis, with the unit that its labels lack.
fn axis_title(axis: &crate::figure::Axis) -> String {
    use crate::figure::ChartUnit::{Cores, PerSecond};
    match (axis.unit, axis.scale) {
        (_, AxisScale::Quantile) => axis.label.to_string(),
        (PerSecond, _) => format!("{}, per second", axis.label),
        (Cores, _) => format!("{}, cores", axis.label),
        _ => axis.label.to_string(),
    }
}

/// Splits a line at its gaps.
fn unbroken<T>(points: &[ChartPoint], select: impl Fn(&ChartPoint) -> Option<T>) -> Vec<Vec<T>> {
    let mut pieces = vec![Vec::new()];
    for point in points {
        match (select(point), pieces.last_mut()) {
            (Some(value), Some(piece)) => piece.push(value),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
