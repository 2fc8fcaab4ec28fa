//! Writes charts as PostScript. It is encapsulated, so that a chart can be placed in a document;
//! printed, each chart is a page.
//!
//! Out of scope: the choice of charts, and positions ([`crate::plot`]). Paper is light and
//! PostScript has no transparency, so areas are mixed with white. Letters are those of Latin-1,
//! which every interpreter has.

use crate::figure::Chart;
use crate::plot;
use crate::scene::{Anchor, DrawingElement, Ink, PAPER, PaperPoint, Scene, TextDirection};
use std::fmt::Write as _;

/// Margin between the corner of the paper and the chart, in points.
const MARGIN: f64 = 28.0;
/// Points of paper per point of the chart. At this scale, A4 and Letter are wide enough.
const SCALE: f64 = 0.75;

/// Defines `share (text) label`: shows a text, with this share of its width
/// before the current point.
const PROLOGUE: &str = "\
/latin { findfont dup length dict begin { 1 index /FID eq { pop pop } { def } ifelse } forall
  /Encoding ISOLatin1Encoding def currentdict end definefont pop } bind def
/Plain /Helvetica latin
/Strong /Helvetica-Bold latin
/label { dup stringwidth pop 3 -1 roll neg mul 0 moveto show } bind def
1 setlinejoin
";

/// Returns one chart; None if it is empty.
pub fn of_figure(figure: &Chart) -> Option<String> {
    plot::scene(figure).map(|scene| of_scene(&scene))
}

fn of_scene(scene: &Scene) -> String {
    let [right, top] = [scene.width, scene.height].map(|size| (MARGIN + size * SCALE).ceil());
    let mut out = format!(
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: {MARGIN} {MARGIN} {right} {top}\n%%Title: {}\n%%LanguageLevel: 2\n\
         %%Pages: 1\n%%EndComments\n%%Page: 1 1\nsave\n{PROLOGUE}{MARGIN} {MARGIN} translate {SCALE} {SCALE} scale\n",
        latin(&scene.title)
    );
    let page = Page { height: scene.height };
    scene.shapes.iter().for_each(|shape| page.push(&mut out, shape));
    out + "restore\nshowpage\n%%EOF\n"
}

/// Converts coordinates: PostScript counts y upwards, drawings downwards.
struct Page {
    height: f64,
}

impl Page {
    fn push(&self, out: &mut String, shape: &DrawingElement) {
        // Writing to a String does not fail.
        let _ = match shape {
            DrawingElement::Line { points, ink, width, dashes } => {
                let dashes = dashes.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
                let color = color(*ink, 1.0);
                let path = self.path(points);
                writeln!(out, "{color} {width} setlinewidth [{dashes}] 0 setdash {path} stroke")
            }
            DrawingElement::Area { points, ink } => {
                writeln!(out, "{} {} closepath fill", color(*ink, 0.18), self.path(points))
            }
            DrawingElement::Dot { at, ink } => {
                writeln!(
                    out,
                    "{} newpath {} 2.6 0 360 arc fill",
                    color(*ink, 1.0),
                    self.position(*at)
                )
            }
            DrawingElement::Cell { at, size, heat } => {
                // `rectfill` begins at the lower left corner.
                let corner = self.position((at.0, at.1 + size.1));
                // Cells overlap slightly: viewers would show hairlines between exact neighbors.
                let w = short(size.0 + 0.3);
                let h = short(size.1 + 0.3);
                writeln!(out, "{} {corner} {w} {h} rectfill", color(Ink::Color(0), *heat))
            }
            DrawingElement::Text { at, anchor, text, size, ink, direction } => {
                let font = if *ink == Ink::Strong { "Strong" } else { "Plain" };
                let rotation = if *direction == TextDirection::Up { " 90 rotate" } else { "" };
                let share = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5,
                    Anchor::End => 1.0,
                };
                let color = color(*ink, 1.0);
                let place = self.position(*at);
                let text = latin(text);
                writeln!(
                    out,
                    "gsave {color} {place} translate{rotation} /{font} {size} selectfont {share} ({text}) label grestore"
                )
            }
        };
    }

    fn position(&self, at: PaperPoint) -> String {
        format!("{} {}", short(at.0), short(self.height - at.1))
    }

    fn path(&self, points: &[PaperPoint]) -> String {
        let steps = points.iter().enumerate();
        let steps = steps.map(|(i, at)| {
            format!("{} {}", self.position(*at), if i == 0 { "moveto" } else { "lineto" })
        });
        format!("newpath {}", steps.collect::<Vec<_>>().join(" "))
    }
}

/// Returns the command for a color of this opacity on the paper.
fn color(ink: Ink, opacity: f64) -> String {
    let [_, r, g, b] = ink.colors().0.to_be_bytes();
    // The paper is white, so all three parts of its color are equal.
    let [_, white, ..] = PAPER.0.to_be_bytes();
    let parts = [r, g, b].map(|part| {
        let mixed = (f64::from(part) * opacity + f64::from(white) * (1.0 - opacity)) / 255.0;
        format!("{mixed:.3}")
    });
    format!("{} setrgbcolor", parts.join(" "))
}

/// Encodes a text as the content of a string. Characters outside of Latin-1 are replaced by similar
/// ones, or by a question mark.
fn latin(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' | ')' | '\\' => out.extend(['\\', c]),
            // In this encoding, the code of the ASCII hyphen is a minus sign.
            '-' | '–' => out += "\\255",
            '−' => out.push('-'),
            '…' => out += "...",
            '≥' => out += ">=",
            '≤' => out += "<=",
            '→' => out += "->",
            ' '..='~' => out.push(c),
            '\u{a0}'..='\u{ff}' => out += &format!("\\{:03o}", u32::from(c)),
            _ => out.push('?'),
        }
    }
    out
}

/// Rounds to a hundredth of a point, which is finer than print.
fn short(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels;
    use crate::story;

    #[test]
    fn every_shape_is_drawn_within_the_bounding_box() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        for figure in panels::figures(&study, &analysis) {
            let Some(scene) = plot::scene(&figure) else { continue };
            let text = of_figure(&figure).unwrap();
            let count = |word: &str| text.lines().filter(|line| line.ends_with(word)).count();
            let drawn = ["stroke", "fill", "rectfill", "grestore"].map(count);
            // `rectfill` also ends with `fill`.
            assert_eq!(drawn.iter().sum::<usize>() - drawn[2], scene.shapes.len(), "{}", figure.id);
            assert!(text.starts_with("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 28 28 568 "));
            assert!(
                text.is_ascii() && text.contains("setdash") && text.ends_with("showpage\n%%EOF\n")
            );
        }
    }

    #[test]
    fn letters_outside_latin_1_are_replaced() {
        assert_eq!(latin("a(b)\\ 5 µs ≥ 1–2 漢"), "a\\(b\\)\\\\ 5 \\265s >= 1\\2552 ?");
    }
}
