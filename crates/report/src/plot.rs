//! From a figure to a drawing: where on the paper everything stands.
//!
//! Out of scope: a choice of what is shown ([`crate::panels`]) or of colours ([`crate::scene`]).

mod legend;

use crate::figure::{Figure, Heat, Line, Mark, Point, Scale};
use crate::font;
use crate::scene::{Anchor, Ink, Runs, Scene, Shape};
use crate::ticks::Ruler;

/// Every figure is as wide, in points.
pub const WIDTH: f64 = 720.0;
/// The height of the part in which lines are drawn.
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const BELOW: f64 = 46.0;
/// The height of the heading.
const HEAD: f64 = 28.0;
/// The size of labels.
pub const SMALL: f64 = 12.0;
const LARGE: f64 = 15.0;
/// More points than this on a line are not dotted.
const MOST_DOTS: usize = 40;
/// Dashes and gaps of the lines of one contender.
const DASHES: [&[f64]; 5] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[14.0, 4.0]];

/// The room in which lines are drawn, with its axes.
struct Room {
    top: f64,
    bottom: f64,
    x: Ruler,
    y: Ruler,
}

/// Draws a figure; None where it shows nothing.
pub fn scene(figure: &Figure) -> Option<Scene> {
    let mut shapes = vec![text((LEFT, 19.0), Anchor::Start, &figure.title, LARGE, Ink::Strong)];
    let (legend, rows) = legend::shapes(figure, (LEFT, HEAD), WIDTH - RIGHT);
    shapes.extend(legend);
    let room = Room::new(figure, HEAD + rows + mark_rows(figure))?;
    shapes.extend(room.grid());
    if let Some(heat) = &figure.heat {
        shapes.extend(room.cells(heat));
    }
    shapes.extend(figure.lines.iter().flat_map(|line| room.bands(line, ink_of(figure, line))));
    shapes.extend(room.marks(&figure.marks));
    shapes.extend(figure.lines.iter().flat_map(|line| room.line(line, ink_of(figure, line))));
    shapes.extend(room.frame(figure));
    Some(Scene {
        id: figure.id.clone(),
        title: figure.title.clone(),
        about: figure.about.clone(),
        width: WIDTH,
        height: room.bottom + BELOW,
        shapes,
    })
}

/// What a line is drawn with: its contender's colour, or one of its own where no line is anybody's.
pub fn ink_of(figure: &Figure, line: &Line) -> Ink {
    match line.contender {
        Some(contender) => Ink::Colour(contender),
        None if figure.lines.iter().any(|l| l.contender.is_some()) => Ink::Axis,
        None => Ink::Colour(figure.lines.iter().position(|l| std::ptr::eq(l, line)).unwrap_or(0)),
    }
}

/// How a line is dashed.
pub fn dashes(line: &Line) -> &'static [f64] {
    DASHES[usize::from(line.dash) % DASHES.len()]
}

/// A text that runs across.
pub fn text(at: (f64, f64), anchor: Anchor, text: &str, size: f64, ink: Ink) -> Shape {
    Shape::Text { at, anchor, text: text.into(), size, ink, runs: Runs::Across }
}

/// The room that a label takes; few fonts are wider than that of pictures.
pub fn room_of(label: &str) -> f64 {
    font::width(label) * SMALL
}

/// The words of marks stand above the room, so that no line crosses them.
fn mark_rows(figure: &Figure) -> f64 {
    figure.marks.len() as f64 * 15.0 + 6.0
}

impl Room {
    fn new(figure: &Figure, top: f64) -> Option<Self> {
        let bottom = top + HEIGHT;
        let points = || figure.lines.iter().flat_map(|line| &line.points);
        let heat = figure.heat.as_ref();
        let xs = points().filter(|p| p.y.is_some()).map(|p| p.x).chain(heat.iter().flat_map(|h| h.x.iter().copied()));
        let xs: Vec<f64> = xs.chain(figure.marks.iter().map(|mark| mark.x)).collect();
        let ends = |p: &Point| [p.y, p.low, p.high];
        let ys = points().flat_map(ends).flatten().chain(heat.iter().flat_map(|h| h.y.iter().copied()));
        let last = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let x = Ruler::new(&figure.x, xs.into_iter(), (LEFT, WIDTH - RIGHT), 8)?.ending(last);
        let y = Ruler::new(&figure.y, ys, (bottom, top), 5)?;
        Some(Self { top, bottom, x, y })
    }

    fn grid(&self) -> Vec<Shape> {
        let across = self.y.words().map(|(y, _)| ruled(vec![(LEFT, y), (WIDTH - RIGHT, y)], Ink::Grid));
        let down = self.x.words().map(|(x, _)| ruled(vec![(x, self.top), (x, self.bottom)], Ink::Grid));
        across.chain(down).collect()
    }

    /// Axes and their words; of words that would touch, the later ones are left out.
    fn frame(&self, figure: &Figure) -> Vec<Shape> {
        let mut shapes = vec![
            ruled(vec![(LEFT, self.bottom), (WIDTH - RIGHT, self.bottom)], Ink::Axis),
            ruled(vec![(LEFT, self.top), (LEFT, self.bottom)], Ink::Axis),
        ];
        let mut free = f64::NEG_INFINITY;
        for (x, word) in self.x.words() {
            let half = room_of(&word) / 2.0;
            if x - half > free {
                shapes.push(text((x, self.bottom + 17.0), Anchor::Middle, &word, SMALL, Ink::Soft));
                free = x + half + 6.0;
            }
        }
        let words = self.y.words();
        shapes.extend(words.map(|(y, word)| text((LEFT - 8.0, y + 4.0), Anchor::End, &word, SMALL, Ink::Soft)));
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        shapes.push(text((middle, self.bottom + 37.0), Anchor::Middle, &titled(&figure.x), SMALL, Ink::Soft));
        shapes.push(Shape::Text {
            at: (15.0, f64::midpoint(self.top, self.bottom)),
            anchor: Anchor::Middle,
            text: titled(&figure.y),
            size: SMALL,
            ink: Ink::Soft,
            runs: Runs::Up,
        });
        shapes
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    fn line(&self, line: &Line, ink: Ink) -> Vec<Shape> {
        let dotted = line.points.len() <= MOST_DOTS && line.dash != 3;
        let mut shapes = Vec::new();
        for run in unbroken(&line.points, |p| p.y.filter(|y| y.is_finite()).map(|y| (p.x, y))) {
            let points: Vec<_> = run.into_iter().map(|(x, y)| self.at(x, y)).collect();
            if dotted || points.len() == 1 {
                shapes.extend(points.iter().map(|at| Shape::Dot { at: *at, ink }));
            }
            if points.len() > 1 {
                shapes.push(Shape::Line { points, ink, width: 1.8, dashes: dashes(line) });
            }
        }
        shapes
    }

    fn bands(&self, line: &Line, ink: Ink) -> Vec<Shape> {
        let ends = |p: &Point| Some((p.x, (p.low.or(p.y)?, p.high.or(p.y)?)));
        let any = |band: &Vec<(f64, (f64, f64))>| band.iter().any(|(_, (low, high))| low < high);
        let bands = unbroken(&line.points, ends).into_iter().filter(|band| band.len() > 1 && any(band));
        let area = |band: Vec<(f64, (f64, f64))>| {
            let upper = band.iter().map(|(x, (_, high))| self.at(*x, *high));
            let lower = band.iter().rev().map(|(x, (low, _))| self.at(*x, *low));
            Shape::Area { points: upper.chain(lower).collect(), ink }
        };
        bands.map(area).collect()
    }

    fn cells(&self, heat: &Heat) -> Vec<Shape> {
        let most = heat.counts.iter().flatten().max().copied().unwrap_or(0);
        let fullness = |count: u64| (count as f64).ln_1p() / (most.max(1) as f64).ln_1p();
        let columns = heat.counts.iter().zip(heat.x.windows(2));
        let cells = columns.flat_map(|(counts, x)| counts.iter().zip(heat.y.windows(2)).map(move |(n, y)| (*n, x, y)));
        let cells = cells.filter(|cell| cell.0 > 0).map(|(count, x, y)| {
            let (left, below) = self.at(x[0], y[0]);
            let (right, above) = self.at(x[1], y[1]);
            Shape::Cell { at: (left, above), size: (right - left, below - above), heat: fullness(count) }
        });
        cells.collect()
    }

    /// The words stand above the room in rows, in such an order that no line crosses them.
    fn marks(&self, marks: &[Mark]) -> Vec<Shape> {
        let fits = |mark: &Mark| self.x.at(mark.x) + 5.0 + room_of(&mark.name) < WIDTH;
        let mut rows: Vec<&Mark> = marks.iter().collect();
        rows.sort_by(|a, b| match (fits(a), fits(b)) {
            (true, true) => a.x.total_cmp(&b.x),
            (false, false) => b.x.total_cmp(&a.x),
            (a_fits, b_fits) => a_fits.cmp(&b_fits),
        });
        let mark = |(row, mark): (usize, &&Mark)| {
            let below = marks.len() - 1 - row;
            let (x, y) = (self.x.at(mark.x), self.top - 7.0 - 15.0 * below as f64);
            let ink = mark.contender.map_or(Ink::Axis, Ink::Colour);
            let points = vec![(x, y + 3.0), (x, self.bottom)];
            let (at, anchor) = if fits(mark) { (x + 5.0, Anchor::Start) } else { (x - 5.0, Anchor::End) };
            let line = Shape::Line { points, ink, width: 1.2, dashes: DASHES[2] };
            [line, text((at, y), anchor, &mark.name, SMALL, Ink::Soft)]
        };
        rows.iter().enumerate().flat_map(mark).collect()
    }
}

fn ruled(points: Vec<(f64, f64)>, ink: Ink) -> Shape {
    Shape::Line { points, ink, width: 1.0, dashes: &[] }
}

/// What stands on an axis, with the unit that its words do not carry.
fn titled(axis: &crate::figure::Axis) -> String {
    use crate::figure::Unit::{Cores, PerSecond};
    match (axis.unit, axis.scale) {
        (_, Scale::Quantile) => axis.label.clone(),
        (PerSecond, _) => format!("{}, per second", axis.label),
        (Cores, _) => format!("{}, cores", axis.label),
        _ => axis.label.clone(),
    }
}

/// The pieces of a line between its gaps.
fn unbroken<T>(points: &[Point], of: impl Fn(&Point) -> Option<T>) -> Vec<Vec<T>> {
    let mut pieces = vec![Vec::new()];
    for point in points {
        match (of(point), pieces.last_mut()) {
            (Some(value), Some(piece)) => piece.push(value),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
