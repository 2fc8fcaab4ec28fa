//! `ApacheBench`: a closed loop; the file of `-e` has every whole percentile in microseconds.

use super::text::number_after;
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "ab",
    program: Some("ab"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("ab.csv"),
    note: "`-k -r -e FILE`; percentiles from the file, failures from `Length` (a reset is in three of its counts)",
    ask,
    read,
};

// `-t` sets the number of requests, so it must come before `-n`.
fn ask(job: &Job) -> ToolCommand {
    let (connections, seconds, url) = (job.connections, job.seconds, job.url());
    ToolCommand::line(&format!("ab -q -k -r -s 30 -c {connections} -t {seconds} -n 1000000 -e ab.csv {url}"))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let throughput = number_after(&told.out, "Requests per second:").ok_or("it printed no Requests per second")?;
    let percentile = |percent: &str| {
        let line = told.file.lines().find(|line| line.split(',').next() == Some(percent))?;
        Some(line.split_once(',')?.1.trim().parse::<f64>().ok()? / 1e3)
    };
    let figures = Figures {
        p50: percentile("50"),
        p90: percentile("90"),
        p99: percentile("99"),
        max: percentile("100"),
        mean: number_after(&told.out, "Time per request:").map(|ms| ms / 1e3),
        throughput: Some(throughput),
        ..Figures::default()
    };
    // One body length is right, and every request that fails has another.
    let failed = ["(Connect:", "Length:"].map(|kind| failures(&told.out, kind)).iter().sum();
    Ok(figures.with_errors(failed, number_after(&told.out, "Non-2xx responses:").unwrap_or(0.0)))
}

/// Of the line that is there only if something failed.
fn failures(text: &str, kind: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("(Connect:")).unwrap_or("");
    number_after(line, kind).unwrap_or(0.0)
}
