//! What later runs are compared with: `brunt baseline`.
//!
//! Out of scope: the comparison, which is [`stored`]'s, or the keeping (`store`'s).

mod measured;

use crate::args::options::environment;
use crate::args::settings::{SettingArgs, StoredComparison};
use crate::args::store::StoreArgs;
use crate::exit::{Exit, Failed, failed, usage};
use crate::output::{Outputs, print};
use crate::runs;
use crate::stored;
use anyhow::{Context, anyhow};
use brunt_model::numbers::plural;
use brunt_report::layout::Table;
use brunt_report::utc::rfc3339;
use brunt_runner::decide::stored::{ByContender, paired};
use brunt_spec::words::WordError;
use brunt_spec::words::values::{self, Data, Output, secrets};
use brunt_store::{Entry, EntryFilter, Progress, Store, StoredItem};
use clap::{Args, Subcommand};

/// Examples for the help.
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

/// What the command is told.
#[derive(Debug, Clone, Args)]
#[command(arg_required_else_help = true)]
pub struct BaselineArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
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
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output)]
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

/// Carries it out.
pub fn baseline(args: &BaselineArgs) -> Result<Exit, Failed> {
    match &args.what {
        What::Save(args) => save(&runs::open(&args.store)?, args)?,
        What::List(args) => list(&runs::open(&args.store)?)?,
        What::Check(args) => return check(&runs::open(&args.store)?, args),
        What::Rm(args) => runs::open(&args.store)?.forget_baseline(&args.name).map_err(runs::refused)?,
    }
    Ok(Exit::Measured)
}

fn save(store: &Store, args: &SaveArgs) -> Result<(), Failed> {
    let named = store.find(&args.id).map_err(runs::refused)?;
    let entry = store.entry(named.id()).map_err(runs::refused)?;
    if entry.progress == Progress::Running {
        return Err(usage(anyhow!("{} is still being written; wait for its end, or stop it", named.id())));
    }
    let before = store.save_baseline(&args.name, &named).map_err(runs::refused)?;
    let before = before.map_or(String::new(), |id| format!("; until now it was {id}"));
    print(format!("the baseline `{}` is {} ({}){before}\n", args.name, named.id(), entry.what)).map_err(failed)
}

fn list(store: &Store) -> Result<(), Failed> {
    let mut table = Table::with_head(&["baseline", "id", "when (UTC)", "what", "runs"]);
    let baselines = store.baselines().map_err(runs::refused)?;
    if baselines.is_empty() {
        return print("no baseline yet; create one with `brunt baseline save NAME`\n").map_err(failed);
    }
    for (name, id) in baselines {
        let entry = store.entry(&id).ok();
        let when = entry.as_ref().and_then(|e| e.started_unix_seconds).map(rfc3339).unwrap_or_default();
        let when: String = when.replace('T', " ").chars().take(16).collect();
        let made = entry.as_ref().map_or(0, |e| e.trials_made.unwrap_or(1));
        let what = entry.map_or_else(|| "its files are gone".to_owned(), |e| e.what);
        table.row([name, id, when, what, plural(made, "run")]);
    }
    print(table.render()).map_err(failed)
}

fn check(store: &Store, args: &CheckArgs) -> Result<Exit, Failed> {
    let outputs = Outputs::open(&args.outputs, false).map_err(usage)?;
    let baseline = store.baseline(&args.name).map_err(runs::refused)?;
    let now = match &args.ids[..] {
        [] => vec![latest(store, &args.name, &baseline)?],
        [url] if url.contains("://") => vec![measured::now(store, args, &baseline, url)?],
        ids => named(store, ids)?,
    };
    if let Some(same) = now.iter().find(|id| *id == baseline.id()) {
        return Err(usage(anyhow!("{same} is the baseline `{}` itself; name another run", args.name)));
    }
    let theirs = now.iter().map(|id| by_contender(store, id)).collect::<Result<Vec<_>, _>>()?.concat();
    let pairs = paired(&args.name, by_contender(store, baseline.id())?, theirs);
    if pairs.is_empty() {
        return Err(usage(anyhow!("no contender in common with the baseline `{}`; name other runs", args.name)));
    }
    stored::show(pairs, &args.question.0, outputs)
}

fn named(store: &Store, words: &[String]) -> Result<Vec<String>, Failed> {
    let id = |word: &String| Ok(store.find(word).map_err(runs::refused)?.id().to_owned());
    words.iter().map(id).collect()
}

/// What was made last of the same plan, or of the same URL.
fn latest(store: &Store, name: &str, baseline: &StoredItem) -> Result<String, Failed> {
    let kept = store.entry(baseline.id()).map_err(runs::refused)?;
    let alike = |entry: &Entry| {
        entry.what == kept.what && entry.kind == kept.kind && entry.id != kept.id && entry.progress == Progress::Whole
    };
    let all = store.list(&EntryFilter::Alone).map_err(runs::refused)?;
    let mut later = all.into_iter().filter(alike).filter(|e| e.started_unix_seconds > kept.started_unix_seconds);
    later
        .next_back()
        .map(|entry| entry.id)
        .with_context(|| {
            format!(
                "no run of {} was stored since the baseline `{name}` ({}); measure it again, or name a run",
                kept.what, kept.id
            )
        })
        .map_err(usage)
}

fn by_contender(store: &Store, id: &str) -> Result<ByContender, Failed> {
    if let Ok(StoredItem::Run(id)) = store.find(id) {
        return Ok(vec![(None, vec![(id.clone(), store.run(&id).map_err(runs::refused)?)])]);
    }
    let study = store.study(id).map_err(runs::refused)?;
    let of = |(index, contender): (usize, &brunt_model::Contender)| {
        let runs = study.of(index).map(|trial| (trial.id.clone().unwrap_or_default(), trial.run.clone()));
        (Some(contender.name.clone()), runs.collect())
    };
    Ok(study.experiment.contenders.iter().enumerate().map(of).collect())
}
