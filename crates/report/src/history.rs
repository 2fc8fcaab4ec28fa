//! The history of a figure as text, and the sentences and the chart that the studio shows, too.

mod chart;
pub mod words;

pub use chart::chart;

use crate::history::words::{conclusion, head, remarks, row};
use crate::layout::{TextTable, clean};
use crate::outline::block::ReportBlock;
use crate::text::of_outline;
use crate::view::{Detail, View};
use brunt_model::run_history::{HistoryChange, SeriesHistory};
use brunt_model::text;
use std::io;

/// Maximum number of runs in the brief text report, the latest.
const BRIEF_RUNS: usize = 20;

/// Minimum width of a report with the time of day of each run, and the length of a date.
const COLUMNS_WITH_TIME: usize = 80;
const DAY_LETTERS: usize = 10;

/// Minimum width of remarks in the lines of the table.
const REMARK_COLUMNS: usize = 33;

/// Maximum number of runs of each side in a proposed comparison.
const COMPARED_RUNS: usize = 5;

/// Writes a history in this view.
pub fn write_as(view: &View, of_series: &SeriesHistory, out: &mut dyn io::Write) -> io::Result<()> {
    let SeriesHistory { series, history } = of_series;
    let subject = format!("{}, {}", clean(&series.what), series.load);
    let title = format!("History of the {}", words::measure_in_sentence(history.measure));
    let mut blocks = vec![
        ReportBlock::Title(title, subject),
        ReportBlock::Paragraph(conclusion(history).into()),
    ];
    // The text drawing needs a range of time.
    let chart = chart::of_days(history);
    blocks.extend((!chart.is_empty()).then(|| ReportBlock::Graph(Box::new(chart))));
    out.write_all(of_outline(view, &blocks).as_bytes())?;
    for change in &history.changes {
        out.write_all(change_text(view, of_series, change).as_bytes())?;
    }
    out.write_all(b"\n")?;
    let shown = match view.detail {
        Detail::Brief => BRIEF_RUNS,
        Detail::Full => usize::MAX,
    };
    let omitted = history.entries.len().saturating_sub(shown);
    out.write_all(table_of(view, of_series, omitted).as_bytes())?;
    let mut notes = remarks(of_series);
    if omitted > 0 {
        notes.push(format!("The table has the latest {shown} runs; -v shows all.").into());
    }
    if !notes.is_empty() {
        out.write_all(b"\n")?;
    }
    for note in notes {
        out.write_all(view.hang("Note: ", &note).as_bytes())?;
    }
    Ok(())
}

/// The table of runs without the first `omitted` ones. If remarks do not fit into its lines, they follow it.
fn table_of(view: &View, of_series: &SeriesHistory, omitted: usize) -> String {
    let history = &of_series.history;
    let shown = &history.entries[omitted..];
    let cells = shown.iter().map(|entry| {
        let mut cells = row(history.measure, entry).map(String::from);
        if view.columns < COLUMNS_WITH_TIME {
            cells[1].truncate(DAY_LETTERS);
        }
        (cells, words::remark(history, entry).unwrap_or_default())
    });
    let cells: Vec<_> = cells.collect();
    let head = head();
    let head = head.each_ref().map(|title| &**title);
    let mut table = TextTable::with_head(&head);
    for (row, _) in &cells {
        table.row(row.clone());
    }
    if table.columns() + REMARK_COLUMNS > view.columns {
        let remarks = shown.iter().zip(&cells).filter(|(_, (_, remark))| !remark.is_empty());
        let remarks =
            remarks.map(|(entry, (_, remark))| view.hang(&format!("{}: ", entry.id), remark));
        return table.render_within(view.columns) + &remarks.collect::<String>();
    }
    let mut table = TextTable::with_head(&head);
    for (row, remark) in cells {
        table.row_with_note(row, remark.into());
    }
    table.render_within(view.columns)
}

/// A change point with the facts that changed near it, and the comparison of its sides.
fn change_text(view: &View, of_series: &SeriesHistory, change: &HistoryChange) -> String {
    let history = &of_series.history;
    let mut text = "\n".to_owned();
    text += &view.hang("", &words::change(history.measure, change));
    let facts = words::facts(change);
    if facts.is_empty() {
        text += &view.hang("  ", &text!("history-change.no-facts"));
    } else {
        text += &view.hang("  ", &text!("history-change.facts"));
        for fact in facts {
            text += &view.hang("    ", &clean(&fact));
        }
    }
    text + &view
        .hang("  ", &format!("Compare both sides: {}", comparison_command(of_series, change)))
}

/// Returns the command that compares the runs before and after a change.
pub fn comparison_command(of_series: &SeriesHistory, change: &HistoryChange) -> String {
    let history = &of_series.history;
    let counted = history.entries.iter().filter(|entry| entry.counted().is_some());
    let ids: Vec<&str> = counted.map(|entry| entry.id.as_str()).collect();
    let after = ids.iter().position(|id| *id == change.after_id).unwrap_or(0);
    // Runs of other segments have another level.
    let number = history.changes.iter().position(|one| one.after_id == change.after_id);
    let segments = number.and_then(|number| history.segments.get(number..number + 2));
    let sizes: Vec<usize> = segments.into_iter().flatten().map(|segment| segment.runs).collect();
    let [before_runs, after_runs] = sizes[..] else { return String::new() };
    let before = &ids[after - before_runs.min(COMPARED_RUNS)..after];
    let after = &ids[after..after + after_runs.min(COMPARED_RUNS)];
    format!("brunt compare before={} after={}", side(before), side(after))
}

/// Runs of one side of a comparison: `run:a,run:b`.
fn side(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("run:{id}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
