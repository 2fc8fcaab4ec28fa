//! Charts within a page that a server makes: the script of the report page draws them.

use super::{FigureColumns, data_script};
use crate::figure::Chart;
use std::io;

/// Writes the place of the charts, and their data.
pub fn write(charts: &[Chart], out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<div id=\"page-charts\"></div>")?;
    let figures: Vec<FigureColumns<'_>> =
        charts.iter().filter(|chart| !chart.is_empty()).map(FigureColumns::from).collect();
    out.write_all(data_script("page-figures", &figures)?.as_bytes())
}
