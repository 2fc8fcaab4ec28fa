//! Whether there is enough behind a percentile to call it known.

use super::command::REQUESTS;
use super::{Facts, Remark};
use brunt_model::Failure;
use brunt_model::goal::Aim;
use brunt_model::numbers::{count, percent, percentile};
use brunt_model::objective::Metric;

/// Percentiles that every report shows. A higher one is judged only where the user names it.
const SHOWN: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];
/// Samples that must lie beyond a percentile. Of k of them the share varies by about √k: with 10, by a third.
const BEYOND: f64 = 10.0;
/// A run that does not know this one knows next to nothing.
const LEAST: f64 = 0.9;
/// A remedy names no longer run: a day.
const LONGEST_SECONDS: f64 = 86_400.0;
/// Requests without an end, from this share on, are told.
const UNFINISHED: f64 = 0.01;

/// Fewer samples than needed lie beyond a percentile.
pub fn few(facts: &Facts) -> Option<Remark> {
    let n = asked(facts);
    let unknown: Vec<f64> = requested(facts).into_iter().filter(|q| beyond(facts, *q) < BEYOND).collect();
    let lowest = *unknown.first()?;
    let highest = *unknown.last()?;
    if facts.total().completed == 0 {
        return None;
    }
    let needed = count((BEYOND / (1.0 - highest)).round() as u64);
    let have = match independent(facts, lowest).filter(|worth| *worth < 0.9 * n as f64) {
        Some(worth) => {
            format!("{needed} independent requests (have {}, autocorrelated: worth {})", count(n), count(worth as u64))
        }
        None => format!("{needed} requests (have {})", count(n)),
    };
    let highest_reliable = match SHOWN.into_iter().rfind(|q| *q < lowest) {
        Some(q) => format!("{} is the highest reliable percentile", percentile(q)),
        None => "no percentile is reliable".into(),
    };
    let sentence = format!("{} needs {have}; {highest_reliable}.", percentile(highest));
    let remedy = run_longer(facts, highest);
    let remark = if lowest <= LEAST { Remark::warning(sentence) } else { Remark::note(sentence) };
    Some(remark.remedy(remedy))
}

/// Returns the highest shown percentile with enough samples beyond it; None if there is none.
pub fn highest_reliable(facts: &Facts) -> Option<f64> {
    SHOWN.into_iter().rfind(|q| beyond(facts, *q) >= BEYOND)
}

/// Percentiles that the report shows, that an objective bounds, or that `--until` aims at; the lowest first.
fn requested(facts: &Facts) -> Vec<f64> {
    let of_all = facts.plan.objectives.iter().filter(|objective| objective.step.is_none());
    let objectives = of_all.filter_map(|objective| match objective.metric {
        Metric::Quantile(q) => Some(q),
        _ => None,
    });
    let goals = facts.plan.until.iter().flat_map(|until| &until.goals).filter_map(|goal| match goal.aim {
        Aim::Quantile(q) => Some(q),
        Aim::Throughput => None,
    });
    let mut all: Vec<f64> = SHOWN.into_iter().chain(objectives).chain(goals).filter(|q| *q < 1.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The setting that makes the run long enough for the percentile.
fn run_longer(facts: &Facts, q: f64) -> String {
    let advice = "run longer";
    let factor = BEYOND / beyond(facts, q).max(f64::MIN_POSITIVE);
    let seconds = facts.seconds * factor;
    match facts.plan.stop().requests {
        Some(requests) => {
            let more = (requests as f64 * factor).ceil() as u64;
            facts.command().advise(advice, REQUESTS, &more.to_string())
        }
        None if seconds < LONGEST_SECONDS => facts.advise_duration(advice, seconds),
        None => advice.to_owned(),
    }
}

/// Samples beyond a percentile; where it was worked out how many independent ones the run is worth, of those.
fn beyond(facts: &Facts, q: f64) -> f64 {
    let n = independent(facts, q).unwrap_or(f64::INFINITY).min(asked(facts) as f64);
    // 10,000 × (1 − 0.999) comes out a hair below 10.
    n * (1.0 - q) + 1e-6
}

/// How many independent requests the run is worth at a percentile, where that was worked out.
fn independent(facts: &Facts, q: f64) -> Option<f64> {
    let interval = facts.so_far.intervals.iter().find(|interval| interval.quantile == q);
    interval.filter(|interval| interval.estimate.is_some()).map(|interval| interval.effective_samples)
}

fn asked(facts: &Facts) -> u64 {
    facts.total().response.count() + unseen(facts)
}

fn unseen(facts: &Facts) -> u64 {
    facts.total().failed_by(Failure::Dropped) + facts.total().failed_by(Failure::Cut)
}

/// So many requests have no end that the upper percentiles are known from below only.
pub fn censored(facts: &Facts) -> Option<Remark> {
    let timed_out = facts.total().failed_by(Failure::Timeout);
    let (n, without) = (asked(facts), timed_out + unseen(facts));
    let share = without as f64 / n.max(1) as f64;
    if n == 0 || share < UNFINISHED {
        return None;
    }
    let known = if share < 0.5 {
        format!("the true percentiles above {}", percentile(((1.0 - share) * 1000.0).floor() / 1000.0))
    } else {
        "all true percentiles from the median up".into()
    };
    let said = format!(
        "{} of the requests got no reply ({} timed out, {} cut off at the end, {} dropped): {known} are longer than all figures shown.",
        percent(share),
        count(timed_out),
        count(facts.total().failed_by(Failure::Cut)),
        count(facts.total().failed_by(Failure::Dropped)),
    );
    Some(Remark::warning(said).remedy("reduce the load, or raise --timeout and --grace until all replies come"))
}
