//! Writes the counts of requests and bytes, and the use of connections.

use super::outcomes::connections;
use super::{ReportSection, RunReport};
use crate::outline::block::{Fact, ReportBlock};
use brunt_model::numbers::{bytes, count, plural};
use brunt_model::{Failure, Run, Tally};

/// Returns the counts of the measured time.
pub fn section(report: &RunReport) -> ReportSection {
    let run = report.run;
    let facts = [
        ("Requests", counts(&run.total)),
        ("Bytes", transferred(run)),
        ("Connections", connections(run)),
    ];
    vec![ReportBlock::Facts(facts.map(|(name, text)| Fact::new(name, text)).to_vec())]
}

fn counts(t: &Tally) -> String {
    let mut parts = Vec::new();
    let cut = t.failed_by(Failure::Cut);
    let dropped = t.failed_by(Failure::Dropped);
    let completed = if t.good == t.completed { "completed (all good)" } else { "completed" };
    let counts = [
        (t.planned != t.begun, t.planned, "planned"),
        (t.begun != t.completed, t.begun, "begun"),
        (true, t.completed, completed),
        (t.good != t.completed, t.good, "good"),
        (t.failed() > 0, t.failed(), "failed"),
        (cut > 0, cut, "cut off"),
        (dropped > 0, dropped, "dropped"),
    ];
    for (is_shown, n, word) in counts {
        if is_shown {
            parts.push(format!("{} {word}", count(n)));
        }
    }
    if t.redirects > 0 {
        parts.push(format!("{} followed", plural(t.redirects, "redirect")));
    }
    if t.retries > 0 {
        parts.push(format!(
            "{} asked again: the server had closed the connection, or did not process them",
            count(t.retries)
        ));
    }
    parts.join(", ")
}

fn transferred(run: &Run) -> String {
    let flow = &run.flow;
    let received = flow.bytes_received;
    let sent = flow.bytes_sent;
    format!(
        "{}/s received ({}), {}/s sent ({})",
        bytes(run.per_second(received)),
        bytes(received as f64),
        bytes(run.per_second(sent)),
        bytes(sent as f64)
    )
}
