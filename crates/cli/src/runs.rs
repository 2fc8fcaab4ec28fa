//! The command `brunt runs`: lists and manages stored runs and experiments.
//!
//! Out of scope: the storage (`store`) and reports in other formats ([`crate::reports`]).

mod history;
mod list;
mod prune;
#[cfg(feature = "studio")]
mod transfer;

use crate::args::store::StoreArgs;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::print;
use anyhow::anyhow;
use brunt_model::numbers::plural;
use brunt_report::text;
use brunt_store::{Store, StoreError, StoredItem};
use clap::{Args, Subcommand};
use history::HistoryArgs;
use list::ListArgs;
use prune::PruneArgs;
use std::path::PathBuf;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt runs                             all, the latest last
  brunt runs list e1-php                 the runs of an experiment
  brunt runs show last                   the report of the latest
  brunt runs history --measure p99       p99 of comparable runs over months
  brunt runs tag k7m2xqp baseline        tag it `baseline`
  brunt runs untag baseline              remove the tag
  brunt runs note last 'new kernel'      add a note
  brunt runs pin k7m2xqp                 keep it: `rm` and `prune` leave it
  brunt runs unpin k7m2xqp               let it be deleted again
  brunt runs rm k7m2xqp                  delete it with its files
  brunt runs prune --older-than 365d     list old ones; with --yes, delete them
  brunt runs export baseline b.brunt     one file, for `brunt runs import b.brunt` elsewhere
  brunt runs push last --to https://studio.example:7878   send it to a team's studio
  brunt runs pull e1-php --from https://studio.example:7878

An ID is a short id or the beginning of one, a tag, the name of an experiment (the latest of it), or `last`.";

/// Arguments of `brunt runs`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    action: Option<RunsAction>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum RunsAction {
    /// Lists stored runs and experiments (the default)
    List(ListArgs),
    /// Shows a figure of comparable runs over months, with its change points
    #[command(after_help = history::EXAMPLES)]
    History(HistoryArgs),
    /// Shows the report of a run or experiment
    Show(OneArgs),
    /// Adds a tag to a run or experiment
    Tag(TagArgs),
    /// Removes a tag
    Untag(UntagArgs),
    /// Writes a note to a run or experiment, in place of the one that it has; without a text, removes it
    Note(NoteArgs),
    /// Protects a run or experiment from removal
    Pin(OneArgs),
    /// Ends the protection of a run or experiment
    Unpin(OneArgs),
    /// Deletes runs and experiments with their files
    Rm(SomeArgs),
    /// Lists old event logs, runs and experiments, and removes them with --yes
    #[command(after_help = prune::EXAMPLES)]
    Prune(PruneArgs),
    /// Writes a run, or an experiment with its runs, to one file
    Export(ExportArgs),
    /// Reads a file that `export` wrote into the store
    Import(ImportArgs),
    /// Sends runs and experiments to a team's studio, with the token in `BRUNT_STUDIO_TOKEN`
    #[cfg(feature = "studio")]
    Push(transfer::PushArgs),
    /// Fetches runs and experiments from a team's studio, with the token in `BRUNT_STUDIO_TOKEN`
    #[cfg(feature = "studio")]
    Pull(transfer::PullArgs),
}

#[derive(Debug, Clone, Args)]
struct OneArgs {
    /// Which
    id: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct SomeArgs {
    /// Which
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct TagArgs {
    /// Which
    id: String,
    /// Its new name
    tag: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct UntagArgs {
    /// The name
    tag: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct NoteArgs {
    /// Which
    id: String,
    /// The note
    text: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct ExportArgs {
    /// Which
    id: String,
    /// Where to [default: ID.brunt]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Args)]
struct ImportArgs {
    /// What was exported
    file: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs a subcommand of `brunt runs`.
pub fn runs(args: &RunsArgs) -> Result<Exit, CommandError> {
    match &args.action {
        None => list::list(&args.list, &open(&args.list.store)?)?,
        Some(RunsAction::List(args)) => list::list(args, &open(&args.store)?)?,
        Some(RunsAction::History(args)) => history::history(args)?,
        Some(RunsAction::Show(args)) => show(&open(&args.store)?, &args.id)?,
        Some(RunsAction::Tag(args)) => {
            change(&args.store, &args.id, |store, item| store.tag(item, &args.tag))?;
        }
        Some(RunsAction::Untag(args)) => {
            open(&args.store)?.untag(&args.tag).map_err(store_error)?;
        }
        Some(RunsAction::Note(args)) => {
            let text = args.text.as_deref().unwrap_or_default();
            change(&args.store, &args.id, |store, item| store.set_note(item, text))?;
        }
        Some(RunsAction::Pin(args)) => change(&args.store, &args.id, Store::pin)?,
        Some(RunsAction::Unpin(args)) => change(&args.store, &args.id, Store::unpin)?,
        Some(RunsAction::Rm(args)) => remove(&open(&args.store)?, &args.ids)?,
        Some(RunsAction::Prune(args)) => prune::prune(args)?,
        Some(RunsAction::Export(args)) => export(&open(&args.store)?, args)?,
        Some(RunsAction::Import(args)) => {
            let id = open(&args.store)?.import(&args.file).map_err(store_error)?;
            print(format!("{id}\n")).map_err(runtime_error)?;
        }
        #[cfg(feature = "studio")]
        Some(RunsAction::Push(args)) => transfer::push(args)?,
        #[cfg(feature = "studio")]
        Some(RunsAction::Pull(args)) => transfer::pull(args)?,
    }
    Ok(Exit::Measured)
}

/// Changes what users have added to an item.
fn change(
    args: &StoreArgs,
    word: &str,
    change: impl FnOnce(&Store, &StoredItem) -> Result<(), StoreError>,
) -> Result<(), CommandError> {
    let store = open(args)?;
    store.find(word).and_then(|item| change(&store, &item)).map_err(store_error)
}

/// Opens the store, for a command that needs one.
pub fn open(args: &StoreArgs) -> Result<Store, CommandError> {
    let store = args.open().map_err(runtime_error)?;
    store.ok_or_else(|| {
        usage_error(anyhow!("--no-store: this command reads the store; leave it out"))
    })
}

/// Converts an error of the store.
pub fn store_error(error: StoreError) -> CommandError {
    if error.is_usage_error() { usage_error(error) } else { runtime_error(error) }
}

fn show(store: &Store, word: &str) -> Result<(), CommandError> {
    let mut out = Vec::new();
    match store.find(word).map_err(store_error)? {
        StoredItem::Run(id) => {
            let run = store.run(&id).map_err(store_error)?;
            text::write(&run, &brunt_judge::judge(&run), &mut out).map_err(runtime_error)?;
        }
        StoredItem::Experiment(id) => {
            let study = store.study(&id).map_err(store_error)?;
            text::write_study(&study, &brunt_runner::decide::analysis(&study), &mut out)
                .map_err(runtime_error)?;
        }
    }
    print(out).map_err(runtime_error)
}

fn remove(store: &Store, words: &[String]) -> Result<(), CommandError> {
    // All are found before the first is removed, so that a typo removes none.
    let items: Result<Vec<StoredItem>, _> = words.iter().map(|word| store.find(word)).collect();
    for item in items.map_err(store_error)? {
        let runs = store.remove(&item).map_err(store_error)?;
        print(match item {
            StoredItem::Run(id) => format!("removed {id}\n"),
            StoredItem::Experiment(id) => {
                format!("removed {id} with {}\n", plural(runs as u64, "run"))
            }
        })
        .map_err(runtime_error)?;
    }
    Ok(())
}

fn export(store: &Store, args: &ExportArgs) -> Result<(), CommandError> {
    let item = store.find(&args.id).map_err(store_error)?;
    let file = args.file.clone().unwrap_or_else(|| format!("{}.brunt", item.id()).into());
    store.export(&item, &file).map_err(store_error)?;
    print(format!("{}\n", file.display())).map_err(runtime_error)
}
