//! Charts of a study on one sheet: the heading and the place of each chart.

use crate::layout::wrap;
use crate::panels::ChartSelection;
use crate::plot::{self, SMALL, text};
use crate::scene::{Anchor, Ink, Scene, Shape};
use crate::utc;
use brunt_model::{Analysis, Study};

/// So many stand below each other; more go side by side.
const ONE_COLUMN: usize = 8;
const MARGIN: f64 = 20.0;

/// A sheet.
pub struct Sheet {
    /// Its name.
    pub title: String,
    /// In points.
    pub width: f64,
    /// In points.
    pub height: f64,
    /// What stands above the charts.
    pub heading: Vec<Shape>,
    /// The charts, each with the place of its upper left corner.
    pub places: Vec<((f64, f64), Scene)>,
}

impl Sheet {
    /// The selected charts of a study.
    pub fn of(study: &Study, analysis: &Analysis, selection: ChartSelection) -> Self {
        let figures = selection.figures(study, analysis);
        let scenes: Vec<Scene> = figures.iter().filter_map(plot::scene).collect();
        let columns = if scenes.len() > ONE_COLUMN { 2 } else { 1 };
        let width = columns as f64 * (plot::WIDTH + MARGIN) + MARGIN;
        let title = study.experiment.name.clone();
        let (heading, mut height) = heading(study, &title, width);
        let mut places = Vec::new();
        let mut scenes = scenes.into_iter().peekable();
        while scenes.peek().is_some() {
            let row: Vec<Scene> = scenes.by_ref().take(columns).collect();
            let tallest = row.iter().map(|scene| scene.height).fold(0.0, f64::max);
            let at = |column: usize| (MARGIN + column as f64 * (plot::WIDTH + MARGIN), height);
            places.extend(row.into_iter().enumerate().map(|(column, scene)| (at(column), scene)));
            height += tallest + MARGIN;
        }
        Self { title, width, height, heading, places }
    }
}

fn heading(study: &Study, title: &str, width: f64) -> (Vec<Shape>, f64) {
    let mut y = MARGIN + 14.0;
    let mut shapes = vec![text((MARGIN, y), Anchor::Start, title, 18.0, Ink::Strong)];
    let letters = ((width - 2.0 * MARGIN) / (SMALL * 0.58)) as usize;
    let about = [study.experiment.about.clone(), utc::rfc3339(study.unix_seconds)];
    for line in about.iter().filter(|text| !text.is_empty()).flat_map(|text| wrap(text, letters)) {
        y += 18.0;
        shapes.push(text((MARGIN, y), Anchor::Start, &line, SMALL, Ink::Soft));
    }
    (shapes, y + MARGIN)
}
