//! wrk2: wrk with a constant rate, and response times from the instant at which a request was due.
//! It calibrates for ten seconds first.

use super::text::{line_words, number_after, time};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "wrk2",
    program: Some("wrk2"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open],
    spacing: Spacing::Even,
    lead: 10,
    file: None,
    note: "`-R RATE --latency`, one thread; 10 s more, which it takes to calibrate; the program must be called wrk2",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let seconds = job.seconds + TOOL.lead;
    let LoadParameters { most: connections, rate, .. } = job;
    let url = job.url();
    // As for wrk, the default timeout is shorter than a stall of the server.
    ToolCommand::line(&format!(
        "wrk2 -t1 -c{connections} -d{seconds}s -R{rate} --timeout 20s --latency {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let text = &report.out;
    let throughput = number_after(text, "Requests/sec:").ok_or("it printed no Requests/sec")?;
    let distribution = text.split("Recorded Latency").nth(1).unwrap_or("");
    let figures = CertifiedFigures {
        p50: percentile(distribution, "50.000%"),
        p90: percentile(distribution, "90.000%"),
        p99: percentile(distribution, "99.000%"),
        p99_9: percentile(distribution, "99.900%"),
        max: percentile(distribution, "100.000%"),
        mean: line_words(text, "Latency ").and_then(|words| time(words.get(1)?)),
        throughput: Some(throughput),
        ..CertifiedFigures::default()
    };
    let line = text.lines().find(|line| line.contains("Socket errors:")).unwrap_or("");
    let failed = ["connect ", "read ", "write ", "timeout "]
        .map(|kind| number_after(line, kind).unwrap_or(0.0));
    Ok(figures.with_errors(
        failed.iter().sum(),
        number_after(text, "Non-2xx or 3xx responses:").unwrap_or(0.0),
    ))
}

fn percentile(distribution: &str, label: &str) -> Option<f64> {
    time(line_words(distribution, label)?.get(1)?)
}
