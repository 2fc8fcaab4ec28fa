//! hey: a closed loop, or a rate for each worker. Its text ends at the 99th percentile.

use super::text::{first_number, is_refusal, number_after};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "hey",
    program: Some("hey"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::PerConnection,
    lead: 0,
    file: None,
    note: "open: `-q` for each worker; text, in tenths of a millisecond; it prints no p99.9",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let (workers, rate) = match job.way {
        // `-q` is the rate of each worker.
        LoadMode::Open => {
            (job.sharing(), format!(" -q {}", f64::from(job.rate) / f64::from(job.sharing())))
        }
        LoadMode::Closed => (job.connections, String::new()),
    };
    ToolCommand::line(&format!("hey -z {}s -c {workers}{rate} -t 30 {}", job.seconds, job.url()))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let text = &report.out;
    let throughput = number_after(text, "Requests/sec:").ok_or("it printed no Requests/sec")?;
    let figures = CertifiedFigures {
        p50: percentile(text, "50%"),
        p90: percentile(text, "90%"),
        p99: percentile(text, "99%"),
        max: number_after(text, "Slowest:"),
        mean: number_after(text, "Average:"),
        throughput: Some(throughput),
        ..CertifiedFigures::default()
    };
    let failed = counts(text, "Error distribution:")
        .iter()
        .map(|(count, _)| first_number(count).unwrap_or(0.0))
        .sum();
    let statuses = counts(text, "Status code distribution:");
    let refused = statuses
        .iter()
        .filter(|(code, _)| is_refusal(code))
        .filter_map(|(_, rest)| first_number(rest))
        .sum();
    Ok(figures.with_errors(failed, refused))
}

/// Reads a percentile from a line such as `99% in 0.0130 secs`.
fn percentile(text: &str, percent: &str) -> Option<f64> {
    // Some versions print `99%% in`.
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with(percent) && line.contains("% in "))?;
    first_number(line.split_once(" in ")?.1)
}

/// Splits the lines `[WORD] rest` of a section.
fn counts<'a>(text: &'a str, section: &str) -> Vec<(&'a str, &'a str)> {
    let lines = text.split(section).nth(1).unwrap_or("").lines().map(str::trim).skip(1);
    lines.map_while(|line| line.strip_prefix('[')?.split_once(']')).collect()
}
