//! Which line is which.

use super::{SMALL, dashes, ink_of, room_of, text};
use crate::figure::Figure;
use crate::font;
use crate::scene::{Anchor, Ink, Shape};
use brunt_model::numbers;

/// The height of a row.
const ROW: f64 = 17.0;
/// The length of a piece of line before its name, with the gap to it.
const SAMPLE: f64 = 32.0;
const GAP: f64 = 16.0;

/// The legend from a corner on, as far to the right as may be, and its height; none where there is one line.
pub fn shapes(figure: &Figure, (left, top): (f64, f64), right: f64) -> (Vec<Shape>, f64) {
    if let Some(heat) = &figure.heat {
        let most = heat.counts.iter().flatten().max().copied().unwrap_or(0);
        return (scale(most, (left, top)), ROW);
    }
    let shown: Vec<_> = figure.lines.iter().filter(|line| line.known().next().is_some()).collect();
    if shown.len() < 2 && shown.iter().all(|line| line.name.is_empty() || line.contender == Some(0)) {
        return (Vec::new(), 0.0);
    }
    let (mut shapes, mut x, mut y) = (Vec::new(), left, top + 9.0);
    for line in shown {
        let name = fitting(&line.name, right - left - SAMPLE);
        let wide = SAMPLE + room_of(&name);
        if x > left && x + wide > right {
            (x, y) = (left, y + ROW);
        }
        let ink = ink_of(figure, line);
        let points = vec![(x, y - 4.0), (x + SAMPLE - 8.0, y - 4.0)];
        shapes.push(Shape::Line { points, ink, width: 1.8, dashes: dashes(line) });
        shapes.push(text((x + SAMPLE, y), Anchor::Start, &name, SMALL, Ink::Soft));
        x += wide + GAP;
    }
    (shapes, y - top + 8.0)
}

/// What cells of a heat map mean.
fn scale(most: u64, (left, top): (f64, f64)) -> Vec<Shape> {
    let y = top + 9.0;
    let cell = |n: usize| {
        let heat = (n + 1) as f64 / 8.0;
        Shape::Cell { at: (left + 10.0 * n as f64, y - 9.0), size: (10.0, 10.0), heat }
    };
    let word = format!("1 to {} replies", numbers::count(most));
    let words = text((left + 88.0, y), Anchor::Start, &word, SMALL, Ink::Soft);
    (0..8).map(cell).chain([words]).collect()
}

/// As much of a name as there is room for.
fn fitting(name: &str, room: f64) -> String {
    let most = (room / (font::width("n") * SMALL)) as usize;
    crate::layout::shorten(name, most.max(8))
}
