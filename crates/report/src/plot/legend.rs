//! Draws the legend of a figure.

use super::{SMALL, dashes, ink_of, label_width, text};
use crate::figure::Chart;
use crate::font;
use crate::scene::{Anchor, DrawingElement, Ink};
use brunt_model::numbers;

/// Height of a row, in points.
const ROW: f64 = 17.0;
/// Length of the line sample before a name, with the gap between them, in points.
const SAMPLE: f64 = 32.0;
const GAP: f64 = 16.0;

/// Draws the legend between two x positions, and returns its height. Empty if there
/// is only one line.
pub fn shapes(figure: &Chart, left: f64, top: f64, right: f64) -> (Vec<DrawingElement>, f64) {
    if let Some(heat) = &figure.heat {
        let most = heat.counts.iter().flatten().max().copied().unwrap_or(0);
        return (scale(most, left, top), ROW);
    }
    let shown: Vec<_> = figure.lines.iter().filter(|line| line.known().next().is_some()).collect();
    if shown.len() < 2 && shown.iter().all(|line| line.name.is_empty() || line.contender == Some(0))
    {
        return (Vec::new(), 0.0);
    }
    let mut shapes = Vec::new();
    let mut x = left;
    let mut y = top + 9.0;
    for line in shown {
        let name = shortened_name(&line.name, right - left - SAMPLE);
        let width = SAMPLE + label_width(&name);
        // The first name of a row always fits, because names are shortened.
        if x > left && x + width > right {
            x = left;
            y += ROW;
        }
        let ink = ink_of(figure, line);
        let points = vec![(x, y - 4.0), (x + SAMPLE - 8.0, y - 4.0)];
        shapes.push(DrawingElement::Line { points, ink, width: 1.8, dashes: dashes(line) });
        shapes.push(text((x + SAMPLE, y), Anchor::Start, &name, SMALL, Ink::Soft));
        x += width + GAP;
    }
    (shapes, y - top + 8.0)
}

/// Draws the scale of a heat map's colors.
fn scale(most: u64, left: f64, top: f64) -> Vec<DrawingElement> {
    let y = top + 9.0;
    let word = format!("1 to {} replies", numbers::count(most));
    let words = text((left + 88.0, y), Anchor::Start, &word, SMALL, Ink::Soft);
    let cells = (0..8).map(|n| {
        let at = (left + 10.0 * f64::from(n), y - 9.0);
        DrawingElement::Cell { at, size: (10.0, 10.0), heat: f64::from(n + 1) / 8.0 }
    });
    cells.chain([words]).collect()
}

/// Shortens a name to this width.
fn shortened_name(name: &str, width: f64) -> String {
    let limit = (width / (font::width("n") * SMALL)) as usize;
    crate::layout::shorten(name, limit.max(8))
}
