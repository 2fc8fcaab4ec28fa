//! Counts of requests and bytes, and how connections were used.

use super::outcomes::connections;
use super::{Report, Section};
use crate::outline::block::{Block, Fact};
use brunt_model::numbers::{bytes, count, plural};
use brunt_model::{Failure, Run, Tally};

/// Counts over the measured time.
pub fn section(report: &Report) -> Section {
    let run = report.run;
    let facts = [("Requests", counts(&run.total)), ("Bytes", transferred(run)), ("Connections", connections(run))];
    vec![Block::Facts(facts.map(|(name, text)| Fact::new(name, text)).to_vec())]
}

fn counts(t: &Tally) -> String {
    let mut parts = Vec::new();
    let mut part = |shown: bool, n: u64, word: &str| {
        if shown {
            parts.push(format!("{} {word}", count(n)));
        }
    };
    let (cut, dropped) = (t.failed_by(Failure::Cut), t.failed_by(Failure::Dropped));
    part(t.planned != t.begun, t.planned, "planned");
    part(t.begun != t.completed, t.begun, "begun");
    part(true, t.completed, if t.good == t.completed { "completed (all good)" } else { "completed" });
    part(t.good != t.completed, t.good, "good");
    part(t.failed() > 0, t.failed(), "failed");
    part(cut > 0, cut, "cut off");
    part(dropped > 0, dropped, "dropped");
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
    let per_second = |n| bytes(run.per_second(n));
    let (received, sent) = (bytes(flow.bytes_received as f64), bytes(flow.bytes_sent as f64));
    format!(
        "{}/s received ({received}), {}/s sent ({sent})",
        per_second(flow.bytes_received),
        per_second(flow.bytes_sent)
    )
}
