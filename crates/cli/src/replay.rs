//! The command `brunt replay`: reports a run from an event log of `--events` or of a store.

use crate::exit::{CommandError, Exit, FailOn, exit_of, runtime_error, usage_error};
use crate::output::Outputs;
use crate::suggestions::of_reports;
use anyhow::Context;
use brunt_model::Run;
use brunt_model::codec::LogError;
use brunt_spec::words::values::{self, Output};
use brunt_store::log::EventReader;
use clap::Args;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt --events run.events http://127.0.0.1:8080/      record a run
  brunt replay run.events                               show its report again
  brunt replay run.events -o csv=run.csv                its time series, for a spreadsheet";

/// Arguments of `brunt replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// Event log that --events wrote
    pub file: PathBuf,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_reports())]
    pub outputs: Vec<Output>,
    /// Exit code 6 if the load generator was the bottleneck
    #[arg(long)]
    pub strict: bool,
}

/// Reads a log and writes the reports.
pub fn replay(args: &ReplayArgs) -> Result<Exit, CommandError> {
    let outputs = Outputs::open(&args.outputs, false).map_err(usage_error)?;
    let mut run = fold(&args.file)?;
    // A run that was measured with --strict stays strict.
    run.environment.strict |= args.strict;
    let judgement = brunt_judge::judge(&run);
    outputs.write(&run, &judgement).map_err(runtime_error)?;
    Ok(exit_of(&run, &judgement, FailOn::recorded_in(&run)))
}

/// Folds the events of a log into a run. A torn log (power cut, full disk) is read up
/// to its last complete event.
pub fn fold(path: &Path) -> Result<Run, CommandError> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| name.clone()).map_err(usage_error)?;
    let mut log = EventReader::new(BufReader::new(file))
        .with_context(|| name.clone())
        .map_err(usage_error)?;
    let mut run = Run::default();
    loop {
        match log.next_event() {
            Ok(Some(event)) => run.fold(&event),
            Ok(None) => break,
            Err(error @ LogError::Torn(_)) => {
                eprintln!("brunt: {name}: {error}");
                break;
            }
            Err(error) => return Err(runtime_error(error)),
        }
    }
    run.warnings.extend(log.warning());
    Ok(run)
}
