//! vegeta: a constant rate with as many workers as it takes, or as fast as so many workers can.

use super::text::{at, is_refusal, json, sum};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "vegeta",
    program: Some("vegeta"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("vegeta.hdr"),
    note: "open: `-rate RATE`, closed: `-rate 0 -max-workers N`; JSON report, p99.9 from its hdrplot",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let load = match job.way {
        LoadMode::Open => format!("-rate {}/s", job.rate),
        LoadMode::Closed => format!("-rate 0 -max-workers {0} -workers {0}", job.connections),
    };
    let (seconds, url) = (job.seconds, job.url());
    ToolCommand::shell(format!(
        "echo 'GET {url}' | vegeta attack {load} -duration {seconds}s -output vegeta.bin && \
         vegeta report -type hdrplot -output vegeta.hdr vegeta.bin && vegeta report -type json vegeta.bin"
    ))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let json = json(&told.out)?;
    let time = |key: &str| at(&json, &format!("/latencies/{key}")).map(|nanos| nanos / 1e9);
    let figures = Figures {
        p50: time("50th"),
        p90: time("90th"),
        p99: time("99th"),
        p99_9: plotted(&told.file, 0.999),
        max: time("max"),
        mean: time("mean"),
        throughput: at(&json, "/throughput"),
        ..Figures::default()
    };
    let codes = &json["status_codes"];
    if !codes.is_object() {
        return Err("its JSON has no status_codes".into());
    }
    Ok(figures.with_errors(sum(codes, |code| code == "0"), sum(codes, is_refusal)))
}

/// The value of the first row at or beyond a quantile: value in ms, quantile, count, reciprocal.
fn plotted(rows: &str, quantile: f64) -> Option<f64> {
    let row = |line: &str| {
        let mut fields = line.split_whitespace().map(str::parse::<f64>);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    rows.lines().filter_map(row).find(|(_, at)| *at >= quantile - 1e-9).map(|(ms, _)| ms / 1e3)
}
