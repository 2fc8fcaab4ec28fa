//! Rules on the number of samples for each percentile.

use super::command::REQUESTS;
use super::{ExplainFacts, Remark};
use crate::texts::message;
use brunt_model::goal::Aim;
use brunt_model::numbers::{count, percent, percentile};
use brunt_model::objective::Metric;
use brunt_model::{Failure, Text};

/// Percentiles that every report shows. A higher one is examined only if the user names it.
const SHOWN: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];
/// Samples that must lie beyond a percentile. With k of them, the share varies by about √k: with
/// 10, by a third.
const BEYOND: f64 = 10.0;
/// A run with too few samples for this percentile gets a warning instead of a note.
const LEAST: f64 = 0.9;
/// Longest run that a remedy proposes: a day.
const LONGEST_SECONDS: f64 = 86_400.0;
/// Share of unfinished requests from which on they are reported.
const UNFINISHED: f64 = 0.01;

/// Rule: too few samples lie beyond a percentile.
pub fn too_few(facts: &ExplainFacts) -> Option<Remark> {
    let n = requests(facts);
    let unknown: Vec<f64> =
        requested(facts).into_iter().filter(|q| beyond(facts, *q) < BEYOND).collect();
    let lowest = *unknown.first()?;
    let highest = *unknown.last()?;
    if facts.total().completed == 0 {
        return None;
    }
    let needed = count((BEYOND / (1.0 - highest)).round() as u64);
    let reliable = match SHOWN.into_iter().rfind(|q| *q < lowest) {
        Some(q) => message!("few-samples.highest", percentile = percentile(q)),
        None => message!("few-samples.none"),
    };
    let have = count(n);
    let lacking = percentile(highest);
    let sentence = match independent(facts, lowest).filter(|effective| *effective < 0.9 * n as f64)
    {
        Some(effective) => message!(
            "few-samples.autocorrelated",
            percentile = lacking,
            needed,
            have,
            effective = count(effective as u64),
            reliable
        ),
        None => message!("few-samples", percentile = lacking, needed, have, reliable),
    };
    let remedy = run_longer(facts, highest);
    let remark = if lowest <= LEAST { Remark::warning(sentence) } else { Remark::note(sentence) };
    Some(remark.with_remedy(remedy))
}

/// Returns the highest shown percentile with enough samples beyond it; None if there is none.
pub fn highest_reliable(facts: &ExplainFacts) -> Option<f64> {
    SHOWN.into_iter().rfind(|q| beyond(facts, *q) >= BEYOND)
}

/// Percentiles that the report shows, that an objective bounds, or that `--until` aims
/// at, in ascending order.
fn requested(facts: &ExplainFacts) -> Vec<f64> {
    let whole_run = facts.plan.objectives.iter().filter(|objective| objective.step.is_none());
    let objectives = whole_run.filter_map(|objective| match objective.metric {
        Metric::Quantile(q) => Some(q),
        _ => None,
    });
    let goals =
        facts.plan.until.iter().flat_map(|until| &until.goals).filter_map(|goal| match goal.aim {
            Aim::Quantile(q) => Some(q),
            Aim::Throughput => None,
        });
    let mut all: Vec<f64> =
        SHOWN.into_iter().chain(objectives).chain(goals).filter(|q| *q < 1.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Remedy with the setting that makes the run long enough for the percentile.
fn run_longer(facts: &ExplainFacts, q: f64) -> Text {
    let advice = message!("few-samples.remedy");
    let factor = BEYOND / beyond(facts, q).max(f64::MIN_POSITIVE);
    let seconds = facts.seconds * factor;
    match facts.plan.stop().requests {
        Some(requests) => {
            let more = (requests as f64 * factor).ceil() as u64;
            facts.command().advise(advice, REQUESTS, &more.to_string())
        }
        None if seconds < LONGEST_SECONDS => facts.advise_duration(advice, seconds),
        None => advice,
    }
}

/// Number of samples beyond a percentile: of the effective ones, if their number is known.
fn beyond(facts: &ExplainFacts, q: f64) -> f64 {
    let n = independent(facts, q).unwrap_or(f64::INFINITY).min(requests(facts) as f64);
    // 10,000 × (1 − 0.999) is slightly below 10 in floating point.
    n * (1.0 - q) + 1e-6
}

/// Effective sample size at a percentile; None if it was not computed.
fn independent(facts: &ExplainFacts, q: f64) -> Option<f64> {
    let interval = facts.so_far.intervals.iter().find(|interval| interval.quantile == q);
    interval
        .filter(|interval| interval.estimate.is_some())
        .map(|interval| interval.effective_samples)
}

fn requests(facts: &ExplainFacts) -> u64 {
    facts.total().response.count() + unfinished(facts)
}

fn unfinished(facts: &ExplainFacts) -> u64 {
    facts.total().failed_by(Failure::Dropped) + facts.total().failed_by(Failure::Cut)
}

/// Rule: unfinished requests are so frequent that the upper percentiles are only known from below.
pub fn censored(facts: &ExplainFacts) -> Option<Remark> {
    let timed_out = facts.total().timed_out_requests();
    let n = requests(facts);
    let without_reply = timed_out + unfinished(facts);
    let share = without_reply as f64 / n.max(1) as f64;
    if n == 0 || share < UNFINISHED {
        return None;
    }
    let percentiles = if share < 0.5 {
        // Rounded down, so that the percentile is among the finished requests.
        let finished = percentile(((1.0 - share) * 1000.0).floor() / 1000.0);
        message!("censored.above", percentile = finished)
    } else {
        message!("censored.all")
    };
    let sentence = message!(
        "censored",
        share = percent(share),
        timed_out = count(timed_out),
        cut = count(facts.total().failed_by(Failure::Cut)),
        dropped = count(facts.total().failed_by(Failure::Dropped)),
        percentiles
    );
    Some(Remark::warning(sentence).with_remedy(message!("censored.remedy")))
}
