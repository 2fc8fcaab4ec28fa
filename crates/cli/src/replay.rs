//! A report from an event log, as `--events` wrote it or as a store keeps it: the same fold, the same formats, nothing measured.

use crate::exit::{Exit, FailOn, Failed, exit_of, failed, usage};
use crate::output::Outputs;
use anyhow::Context;
use brunt_model::Run;
use brunt_model::codec::LogError;
use brunt_spec::words::values::{self, Output};
use brunt_store::log::EventReader;
use clap::Args;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt --events run.events http://127.0.0.1:8080/      record a run
  brunt replay run.events                               show its report again
  brunt replay run.events -o csv=run.csv                its time series, for a spreadsheet";

/// What `brunt replay` is told.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// Event log that --events wrote
    pub file: PathBuf,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output)]
    pub outputs: Vec<Output>,
    /// Exit code 6 if the load generator was the bottleneck
    #[arg(long)]
    pub strict: bool,
}

/// Folds a log and reports it.
pub fn replay(args: &ReplayArgs) -> Result<Exit, Failed> {
    let outputs = Outputs::open(&args.outputs, false).map_err(usage)?;
    let mut run = fold(&args.file)?;
    run.environment.strict |= args.strict;
    let judgement = brunt_judge::judge(&run);
    outputs.write(&run, &judgement).map_err(failed)?;
    Ok(exit_of(&run, &judgement, FailOn { limited: args.strict, ..FailOn::default() }))
}

/// Folds a log. One that was torn (a power cut, a full disk) is taken up to its last whole event.
pub fn fold(path: &Path) -> Result<Run, Failed> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name).map_err(usage)?;
    let mut log = EventReader::new(BufReader::new(file)).with_context(name).map_err(usage)?;
    let mut run = Run::default();
    loop {
        match log.next_event() {
            Ok(Some(event)) => run.fold(&event),
            Ok(None) => break,
            Err(error @ LogError::Torn(_)) => {
                eprintln!("brunt: {}: {error}", name());
                break;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    run.warnings.extend(log.warning());
    Ok(run)
}
