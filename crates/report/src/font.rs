//! Measures and outlines text in the font of pictures, `DejaVu` Sans, so that every
//! machine draws the same.
//!
//! The font has Latin letters and the symbols of labels; any other character becomes a box. SVG and
//! PostScript contain text as text: they use this module only for the widths of labels.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Weight of the font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Used for labels and values.
    Regular,
    /// Used for headings of charts.
    Bold,
}

impl Weight {
    fn face(self) -> Face<'static> {
        let bytes: &[u8] = match self {
            // Embedded, so that charts look the same on machines without fonts.
            Self::Regular => include_bytes!("../fonts/DejaVuSans.ttf"),
            Self::Bold => include_bytes!("../fonts/DejaVuSans-Bold.ttf"),
        };
        // Parsed for each text: `ttf-parser` only reads the positions of tables, without
        // allocation.
        Face::parse(bytes, 0).expect("the fonts of the program are whole")
    }
}

/// Returns the width of a label of size 1.
pub fn width(text: &str) -> f64 {
    let face = Weight::Regular.face();
    text.chars().map(|c| f64::from(advance(&face, glyph(&face, c)))).sum()
}

/// Returns the outline of a text of size 1 that starts at 0, and its width. y points
/// downwards from the baseline.
pub fn outline(text: &str, weight: Weight) -> (Option<Path>, f32) {
    let face = weight.face();
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0, scale: scale(&face) };
    for c in text.chars() {
        let glyph = glyph(&face, c);
        // Spaces have no outline.
        let _ = face.outline_glyph(glyph, &mut pen);
        pen.x += advance(&face, glyph);
    }
    (pen.path.finish(), pen.x)
}

/// Returns the glyph of a character. Glyph 0 is the box.
fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or_default()
}

fn advance(face: &Face<'_>, glyph: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or_default()) * scale(face)
}

fn scale(face: &Face<'_>) -> f32 {
    1.0 / f32::from(face.units_per_em())
}

/// Draws glyphs one after the other.
struct Pen {
    path: PathBuilder,
    /// Start of the current glyph.
    x: f32,
    scale: f32,
}

impl Pen {
    fn position(&self, x: f32, y: f32) -> (f32, f32) {
        // Fonts count y upwards, drawings downwards.
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.position(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.position(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x1, y1) = self.position(x1, y1);
        let (x, y) = self.position(x, y);
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (x1, y1) = self.position(x1, y1);
        let (x2, y2) = self.position(x2, y2);
        let (x, y) = self.position(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character of labels has a glyph in both weights.
    #[test]
    fn labels_have_glyphs() {
        for weight in [Weight::Regular, Weight::Bold] {
            let face = weight.face();
            for c in (' '..='~').chain("µ–−≥≤·×…→±∞≈²äéß".chars()) {
                assert!(face.glyph_index(c).is_some(), "{c} in {weight:?}");
            }
        }
    }

    /// The widths in the tables of the font (`hmtx`, 2048 units to an em): n 1298, i 569, m 1995.
    #[test]
    fn widths_and_outlines_equal_those_of_the_font() {
        assert!((width("nim") - (1298.0 + 569.0 + 1995.0) / 2048.0).abs() < 1e-6);
        let (path, wide) = outline("H", Weight::Regular);
        let bounds = path.unwrap().bounds();
        // A capital begins on the baseline and is 1493 units high.
        assert!((bounds.top() + 1493.0 / 2048.0).abs() < 1e-6 && bounds.bottom() == 0.0);
        assert!(bounds.left() > 0.0 && bounds.right() < wide);
        assert!(outline("H", Weight::Bold).1 > wide);
        assert_eq!(outline(" ", Weight::Regular).0, None);
    }

    #[test]
    fn a_character_without_a_glyph_is_a_box() {
        assert_eq!(outline("漢", Weight::Regular), outline("字", Weight::Regular));
        assert!(width("nginx 漢") > width("nginx "));
    }
}
