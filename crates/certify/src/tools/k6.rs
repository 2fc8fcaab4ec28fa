//! k6: constant-arrival-rate or constant-vus, from a script that counts both kinds of errors.

use super::text::{json, number_at};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;
use serde_json::Value;

pub const TOOL: ScoredTool = ScoredTool {
    name: "k6",
    program: Some("k6"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("k6.json"),
    note: "open: constant-arrival-rate with users enough, closed: constant-vus; `http_req_duration` of handleSummary",
    command,
    read,
};

const SCRIPT: &str = "\
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const failed = new Counter('without_reply');
const refused = new Counter('refused');
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['avg', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
  scenarios: { certify: SCENARIO },
};
export default function () {
  const reply = http.get('URL');
  if (reply.error_code >= 1000 && reply.error_code < 1400) failed.add(1);
  else if (reply.status >= 400) refused.add(1);
}
export function handleSummary(data) {
  return { 'k6.json': JSON.stringify(data.metrics) };
}
";

fn command(job: &LoadParameters) -> ToolCommand {
    let LoadParameters { rate, seconds, most, connections, .. } = job;
    let scenario = match job.way {
        LoadMode::Open => format!(
            "{{ executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{seconds}s', \
             preAllocatedVUs: {most}, maxVUs: {most} }}"
        ),
        LoadMode::Closed => {
            format!("{{ executor: 'constant-vus', vus: {connections}, duration: '{seconds}s' }}")
        }
    };
    let script = SCRIPT.replace("SCENARIO", &scenario).replace("URL", &job.url());
    ToolCommand::line("k6 run --quiet --no-usage-report k6.js").with_file("k6.js", script)
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let json = json(&report.file)?;
    let duration =
        json.pointer("/http_req_duration/values").ok_or("its summary has no http_req_duration")?;
    let figures = CertifiedFigures {
        p50: time(duration, "med"),
        p90: time(duration, "p(90)"),
        p99: time(duration, "p(99)"),
        p99_9: time(duration, "p(99.9)"),
        max: time(duration, "max"),
        mean: time(duration, "avg"),
        // The rate includes failed requests, as k6 reports it.
        throughput: number_at(&json, "/http_reqs/values/rate"),
        ..CertifiedFigures::default()
    };
    Ok(figures.with_errors(count(&json, "without_reply"), count(&json, "refused")))
}

/// A duration in seconds.
fn time(duration: &Value, key: &str) -> Option<f64> {
    duration[key].as_f64().map(|ms| ms / 1e3)
}

fn count(json: &Value, name: &str) -> f64 {
    // The summary has no counter that was never raised.
    number_at(json, &format!("/{name}/values/count")).unwrap_or(0.0)
}
