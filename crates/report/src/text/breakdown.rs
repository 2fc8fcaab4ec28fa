//! The tables of [`crate::breakdown`] in the width of the terminal.

use super::Report;
use super::fit::Part;
use crate::breakdown::{self, Breakdown};
use crate::layout::{Table, clean, shorten};

const MOST_ROWS: usize = 20;
const MOST_CHARACTERS: usize = 40;
const LEAST_CHARACTERS: usize = 16;

/// Each population by itself.
pub fn populations(report: &Report) -> Part {
    part(report, breakdown::populations(report.run))
}

/// The labels with most requests.
pub fn labels(report: &Report) -> Part {
    part(report, breakdown::labels(report.run))
}

/// The transactions, by name.
pub fn transactions(report: &Report) -> Part {
    part(report, breakdown::transactions(report.run))
}

/// Checks that replies failed.
pub fn check_failures(report: &Report) -> Part {
    let sentences = breakdown::check_failures(report.run);
    let rows = sentences.iter().map(|sentence| report.view.entry("Failed check", &clean(sentence)));
    Part { fixed: String::new(), rows: rows.collect() }
}

fn part(report: &Report, of: Breakdown) -> Part {
    let view = report.view;
    if of.rows.is_empty() {
        return Part::default();
    }
    let shown = |column: &(&str, usize)| column.1 <= view.columns;
    let heads: Vec<&str> = of.columns.iter().filter(|column| shown(column)).map(|column| column.0).collect();
    let longest = of.rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let figures = heads.iter().map(|head| head.len().max(8) + 2).sum::<usize>();
    let room = view.columns.saturating_sub(figures).clamp(LEAST_CHARACTERS, MOST_CHARACTERS).min(longest.max(6));
    let mut table = Table::with_head(&[&[of.title], heads.as_slice()].concat());
    let more = of.rows.len().saturating_sub(MOST_ROWS);
    for (name, cells) in of.rows.into_iter().take(MOST_ROWS) {
        let cells = of.columns.iter().zip(cells).filter(|(column, _)| shown(column)).map(|(_, cell)| cell);
        table.row([shorten(&clean(&name), room)].into_iter().chain(cells));
    }
    Part::table(view, &table, more)
}
