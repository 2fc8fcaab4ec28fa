//! Summarizes result files of JMeter (.jtl) by label: `brunt report result.jtl`.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output;
use anyhow::{Context, Result, bail};
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
    for file in files {
        read(Path::new(file), &mut statistics).map_err(usage_error)?;
    }
    let title = "Dashboard".into();
    let facts =
        files.iter().map(|file| ("Source file".to_owned(), format!("\"{file}\""))).collect();
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

fn read(path: &Path, statistics: &mut Statistics) -> Result<()> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| name.clone())?;
    let mut samples = 0_u64;
    for record in jtl::read(file, &JtlSettings::default()).with_context(|| name.clone())? {
        statistics.record(&record.with_context(|| name.clone())?);
        samples += 1;
    }
    if samples == 0 {
        bail!("{name}: the result file has no samples");
    }
    Ok(())
}
