//! Rules on the end of the run, and on whether it was long enough.

use super::command::{REQUESTS, WARMUP};
use super::{ExplainFacts, Remark};
use crate::steady;
use crate::steady::trend::{Trend, TrendFigure};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::numbers::{count, percentile, rate, seconds};
use brunt_model::text::Value;

/// Maximum share of its time that a complete run may lack. A shorter run is another measurement
/// than the requested one.
const MISSING: f64 = 0.05;
/// Runs shorter than this show the start: new connections, TCP slow start, cold caches.
const SHORT_SECONDS: f64 = 1.0;
/// Length that the remedy for a short run proposes.
const LONG_SECONDS: f64 = 10.0;

/// Rule: the run was cut short and is not comparable.
pub fn cut_short(facts: &ExplainFacts) -> Option<Remark> {
    let reason = cut_reason(facts)?;
    let sentence = message!("cut-short", reason);
    Some(Remark::warning(sentence).with_remedy(message!("cut-short.remedy")))
}

fn cut_reason(facts: &ExplainFacts) -> Option<Text> {
    let progress = progress_text(facts);
    let run = facts.run;
    let Some(finish) = &run.finish else {
        return Some(message!("cut-short.no-end", progress));
    };
    if let Some(error) = &finish.error {
        return Some(message!("cut-short.failed", progress, error = &**error));
    }
    if finish.interrupted {
        return Some(message!("cut-short.interrupted", progress));
    }
    // Users that finished all their iterations end a run as requested.
    let is_of_iterations = facts.plan.stop().iterations_per_user.is_some();
    (!is_of_iterations && lacks_requests(facts) && lacks_time(facts))
        .then(|| message!("cut-short.early", progress))
}

/// True if fewer requests were made than requested, or if no number was requested.
fn lacks_requests(facts: &ExplainFacts) -> bool {
    let attempted = facts.total().attempted();
    facts
        .plan
        .stop()
        .requests
        .is_none_or(|requested| (attempted as f64) < requested as f64 * (1.0 - MISSING))
}

/// True if the run took less time than requested. For a run that may end once its goals are
/// reached, that is its minimum time. Stages that end by themselves are no requested time.
fn lacks_time(facts: &ExplainFacts) -> bool {
    match (facts.plan.requested_time(), facts.plan.stop().requests) {
        (Some(requested), _) => facts.seconds < requested.as_secs_f64() * (1.0 - MISSING),
        (None, requests) => requests.is_some(),
    }
}

/// Measured time, and the requests if the run has a number of them, with the requested ones.
fn progress_text(facts: &ExplainFacts) -> Text {
    let stop = facts.plan.stop();
    let ran = seconds(facts.seconds);
    let requests = facts.total().begun;
    match (stop.duration, stop.requests) {
        (Some(requested), None) => {
            message!("progress-of-time", time = ran, requested = seconds(requested.as_secs_f64()))
        }
        (_, Some(requested)) => message!(
            "progress-of-requests",
            done = count(requests),
            requested = message!("requests", count = requested),
            time = ran
        ),
        (None, None) => ran.into(),
    }
}

/// Rule: the run ended before it showed more than its start.
pub fn too_short(facts: &ExplainFacts) -> Option<Remark> {
    let completed = facts.run.flow.completed;
    if facts.seconds >= SHORT_SECONDS || completed == 0 || cut_reason(facts).is_some() {
        return None;
    }
    let sentence = message!("too-short", time = seconds(facts.seconds), replies = count(completed));
    let advice = message!("too-short.remedy");
    let stop = facts.plan.stop();
    let remedy = match stop.requests {
        _ if stop.iterations_per_user.is_some() => message!("too-short.remedy-iterations"),
        Some(requests) if !lacks_requests(facts) => {
            let enough = requests as f64 * LONG_SECONDS / facts.seconds.max(f64::MIN_POSITIVE);
            facts.command().advise(advice, REQUESTS, &ceil_two_digits(enough).to_string())
        }
        _ => facts.advise_duration(advice, LONG_SECONDS),
    };
    Some(Remark::warning(sentence).with_remedy(remedy))
}

/// Rounds up to two digits: more digits would suggest that the rate does not change.
fn ceil_two_digits(number: f64) -> u64 {
    let unit = 10_f64.powf(number.max(1.0).log10().floor() - 1.0).max(1.0);
    ((number / unit).ceil() * unit) as u64
}

/// Rule: the run reached no steady state.
pub fn not_steady(facts: &ExplainFacts) -> Option<Remark> {
    let steady = facts.so_far.steady.as_ref().filter(|steady| !steady.reached)?;
    let trends = steady::trends(&steady::measured(facts.run), steady);
    // Without a trend, MSER or the test of the second half found a change.
    if trends.is_empty() {
        let remedy = facts.command().advise(message!("not-steady.remedy"), WARMUP, "auto");
        let sentence = message!("not-steady", method = steady.method.clone());
        return Some(Remark::warning(sentence).with_remedy(remedy));
    }
    // In an open loop, the response time of an overloaded server rises even
    // if nothing else changes.
    if super::load::overload(facts).is_some() {
        return None;
    }
    let changes: Value = trends.iter().map(change).collect();
    Some(Remark::warning(message!("trend", changes)).with_remedy(message!("trend.remedy")))
}

/// Returns how a figure changed: `p99 rose from 1.0 ms to 2.0 ms`.
fn change(trend: &Trend) -> Text {
    let figure = match trend.figure {
        TrendFigure::Response(q) => percentile(q).into(),
        TrendFigure::Throughput => message!("trend.throughput"),
    };
    let value = match trend.figure {
        TrendFigure::Response(_) => seconds,
        TrendFigure::Throughput => rate,
    };
    let first = value(trend.first);
    let last = value(trend.last);
    if trend.last > trend.first {
        message!("trend.rose", figure, first, last)
    } else {
        message!("trend.fell", figure, first, last)
    }
}
