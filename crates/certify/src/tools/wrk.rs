//! wrk 4: a closed loop; its distribution ends at the 99th percentile.

use super::text::{line_words, number_after, time};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "wrk",
    program: Some("wrk"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "`--latency --timeout 20s`, one thread; it prints no p99.9",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let (connections, seconds, url) = (job.connections, job.seconds, job.url());
    ToolCommand::line(&format!("wrk -t1 -c{connections} -d{seconds}s --timeout 20s --latency {url}"))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let text = &told.out;
    let throughput = number_after(text, "Requests/sec:").ok_or("it printed no Requests/sec")?;
    let distribution = text.split("Latency Distribution").nth(1).unwrap_or("");
    let percentile = |label: &str| time(line_words(distribution, label)?.get(1)?);
    let thread = line_words(text, "Latency ");
    let of_thread = |place: usize| time(thread.as_ref()?.get(place)?);
    let figures = Figures {
        p50: percentile("50%"),
        p90: percentile("90%"),
        p99: percentile("99%"),
        mean: of_thread(1),
        max: of_thread(3),
        throughput: Some(throughput),
        ..Figures::default()
    };
    let failed = ["connect ", "read ", "write ", "timeout "].map(|kind| socket_errors(text, kind)).iter().sum();
    Ok(figures.with_errors(failed, number_after(text, "Non-2xx or 3xx responses:").unwrap_or(0.0)))
}

/// Of the line that is there only if something failed.
fn socket_errors(text: &str, kind: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("Socket errors:")).unwrap_or("");
    number_after(line, kind).unwrap_or(0.0)
}
