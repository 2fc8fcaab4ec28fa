//! Formats the answers of a search as sentences.

use crate::texts::message;
use brunt_model::answer::{Capacity, CapacityResult, Estimate, Recovery, SearchEnd};
use brunt_model::numbers::{count, three_digits};
use brunt_model::text::Value;
use brunt_model::{LoadUnit, Text, text};

/// An interval is shown by its ends if one side is shorter than this share of the other.
const ONE_SIDED: f64 = 0.6;

/// Formats the whole answer as one sentence. It ends with the server's bottleneck, if known.
pub fn sentence(answer: &CapacityResult) -> Text {
    let capacities =
        answer.capacities.iter().map(|capacity| with_objectives(capacity, answer.unit));
    let mut parts = vec![text!("words", words = Value::Words(capacities.collect()))];
    let seconds = three_digits(answer.watched.as_secs_f64());
    parts.push(message!("capacity-summary.measured", seconds));
    parts.extend(generator_limit(answer));
    parts.extend(
        answer.knee.and_then(|knee| Some(message!("capacity-summary.knee", load = range(knee)?))),
    );
    parts.extend(
        answer
            .saturation
            .and_then(|at| Some(message!("capacity-summary.saturation", load = load(at.value?)))),
    );
    parts.extend(answer.collapse.map(|at| message!("capacity-summary.collapse", load = load(at))));
    parts.extend(answer.recovery.map(recovery));
    parts.extend(answer.bottleneck.as_ref().map(|bottleneck| {
        message!("capacity-summary.bottleneck", bottleneck = bottleneck.sentence.clone())
    }));
    text::series(parts)
}

/// The limit of the last trials, if the generator ended the search.
fn generator_limit(answer: &CapacityResult) -> Option<Text> {
    let limit = answer.trials.iter().filter_map(|trial| trial.limited.as_ref()).next_back();
    (answer.ended == SearchEnd::Generator).then(|| reason(answer.ended, limit))
}

fn with_objectives(capacity: &Capacity, unit: LoadUnit) -> Text {
    let objectives = &*capacity.objectives.name;
    let unit = unit_name(unit);
    let [value, low, high] =
        [capacity.at.value, capacity.at.low, capacity.at.high].map(|figure| figure.map(load));
    match (value, low, high) {
        (Some(value), Some(low), Some(high)) => match half_width(capacity.at) {
            Some(half) => {
                let half = load(half);
                message!("capacity-summary.plus-minus", value, half, unit, objectives)
            }
            None => message!("capacity-summary.interval", value, unit, low, high, objectives),
        },
        (None, Some(low), Some(high)) => {
            message!("capacity-summary.between", low, high, unit, objectives)
        }
        (_, Some(low), None) => message!("capacity-summary.at-least", low, unit, objectives),
        (_, None, Some(high)) => message!("capacity-summary.below", high, unit, objectives),
        (_, None, None) => message!("capacity-summary.unknown", objectives),
    }
}

/// Longer side of an interval for the form with ±. None if one side is much longer, since ± describes such an
/// interval badly.
fn half_width(at: Estimate) -> Option<f64> {
    let value = at.value?;
    let below = value - at.low?;
    let above = at.high? - value;
    (below.min(above) >= ONE_SIDED * below.max(above)).then(|| below.max(above))
}

fn recovery(recovery: Recovery) -> Text {
    match recovery.after {
        Some(after) if after.is_zero() => message!("capacity-summary.recovers-at-once"),
        Some(after) => {
            message!("capacity-summary.recovers", seconds = three_digits(after.as_secs_f64()))
        }
        None => message!("capacity-summary.no-recovery"),
    }
}

/// Formats one capacity, with the reason if it is not known better.
pub fn capacity(at: Estimate, unit: LoadUnit, ended: SearchEnd, limit: Option<&Text>) -> Text {
    let unit = unit_name(unit);
    let [value, low, high] = [at.value, at.low, at.high].map(|figure| figure.map(load));
    match (value, low, high) {
        (Some(value), Some(low), Some(high)) => {
            message!("one-capacity.interval", value, unit, low, high)
        }
        (None, Some(low), Some(high)) => message!("one-capacity.range", low, high, unit),
        (_, Some(low), None) => {
            message!("one-capacity.at-least", low, unit, reason = reason(ended, limit))
        }
        (_, None, Some(high)) => {
            message!("one-capacity.below", high, unit, reason = reason(ended, limit))
        }
        (_, None, None) => message!("one-capacity.unknown", reason = reason(ended, limit)),
    }
}

/// Returns the sentence for a capacity with an unknown lower end, on a server that stalls.
pub fn stalled(at: Estimate, unit: LoadUnit) -> Text {
    let reason = text!("search-end.stalls");
    match at.high {
        Some(high) => {
            message!("one-capacity.below", high = load(high), unit = unit_name(unit), reason)
        }
        None => message!("one-capacity.unknown", reason),
    }
}

/// The reason why a capacity is not known better.
fn reason(ended: SearchEnd, limit: Option<&Text>) -> Text {
    match (ended, limit) {
        (SearchEnd::Generator, Some(limit)) => text!("search-end.limited", limit = limit.clone()),
        // No further trial was useful, so the capacity is unknown for lack of time.
        (SearchEnd::Precise, _) => SearchEnd::Budget.words(),
        (ended, _) => ended.words(),
    }
}

fn range(at: Estimate) -> Option<Text> {
    match (at.low, at.high) {
        (Some(low), Some(high)) => Some(message!("load-range", low = load(low), high = load(high))),
        _ => at.value.map(|value| load(value).into()),
    }
}

fn unit_name(unit: LoadUnit) -> Text {
    match unit {
        LoadUnit::PerSecond => text!("load-unit.rate"),
        LoadUnit::Users { .. } => text!("load-unit.users"),
    }
}

/// Formats a load: integers with all digits, others with three.
pub fn load(load: f64) -> String {
    if load.fract() == 0.0 && load >= 0.0 { count(load as u64) } else { three_digits(load) }
}

/// Formats the change of a server that met a load at first and missed a lower one later.
pub fn worsened(met: f64, missed: f64, unit: LoadUnit) -> Text {
    text!("server-changed", met = load(met), missed = load(missed), unit = unit_name(unit))
}
