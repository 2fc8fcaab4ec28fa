//! What was kept, shown once more: `brunt report`.
//!
//! Out of scope: a measurement. What is kept is found, folded, judged and shown, as on the day it was made.

use crate::args::store::StoreArgs;
use crate::exit::{Exit, Failed, failed, usage};
use crate::output::Outputs;
use crate::replay;
use crate::result_files;
use crate::runs;
use anyhow::{Result, anyhow, bail};
use brunt_model::{Judgement, Run, Study};
use brunt_report::single;
use brunt_runner::decide;
use brunt_spec::words::values::{self, Output};
use brunt_store::StoredItem;
use clap::Args;
use std::path::Path;

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt report last                            the latest run or experiment
  brunt report k7m2xqd -o html=page.html       by its short id; `brunt runs list` has them
  brunt report e1-php -o svg=plots/            the last experiment of a plan: its charts, one file per chart
  brunt report run.events -o markdown          an event log that --events wrote
  brunt report before.events k7m2xqd           two runs side by side
  brunt report result.jtl -o html=page.html    a result file of JMeter: its samples by label, in JMeter's columns";

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Ids, tags, names of experiments, `last`, event logs, or result files (.jtl); several runs are shown side by side
    #[arg(value_name = "RUN|FILE", required = true)]
    pub subjects: Vec<String>,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output)]
    pub outputs: Vec<Output>,
    /// The store of runs.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// What was found.
enum Kept {
    /// A run: what it is called, what was measured, what was decided about it.
    Run(String, Box<Run>, Box<Judgement>),
    /// An experiment.
    Study(Box<Study>),
}

/// Finds what is named, and writes every report that was asked for.
pub fn report(args: &ReportArgs) -> Result<Exit, Failed> {
    let is_result_file = |subject: &String| result_files::is_one(Path::new(subject));
    if args.subjects.iter().any(is_result_file) {
        if let Some(other) = args.subjects.iter().find(|subject| !is_result_file(subject)) {
            return Err(usage(anyhow!("{other} is no result file of JMeter, and the others are; report it alone")));
        }
        return result_files::report(&args.subjects, &args.outputs);
    }
    let kept = args.subjects.iter().map(|subject| find(subject, &args.store)).collect::<Result<Vec<_>, _>>()?;
    let outputs = Outputs::open(&args.outputs, false).map_err(usage)?;
    let written = match kept.as_slice() {
        [Kept::Run(_, run, judgement)] => outputs.write(run, judgement),
        [Kept::Study(study)] => outputs.write_study(study, &decide::analysis(study)),
        several => {
            let runs = several.iter().map(run_of).collect::<Result<Vec<_>>>().map_err(usage)?;
            let (study, analysis) = single::study_of_several(&runs);
            outputs.write_study(&study, &analysis)
        }
    };
    written.map(|()| Exit::Measured).map_err(failed)
}

fn run_of(kept: &Kept) -> Result<(String, &Run, &Judgement)> {
    match kept {
        Kept::Run(name, run, judgement) => Ok((name.clone(), run, judgement)),
        Kept::Study(study) => bail!(
            "{} is an experiment: only runs are shown side by side; name one alone",
            study.id.as_deref().unwrap_or(&study.experiment.name)
        ),
    }
}

/// What a word of the command line names.
fn find(subject: &str, store: &StoreArgs) -> Result<Kept, Failed> {
    let path = Path::new(subject);
    if path.is_file() {
        let name = path.file_stem().map_or(subject.into(), |stem| stem.to_string_lossy().into_owned());
        return Ok(judged(name, replay::fold(path)?));
    }
    let store = store.open().map_err(usage)?;
    let store =
        store.ok_or_else(|| usage(anyhow!("{subject}: there is no such file, and --no-store looks nowhere else")))?;
    let found = store.find(subject).map_err(runs::refused)?;
    match found {
        StoredItem::Run(id) => Ok(judged(id.clone(), store.run(&id).map_err(failed)?)),
        StoredItem::Experiment(id) => Ok(Kept::Study(Box::new(store.study(&id).map_err(failed)?))),
    }
}

fn judged(name: String, run: Run) -> Kept {
    let judgement = brunt_judge::judge(&run);
    Kept::Run(name, Box::new(run), Box::new(judgement))
}
