//! bombardier: a closed loop, or a rate over all connections. It prints JSON in microseconds.

use super::text::{json, number_at};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;
use serde_json::Value;

pub const TOOL: ScoredTool = ScoredTool {
    name: "bombardier",
    program: Some("bombardier"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "open: `-r RATE`; `-l`, JSON; it prints no p99.9",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let rate = if job.way == LoadMode::Open { format!(" -r {}", job.rate) } else { String::new() };
    let connections = job.pool();
    let seconds = job.seconds;
    let url = job.url();
    ToolCommand::line(&format!(
        "bombardier -c {connections} -d {seconds}s{rate} -t 30s -l -p r -o json {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let json = json(&report.out)?;
    let result = json.get("result").ok_or("its JSON has no result")?;
    let replies: f64 = ["req1xx", "req2xx", "req3xx", "req4xx", "req5xx"]
        .map(|class| count(result, class))
        .iter()
        .sum();
    let figures = CertifiedFigures {
        p50: time(result, "percentiles/50"),
        p90: time(result, "percentiles/90"),
        p99: time(result, "percentiles/99"),
        max: time(result, "max"),
        mean: time(result, "mean"),
        throughput: number_at(result, "/timeTakenSeconds")
            .filter(|taken| *taken > 0.0)
            .map(|taken| replies / taken),
        ..CertifiedFigures::default()
    };
    let refused = count(result, "req4xx") + count(result, "req5xx");
    Ok(figures.with_errors(count(result, "others"), refused))
}

/// A response time in seconds.
fn time(result: &Value, pointer: &str) -> Option<f64> {
    number_at(result, &format!("/latency/{pointer}")).map(|micros| micros / 1e6)
}

fn count(result: &Value, key: &str) -> f64 {
    result[key].as_f64().unwrap_or(0.0)
}
