//! Draws charts as a pixel image, on light paper.
//!
//! Out of scope: rendering SVG. This module draws the same shapes. Its letters come from the
//! built-in `font`, so that the labels are equal on every machine, also without fonts.

use crate::figure::Chart;
use crate::font::{self, Weight};
use crate::plot;
use crate::scene::{Anchor, DrawingElement, Ink, PAPER, Scene, TextDirection};
use crate::sheet::ChartSheet;
use std::io;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke as Pen,
    StrokeDash, Transform,
};

/// Pixels per point, as long as the picture has fewer than `MAX_PIXELS`.
const PIXELS_PER_POINT: f32 = 2.0;
const MAX_PIXELS: f64 = 24e6;

/// Writes charts on one sheet.
///
/// # Errors
///
/// If `out` cannot be written to, or the picture is too large.
pub fn write_sheet(sheet: &ChartSheet, out: &mut dyn io::Write) -> io::Result<()> {
    // A sheet of many charts gets a lower resolution instead of a huge file.
    let resolution = (MAX_PIXELS / (sheet.width * sheet.height)).sqrt() as f32;
    let mut canvas = Canvas::new(sheet.width, sheet.height, resolution.min(PIXELS_PER_POINT))?;
    canvas.draw(&sheet.heading, (0.0, 0.0));
    for (at, scene) in &sheet.places {
        canvas.draw(&scene.shapes, *at);
    }
    out.write_all(&canvas.encoded()?)
}

/// Returns one chart; None if it is empty.
///
/// # Errors
///
/// If the picture is too large.
pub fn of_figure(figure: &Chart) -> io::Result<Option<Vec<u8>>> {
    plot::scene(figure).map(|scene| of_scene(&scene)).transpose()
}

fn of_scene(scene: &Scene) -> io::Result<Vec<u8>> {
    let mut canvas = Canvas::new(scene.width, scene.height, PIXELS_PER_POINT)?;
    canvas.draw(&scene.shapes, (0.0, 0.0));
    canvas.encoded()
}

struct Canvas {
    pixels: Pixmap,
    resolution: f32,
}

impl Canvas {
    fn new(width: f64, height: f64, resolution: f32) -> io::Result<Self> {
        // `Pixmap` refuses a side of 0 pixels.
        let width = (width * f64::from(resolution)).ceil().max(1.0) as u32;
        let height = (height * f64::from(resolution)).ceil().max(1.0) as u32;
        let pixels = Pixmap::new(width, height);
        let mut pixels = pixels.ok_or_else(|| io::Error::other("the picture is too large"))?;
        // Some viewers show a transparent PNG on black, on which the labels are unreadable.
        pixels.fill(color(PAPER.0, 1.0));
        Ok(Self { pixels, resolution })
    }

    fn encoded(&self) -> io::Result<Vec<u8>> {
        self.pixels.encode_png().map_err(io::Error::other)
    }

    fn draw(&mut self, shapes: &[DrawingElement], origin: (f64, f64)) {
        let transform = Transform::from_scale(self.resolution, self.resolution)
            .pre_translate(origin.0 as f32, origin.1 as f32);
        for shape in shapes {
            self.shape(shape, transform);
        }
    }

    fn shape(&mut self, shape: &DrawingElement, transform: Transform) {
        match shape {
            DrawingElement::Line { points, ink, width, dashes } => {
                let dashes = dashes.iter().map(|d| *d as f32).collect::<Vec<_>>();
                // An odd pattern is doubled: `StrokeDash` takes only an even number of lengths.
                let even =
                    if dashes.len() % 2 == 0 { dashes } else { [dashes.clone(), dashes].concat() };
                let dash = if even.is_empty() { None } else { StrokeDash::new(even, 0.0) };
                // Round ends would fill the gaps between short dashes.
                let cap = if dash.is_some() { LineCap::Butt } else { LineCap::Round };
                self.stroke(
                    path_of(points),
                    *ink,
                    &Pen { width: *width as f32, dash, line_cap: cap, ..pen() },
                    transform,
                );
            }
            DrawingElement::Area { points, ink } => {
                self.fill(path_of(points).finish(), &paint(*ink, 0.18), transform);
            }
            DrawingElement::Dot { at, ink } => {
                let mut path = PathBuilder::new();
                path.push_circle(at.0 as f32, at.1 as f32, 2.6);
                self.fill(path.finish(), &paint(*ink, 1.0), transform);
            }
            DrawingElement::Cell { at, size, heat } => {
                let rect = Rect::from_xywh(at.0 as f32, at.1 as f32, size.0 as f32, size.1 as f32);
                if let Some(rect) = rect {
                    self.pixels.fill_rect(
                        rect,
                        &paint(Ink::Color(0), *heat as f32),
                        transform,
                        None,
                    );
                }
            }
            DrawingElement::Text { at, anchor, text, size, ink, direction } => {
                let weight = if *ink == Ink::Strong { Weight::Bold } else { Weight::Regular };
                let (letters, width) = font::outline(text, weight);
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
                let at = transform.pre_translate(at.0 as f32, at.1 as f32);
                let rotated =
                    if *direction == TextDirection::Up { at.pre_rotate(-90.0) } else { at };
                let scaled =
                    rotated.pre_scale(*size as f32, *size as f32).pre_translate(-before, 0.0);
                self.fill(letters, &paint(*ink, 1.0), scaled);
            }
        }
    }

    fn stroke(&mut self, path: PathBuilder, ink: Ink, pen: &Pen, transform: Transform) {
        if let Some(path) = path.finish() {
            self.pixels.stroke_path(&path, &paint(ink, 1.0), pen, transform, None);
        }
    }

    fn fill(&mut self, path: Option<Path>, paint: &Paint<'_>, transform: Transform) {
        if let Some(path) = path {
            // TrueType outlines overlap; the even-odd rule would leave holes there.
            self.pixels.fill_path(&path, paint, FillRule::Winding, transform, None);
        }
    }
}

fn pen() -> Pen {
    Pen { line_join: LineJoin::Round, ..Pen::default() }
}

fn path_of(points: &[(f64, f64)]) -> PathBuilder {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let x = *x as f32;
        let y = *y as f32;
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path
}

fn paint(ink: Ink, opacity: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(color(ink.colors().0, opacity));
    paint
}

fn color(rgb: u32, opacity: f32) -> Color {
    let [_, r, g, b] = rgb.to_be_bytes();
    let mut color = Color::from_rgba8(r, g, b, 255);
    color.set_alpha(opacity.clamp(0.0, 1.0));
    color
}

#[cfg(test)]
mod tests {
    use crate::scene::PALETTE;
    use crate::story;

    #[test]
    fn a_picture_has_its_size_and_colors() {
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
