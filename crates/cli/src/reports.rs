//! The command `brunt report`: shows stored runs, event logs and result files.
//!
//! Nothing is measured: stored events are folded and judged like those of a live run.

use crate::args::store::StoreArgs;
use crate::compat;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::Outputs;
use crate::replay;
use crate::runs;
use crate::suggestions::of_reports;
use anyhow::{Result, anyhow, bail};
use brunt_model::{Judgement, Run, Study};
use brunt_report::single;
use brunt_runner::decide;
use brunt_spec::words::values::{self, Output};
use brunt_store::StoredItem;
use clap::Args;
use std::path::Path;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt report last                            the latest run or experiment
  brunt report k7m2xqd -o html=page.html       by its short id; `brunt runs list` has them
  brunt report e1-php -o svg=plots/            the last experiment of a plan: its charts, one file per chart
  brunt report run.events -o markdown          an event log that --events wrote
  brunt report before.events k7m2xqd           two runs side by side
  brunt report result.jtl -o html=page.html    a result file of JMeter: its samples by label, in JMeter's columns";

/// Arguments of `brunt report`.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Ids, tags, names of experiments, `last`, event logs, or result files (.jtl); several runs are shown side by side
    #[arg(value_name = "RUN|FILE", required = true)]
    pub subjects: Vec<String>,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_reports())]
    pub outputs: Vec<Output>,
    /// The store of runs.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// A subject of a report.
enum Subject {
    /// A run with its name and judgement.
    Run(String, Box<Run>, Box<Judgement>),
    Study(Box<Study>),
}

/// Finds the subjects and writes the reports.
pub fn report(args: &ReportArgs) -> Result<Exit, CommandError> {
    let (jtl_files, others): (Vec<&String>, Vec<&String>) =
        args.subjects.iter().partition(|subject| compat::is_result_file(Path::new(subject)));
    if !jtl_files.is_empty() {
        if let Some(other) = others.first() {
            return Err(usage_error(anyhow!(
                "{other} is no result file of JMeter, and the others are; report it alone"
            )));
        }
        return compat::report_result_files(&args.subjects, &args.outputs);
    }
    let subjects = args
        .subjects
        .iter()
        .map(|subject| find(subject, &args.store))
        .collect::<Result<Vec<_>, _>>()?;
    let outputs = Outputs::open(&args.outputs, false).map_err(usage_error)?;
    let written = match subjects.as_slice() {
        [Subject::Run(_, run, judgement)] => outputs.write(run, judgement),
        [Subject::Study(study)] => outputs.write_study(study, &decide::analysis(study)),
        several => {
            let runs =
                several.iter().map(run_of).collect::<Result<Vec<_>>>().map_err(usage_error)?;
            let (study, analysis) = single::study_of_several(&runs);
            outputs.write_study(&study, &analysis)
        }
    };
    written.map(|()| Exit::Measured).map_err(runtime_error)
}

fn run_of(subject: &Subject) -> Result<(String, &Run, &Judgement)> {
    match subject {
        Subject::Run(name, run, judgement) => Ok((name.clone(), run, judgement)),
        Subject::Study(study) => bail!(
            "{} is an experiment: only runs are shown side by side; name one alone",
            study.id.as_deref().unwrap_or(&study.experiment.name)
        ),
    }
}

/// Finds a subject of the command line.
fn find(word: &str, store: &StoreArgs) -> Result<Subject, CommandError> {
    let path = Path::new(word);
    // A file has precedence over an id of the store of the same name.
    if path.is_file() {
        let name = path.file_stem().map_or(word.into(), |stem| stem.to_string_lossy().into_owned());
        return Ok(judge(name, replay::fold(path)?));
    }
    let store = store.open().map_err(usage_error)?;
    let store = store.ok_or_else(|| {
        usage_error(anyhow!("{word}: there is no such file, and --no-store looks nowhere else"))
    })?;
    let item = store.find(word).map_err(runs::store_error)?;
    match item {
        StoredItem::Run(id) => Ok(judge(id.clone(), store.run(&id).map_err(runtime_error)?)),
        StoredItem::Experiment(id) => {
            Ok(Subject::Study(Box::new(store.study(&id).map_err(runtime_error)?)))
        }
    }
}

fn judge(name: String, run: Run) -> Subject {
    let judgement = brunt_judge::judge(&run);
    Subject::Run(name, Box::new(run), Box::new(judgement))
}
