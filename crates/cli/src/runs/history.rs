//! `brunt runs history`: a figure of comparable runs over months, with its change points.

use super::{open, store_error};
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, runtime_error, usage_error};
use crate::output::print;
use crate::suggestions::{names, of_suggestions};
use crate::view;
use brunt_model::run_history::HistoryMeasure;
use brunt_report::history;
use brunt_runner::history::{
    DEFAULT_RUNS, HistoryCache, HistoryError, HistoryRequest, MAX_RUNS, read, select,
};
use brunt_spec::words::named::Suggestion;
use brunt_store::selection::{EntrySelection, SelectorField};
use clap::{Args, ValueEnum};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt runs history                              p99 of the runs like the latest
  brunt runs history --measure throughput --like baseline
  brunt runs history host=shop:8080 tag=nightly cart
  brunt runs history --measure capacity -o json

A FILTER is host=, label=, tag= or verdict= with a value, or a word in id, target, name,
note, host, label or tag. Of the matching runs, the history has those that are comparable
with the latest one, or with --like: the same servers, requests, connections, load and
times. Runs of experiments are left out; for `capacity`, each search is one value.";

/// Arguments of `brunt runs history`.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// Only runs with these values or words
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// The figure: p50, p95, p99, service-p50, service-p99, throughput, errors or capacity
    #[arg(long, default_value = "p99", value_parser = measure, add = of_suggestions(measures))]
    measure: HistoryMeasure,
    /// Only runs comparable with this one (an id, a tag or `last`) [default: the latest]
    #[arg(long, value_name = "ID")]
    like: Option<String>,
    /// Number of runs, the latest
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RUNS, value_parser = most_runs)]
    last: usize,
    /// Format: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    output: HistoryFormat,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HistoryFormat {
    Text,
    Json,
}

fn measures() -> Vec<Suggestion> {
    names(HistoryMeasure::ALL.iter().map(|measure| measure.key()))
}

fn measure(word: &str) -> Result<HistoryMeasure, String> {
    HistoryMeasure::from_key(word).ok_or_else(|| {
        let all: Vec<&str> = HistoryMeasure::ALL.iter().map(|measure| measure.key()).collect();
        format!("no such figure; write one of {}", all.join(", "))
    })
}

fn most_runs(word: &str) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number| (1..=MAX_RUNS).contains(number));
    number.ok_or_else(|| format!("no number of runs; write 1 to {MAX_RUNS}"))
}

/// Prints the history.
pub fn history(args: &HistoryArgs) -> Result<(), CommandError> {
    let store = open(&args.store)?;
    let request = HistoryRequest {
        measure: args.measure,
        selection: selection(&args.filters),
        like: args.like.clone(),
        most_runs: args.last,
    };
    let items = select(&store, &request).map_err(history_error)?;
    let of_series =
        read(&store, &items, &request, &HistoryCache::default()).map_err(history_error)?;
    if args.output == HistoryFormat::Json {
        let json = serde_json::to_string_pretty(&of_series).map_err(runtime_error)?;
        return print(json + "\n").map_err(runtime_error);
    }
    let mut out = Vec::new();
    history::write_as(&view::of_stdout(), &of_series, &mut out).map_err(runtime_error)?;
    print(out).map_err(runtime_error)
}

fn history_error(error: HistoryError) -> CommandError {
    match error {
        HistoryError::Store(error) => store_error(error),
        error => usage_error(error),
    }
}

/// Returns the conditions of the filters: fields with values, and words.
fn selection(filters: &[String]) -> EntrySelection {
    let mut selection = EntrySelection::default();
    let mut words = Vec::new();
    for filter in filters {
        let field = filter.split_once('=').and_then(|(key, value)| {
            let field = SelectorField::ALL.into_iter().find(|field| field.key() == key)?;
            Some((field, value.to_owned()))
        });
        match field {
            Some(field) => selection.values.push(field),
            None => words.push(filter.as_str()),
        }
    }
    selection.words = words.join(" ");
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_fields_or_words() {
        let filters = ["host=shop:80", "cart", "a=b"].map(str::to_owned);
        let selection = selection(&filters);
        assert_eq!(selection.values, [(SelectorField::Host, "shop:80".to_owned())]);
        assert_eq!(selection.words, "cart a=b");
        assert!(measure("p98").unwrap_err().contains("throughput"));
        assert_eq!((most_runs("5"), most_runs("0").is_err()), (Ok(5), true));
    }
}
