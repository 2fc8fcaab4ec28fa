//! Rules on the end of the run, and on whether it was long enough.

use super::command::{REQUESTS, WARMUP};
use super::{ExplainFacts, Remark};
use crate::steady;
use crate::steady::trend::{Trend, TrendFigure};
use brunt_model::numbers::{count, enumeration, percentile, plural, rate, seconds};

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
    let sentence =
        format!("The run is incomplete and not comparable with a complete one: {reason}.");
    Some(Remark::warning(sentence).with_remedy("repeat it to the end before a comparison"))
}

fn cut_reason(facts: &ExplainFacts) -> Option<String> {
    let done = done(facts);
    let run = facts.run;
    let Some(finish) = &run.finish else {
        return Some(format!("its event log has no end, after {done}"));
    };
    if let Some(error) = &finish.error {
        return Some(format!("brunt failed after {done} ({error})"));
    }
    if finish.interrupted {
        return Some(format!("it was interrupted after {done}"));
    }
    // Users that finished all their iterations end a run as requested.
    let is_of_iterations = facts.plan.stop().iterations_per_user.is_some();
    (!is_of_iterations && lacks_requests(facts) && lacks_time(facts))
        .then(|| format!("it ended after {done}"))
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
    let stop = facts.plan.until.as_ref().map(|until| until.least).or(facts.plan.stop().duration);
    let requested = stop.map(|d| d.as_secs_f64());
    match (requested, facts.plan.stop().requests) {
        (Some(requested), _) => facts.seconds < requested * (1.0 - MISSING),
        (None, requests) => requests.is_some(),
    }
}

fn done(facts: &ExplainFacts) -> String {
    let stop = facts.plan.stop();
    let ran = seconds(facts.seconds);
    let requests = facts.total().begun;
    match (stop.duration, stop.requests) {
        (Some(requested), None) => format!("{ran} of {}", seconds(requested.as_secs_f64())),
        (_, Some(requested)) => {
            format!("{} of {} in {ran}", count(requests), plural(requested, "request"))
        }
        (None, None) => ran,
    }
}

/// Rule: the run ended before it showed more than its start.
pub fn too_short(facts: &ExplainFacts) -> Option<Remark> {
    let completed = facts.run.flow.completed;
    if facts.seconds >= SHORT_SECONDS || completed == 0 || cut_reason(facts).is_some() {
        return None;
    }
    let sentence = format!(
        "The run lasted only {} and got {} replies: it shows the start of the server, and the next run may differ.",
        seconds(facts.seconds),
        count(completed)
    );
    let advice = "measure for 10 s or more";
    let stop = facts.plan.stop();
    let remedy = match stop.requests {
        _ if stop.iterations_per_user.is_some() => "let each user make more iterations".to_owned(),
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
        let sentence = format!(
            "The run reached no steady state ({}): its figures describe a transition.",
            steady.method
        );
        let advice = "run longer, or exclude the transition";
        return Some(
            Remark::warning(sentence).with_remedy(facts.command().advise(advice, WARMUP, "auto")),
        );
    }
    // In an open loop, the response time of an overloaded server rises even
    // if nothing else changes.
    if super::load::overload(facts).is_some() {
        return None;
    }
    let changes: Vec<String> = trends.iter().map(change).collect();
    let sentence = format!(
        "From the first to the last fifth of the run, {}: the figures depend on its length.",
        enumeration(&changes)
    );
    let advice = "look for what grows or slows down with time (memory, connections, data, throttling, other processes), \
                  then repeat the run and compare";
    Some(Remark::warning(sentence).with_remedy(advice))
}

fn change(trend: &Trend) -> String {
    let direction = if trend.last > trend.first { "rose" } else { "fell" };
    match trend.figure {
        TrendFigure::Response(q) => {
            format!(
                "{} {direction} from {} to {}",
                percentile(q),
                seconds(trend.first),
                seconds(trend.last)
            )
        }
        TrendFigure::Throughput => {
            format!("throughput {direction} from {} to {}", rate(trend.first), rate(trend.last))
        }
    }
}
