//! Throughput and goodput, and what became of all requests.

use crate::figures::{bytes, count, plural, three};
use crate::layout::entry;
use brunt_model::{Failure, Judgement, Load, Plan, Run, Tally};

/// Rates over the measured time, and counts.
pub fn section(run: &Run, judgement: &Judgement) -> String {
    let mut out = entry("Throughput", &(throughput(run) + &interval(judgement)));
    out += &entry("Goodput", &format!("{} requests/s", three(run.goodput())));
    out += &entry("Requests", &counts(&run.total));
    out + &entry("Bytes", &transferred(run))
}

fn throughput(run: &Run) -> String {
    let completed = format!("{} requests/s", three(run.throughput()));
    let open = matches!(run.plan.as_ref().and_then(Plan::only).map(|p| &p.load), Some(Load::Open { .. }));
    if run.flow.completed == 0 {
        return completed + " (every reply came after the measured time)";
    }
    if open { format!("{completed} of {}/s planned", three(run.per_second(run.flow.planned))) } else { completed }
}

/// Between which two throughputs the true one lies.
fn interval(judgement: &Judgement) -> String {
    let ends = judgement.throughput.and_then(|t| Some((t.low, t.high?)));
    ends.map_or(String::new(), |(low, high)| format!("; 95 %: {} to {}/s", three(low), three(high)))
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
        parts.push(format!("{} asked again after a stale connection", count(t.retries)));
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
