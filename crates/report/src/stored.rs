//! Words for stored runs and experiments: the list of `brunt runs`, and that of the studio.

pub mod pruning;

use crate::layout::clean;
use crate::utc::rfc3339;
use brunt_model::numbers::{UNKNOWN, fraction, plain, seconds, three_digits};
use brunt_store::entry::{KeyFigures, LoadRange};
use brunt_store::{IndexEntry, ItemKind, ItemState};

/// Titles of the columns of a list.
pub const HEAD: [&str; 8] =
    ["id", "when (UTC)", "what", "load", "replies/s", "p99", "errors", "verdict"];

/// Column of the description, which may be long.
pub const WHAT: usize = 2;

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
        entry
            .started_unix_seconds
            // The 16 characters of date, hour and minute.
            .map_or(UNKNOWN.into(), |at| rfc3339(at).replace('T', " ").chars().take(16).collect()),
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
