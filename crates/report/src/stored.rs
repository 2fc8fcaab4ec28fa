//! Words for stored runs and experiments: the list of `brunt runs`, and that of the studio.

pub mod pruning;

use crate::layout::{TextTable, clean, hang_within, shorten, width};
use crate::utc::date_and_minute;
use brunt_model::numbers::{UNKNOWN, fraction, plain, seconds, three_digits};
use brunt_store::entry::{KeyFigures, LoadRange};
use brunt_store::{IndexEntry, ItemKind, ItemState};

/// Titles of the columns of a list.
pub const HEAD: [&str; 8] =
    ["id", "when (UTC)", "what", "load", "replies/s", "p99", "errors", "verdict"];

/// Column of the description, which may be long.
pub const WHAT: usize = 2;

/// Columns that a narrow list omits, in this order.
const OPTIONAL: [&str; 4] = ["errors", "replies/s", "load", "p99"];

/// Minimum width of the descriptions, unless all are shorter.
const MIN_WHAT_COLUMNS: usize = 16;

/// Columns between two columns.
const GAP: usize = 2;

/// Indentation of tags and notes that have their own lines.
const REMARK_INDENT: &str = "         ";

/// Returns the list of `brunt runs` in this number of columns. If there is too little space, it
/// omits columns and shortens descriptions; ids are always whole.
pub fn list(entries: &[IndexEntry], columns: usize) -> String {
    let rows =
        entries.iter().map(|entry| StoredRow { cells: cells(entry), remarks: remarks(entry) });
    fitted(&rows.collect::<Vec<_>>(), columns)
}

/// A row of the list.
struct StoredRow {
    cells: [String; HEAD.len()],
    remarks: String,
}

fn fitted(rows: &[StoredRow], columns: usize) -> String {
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|at| rows.iter().map(|row| width(&row.cells[at])).fold(width(HEAD[at]), usize::max))
        .collect();
    // The description is shortened first, since ids and figures are what a reader looks for.
    let mut shown: Vec<usize> = (0..HEAD.len()).collect();
    for optional in OPTIONAL {
        if room_for_what(&shown, &widths, columns) >= widths[WHAT].min(MIN_WHAT_COLUMNS) {
            break;
        }
        shown.retain(|at| HEAD[*at] != optional);
    }
    let room = room_for_what(&shown, &widths, columns).clamp(HEAD[WHAT].len(), widths[WHAT]);
    let mut table = TextTable::with_head(&shown.iter().map(|at| HEAD[*at]).collect::<Vec<_>>());
    for row in rows {
        table.row(shown.iter().map(|at| match *at {
            WHAT => shorten(&row.cells[WHAT], room),
            at => row.cells[at].clone(),
        }));
    }
    let remarks = std::iter::once("").chain(rows.iter().map(|row| &*row.remarks));
    let lines = table.render_within(columns);
    lines.lines().zip(remarks).map(|(line, remarks)| with_remarks(line, remarks, columns)).collect()
}

/// Returns the columns that the other shown columns leave to the description.
fn room_for_what(shown: &[usize], widths: &[usize], columns: usize) -> usize {
    let others = shown.iter().filter(|at| **at != WHAT).map(|at| widths[*at] + GAP);
    columns.saturating_sub(others.sum())
}

/// Returns a line with its remarks: after it, or on lines of their own if there is no room.
fn with_remarks(line: &str, remarks: &str, columns: usize) -> String {
    // Most items have no remarks, and lists are long.
    if remarks.is_empty() {
        return format!("{line}\n");
    }
    if width(line) + GAP + width(remarks) < columns {
        return format!("{line}   {remarks}\n");
    }
    format!("{line}\n{}", hang_within(columns, REMARK_INDENT, remarks))
}

/// Returns what users have added to an entry: tags, a pin, and a note.
pub fn remarks(entry: &IndexEntry) -> String {
    let tags = (!entry.tags.is_empty()).then(|| entry.tags.join(", "));
    let pin = entry.pinned.then(|| "pinned".to_owned());
    let note = entry.note.as_deref().map(clean);
    tags.into_iter().chain(pin).chain(note).collect::<Vec<_>>().join("; ")
}

/// Returns the cells of an entry.
pub fn cells(entry: &IndexEntry) -> [String; HEAD.len()] {
    [
        entry.id.clone(),
        entry.started_unix_seconds.map_or(UNKNOWN.into(), date_and_minute),
        clean(&what(entry)),
        entry.load.as_ref().map_or(UNKNOWN.into(), load),
        figure(entry, |f| three_digits(f.throughput_per_second)),
        figure(entry, p99),
        figure(entry, |f| fraction(f.errors_share)),
        verdict(entry),
    ]
}

/// Formats a figure of an entry; unknown if it has none, such as while it runs.
fn figure(entry: &IndexEntry, format: fn(&KeyFigures) -> String) -> String {
    entry.figures.as_ref().map_or(UNKNOWN.into(), format)
}

/// Text of the column `what`: the description of a run or experiment, or the contenders and
/// repetition of a run within an experiment.
fn what(entry: &IndexEntry) -> String {
    match (entry.kind, entry.place) {
        (ItemKind::Experiment, _) => {
            let measured = entry.trials_made.unwrap_or(0);
            let total = entry.trials.unwrap_or(0);
            format!("{}, {measured} of {total} trials", entry.what)
        }
        (ItemKind::Run, Some(place)) => {
            format!("{}, repetition {}", entry.contenders.join(", "), place.repetition + 1)
        }
        (ItemKind::Run, None) => entry.what.clone(),
    }
}

fn load(range: &LoadRange) -> String {
    let unit = if range.users { " users" } else { "/s" };
    if range.from == range.to {
        return plain(range.to) + unit;
    }
    format!("{}..{}{unit}", plain(range.from), plain(range.to))
}

fn p99(figures: &KeyFigures) -> String {
    let bound = if figures.p99_at_least { "≥ " } else { "" };
    figures.p99_seconds.map_or(UNKNOWN.into(), |p99| format!("{bound}{}", seconds(p99)))
}

/// Verdict, and the state of a run that is not complete.
fn verdict(entry: &IndexEntry) -> String {
    let verdict = entry.figures.as_ref().map(|figures| figures.verdict.key());
    let progress = match entry.progress {
        ItemState::Running => Some("running"),
        ItemState::Whole => None,
        ItemState::Interrupted => Some("interrupted"),
        ItemState::Torn => Some("torn"),
    };
    let words: Vec<&str> = verdict.into_iter().chain(progress).collect();
    if words.is_empty() { UNKNOWN.into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<StoredRow> {
        let row = |cells: [&str; HEAD.len()], remarks: &str| StoredRow {
            cells: cells.map(str::to_owned),
            remarks: remarks.into(),
        };
        vec![
            row(
                [
                    "k7m2xqd",
                    "2026-11-30 01:14",
                    "http://shop.example:8080/a/long/path/of/products.html?page=3",
                    "0.5..100,000 users",
                    "154,463",
                    "≥ 3.43 s",
                    "20.3 %",
                    "unexplained, interrupted",
                ],
                "baseline; a note that says which kernel, which build and which settings were used",
            ),
            row(
                ["p3nq8vw", "2026-11-30 01:20", "e1", "500/s", "498", "12.0 ms", "0 %", "ok"],
                "pinned",
            ),
        ]
    }

    #[test]
    fn the_list_fits_the_terminal_and_ids_are_whole() {
        for columns in 60..=160 {
            let list = fitted(&rows(), columns);
            for line in list.lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
            }
            for whole in ["k7m2xqd", "p3nq8vw", "pinned", "interrupted", "settings"] {
                assert!(list.contains(whole), "{columns}: no {whole}: {list}");
            }
        }
    }

    #[test]
    fn a_narrow_list_omits_columns_and_shortens_descriptions() {
        insta::assert_snapshot!(fitted(&rows(), 60));
        insta::assert_snapshot!(fitted(&rows(), 80));
        insta::assert_snapshot!(fitted(&rows(), 120));
        assert!(fitted(&rows(), 160).contains("errors"));
    }
}
