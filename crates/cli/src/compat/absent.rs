//! Refuses plans and result files of other tools, in a program that was built without them.

use crate::args::RunArgs;
use crate::exit::{CommandError, Exit, usage_error};
use anyhow::anyhow;
use brunt_spec::words::values::Output;
use brunt_store::foreign::ResultReader;
use std::path::Path;
use std::process::ExitCode;

fn absent_error(subject: &str) -> anyhow::Error {
    anyhow!(
        "{subject}: this brunt was built without other tools; build it with the feature `compat`"
    )
}

/// Returns None: no name is that of another tool.
pub fn run_drop_in(_words: &[String]) -> Option<ExitCode> {
    None
}

/// No result files of other tools can be read, except those that the core reads.
pub const RESULT_READERS: &[ResultReader] = &[];

/// True if a text begins like a result file of JMeter.
pub fn is_result_text(text: &str) -> bool {
    text.contains("<testResults") || text.starts_with("timeStamp,elapsed,")
}

/// Refuses a JMeter plan.
pub fn run_jmeter_plan(path: &Path, _args: &RunArgs) -> Result<Exit, CommandError> {
    Err(usage_error(absent_error(&path.display().to_string())))
}

/// Refuses result files of JMeter.
pub fn report_result_files(files: &[String], _outputs: &[Output]) -> Result<Exit, CommandError> {
    Err(usage_error(absent_error(&files.join(", "))))
}
