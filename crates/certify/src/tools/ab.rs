//! `ApacheBench`: a closed loop. The file of `-e` has every whole percentile, in
//! milliseconds with three decimals.

use super::text::number_after;
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "ab",
    program: Some("ab"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("ab.csv"),
    note: "`-k -r -e FILE`; percentiles from the file, failures from `Length` (a reset is in three of its counts)",
    command,
    read,
};

// `-t` sets the number of requests, so it must come before `-n`.
fn command(job: &LoadParameters) -> ToolCommand {
    let LoadParameters { connections, seconds, .. } = job;
    let url = job.url();
    // Without `-r`, ab ends at the first reset.
    ToolCommand::line(&format!(
        "ab -q -k -r -s 30 -c {connections} -t {seconds} -n 1000000 -e ab.csv {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let throughput = number_after(&report.out, "Requests per second:")
        .ok_or("it printed no Requests per second")?;
    let figures = CertifiedFigures {
        p50: percentile(&report.file, "50"),
        p90: percentile(&report.file, "90"),
        p99: percentile(&report.file, "99"),
        max: percentile(&report.file, "100"),
        mean: number_after(&report.out, "Time per request:").map(|ms| ms / 1e3),
        throughput: Some(throughput),
        ..CertifiedFigures::default()
    };
    // The right body length is constant, so every request that fails has another length.
    let failed = ["(Connect:", "Length:"].map(|kind| failures(&report.out, kind)).iter().sum();
    Ok(figures.with_errors(failed, number_after(&report.out, "Non-2xx responses:").unwrap_or(0.0)))
}

/// Reads a percentile, in seconds, from the CSV file with milliseconds.
fn percentile(csv: &str, percent: &str) -> Option<f64> {
    let line = csv.lines().find(|line| line.split(',').next() == Some(percent))?;
    Some(line.split_once(',')?.1.trim().parse::<f64>().ok()? / 1e3)
}

/// Returns a count from the line that ab prints only if requests failed.
fn failures(text: &str, kind: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("(Connect:")).unwrap_or("");
    number_after(line, kind).unwrap_or(0.0)
}
