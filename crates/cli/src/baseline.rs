//! The command `brunt baseline`: saves, lists, checks and removes baselines.
//!
//! Out of scope: the comparison ([`stored`]) and the storage (`store`).

mod measured;

use crate::args::options::environment;
use crate::args::settings::{SettingArgs, StoredComparison};
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::{Outputs, print};
use crate::runs;
use crate::stored;
use crate::suggestions::of_reports;
use crate::view;
use anyhow::{Context, anyhow};
use brunt_model::numbers::plural;
use brunt_report::layout::with_wrapped_end;
use brunt_report::utc::date_and_minute;
use brunt_runner::decide::stored::{ByContender, by_contender, paired};
use brunt_spec::words::WordError;
use brunt_spec::words::values::{self, Data, Output, secrets};
use brunt_store::{EntryFilter, IndexEntry, ItemState, Store, StoredItem};
use clap::{Args, Subcommand};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt run plan.yaml && brunt baseline save main      the latest run or experiment becomes `main`
  brunt baseline save main k7m2xqd                     the one with this id becomes `main`
  brunt run plan.yaml && brunt baseline check main --fail-if 'p99 worse by 5%'
      compare the latest of the same plan with it; exit code 9 if worse
  brunt baseline check main p3nq8vw -o junit=b.xml     compare this one; report for CI
  brunt baseline check main http://127.0.0.1:8082/     measure another server in the same way
  brunt baseline list
  brunt baseline rm main                               its runs stay in the store

`brunt runs rm` does not delete a baseline. Alternating trials (`brunt compare`) are more precise than runs of
different days.";

/// Arguments of `brunt baseline`.
#[derive(Debug, Clone, Args)]
#[command(arg_required_else_help = true)]
pub struct BaselineArgs {
    #[command(subcommand)]
    action: BaselineAction,
}

#[derive(Debug, Clone, Subcommand)]
enum BaselineAction {
    /// Saves a run or an experiment as a baseline
    Save(SaveArgs),
    /// Lists the baselines
    List(ListArgs),
    /// Compares a run or an experiment with a baseline
    Check(Box<CheckArgs>),
    /// Removes a baseline; its runs stay in the store
    Rm(RmArgs),
}

#[derive(Debug, Clone, Args)]
struct SaveArgs {
    /// Its name, such as main
    name: String,
    /// Which run or experiment
    #[arg(value_name = "RUN", default_value = "last")]
    id: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct CheckArgs {
    /// The baseline
    name: String,
    /// Which runs or experiments, or a URL, which is measured now as the baseline was [default: the latest of the same plan, or
    /// of the same URL]
    #[arg(value_name = "RUN|URL")]
    ids: Vec<String>,
    /// A header for URL, or those of FILE: a baseline is stored without its secrets; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE|@FILE", value_parser = headers)]
    headers: Vec<Vec<(String, String)>>,
    /// Headers for URL from FILE, one a line; repeatable
    #[arg(long = "header-file", value_name = "FILE", value_parser = header_file)]
    header_files: Vec<Vec<(String, String)>>,
    /// The body for URL, in place of that of the baseline
    #[arg(long, value_name = "TEXT|@FILE", value_parser = data)]
    data: Option<Data>,
    /// Settings of the comparison.
    #[command(flatten)]
    question: SettingArgs<StoredComparison>,
    /// No progress while measuring
    #[arg(short, long)]
    quiet: bool,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_reports())]
    outputs: Vec<Output>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct RmArgs {
    /// The baseline
    name: String,
    #[command(flatten)]
    store: StoreArgs,
}

fn headers(word: &str) -> Result<Vec<(String, String)>, WordError> {
    secrets::headers(word, environment)
}

fn header_file(word: &str) -> Result<Vec<(String, String)>, WordError> {
    secrets::header_file(word, environment)
}

fn data(word: &str) -> Result<Data, WordError> {
    values::data(word, environment)
}

/// Runs a subcommand of `brunt baseline`.
pub fn baseline(args: &BaselineArgs) -> Result<Exit, CommandError> {
    match &args.action {
        BaselineAction::Save(args) => save(&runs::open(&args.store)?, args)?,
        BaselineAction::List(args) => list(&runs::open(&args.store)?)?,
        BaselineAction::Check(args) => return check(&runs::open(&args.store)?, args),
        BaselineAction::Rm(args) => {
            runs::open(&args.store)?.forget_baseline(&args.name).map_err(runs::store_error)?;
        }
    }
    Ok(Exit::Measured)
}

fn save(store: &Store, args: &SaveArgs) -> Result<(), CommandError> {
    let item = store.find(&args.id).map_err(runs::store_error)?;
    let entry = store.entry(item.id()).map_err(runs::store_error)?;
    // A baseline must not change while later runs are compared with it.
    if entry.progress == ItemState::Running {
        return Err(usage_error(anyhow!(
            "{} is still being written; wait for its end, or stop it",
            item.id()
        )));
    }
    let previous = store.save_baseline(&args.name, &item).map_err(runs::store_error)?;
    let previous = previous.map_or(String::new(), |id| format!("; until now it was {id}"));
    print(format!("the baseline `{}` is {} ({}){previous}\n", args.name, item.id(), entry.what))
        .map_err(runtime_error)
}

fn list(store: &Store) -> Result<(), CommandError> {
    let baselines = store.baselines().map_err(runs::store_error)?;
    if baselines.is_empty() {
        return print("no baseline yet; create one with `brunt baseline save NAME`\n")
            .map_err(runtime_error);
    }
    let rows = baselines.into_iter().map(|(name, id)| {
        let entry = store.entry(&id).ok();
        let start = entry.as_ref().and_then(|e| e.started_unix_seconds).map(date_and_minute);
        let runs = entry.as_ref().map_or(0, |e| e.trials_made.unwrap_or(1));
        let what = entry.map_or_else(|| "its files are gone".to_owned(), |e| e.what);
        [name, id, start.unwrap_or_default(), plural(runs, "run"), what]
    });
    let head = ["baseline", "id", "when (UTC)", "runs", "what"];
    print(with_wrapped_end(head, rows, view::of_stdout().columns)).map_err(runtime_error)
}

fn check(store: &Store, args: &CheckArgs) -> Result<Exit, CommandError> {
    let outputs = Outputs::open(&args.outputs, false).map_err(usage_error)?;
    let baseline = store.baseline(&args.name).map_err(runs::store_error)?;
    let current = match &args.ids[..] {
        [] => vec![latest(store, &args.name, &baseline)?],
        [url] if url.contains("://") => vec![measured::measure(store, args, &baseline, url)?],
        ids => find_ids(store, ids)?,
    };
    if let Some(same) = current.iter().find(|id| *id == baseline.id()) {
        return Err(usage_error(anyhow!(
            "{same} is the baseline `{}` itself; name another run",
            args.name
        )));
    }
    let contenders: Result<Vec<ByContender>, _> = current
        .iter()
        .map(|id| store.find(id).and_then(|item| by_contender(store, &item)))
        .collect();
    let contenders = contenders.map_err(runs::store_error)?.concat();
    let of_baseline = by_contender(store, &baseline).map_err(runs::store_error)?;
    let pairs = paired(&args.name, of_baseline, contenders);
    if pairs.is_empty() {
        return Err(usage_error(anyhow!(
            "no contender in common with the baseline `{}`; name other runs",
            args.name
        )));
    }
    stored::show(pairs, &args.question.0, outputs)
}

fn find_ids(store: &Store, words: &[String]) -> Result<Vec<String>, CommandError> {
    words
        .iter()
        .map(|word| Ok(store.find(word).map_err(runs::store_error)?.id().to_owned()))
        .collect()
}

/// Finds the latest complete run or experiment of the same plan or URL as the baseline.
fn latest(store: &Store, name: &str, baseline: &StoredItem) -> Result<String, CommandError> {
    let baseline = store.entry(baseline.id()).map_err(runs::store_error)?;
    let all = store.list(&EntryFilter::TopLevel).map_err(runs::store_error)?;
    let mut later = all.into_iter().filter(|entry| is_comparable(entry, &baseline));
    later
        .next_back()
        .map(|entry| entry.id)
        .with_context(|| {
            format!(
                "no run of {} was stored since the baseline `{name}` ({}); measure it again, or name a run",
                baseline.what, baseline.id
            )
        })
        .map_err(usage_error)
}

/// True for a later, complete entry of the same plan or URL.
fn is_comparable(entry: &IndexEntry, baseline: &IndexEntry) -> bool {
    entry.what == baseline.what
        && entry.kind == baseline.kind
        && entry.id != baseline.id
        && entry.progress == ItemState::Whole
        // A comparison with older runs would reverse the meaning of better and worse.
        && entry.started_unix_seconds > baseline.started_unix_seconds
}
