//! httperf: an open loop of connections with one request each. `-v -v` prints a histogram with
//! bins of a millisecond.

use super::text::{first_number, number_after};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "httperf",
    program: Some("httperf"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "`--rate RATE --num-calls 1 -v -v`; percentiles from its histogram, which has bins of 1 ms",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let LoadParameters { port, rate, seconds, .. } = job;
    let connections = rate * seconds;
    // Without `--hog`, httperf uses only few local ports.
    ToolCommand::line(&format!(
        "httperf --hog --server 127.0.0.1 --port {port} --uri / --rate {rate} --num-conns {connections} --num-calls 1 --timeout 20 \
         -v -v"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let text = &report.out;
    let total = line_with_start(text, "Total: connections");
    let replies = number_after(total, "replies ").ok_or("it printed no number of replies")?;
    let lifetime = line_with_start(text, "Connection time [ms]: min");
    let figures = CertifiedFigures {
        mean: number_after(lifetime, "avg ").map(|ms| ms / 1e3),
        max: number_after(lifetime, "max ").map(|ms| ms / 1e3),
        throughput: number_after(total, "test-duration ").map(|duration| replies / duration),
        ..CertifiedFigures::from_times(histogram(text))
    };
    let status = line_with_start(text, "Reply status:");
    let refused =
        ["4xx=", "5xx="].map(|class| number_after(status, class).unwrap_or(0.0)).iter().sum();
    let failed = number_after(line_with_start(text, "Errors: total"), "total ").unwrap_or(0.0);
    Ok(figures.with_errors(failed, refused))
}

fn line_with_start<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or("")
}

/// Returns the middle of each bin in seconds, repeated by its count.
fn histogram(text: &str) -> Vec<f64> {
    let lines =
        text.lines().skip_while(|line| !line.starts_with("Connection lifetime histogram")).skip(1);
    let bins = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let (middle, count) = line.trim().split_once(' ')?;
        Some((first_number(middle)? / 1e3, count.trim().parse::<usize>().ok()?))
    });
    bins.flat_map(|(middle, count)| std::iter::repeat_n(middle, count)).collect()
}
