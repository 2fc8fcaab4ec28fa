//! The command `brunt analyse`: analyzes result files of load tests.
//!
//! Out of scope: reading the files (`store::foreign`) and the mathematics (`judge`).

use crate::compat::RESULT_READERS;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::ignore_closed_pipe;
use crate::suggestions::{names, of_suggestions};
use anyhow::{Context, Result};
use brunt_model::{Analysis, LoadUnit, Objective, Observations};
use brunt_report::analysis;
use brunt_spec::words::named::Suggestion;
use brunt_spec::words::values::{self, Output};
use brunt_spec::words::{duration, objective};
use brunt_store::foreign::{self, File};
use clap::Args;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt analyse result.tsv                         an autobench sweep of one host or two
  brunt analyse nginx.tsv apache.tsv               two sweeps, a contender each
  brunt analyse nginx-100.tsv nginx-200.tsv        one sweep of two trials: ab -g, named by their -c
  brunt analyse table.tsv --objective 'mean < 1s'  `offered nginx apache nginx_ms apache_ms`
  brunt analyse users.csv --think 0s               `users throughput` or `N X` of users who do not think: the scalability law
  brunt analyse result.jtl -o json                 for programs
  brunt analyse result.json                        k6 run --out json=result.json script.js

The name of a contender is that of its file without directory, extension and final number. The same load again is
another repetition.";

/// Arguments of `brunt analyse`.
#[derive(Debug, Clone, Args)]
pub struct AnalyseArgs {
    /// Results of other tools (ab, JMeter, k6, Locust, vegeta, wrk …) or of brunt, or a table
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Objective of each load, such as 'p99 < 3s, errors < 1%'; repeatable
    #[arg(long = "objective", value_name = "BOUNDS", value_parser = objective::parse)]
    objectives: Vec<Vec<Objective>>,
    /// Think time of the users if the files do not state it; 0s allows a fit of the Universal Scalability Law
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    think: Option<Duration>,
    /// Report in FORMAT (text, markdown, json), to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_suggestions(formats))]
    outputs: Vec<Output>,
}

/// A function that writes an analysis in one format.
type WriteAnalysis = fn(&Observations, &Analysis, &mut dyn Write) -> io::Result<()>;

const FORMATS: [(&str, WriteAnalysis); 3] =
    [("text", analysis::text), ("markdown", analysis::markdown), ("json", analysis::json)];

/// Analyzes the files and writes the reports.
pub fn analyse(args: &AnalyseArgs) -> Result<Exit, CommandError> {
    let outputs = outputs(&args.outputs).map_err(usage_error)?;
    let files: Result<Vec<File>> = args.files.iter().map(|path| read_file(path)).collect();
    let mut observations =
        foreign::read(&files.map_err(usage_error)?, RESULT_READERS).map_err(usage_error)?;
    // A think time that the files state counts more than the option.
    if let (LoadUnit::Users { think: unknown @ None }, Some(think)) =
        (&mut observations.unit, args.think)
    {
        *unknown = Some(think);
    }
    let objectives = args.objectives.concat();
    if !objectives.is_empty() {
        foreign::check_objectives(&mut observations, &objectives);
    }
    let analysis = brunt_judge::sweep::analyse(&observations);
    for (write, file) in outputs {
        write_to(&observations, &analysis, write, file).map_err(runtime_error)?;
    }
    Ok(Exit::Measured)
}

fn outputs(requested: &[Output]) -> Result<Vec<(WriteAnalysis, Option<&Path>)>> {
    crate::args::output::check(requested, &FORMATS.map(|row| row.0))?;
    let mut outputs: Vec<_> = requested
        .iter()
        .filter_map(|output| Some((writer(&output.format)?, output.file.as_deref())))
        .collect();
    if outputs.is_empty() {
        outputs.push((analysis::text as WriteAnalysis, None));
    }
    Ok(outputs)
}

fn formats() -> Vec<Suggestion> {
    names(FORMATS.map(|row| row.0))
}

fn writer(format: &str) -> Option<WriteAnalysis> {
    FORMATS.iter().find(|row| row.0 == format).map(|row| row.1)
}

fn read_file(path: &Path) -> Result<File> {
    let name = path.display().to_string();
    let bytes = fs::read(path).with_context(|| name.clone())?;
    // Labels of other tools may have any encoding; the figures are ASCII.
    Ok(File { name, text: String::from_utf8_lossy(&bytes).into_owned() })
}

fn write_to(
    observations: &Observations,
    analysis: &Analysis,
    write: WriteAnalysis,
    file: Option<&Path>,
) -> Result<()> {
    let Some(path) = file else {
        return write(observations, analysis, &mut io::stdout().lock())
            .or_else(ignore_closed_pipe)
            .context("stdout");
    };
    let mut out = fs::File::create(path).with_context(|| path.display().to_string())?;
    write(observations, analysis, &mut out).with_context(|| path.display().to_string())
}
