//! bombardier: closed, or a rate over all connections; JSON in microseconds.

use super::text::{at, json};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "bombardier",
    program: Some("bombardier"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "open: `-r RATE`; `-l`, JSON; it prints no p99.9",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let rate = if job.way == LoadMode::Open { format!(" -r {}", job.rate) } else { String::new() };
    let (connections, seconds, url) = (job.pool(), job.seconds, job.url());
    ToolCommand::line(&format!("bombardier -c {connections} -d {seconds}s{rate} -t 30s -l -p r -o json {url}"))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let json = json(&told.out)?;
    let result = json.get("result").ok_or("its JSON has no result")?;
    let time = |pointer: &str| at(result, &format!("/latency/{pointer}")).map(|micros| micros / 1e6);
    let count = |key: &str| result[key].as_f64().unwrap_or(0.0);
    let replies: f64 = ["req1xx", "req2xx", "req3xx", "req4xx", "req5xx"].map(count).iter().sum();
    let figures = Figures {
        p50: time("percentiles/50"),
        p90: time("percentiles/90"),
        p99: time("percentiles/99"),
        max: time("max"),
        mean: time("mean"),
        throughput: at(result, "/timeTakenSeconds").filter(|taken| *taken > 0.0).map(|taken| replies / taken),
        ..Figures::default()
    };
    Ok(figures.with_errors(count("others"), count("req4xx") + count("req5xx")))
}
