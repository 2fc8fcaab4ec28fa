//! Defines a drawing as shapes. [`crate::plot`] makes them from a figure; SVG, PNG and PostScript
//! are written from them.
//!
//! A shape has an [`Ink`] and no color: the writer chooses the color, which differs
//! between light and dark.

/// A drawing: shapes on paper, drawn in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Name in links, unique on a page.
    pub id: String,
    /// Heading of the drawing.
    pub title: String,
    /// Description for readers who cannot see the drawing.
    pub about: String,
    /// Width of the drawing, in points.
    pub width: f64,
    /// Height of the drawing, in points.
    pub height: f64,
    /// Shapes, in drawing order.
    pub shapes: Vec<DrawingElement>,
}

/// A point on the paper: its distances from the left and the upper edge, in points.
pub type PaperPoint = (f64, f64);

/// One element of a drawing.
#[derive(Debug, Clone, PartialEq)]
pub enum DrawingElement {
    /// Straight lines from point to point.
    Line {
        /// Corners of the line.
        points: Vec<PaperPoint>,
        /// Ink of the line.
        ink: Ink,
        /// Width of the stroke, in points.
        width: f64,
        /// Lengths of dashes and gaps, in points; empty for a solid line.
        dashes: &'static [f64],
    },
    /// A translucent area that the points enclose.
    Area {
        /// Corners of the area.
        points: Vec<PaperPoint>,
        /// Ink of the area.
        ink: Ink,
    },
    /// A dot at a measured point.
    Dot {
        /// Center of the dot.
        at: PaperPoint,
        /// Ink of the dot.
        ink: Ink,
    },
    /// A cell of a heat map.
    Cell {
        /// Position of the upper left corner.
        at: PaperPoint,
        /// Width and height, in points.
        size: PaperPoint,
        /// Intensity, from 0 to 1.
        heat: f64,
    },
    /// One line of text.
    Text {
        /// Position of the anchor, on the baseline.
        at: PaperPoint,
        /// Part of the text that is at the position.
        anchor: Anchor,
        /// Content of the text.
        text: String,
        /// Size of the font, in points.
        size: f64,
        /// Ink of the text.
        ink: Ink,
        /// Direction of the text.
        direction: TextDirection,
    },
}

/// Part of a text that is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Start of the text.
    Start,
    /// Middle of the text.
    Middle,
    /// End of the text.
    End,
}

/// Direction of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextDirection {
    /// From left to right.
    Across,
    /// From bottom to top.
    Up,
}

/// The stroke or fill of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Color of headings; the strongest contrast.
    Strong,
    /// Color of labels; less contrast than headings.
    Soft,
    /// Ink of the grid.
    Grid,
    /// Ink of axes, and of lines without a contender.
    Axis,
    /// A color of the palette, by number. Numbers beyond the last color start again at the first.
    Color(usize),
}

/// Number of colors in the palette.
pub const COLORS: usize = 8;

/// Colors on light and on dark paper, distinguishable with any color vision (after
/// Okabe and Ito, 2008).
pub const PALETTE: [(u32, u32); COLORS] = [
    (0x00_6b_a8, 0x56_b4_e9),
    (0xd5_5e_00, 0xff_8c_42),
    (0x00_8f_68, 0x2b_c9_9a),
    (0xa8_4a_8a, 0xdd_8f_bf),
    (0xb3_7d_00, 0xf0_c0_40),
    (0x5b_4f_c7, 0x9d_94_ff),
    (0x7a_5a_3a, 0xc4_9a_6c),
    (0x5f_6b_76, 0xa9_b4_bf),
];

impl Ink {
    /// Returns the color on light and on dark paper, as 0xRRGGBB.
    pub fn colors(self) -> (u32, u32) {
        match self {
            Self::Strong => (0x1b_1f_24, 0xe6_ed_f3),
            Self::Soft => (0x4d_56_61, 0xa9_b4_bf),
            Self::Grid => (0xdf_e3_e8, 0x2f_36_3d),
            Self::Axis => (0x8a_94_9e, 0x76_80_8a),
            Self::Color(n) => PALETTE[n % COLORS],
        }
    }
}

/// Color of the paper, light and dark.
pub const PAPER: (u32, u32) = (0xff_ff_ff, 0x16_1a_1f);
