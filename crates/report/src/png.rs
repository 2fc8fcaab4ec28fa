//! Charts as a picture of pixels, on light paper.
//!
//! Out of scope: a renderer of SVG. It draws the same shapes, its letters in a font of its own (`font`), so that a
//! machine without fonts shows labels, and every machine the same.

use crate::figure::Figure;
use crate::font::{self, Weight};
use crate::plot;
use crate::scene::{Anchor, Ink, PAPER, Runs, Scene, Shape};
use crate::sheet::Sheet;
use std::io;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke as Pen, StrokeDash, Transform,
};

/// Pixels to a point, as far as the picture stays below `MOST_PIXELS`.
const FINE: f32 = 2.0;
const MOST_PIXELS: f64 = 24e6;

/// Writes charts on one sheet.
///
/// # Errors
///
/// If `out` cannot be written to, or the picture is too large.
pub fn write_sheet(sheet: &Sheet, out: &mut dyn io::Write) -> io::Result<()> {
    let fine = (MOST_PIXELS / (sheet.width * sheet.height)).sqrt() as f32;
    let mut canvas = Canvas::new(sheet.width, sheet.height, fine.min(FINE))?;
    canvas.draw(&sheet.heading, (0.0, 0.0));
    for (at, scene) in &sheet.places {
        canvas.draw(&scene.shapes, *at);
    }
    out.write_all(&canvas.encoded()?)
}

/// One chart; None where it shows nothing.
///
/// # Errors
///
/// If the picture is too large.
pub fn of_figure(figure: &Figure) -> io::Result<Option<Vec<u8>>> {
    plot::scene(figure).map(|scene| of_scene(&scene)).transpose()
}

fn of_scene(scene: &Scene) -> io::Result<Vec<u8>> {
    let mut canvas = Canvas::new(scene.width, scene.height, FINE)?;
    canvas.draw(&scene.shapes, (0.0, 0.0));
    canvas.encoded()
}

struct Canvas {
    pixels: Pixmap,
    fine: f32,
}

impl Canvas {
    fn new(width: f64, height: f64, fine: f32) -> io::Result<Self> {
        let size = |points: f64| (points * f64::from(fine)).ceil().max(1.0) as u32;
        let pixels = Pixmap::new(size(width), size(height));
        let mut pixels = pixels.ok_or_else(|| io::Error::other("the picture is too large"))?;
        pixels.fill(colour(PAPER.0, 1.0));
        Ok(Self { pixels, fine })
    }

    fn encoded(&self) -> io::Result<Vec<u8>> {
        self.pixels.encode_png().map_err(io::Error::other)
    }

    fn draw(&mut self, shapes: &[Shape], (x, y): (f64, f64)) {
        let placed = Transform::from_scale(self.fine, self.fine).pre_translate(x as f32, y as f32);
        for shape in shapes {
            self.shape(shape, placed);
        }
    }

    fn shape(&mut self, shape: &Shape, placed: Transform) {
        match shape {
            Shape::Line { points, ink, width, dashes } => {
                let dashes = dashes.iter().map(|d| *d as f32).collect::<Vec<_>>();
                let even = if dashes.len() % 2 == 0 { dashes } else { [dashes.clone(), dashes].concat() };
                let dash = if even.is_empty() { None } else { StrokeDash::new(even, 0.0) };
                let cap = if dash.is_some() { LineCap::Butt } else { LineCap::Round };
                self.stroke(path_of(points), *ink, &Pen { width: *width as f32, dash, line_cap: cap, ..pen() }, placed);
            }
            Shape::Area { points, ink } => self.fill(path_of(points).finish(), &paint(*ink, 0.18), placed),
            Shape::Dot { at, ink } => {
                let mut path = PathBuilder::new();
                path.push_circle(at.0 as f32, at.1 as f32, 2.6);
                self.fill(path.finish(), &paint(*ink, 1.0), placed);
            }
            Shape::Cell { at, size, heat } => {
                let rect = Rect::from_xywh(at.0 as f32, at.1 as f32, size.0 as f32, size.1 as f32);
                if let Some(rect) = rect {
                    self.pixels.fill_rect(rect, &paint(Ink::Colour(0), *heat as f32), placed, None);
                }
            }
            Shape::Text { at, anchor, text, size, ink, runs } => {
                let weight = if *ink == Ink::Strong { Weight::Bold } else { Weight::Regular };
                let (letters, width) = font::outline(text, weight);
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                let at = placed.pre_translate(at.0 as f32, at.1 as f32);
                let turned = if *runs == Runs::Up { at.pre_rotate(-90.0) } else { at };
                let set = turned.pre_scale(*size as f32, *size as f32).pre_translate(-before, 0.0);
                self.fill(letters, &paint(*ink, 1.0), set);
            }
        }
    }

    fn stroke(&mut self, path: PathBuilder, ink: Ink, pen: &Pen, placed: Transform) {
        if let Some(path) = path.finish() {
            self.pixels.stroke_path(&path, &paint(ink, 1.0), pen, placed, None);
        }
    }

    fn fill(&mut self, path: Option<Path>, paint: &Paint<'_>, placed: Transform) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, paint, FillRule::Winding, placed, None);
        }
    }
}

fn pen() -> Pen {
    Pen { line_join: LineJoin::Round, ..Pen::default() }
}

fn path_of(points: &[(f64, f64)]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path
}

fn paint(ink: Ink, opacity: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(ink.colours().0, opacity));
    paint
}

fn colour(rgb: u32, opacity: f32) -> Color {
    let [_, r, g, b] = rgb.to_be_bytes();
    let mut colour = Color::from_rgba8(r, g, b, 255);
    colour.set_alpha(opacity.clamp(0.0, 1.0));
    colour
}

#[cfg(test)]
mod tests {
    use crate::scene::PALETTE;
    use crate::story;

    #[test]
    fn a_picture_has_its_size_and_its_colours() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        let figures = crate::panels::figures(&study, &analysis);
        let bytes = super::of_figure(&figures[0]).unwrap().unwrap();
        let picture = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        assert_eq!(picture.width(), 1440);
        let has = |rgb: u32| {
            let [_, r, g, b] = rgb.to_be_bytes();
            picture.pixels().iter().any(|p| (p.red(), p.green(), p.blue()) == (r, g, b))
        };
        assert!(has(PALETTE[0].0) && has(PALETTE[1].0) && !has(PALETTE[2].0));
    }
}
