//! What was kept, shown once more: `brunt report`.
//!
//! What it is **not**: a measurement. What is kept is found, folded, judged and shown, as on the day it was made.

use crate::args::values::{self, Output};
use crate::exit::Exit;
use crate::output::Outputs;
use crate::{Failed, failed, replay, usage};
use anyhow::anyhow;
use brunt_model::{Judgement, Run};
use brunt_report::single;
use clap::Args;
use std::path::Path;

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt report run.events                      its report again, as `brunt replay` shows it
  brunt report run.events -o svg=plots/        its charts, a file each
  brunt report run.events -o markdown          tables for a page or a letter
  brunt report before.events after.events      two runs beside each other";

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// What is shown: event logs, as --events wrote them; several are set beside each other
    #[arg(value_name = "FILE", required = true)]
    pub subjects: Vec<String>,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output)]
    pub outputs: Vec<Output>,
}

/// A run that was found: what it is called, what was measured, what was decided about it.
type Kept = (String, Run, Judgement);

/// Finds what is named, and writes every report that was asked for.
pub fn report(args: &ReportArgs) -> Result<Exit, Failed> {
    let kept = args.subjects.iter().map(|subject| find(subject)).collect::<Result<Vec<Kept>, Failed>>()?;
    let outputs = Outputs::open(&args.outputs, false).map_err(usage)?;
    if let [(_, run, judgement)] = kept.as_slice() {
        outputs.write(run, judgement).map_err(failed)?;
        return Ok(Exit::Measured);
    }
    let runs: Vec<_> = kept.iter().map(|(name, run, judgement)| (name.clone(), run, judgement)).collect();
    let (study, analysis) = single::study_of_several(&runs);
    outputs.write_study(&study, &analysis).map_err(failed)?;
    Ok(Exit::Measured)
}

/// What a word of the command line names.
fn find(subject: &str) -> Result<Kept, Failed> {
    let path = Path::new(subject);
    if !path.is_file() {
        return Err(usage(anyhow!("{subject}: there is no such file; write the event log that --events wrote")));
    }
    let run = replay::fold(path)?;
    let judgement = brunt_judge::judge(&run);
    let name = path.file_stem().map_or(subject.into(), |stem| stem.to_string_lossy().into_owned());
    Ok((name, run, judgement))
}
