//! Defines the picture formats, and writes the charts of a study in one of them.

use crate::figure::Chart;
use crate::panels::ChartSelection;
use crate::sheet::ChartSheet;
use crate::{png, svg};
use brunt_model::{Analysis, Study};
use std::io;

/// A file format for charts.
#[derive(Debug)]
pub struct Picture {
    /// Extension of its files.
    pub ending: &'static str,
    /// Writes charts on one sheet.
    write_sheet: fn(&ChartSheet, &mut dyn io::Write) -> io::Result<()>,
    /// Returns one chart as a file; None if the chart is empty.
    pub chart: fn(&Chart) -> io::Result<Option<Vec<u8>>>,
}

/// Vector graphics, which stay sharp at every size.
pub static SVG: Picture = Picture {
    ending: "svg",
    write_sheet: svg::write_sheet,
    chart: |figure| Ok(svg::of_figure(figure).map(String::into_bytes)),
};

/// Pixel graphics, for programs that cannot show SVG.
pub static PNG: Picture =
    Picture { ending: "png", write_sheet: png::write_sheet, chart: png::of_figure };

/// Charts of a study, as pictures of one format.
#[derive(Debug, Clone, Copy)]
pub struct Charts {
    /// Selection of the charts.
    pub selection: ChartSelection,
    /// Format of the pictures.
    pub picture: &'static Picture,
}

impl Charts {
    /// Writes all charts on one sheet.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to, or the picture is too large.
    pub fn write(
        self,
        study: &Study,
        analysis: &Analysis,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        (self.picture.write_sheet)(&ChartSheet::of(study, analysis, self.selection), out)
    }

    /// Returns each chart as a file: name and content.
    ///
    /// # Errors
    ///
    /// If a picture is too large.
    pub fn files(self, study: &Study, analysis: &Analysis) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut files = Vec::new();
        for figure in self.selection.figures(study, analysis) {
            if let Some(content) = (self.picture.chart)(&figure)? {
                files.push((format!("{}.{}", figure.id, self.picture.ending), content));
            }
        }
        Ok(files)
    }
}
