//! wrk 4: a closed loop. Its distribution ends at the 99th percentile.

use super::text::{line_words, number_after, time};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "wrk",
    program: Some("wrk"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "`--latency --timeout 20s`, one thread; it prints no p99.9",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let LoadParameters { connections, seconds, .. } = job;
    let url = job.url();
    // By default, wrk counts requests as errors after 2 s, which a stall of the server can take.
    ToolCommand::line(&format!(
        "wrk -t1 -c{connections} -d{seconds}s --timeout 20s --latency {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let text = &report.out;
    let throughput = number_after(text, "Requests/sec:").ok_or("it printed no Requests/sec")?;
    let distribution = text.split("Latency Distribution").nth(1).unwrap_or("");
    // The columns are average, standard deviation and maximum.
    let thread = line_words(text, "Latency ").unwrap_or_default();
    let figures = CertifiedFigures {
        p50: percentile(distribution, "50%"),
        p90: percentile(distribution, "90%"),
        p99: percentile(distribution, "99%"),
        mean: thread.get(1).and_then(|word| time(word)),
        max: thread.get(3).and_then(|word| time(word)),
        throughput: Some(throughput),
        ..CertifiedFigures::default()
    };
    let failed = ["connect ", "read ", "write ", "timeout "]
        .map(|kind| socket_errors(text, kind))
        .iter()
        .sum();
    Ok(figures.with_errors(failed, number_after(text, "Non-2xx or 3xx responses:").unwrap_or(0.0)))
}

fn percentile(distribution: &str, label: &str) -> Option<f64> {
    time(line_words(distribution, label)?.get(1)?)
}

/// Returns a count from the line that wrk prints only if requests failed.
fn socket_errors(text: &str, kind: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("Socket errors:")).unwrap_or("");
    number_after(line, kind).unwrap_or(0.0)
}
