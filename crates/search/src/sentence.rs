//! Answers, in sentences.

use crate::drift::Drift;
use brunt_model::LoadUnit;
use brunt_model::answer::{Answer, Capacity, Estimate, Recovery, SearchEnd};
use brunt_model::numbers::{count, three};

/// Where one side of an interval is shorter than this share of the other, it is told by its ends.
const ONE_SIDED: f64 = 0.6;

/// The whole answer in one sentence. What limits the server is the end of it, where that is known.
pub fn sentence(answer: &Answer) -> String {
    let capacities = answer.capacities.iter().map(|capacity| carries(capacity, answer.unit));
    let mut parts = vec![capacities.collect::<Vec<_>>().join(", ")];
    parts.extend(not_by_the_server(answer));
    parts.extend(answer.knee.and_then(|knee| Some(format!("knee at {}", range(knee)?))));
    parts.extend(answer.saturation.and_then(|at| Some(format!("saturates at {}/s", load(at.value?)))));
    parts.extend(answer.collapse.map(|at| format!("throughput falls from {} on", load(at))));
    parts.extend(answer.recovery.map(recovers));
    parts.extend(answer.bottleneck.as_ref().map(|bottleneck| format!("limited: {}", bottleneck.sentence)));
    parts.join("; ")
}

/// What was the limit of the last trials, where that ended the search.
fn not_by_the_server(answer: &Answer) -> Option<String> {
    let limit = answer.trials.iter().filter_map(|trial| trial.limited.as_deref()).next_back();
    (answer.ended == SearchEnd::Generator).then(|| why(answer.ended, limit))
}

fn carries(capacity: &Capacity, unit: LoadUnit) -> String {
    let name = &capacity.objectives.name;
    let of = thing(unit);
    match capacity.at {
        Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
            let (below, above) = (value - low, high - value);
            // An interval of which one side is much the longer has no middle.
            if below.min(above) < ONE_SIDED * below.max(above) {
                return format!("capacity {} {of} (95 % CI {}–{}) at {name}", load(value), load(low), load(high));
            }
            format!("capacity {} ± {} {of} at {name}", load(value), load(below.max(above)))
        }
        // Of an interval with one end, only that end is sure.
        Estimate { value: Some(value), low: Some(low), high: None } => {
            format!("capacity at least {} {of} (estimate {}) at {name}", load(low), load(value))
        }
        Estimate { value: Some(value), low: None, high: Some(high) } => {
            format!("capacity at most {} {of} (estimate {}) at {name}", load(high), load(value))
        }
        Estimate { value: Some(value), .. } => format!("capacity about {} {of} at {name}", load(value)),
        Estimate { low: Some(low), high: Some(high), .. } => {
            format!("capacity between {} and {} {of} at {name}", load(low), load(high))
        }
        Estimate { low: Some(low), .. } => format!("capacity at least {} {of} at {name}", load(low)),
        Estimate { high: Some(high), .. } => format!("capacity below {} {of} at {name}", load(high)),
        _ => format!("capacity unknown at {name}"),
    }
}

fn recovers(recovery: Recovery) -> String {
    match recovery.after {
        Some(after) if after.is_zero() => "recovers at once".into(),
        Some(after) => format!("recovers in {} s", three(after.as_secs_f64())),
        None => "no recovery within the observation time".into(),
    }
}

/// One capacity as a sentence, with why it is not known better.
pub fn capacity(at: Estimate, unit: LoadUnit, ended: SearchEnd, limit: Option<&str>) -> String {
    let of = thing(unit);
    match at {
        Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
            format!("{} {of} ({} to {})", load(value), load(low), load(high))
        }
        Estimate { value: Some(value), low, high } => {
            let low = low.map_or("lower bound unknown".into(), |low| format!("at least {}", load(low)));
            let high = high.map_or("upper bound unknown".into(), |high| format!("at most {}", load(high)));
            format!("about {} {of}: {low}, {high}", load(value))
        }
        Estimate { low: Some(low), high: Some(high), .. } => format!("{} to {} {of}", load(low), load(high)),
        Estimate { low: Some(low), .. } => format!("at least {} {of}: {}", load(low), why(ended, limit)),
        Estimate { high: Some(high), .. } => format!("less than {} {of}: {}", load(high), why(ended, limit)),
        _ => format!("not known: {}", why(ended, limit)),
    }
}

/// Returns the sentence for a capacity with an unknown lower end, on a server that stalls.
pub fn stalled(at: Estimate, unit: LoadUnit) -> String {
    let why = "the server stalls, so that the objectives may be missed at every load";
    match at.high {
        Some(high) => format!("less than {} {}: {why}", load(high), thing(unit)),
        None => format!("not known: {why}"),
    }
}

fn why(ended: SearchEnd, limit: Option<&str>) -> String {
    match (ended, limit) {
        (SearchEnd::Generator, Some(limit)) => format!("limited by {limit}, not by the server alone"),
        // Where nothing more could be learned, the capacity is unknown for want of time.
        (SearchEnd::Precise, _) => SearchEnd::Budget.to_string(),
        (ended, _) => ended.to_string(),
    }
}

fn range(at: Estimate) -> Option<String> {
    match (at.low, at.high) {
        (Some(low), Some(high)) => Some(format!("{} to {}", load(low), load(high))),
        _ => at.value.map(load),
    }
}

fn thing(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::PerSecond => "requests/s",
        LoadUnit::Users { .. } => "users",
    }
}

/// A load: whole where it is.
pub fn load(load: f64) -> String {
    if load.fract() == 0.0 && load >= 0.0 { count(load as u64) } else { three(load) }
}

/// That a capacity drifted.
pub fn drift(drift: Drift, unit: LoadUnit) -> String {
    let word = if drift.last < drift.first { "fell" } else { "rose" };
    let share = 100.0 * (drift.last / drift.first - 1.0).abs();
    format!(
        "the server's capacity drifted during the search: it {word} by {} %, from {} to {} {}; the interval contains both",
        three(share),
        load(drift.first),
        load(drift.last),
        thing(unit)
    )
}
