//! Finds the highest load at which the offered load is achieved, or an objective is met.

use crate::sweep::trials::{LoadFigures, Trials};
use crate::texts::message;
use brunt_model::analysis::{Band, HeldLoads, LimitKind, LoadLimit};
use brunt_model::objective::{Metric, Relation};
use brunt_model::{LoadUnit, Objective, Text};

/// Minimum ratio of achieved to offered throughput at which the server keeps up.
const MIN_ACHIEVED: f64 = 0.99;
/// Share of errors below which a server still serves its load.
const MAX_ERRORS: f64 = 0.01;
/// Nielsen's limits of patience, in seconds.
const PATIENCE: [f64; 3] = [1.0, 3.0, 10.0];

/// Returns the highest load at which the server keeps up, and the highest load of each objective.
pub fn limits(trials: &Trials) -> Vec<LoadLimit> {
    let mut limits: Vec<LoadLimit> = highest_achieved(trials).into_iter().collect();
    let patient = PATIENCE.map(patience).iter().all(|bound| trials.objectives.contains(bound));
    for (index, objective) in trials.objectives.iter().enumerate() {
        let is_patience = patient && PATIENCE.map(patience).contains(objective);
        let kind = if is_patience { LimitKind::Patience } else { LimitKind::Objective };
        limits.push(of_objective(trials, index, kind));
    }
    limits.extend(of_errors(trials));
    limits
}

/// Returns the highest load with few errors, if there are errors at some load and no objective
/// bounds them.
fn of_errors(trials: &Trials) -> Option<LoadLimit> {
    let is_bounded = trials
        .objectives
        .iter()
        .any(|objective| objective.metric == Metric::Errors && objective.step.is_none());
    let has_errors = trials.curve().iter().any(|point| has_few_errors(point) == Some(false));
    if is_bounded || !has_errors {
        return None;
    }
    let bound = Objective {
        metric: Metric::Errors,
        step: None,
        relation: Relation::Below,
        bound: MAX_ERRORS,
    };
    let how = message!("load-limit.errors-how");
    let mut limit = limit(trials, LimitKind::Objective, bound.to_string().into(), how, |curve| {
        HeldRange::on_curve(curve, has_few_errors)
    });
    without_blocks(&mut limit);
    Some(limit)
}

/// True if few requests fail at a load; None if that is not known. Error replies come from the
/// server, but other failures may be those of a busy machine.
pub fn has_few_errors(point: &LoadFigures) -> Option<bool> {
    let is_few = point.errors? < MAX_ERRORS;
    let is_known = is_few || !point.is_disturbed() || point.error_replies >= MAX_ERRORS;
    is_known.then_some(is_few)
}

/// Returns the highest load of which it is known that it is achieved. None if a load is not achieved.
pub fn kept_throughout(trials: &Trials) -> Option<f64> {
    if trials.unit != LoadUnit::PerSecond {
        return None;
    }
    match kept_range(&trials.curve()) {
        HeldRange::Throughout(load) => Some(load),
        HeldRange::Nowhere | HeldRange::UpTo(_) | HeldRange::Unknown => None,
    }
}

/// One of the three objectives of the preset `1-3-10`.
fn patience(seconds: f64) -> Objective {
    Objective {
        metric: Metric::Quantile(0.99),
        step: None,
        relation: Relation::Below,
        bound: seconds,
    }
}

/// Range of loads, from the lowest one on, in which a condition holds.
enum HeldRange {
    Nowhere,
    UpTo(f64),
    Throughout(f64),
    Unknown,
}

impl HeldRange {
    /// Determines the range on a curve. `holds` returns None for a load without
    /// data, which is skipped.
    fn on_curve(curve: &[LoadFigures], holds: impl Fn(&LoadFigures) -> Option<bool>) -> Self {
        let results: Vec<(f64, bool)> =
            curve.iter().filter_map(|point| Some((point.load, holds(point)?))).collect();
        match (results.iter().position(|result| !result.1), results.last()) {
            (_, None) => Self::Unknown,
            (Some(0), _) => Self::Nowhere,
            (Some(first), _) => Self::UpTo(results[first - 1].0),
            (None, Some(last)) => Self::Throughout(last.0),
        }
    }

    /// Highest load at which the condition holds, as far as known; 0 if it holds nowhere.
    fn load(&self) -> Option<f64> {
        match self {
            Self::Nowhere => Some(0.0),
            Self::UpTo(load) | Self::Throughout(load) => Some(*load),
            Self::Unknown => None,
        }
    }
}

/// True if at least 99 % of the offered load is achieved; None in a closed loop. Requests in
/// flight at the end of the time are tolerated. Their number is at least offered load ×
/// least response time (Little's law), plus three standard deviations of that number, which
/// has a Poisson distribution.
fn is_achieved(point: &LoadFigures, least_response: f64) -> Option<bool> {
    let offered = point.offered.filter(|offered| *offered > 0.0)?;
    let in_flight = offered * least_response;
    let tolerance = if point.seconds > 0.0 {
        (in_flight + 3.0 * in_flight.sqrt()) / point.seconds
    } else {
        0.0
    };
    // The last factor allows for rounding in floating point.
    let is_achieved = point.achieved + tolerance >= MIN_ACHIEVED * offered * (1.0 - 1e-9);
    (is_achieved || !point.is_disturbed()).then_some(is_achieved)
}

fn highest_achieved(trials: &Trials) -> Option<LoadLimit> {
    if trials.unit != LoadUnit::PerSecond {
        return None;
    }
    let how = message!("load-limit.kept-how");
    Some(limit(trials, LimitKind::Kept, message!("load-limit.kept"), how, kept_range))
}

fn kept_range(curve: &[LoadFigures]) -> HeldRange {
    let least = curve.iter().filter_map(|point| point.mean).min_by(f64::total_cmp).unwrap_or(0.0);
    HeldRange::on_curve(curve, |point| is_achieved(point, least))
}

fn of_objective(trials: &Trials, index: usize, kind: LimitKind) -> LoadLimit {
    let how = message!("load-limit.objective-how");
    let name = trials.objectives[index].to_string().into();
    let mut limit = limit(trials, kind, name, how, |curve| {
        HeldRange::on_curve(curve, |point| Some(point.met.get(index).copied().flatten()? > 0.5))
    });
    without_blocks(&mut limit);
    limit
}

/// Blocks do not show whether a run met an objective.
fn without_blocks(limit: &mut LoadLimit) {
    if let Some(figure) = limit.at.as_mut().filter(|figure| figure.band == Band::WithinRun) {
        figure.band = Band::One;
    }
}

fn limit(
    trials: &Trials,
    kind: LimitKind,
    name: Text,
    how: Text,
    held_range: impl Fn(&[LoadFigures]) -> HeldRange,
) -> LoadLimit {
    let whole = held_range(&trials.curve());
    let at = matches!(whole, HeldRange::UpTo(_))
        .then(|| trials.banded(|curve| held_range(curve).load()))
        .flatten();
    let how = match whole {
        HeldRange::UpTo(_) => how,
        HeldRange::Nowhere => message!("load-limit.nowhere"),
        HeldRange::Throughout(highest) => message!(
            "load-limit.throughout",
            load = trials.unit.format(highest),
            advice = trials.advice_above()
        ),
        HeldRange::Unknown => message!("load-limit.unknown"),
    };
    let held = match whole {
        HeldRange::Nowhere => Some(HeldLoads::None),
        HeldRange::Throughout(_) => Some(HeldLoads::All),
        HeldRange::UpTo(_) | HeldRange::Unknown => None,
    };
    LoadLimit { kind, name, at, unit: trials.unit.name(), how, robust: None, held }
}
