//! vegeta: a constant rate with as many workers as necessary, or the maximum rate of a
//! fixed number of workers.

use super::text::{is_refusal, json, number_at, sum};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;
use serde_json::Value;

pub const TOOL: ScoredTool = ScoredTool {
    name: "vegeta",
    program: Some("vegeta"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("vegeta.hdr"),
    note: "open: `-rate RATE`, closed: `-rate 0 -max-workers N`; JSON report, p99.9 from its hdrplot",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let load = match job.way {
        LoadMode::Open => format!("-rate {}/s", job.rate),
        LoadMode::Closed => format!("-rate 0 -max-workers {0} -workers {0}", job.connections),
    };
    let seconds = job.seconds;
    let url = job.url();
    // vegeta writes a binary file, from which two reports are made.
    ToolCommand::shell(format!(
        "echo 'GET {url}' | vegeta attack {load} -duration {seconds}s -output vegeta.bin && \
         vegeta report -type hdrplot -output vegeta.hdr vegeta.bin && vegeta report -type json vegeta.bin"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let json = json(&report.out)?;
    let figures = CertifiedFigures {
        p50: time(&json, "50th"),
        p90: time(&json, "90th"),
        p99: time(&json, "99th"),
        p99_9: plotted(&report.file, 0.999),
        max: time(&json, "max"),
        mean: time(&json, "mean"),
        throughput: number_at(&json, "/throughput"),
        ..CertifiedFigures::default()
    };
    let codes = &json["status_codes"];
    if !codes.is_object() {
        return Err("its JSON has no status_codes".into());
    }
    Ok(figures.with_errors(sum(codes, |code| code == "0"), sum(codes, is_refusal)))
}

/// A latency in seconds.
fn time(json: &Value, key: &str) -> Option<f64> {
    number_at(json, &format!("/latencies/{key}")).map(|nanos| nanos / 1e9)
}

/// Value in seconds of the first row at or beyond a quantile. A row has value in ms,
/// quantile, count and reciprocal.
fn plotted(rows: &str, quantile: f64) -> Option<f64> {
    for line in rows.lines() {
        let mut fields = line.split_whitespace().map(str::parse::<f64>);
        // Headings are no numbers.
        let (Some(Ok(ms)), Some(Ok(row_quantile))) = (fields.next(), fields.next()) else {
            continue;
        };
        if row_quantile >= quantile - 1e-9 {
            return Some(ms / 1e3);
        }
    }
    None
}
