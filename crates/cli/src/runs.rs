//! Lists and manages stored runs and experiments: `brunt runs`.
//!
//! Out of scope: how they are kept (that is `store`'s), or shown in other formats (that is [`crate::reports`]').

mod list;

use crate::args::store::StoreArgs;
use crate::exit::{Exit, Failed, failed, usage};
use crate::output::print;
use anyhow::anyhow;
use brunt_model::numbers::plural;
use brunt_report::text;
use brunt_store::{Store, StoreError, StoredItem};
use clap::{Args, Subcommand};
use list::ListArgs;
use std::path::PathBuf;

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt runs                             all, the latest last
  brunt runs list e1-php                 the runs of an experiment
  brunt runs show last                   the report of the latest
  brunt runs tag k7m2xqp baseline        tag it `baseline`
  brunt runs rm k7m2xqp                  delete it with its files
  brunt runs export baseline b.brunt     one file, for `brunt runs import b.brunt` elsewhere

An ID is a short id or the beginning of one, a tag, the name of an experiment (the latest of it), or `last`.";

/// What the command is told.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// Lists stored runs and experiments (the default)
    List(ListArgs),
    /// Shows the report of a run or experiment
    Show(OneArgs),
    /// Adds a tag to a run or experiment
    Tag(TagArgs),
    /// Removes a tag
    Untag(UntagArgs),
    /// Deletes runs and experiments with their files
    Rm(SomeArgs),
    /// Writes a run, or an experiment with its runs, to one file
    Export(ExportArgs),
    /// Reads a file that `export` wrote into the store
    Import(ImportArgs),
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

/// Carries it out.
pub fn runs(args: &RunsArgs) -> Result<Exit, Failed> {
    match &args.what {
        None => list::list(&args.list, &open(&args.list.store)?)?,
        Some(What::List(args)) => list::list(args, &open(&args.store)?)?,
        Some(What::Show(args)) => show(&open(&args.store)?, &args.id)?,
        Some(What::Tag(args)) => {
            let store = open(&args.store)?;
            store.find(&args.id).and_then(|named| store.tag(&named, &args.tag)).map_err(refused)?;
        }
        Some(What::Untag(args)) => open(&args.store)?.untag(&args.tag).map_err(refused)?,
        Some(What::Rm(args)) => remove(&open(&args.store)?, &args.ids)?,
        Some(What::Export(args)) => export(&open(&args.store)?, args)?,
        Some(What::Import(args)) => {
            let id = open(&args.store)?.import(&args.file).map_err(refused)?;
            print(format!("{id}\n")).map_err(failed)?;
        }
    }
    Ok(Exit::Measured)
}

/// The store, for a command that is about nothing else.
pub fn open(args: &StoreArgs) -> Result<Store, Failed> {
    let store = args.open().map_err(failed)?;
    store.ok_or_else(|| usage(anyhow!("--no-store: this command reads the store; leave it out")))
}

/// What the store would not do.
pub fn refused(error: StoreError) -> Failed {
    if error.is_asked_wrongly() { usage(error.into()) } else { failed(error) }
}

fn show(store: &Store, word: &str) -> Result<(), Failed> {
    let mut out = Vec::new();
    match store.find(word).map_err(refused)? {
        StoredItem::Run(id) => {
            let run = store.run(&id).map_err(refused)?;
            text::write(&run, &brunt_judge::judge(&run), &mut out).map_err(failed)?;
        }
        StoredItem::Experiment(id) => {
            let study = store.study(&id).map_err(refused)?;
            text::write_study(&study, &brunt_runner::decide::analysis(&study), &mut out).map_err(failed)?;
        }
    }
    print(out).map_err(failed)
}

fn remove(store: &Store, words: &[String]) -> Result<(), Failed> {
    let named: Result<Vec<StoredItem>, _> = words.iter().map(|word| store.find(word)).collect();
    for named in named.map_err(refused)? {
        let runs = store.remove(&named).map_err(refused)?;
        print(match named {
            StoredItem::Run(id) => format!("removed {id}\n"),
            StoredItem::Experiment(id) => {
                format!("removed {id} with {}\n", plural(runs as u64, "run"))
            }
        })
        .map_err(failed)?;
    }
    Ok(())
}

fn export(store: &Store, args: &ExportArgs) -> Result<(), Failed> {
    let named = store.find(&args.id).map_err(refused)?;
    let file = args.file.clone().unwrap_or_else(|| format!("{}.brunt", named.id()).into());
    store.export(&named, &file).map_err(refused)?;
    print(format!("{}\n", file.display())).map_err(failed)
}
