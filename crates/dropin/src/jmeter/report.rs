//! The dashboard of a run or of a result file: a page with JMeter's tables and graphs, and `statistics.json`.

use super::collector::SampleCollector;
use super::console::date;
use super::graphs;
use super::settings::{Settings, check_folder};
use crate::error::{Result, ToolError};
use brunt_jmx::dashboard;
use brunt_jmx::jtl;
use brunt_jmx::statistics::Statistics;
use brunt_report::html::dashboard::{self as page, Dashboard};
use std::fs::{self, File};
use std::path::Path;

/// The page's heading where no property names one.
const TITLE: &str = "Apache JMeter Dashboard";

/// Makes the report of a result file: `-g`; the exit code.
pub fn of_file(settings: &Settings) -> Result<u8> {
    let name = settings.options.result_file.as_deref().unwrap_or_default();
    let folder = settings.report_folder();
    if settings.options.force_delete && folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    }
    check_folder(&folder)?;
    let file = File::open(name).map_err(|error| at(Path::new(name), &error))?;
    let mut statistics = Statistics::new(settings.statistics());
    let (mut start, mut end) = (u64::MAX, 0);
    for record in jtl::read(file, &settings.jtl).map_err(|error| at(Path::new(name), &error))? {
        let record = record.map_err(|error| at(Path::new(name), &error))?;
        start = start.min(record.start_unix_millis);
        end = end.max(record.start_unix_millis + record.elapsed_millis);
        statistics.record(&record);
    }
    if end == 0 {
        return Err(ToolError::new(format!("{name}: the result file has no samples")));
    }
    write(settings, &statistics, (start, end)).map(|()| 0)
}

/// Makes the report of a run: `-e`.
pub fn of_run(settings: &Settings, collector: &SampleCollector) -> Result<()> {
    let Some(statistics) = &collector.statistics else { return Ok(()) };
    write(settings, statistics, collector.span)
}

fn write(settings: &Settings, statistics: &Statistics, (start, end): (u64, u64)) -> Result<()> {
    let folder = settings.report_folder();
    fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    let title = settings.property("jmeter.reportgenerator.report_title").unwrap_or(TITLE).to_owned();
    let source = settings.options.result_file.as_deref().unwrap_or_default();
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let facts = vec![
        fact("Source file", format!("\"{source}\"")),
        fact("Start Time", date(start)),
        fact("End Time", date(end)),
        fact("Filter for display", "\"\"".into()),
    ];
    let percentiles = settings.statistics().percentiles;
    let links = vec![("statistics.json".into(), "statistics.json".into())];
    let page = html(statistics, percentiles, Dashboard { title, facts, links, ..Dashboard::default() });
    for (name, text) in [("index.html", page), ("statistics.json", statistics.to_json().into_bytes())] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| at(&path, &error))?;
    }
    Ok(())
}

/// The page of these statistics, with a title, facts and links.
pub fn html(statistics: &Statistics, percentiles: [f64; 3], info: Dashboard) -> Vec<u8> {
    let dashboard = Dashboard {
        tables: dashboard::tables(statistics, percentiles),
        shares: dashboard::shares(statistics),
        sections: graphs::all(statistics.timeline(), percentiles),
        ..info
    };
    let mut out = Vec::new();
    match page::write(&dashboard, &mut out) {
        Ok(()) => out,
        Err(_) => unreachable!("a vector takes any bytes"),
    }
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::new(format!("{}: {error}", path.display()))
}
