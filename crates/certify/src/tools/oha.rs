//! oha: a closed loop, or a rate with response times from the instant at which a worker was due.
//! Its option for JSON changed between versions.

use super::text::{is_refusal, json, number_at, sum};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "oha",
    program: Some("oha"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "open: `-q RATE --latency-correction`; JSON; requests cut off at the end do not count as errors",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let rate = match job.way {
        LoadMode::Open => format!(" -q {} --latency-correction", job.rate),
        LoadMode::Closed => String::new(),
    };
    let connections = job.pool();
    let seconds = job.seconds;
    let url = job.url();
    // Older versions have `--json`, newer ones `--output-format json`.
    ToolCommand::shell(format!(
        "json=--json; oha --help | grep -q -e --output-format && json='--output-format json'; \
         exec oha --no-tui $json -c {connections} -z {seconds}s{rate} {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let json = json(&report.out)?;
    let percentiles = &json["latencyPercentiles"];
    let figures = CertifiedFigures {
        p50: percentiles["p50"].as_f64(),
        p90: percentiles["p90"].as_f64(),
        p99: percentiles["p99"].as_f64(),
        p99_9: percentiles["p99.9"].as_f64(),
        max: number_at(&json, "/summary/slowest"),
        mean: number_at(&json, "/summary/average"),
        throughput: number_at(&json, "/summary/requestsPerSec"),
        ..CertifiedFigures::default()
    };
    // Requests that are cut off at the end have the error "deadline", and are no failures.
    let failed = sum(&json["errorDistribution"], |error| !error.contains("deadline"));
    Ok(figures.with_errors(failed, sum(&json["statusCodeDistribution"], is_refusal)))
}
