//! A drawing as shapes: what [`crate::plot`] makes of a figure, and what SVG and pictures are written from.
//!
//! It knows no figure and no colour. A shape says what it is drawn with ([`Ink`]); the writer
//! has the colours, which differ between light and dark.

/// A drawing: shapes on paper, the first undermost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Its name in links, unique on a page.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// A text alternative (accessibility).
    pub about: String,
    /// In points.
    pub width: f64,
    /// In points.
    pub height: f64,
    /// What is on it.
    pub shapes: Vec<Shape>,
}

/// A point on the paper: right and down from its upper left corner.
pub type At = (f64, f64);

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Straight lines from point to point.
    Line {
        /// The points.
        points: Vec<At>,
        /// With what.
        ink: Ink,
        /// How wide.
        width: f64,
        /// How long dashes and gaps are; empty: drawn through.
        dashes: &'static [f64],
    },
    /// The area that the points enclose, translucent.
    Area {
        /// The points.
        points: Vec<At>,
        /// With what.
        ink: Ink,
    },
    /// A point that was measured.
    Dot {
        /// Where.
        at: At,
        /// With what.
        ink: Ink,
    },
    /// A cell of a heat map.
    Cell {
        /// Its upper left corner.
        at: At,
        /// Its width and height.
        size: At,
        /// How full it is, 0 to 1.
        heat: f64,
    },
    /// A text.
    Text {
        /// Its beginning, middle or end, on the baseline.
        at: At,
        /// Which of these.
        anchor: Anchor,
        /// What it says.
        text: String,
        /// The font's size.
        size: f64,
        /// With what.
        ink: Ink,
        /// Which way it runs.
        runs: Runs,
    },
}

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Which way a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// From left to right.
    Across,
    /// From below upwards.
    Up,
}

/// The stroke or fill of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Headings.
    Strong,
    /// Labels.
    Soft,
    /// Lines of the grid.
    Grid,
    /// Axes, and lines that are nobody's.
    Axis,
    /// One of the colours, by number; they begin again after the last.
    Colour(usize),
}

/// How many colours there are.
pub const COLOURS: usize = 8;

/// The colours on light paper and on dark: told apart by people with any colour vision (after Okabe and Ito, 2008).
pub const PALETTE: [(u32, u32); COLOURS] = [
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
    /// Its colour on light paper and on dark, as 0xRRGGBB.
    pub fn colours(self) -> (u32, u32) {
        match self {
            Self::Strong => (0x1b_1f_24, 0xe6_ed_f3),
            Self::Soft => (0x4d_56_61, 0xa9_b4_bf),
            Self::Grid => (0xdf_e3_e8, 0x2f_36_3d),
            Self::Axis => (0x8a_94_9e, 0x76_80_8a),
            Self::Colour(n) => PALETTE[n % COLOURS],
        }
    }
}

/// The paper's colour, light and dark.
pub const PAPER: (u32, u32) = (0xff_ff_ff, 0x16_1a_1f);
