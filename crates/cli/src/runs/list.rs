//! The list of stored runs and experiments.

use super::store_error;
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, runtime_error};
use crate::output::print;
use brunt_model::numbers::{UNKNOWN, fraction, plain, seconds, three_digits};
use brunt_report::layout::{TextTable, clean, shorten};
use brunt_report::utc::rfc3339;
use brunt_store::entry::{KeyFigures, LoadRange};
use brunt_store::{EntryFilter, IndexEntry, ItemKind, ItemState, Store};
use clap::Args;

/// Maximum width of the column `what`.
const MAX_WHAT_COLUMNS: usize = 34;

#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// List the runs of this experiment
    id: Option<String>,
    /// Also list runs that belong to experiments
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Print the list as JSON, with all fields
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Prints the list, oldest first: runs of one experiment, all entries, or those that belong to no
/// experiment.
pub fn list(args: &ListArgs, store: &Store) -> Result<(), CommandError> {
    let filter = match &args.id {
        Some(id) => EntryFilter::RunsOf(store.find_experiment(id).map_err(store_error)?),
        None if args.all => EntryFilter::All,
        None => EntryFilter::TopLevel,
    };
    let entries = store.list(&filter).map_err(store_error)?;
    if args.json {
        return print(&(serde_json::to_string_pretty(&entries).map_err(runtime_error)? + "\n"))
            .map_err(runtime_error);
    }
    if entries.is_empty() {
        return print(format!("no runs stored in {} yet\n", store.directory().display()))
            .map_err(runtime_error);
    }
    print(table(&entries)).map_err(runtime_error)
}

fn table(entries: &[IndexEntry]) -> String {
    let mut table = TextTable::with_head(&[
        "id",
        "when (UTC)",
        "what",
        "load",
        "replies/s",
        "p99",
        "errors",
        "verdict",
    ]);
    for entry in entries {
        table.row_with_note(cells(entry), entry.tags.join(", "));
    }
    table.render()
}

fn cells(entry: &IndexEntry) -> [String; 8] {
    [
        entry.id.clone(),
        entry
            .started_unix_seconds
            // The 16 characters of date, hour and minute.
            .map_or(UNKNOWN.into(), |at| rfc3339(at).replace('T', " ").chars().take(16).collect()),
        shorten(&clean(&what(entry)), MAX_WHAT_COLUMNS),
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
