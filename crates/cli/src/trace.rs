//! Handles `--trace` on the terminal: samples go to standard output, counts to standard error.

use crate::args::store::StoreArgs;
use crate::exit::Exit;
use crate::live::print_line;
use crate::{redact, view};
use anyhow::{Context, Result, ensure};
use brunt_runner::trace::Tracer;
use brunt_spec::settings::OutputSettings;
use std::fs;
use std::io::{self, IsTerminal};

/// Creates a tracer if the settings request one.
pub fn requested(output: &OutputSettings, store: &StoreArgs) -> Result<Option<Tracer>> {
    if output.trace && store.store.is_some() {
        // Nothing is stored, but with its key, equal secrets have equal replacements in all traces.
        store.open()?;
    }
    let view = output.trace_view.clone();
    ensure!(
        !view.shows_secrets || io::stdout().is_terminal(),
        "--show-secrets: standard output is no terminal, and secrets are shown on a terminal only; leave --show-secrets \
         out, or do not redirect the output"
    );
    if let Some(folder) = &view.files {
        fs::create_dir_all(folder)
            .with_context(|| format!("--trace-files: cannot make `{}`", folder.display()))?;
    }
    let tracer = Tracer::new(view, view::of_stdout(), Box::new(io::stdout()), redact::current());
    Ok(output.trace.then_some(tracer))
}

/// Prints the counts of a stage, and returns the exit code.
pub fn end(tracer: &mut Tracer, interrupted: bool) -> Result<Exit> {
    let summary = tracer.end();
    for line in &summary.lines {
        print_line(line);
    }
    if let Some(error) = summary.error {
        return Err(error.into());
    }
    Ok(match summary.samples {
        _ if interrupted => Exit::Interrupted,
        0 => Exit::NothingMeasured,
        samples if samples == summary.failed => Exit::ObjectiveMissed,
        _ => Exit::Measured,
    })
}
