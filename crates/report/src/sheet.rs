//! Arranges charts of a study on one sheet: computes the heading and the position of each chart.

use crate::layout::wrap;
use crate::panels::ChartSelection;
use crate::plot::{self, SMALL, text};
use crate::scene::{Anchor, DrawingElement, Ink, Scene};
use crate::utc;
use brunt_model::{Analysis, Study};

/// Maximum number of charts in one column; more are placed in two columns.
const MAX_IN_ONE_COLUMN: usize = 8;
const MARGIN: f64 = 20.0;

/// Charts with their positions, and a heading.
pub struct ChartSheet {
    /// Title of the sheet.
    pub title: String,
    /// Width of the sheet, in points.
    pub width: f64,
    /// Height of the sheet, in points.
    pub height: f64,
    /// Shapes of the heading, above the charts.
    pub heading: Vec<DrawingElement>,
    /// Charts, each with the position of its upper left corner.
    pub places: Vec<((f64, f64), Scene)>,
}

impl ChartSheet {
    /// Arranges the selected charts of a study.
    pub fn of(study: &Study, analysis: &Analysis, selection: ChartSelection) -> Self {
        let figures = selection.figures(study, analysis);
        let scenes: Vec<Scene> = figures.iter().filter_map(plot::scene).collect();
        let columns = if scenes.len() > MAX_IN_ONE_COLUMN { 2 } else { 1 };
        let width = columns as f64 * (plot::WIDTH + MARGIN) + MARGIN;
        let title = study.experiment.name.clone();
        let (heading, mut height) = heading(study, &title, width);
        let mut places = Vec::new();
        let mut scenes = scenes.into_iter().peekable();
        while scenes.peek().is_some() {
            let row: Vec<Scene> = scenes.by_ref().take(columns).collect();
            let tallest = row.iter().map(|scene| scene.height).fold(0.0, f64::max);
            places.extend(row.into_iter().enumerate().map(|(column, scene)| {
                let x = MARGIN + column as f64 * (plot::WIDTH + MARGIN);
                ((x, height), scene)
            }));
            height += tallest + MARGIN;
        }
        Self { title, width, height, heading, places }
    }
}

fn heading(study: &Study, title: &str, width: f64) -> (Vec<DrawingElement>, f64) {
    let mut y = MARGIN + 14.0;
    let mut shapes = vec![text((MARGIN, y), Anchor::Start, title, 18.0, Ink::Strong)];
    // A letter is about 0.58 of the font size wide.
    let letters = ((width - 2.0 * MARGIN) / (SMALL * 0.58)) as usize;
    let about = [study.experiment.about.clone(), utc::rfc3339(study.unix_seconds)];
    for line in about.iter().filter(|text| !text.is_empty()).flat_map(|text| wrap(text, letters)) {
        y += 18.0;
        shapes.push(text((MARGIN, y), Anchor::Start, &line, SMALL, Ink::Soft));
    }
    (shapes, y + MARGIN)
}
