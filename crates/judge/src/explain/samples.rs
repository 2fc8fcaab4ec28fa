//! Whether there is enough behind a percentile to call it known.

use super::words::{count, percent, percentile, plural};
use super::{Facts, Remark};
use brunt_model::Failure;

/// Percentiles that reports show.
const SHOWN: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
/// Samples that must lie beyond a percentile. Of k of them the share varies by about √k: with 10, by a third.
const BEYOND: f64 = 10.0;
/// A run that does not know this one knows next to nothing.
const LEAST: f64 = 0.9;
/// Requests without an end, from this share on, are told.
const UNFINISHED: f64 = 0.01;

/// Fewer samples than needed lie beyond a percentile.
pub fn few(facts: &Facts) -> Option<Remark> {
    let n = asked(facts);
    let unknown: Vec<f64> = SHOWN.into_iter().filter(|q| beyond(facts, *q) < BEYOND).collect();
    let (lowest, highest) = (*unknown.first()?, *unknown.last()?);
    if facts.total().completed == 0 {
        return None;
    }
    let known = SHOWN.into_iter().rfind(|q| *q < lowest);
    let known = known.map_or("no percentile is known".into(), |q| {
        format!("{} is the highest percentile that is known", percentile(q))
    });
    let names = unknown.iter().map(|q| percentile(*q)).collect::<Vec<_>>().join(", ");
    let worth = independent(facts, lowest).filter(|worth| *worth < 0.9 * n as f64);
    let worth =
        worth.map_or(String::new(), |worth| format!(", autocorrelated: effective sample size {}", count(worth as u64)));
    let said = format!("Too few samples for {names}: with {}{worth}, {known}.", plural(n, "request"));
    let needed = (BEYOND / (1.0 - highest)).round() as u64;
    let remedy = format!("{} needs {} independent requests: run longer", percentile(highest), count(needed));
    let said = if lowest <= LEAST { Remark::warning(said) } else { Remark::note(said) };
    Some(said.remedy(remedy))
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
