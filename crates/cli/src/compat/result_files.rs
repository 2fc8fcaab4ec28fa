//! Summarizes result files of JMeter (.jtl) by label: `brunt report result.jtl`.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output;
use anyhow::{Context, Result};
use brunt_dropin::dashboard_page;
use brunt_jmx::dashboard;
use brunt_jmx::jtl::{self, JtlSettings};
use brunt_jmx::statistics::{Statistics, StatisticsSettings};
use brunt_report::html::dashboard::Dashboard;
use brunt_spec::words::values::Output;
use std::fs::{self, File};
use std::path::Path;

/// Formats of the summary.
const FORMATS: [&str; 3] = ["text", "json", "html"];
/// Summarizes result files and writes the summary in each requested format.
pub fn report(files: &[String], outputs: &[Output]) -> Result<Exit, CommandError> {
    crate::args::output::check(outputs, &FORMATS).map_err(usage_error)?;
    let settings = StatisticsSettings::default();
    let percentiles = settings.percentiles;
    let mut statistics = Statistics::new(settings);
    let mut notes = Vec::new();
    for file in files {
        notes.extend(read(Path::new(file), &mut statistics).map_err(usage_error)?);
    }
    for note in &notes {
        eprintln!("brunt: {note}");
    }
    let title = "Dashboard".into();
    let sources = files.iter().map(|file| ("Source file".to_owned(), format!("\"{file}\"")));
    let left_out = notes.into_iter().map(|note| ("Left out".to_owned(), note));
    let facts = sources.chain(left_out).collect();
    let info = Dashboard { title, facts, ..Dashboard::default() };
    if outputs.is_empty() {
        return output::print(dashboard::text(&statistics, percentiles))
            .map(|()| Exit::Measured)
            .map_err(runtime_error);
    }
    for output in outputs {
        let text = match output.format.as_str() {
            "json" => (statistics.to_json() + "\n").into_bytes(),
            "html" => dashboard_page(&statistics, percentiles, info.clone()),
            _ => dashboard::text(&statistics, percentiles).into_bytes(),
        };
        let written = match &output.file {
            Some(path) => fs::write(path, text).with_context(|| path.display().to_string()),
            None => output::print(&text),
        };
        written.map_err(runtime_error)?;
    }
    Ok(Exit::Measured)
}

/// Adds the samples of a file. Returns a note on those that cannot be read.
fn read(path: &Path, statistics: &mut Statistics) -> Result<Option<String>> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| name.clone())?;
    let unreadable =
        jtl::for_each_sample(file, &JtlSettings::default(), |record| statistics.record(record))
            .with_context(|| name.clone())?;
    Ok(unreadable.map(|unreadable| format!("{name}: {unreadable}")))
}
