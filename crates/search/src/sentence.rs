//! Formats the answers of a search as sentences.

use crate::drift::Drift;
use brunt_model::LoadUnit;
use brunt_model::answer::{Capacity, CapacityResult, Estimate, Recovery, SearchEnd};
use brunt_model::numbers::{count, three_digits};

/// An interval is shown by its ends if one side is shorter than this share of the other.
const ONE_SIDED: f64 = 0.6;

/// Formats the whole answer as one sentence. It ends with the server's bottleneck, if known.
pub fn sentence(answer: &CapacityResult) -> String {
    let capacities =
        answer.capacities.iter().map(|capacity| with_objectives(capacity, answer.unit));
    let mut parts = vec![capacities.collect::<Vec<_>>().join(", ")];
    parts.extend(generator_limit(answer));
    parts.extend(answer.knee.and_then(|knee| Some(format!("knee at {}", range(knee)?))));
    parts.extend(
        answer.saturation.and_then(|at| Some(format!("saturates at {}/s", load(at.value?)))),
    );
    parts.extend(answer.collapse.map(|at| format!("throughput falls from {} on", load(at))));
    parts.extend(answer.recovery.map(recovery));
    parts.extend(
        answer.bottleneck.as_ref().map(|bottleneck| format!("limited: {}", bottleneck.sentence)),
    );
    parts.join("; ")
}

/// The limit of the last trials, if the generator ended the search.
fn generator_limit(answer: &CapacityResult) -> Option<String> {
    let limit = answer.trials.iter().filter_map(|trial| trial.limited.as_deref()).next_back();
    (answer.ended == SearchEnd::Generator).then(|| reason(answer.ended, limit))
}

fn with_objectives(capacity: &Capacity, unit: LoadUnit) -> String {
    let name = &capacity.objectives.name;
    let unit = unit_name(unit);
    match capacity.at {
        Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
            let below = value - low;
            let above = high - value;
            // ± describes an interval badly if one side is much longer.
            if below.min(above) < ONE_SIDED * below.max(above) {
                return format!(
                    "capacity {} {unit} (95 % CI {}–{}) at {name}",
                    load(value),
                    load(low),
                    load(high)
                );
            }
            format!("capacity {} ± {} {unit} at {name}", load(value), load(below.max(above)))
        }
        // With only one end known, that end is certain and the value is not.
        Estimate { value: Some(value), low: Some(low), high: None } => {
            format!("capacity at least {} {unit} (estimate {}) at {name}", load(low), load(value))
        }
        Estimate { value: Some(value), low: None, high: Some(high) } => {
            format!("capacity at most {} {unit} (estimate {}) at {name}", load(high), load(value))
        }
        Estimate { value: Some(value), .. } => {
            format!("capacity about {} {unit} at {name}", load(value))
        }
        Estimate { low: Some(low), high: Some(high), .. } => {
            format!("capacity between {} and {} {unit} at {name}", load(low), load(high))
        }
        Estimate { low: Some(low), .. } => {
            format!("capacity at least {} {unit} at {name}", load(low))
        }
        Estimate { high: Some(high), .. } => {
            format!("capacity below {} {unit} at {name}", load(high))
        }
        _ => format!("capacity unknown at {name}"),
    }
}

fn recovery(recovery: Recovery) -> String {
    match recovery.after {
        Some(after) if after.is_zero() => "recovers at once".into(),
        Some(after) => format!("recovers in {} s", three_digits(after.as_secs_f64())),
        None => "no recovery within the observation time".into(),
    }
}

/// Formats one capacity, with the reason if it is not known better.
pub fn capacity(at: Estimate, unit: LoadUnit, ended: SearchEnd, limit: Option<&str>) -> String {
    let unit = unit_name(unit);
    match at {
        Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
            format!("{} {unit} ({} to {})", load(value), load(low), load(high))
        }
        Estimate { value: Some(value), low, high } => {
            let low =
                low.map_or("lower bound unknown".into(), |low| format!("at least {}", load(low)));
            let high =
                high.map_or("upper bound unknown".into(), |high| format!("at most {}", load(high)));
            format!("about {} {unit}: {low}, {high}", load(value))
        }
        Estimate { low: Some(low), high: Some(high), .. } => {
            format!("{} to {} {unit}", load(low), load(high))
        }
        Estimate { low: Some(low), .. } => {
            format!("at least {} {unit}: {}", load(low), reason(ended, limit))
        }
        Estimate { high: Some(high), .. } => {
            format!("less than {} {unit}: {}", load(high), reason(ended, limit))
        }
        _ => format!("not known: {}", reason(ended, limit)),
    }
}

/// Returns the sentence for a capacity with an unknown lower end, on a server that stalls.
pub fn stalled(at: Estimate, unit: LoadUnit) -> String {
    let why = "the server stalls, so that the objectives may be missed at every load";
    match at.high {
        Some(high) => format!("less than {} {}: {why}", load(high), unit_name(unit)),
        None => format!("not known: {why}"),
    }
}

/// The reason why a capacity is not known better.
fn reason(ended: SearchEnd, limit: Option<&str>) -> String {
    match (ended, limit) {
        (SearchEnd::Generator, Some(limit)) => {
            format!("limited by {limit}, not by the server alone")
        }
        // No further trial was useful, so the capacity is unknown for lack of time.
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

fn unit_name(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::PerSecond => "requests/s",
        LoadUnit::Users { .. } => "users",
    }
}

/// Formats a load: integers with all digits, others with three.
pub fn load(load: f64) -> String {
    if load.fract() == 0.0 && load >= 0.0 { count(load as u64) } else { three_digits(load) }
}

/// Formats the drift of a capacity.
pub fn drift(drift: Drift, unit: LoadUnit) -> String {
    let direction = if drift.last < drift.first { "fell" } else { "rose" };
    let share = 100.0 * (drift.last / drift.first - 1.0).abs();
    format!(
        "the server's capacity drifted during the search: it {direction} by {} %, from {} to {} {}; the interval contains both",
        three_digits(share),
        load(drift.first),
        load(drift.last),
        unit_name(unit)
    )
}
