//! oha: closed, or a rate with response times from when a worker was due. Its word for JSON has changed once.

use super::text::{at, is_refusal, json, sum};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "oha",
    program: Some("oha"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "open: `-q RATE --latency-correction`; JSON; what is cut off at the end is not taken for an error",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let rate = match job.way {
        LoadMode::Open => format!(" -q {} --latency-correction", job.rate),
        LoadMode::Closed => String::new(),
    };
    let (connections, seconds, url) = (job.pool(), job.seconds, job.url());
    ToolCommand::shell(format!(
        "json=--json; oha --help | grep -q -e --output-format && json='--output-format json'; \
         exec oha --no-tui $json -c {connections} -z {seconds}s{rate} {url}"
    ))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let json = json(&told.out)?;
    let percentiles = &json["latencyPercentiles"];
    let percentile = |key: &str| percentiles[key].as_f64();
    let figures = Figures {
        p50: percentile("p50"),
        p90: percentile("p90"),
        p99: percentile("p99"),
        p99_9: percentile("p99.9"),
        max: at(&json, "/summary/slowest"),
        mean: at(&json, "/summary/average"),
        throughput: at(&json, "/summary/requestsPerSec"),
        ..Figures::default()
    };
    let failed = sum(&json["errorDistribution"], |error| !error.contains("deadline"));
    Ok(figures.with_errors(failed, sum(&json["statusCodeDistribution"], is_refusal)))
}
