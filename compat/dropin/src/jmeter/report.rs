//! Writes the dashboard of a run or a result file: a page with JMeter's
//! tables and graphs, and `statistics.json`.

use super::collector::JmeterCollector;
use super::console::date;
use super::graphs;
use super::settings::{JmeterSettings, check_folder};
use crate::caller::Caller;
use crate::error::{ToolError, ToolResult};
use brunt_jmx::dashboard;
use brunt_jmx::jtl;
use brunt_jmx::statistics::Statistics;
use brunt_report::html::dashboard::{self as page, Dashboard};
use std::fs::{self, File};
use std::path::Path;

/// Default title of the page.
const TITLE: &str = "Apache JMeter Dashboard";

/// Writes the report of a result file (`-g`) and returns the exit code.
pub fn of_file(settings: &JmeterSettings, caller: &Caller) -> ToolResult<u8> {
    let name = settings.options.result_file.as_deref().unwrap_or_default();
    let folder = settings.report_folder();
    if settings.options.force_delete && folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| path_error(&folder, &error))?;
    }
    check_folder(&folder)?;
    let file = File::open(name).map_err(|error| path_error(Path::new(name), &error))?;
    let mut statistics = Statistics::new(settings.statistics());
    let mut start = u64::MAX;
    let mut end = 0;
    let unreadable = jtl::for_each_sample(file, &settings.jtl, |record| {
        start = start.min(record.start_unix_millis);
        end = end.max(record.start_unix_millis + record.elapsed_millis);
        statistics.record(record);
    })
    .map_err(|error| path_error(Path::new(name), &error))?;
    // JMeter stops at such a sample, without a report.
    if let Some(unreadable) = unreadable {
        caller.err_line(&format!("{name}: {unreadable}"));
    }
    write(settings, &statistics, start, end).map(|()| 0)
}

/// Writes the report of a run (`-e`).
pub fn of_run(settings: &JmeterSettings, collector: &JmeterCollector) -> ToolResult<()> {
    let Some(statistics) = &collector.statistics else { return Ok(()) };
    write(settings, statistics, collector.span.0, collector.span.1)
}

fn write(
    settings: &JmeterSettings,
    statistics: &Statistics,
    start: u64,
    end: u64,
) -> ToolResult<()> {
    let folder = settings.report_folder();
    fs::create_dir_all(&folder).map_err(|error| path_error(&folder, &error))?;
    let title =
        settings.property("jmeter.reportgenerator.report_title").unwrap_or(TITLE).to_owned();
    let source = settings.options.result_file.as_deref().unwrap_or_default();
    let facts = vec![
        ("Source file".to_owned(), format!("\"{source}\"")),
        ("Start Time".to_owned(), date(start)),
        ("End Time".to_owned(), date(end)),
        ("Filter for display".to_owned(), "\"\"".to_owned()),
    ];
    let percentiles = settings.statistics().percentiles;
    let links = vec![("statistics.json".into(), "statistics.json".into())];
    let page =
        html(statistics, percentiles, Dashboard { title, facts, links, ..Dashboard::default() });
    for (name, text) in
        [("index.html", page), ("statistics.json", statistics.to_json().into_bytes())]
    {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| path_error(&path, &error))?;
    }
    Ok(())
}

/// Formats the dashboard page, with a title, facts and links.
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

fn path_error(path: &Path, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::new(format!("{}: {error}", path.display()))
}
