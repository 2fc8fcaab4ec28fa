//! Up to which load something holds: what is offered is achieved, an objective is met.

use super::unit;
use crate::sweep::trials::{At, Trials};
use brunt_model::analysis::{Band, LimitKind, LoadLimit};
use brunt_model::numbers::load;
use brunt_model::objective::{Metric, Relation};
use brunt_model::{LoadUnit, Objective};

/// A load is kept where so much of it is achieved.
const KEPT: f64 = 0.99;
/// Nielsen's limits of patience, in seconds.
const PATIENCE: [f64; 3] = [1.0, 3.0, 10.0];

/// The last load that is kept, and the highest load of each objective.
pub fn limits(trials: &Trials) -> Vec<LoadLimit> {
    let mut limits: Vec<LoadLimit> = last_kept(trials).into_iter().collect();
    let patient = PATIENCE.map(patience).iter().all(|bound| trials.objectives.contains(bound));
    for (index, objective) in trials.objectives.iter().enumerate() {
        let is_patience = patient && PATIENCE.map(patience).contains(objective);
        let kind = if is_patience { LimitKind::Patience } else { LimitKind::Objective };
        limits.push(of_objective(trials, index, kind));
    }
    limits
}

/// One of the three bounds of the preset `1-3-10`.
fn patience(seconds: f64) -> Objective {
    Objective { metric: Metric::Quantile(0.99), step: None, relation: Relation::Below, bound: seconds }
}

/// How far something holds, from the lowest load on.
enum Held {
    Nowhere,
    UpTo(f64),
    Throughout(f64),
    Unknown,
}

impl Held {
    /// `holds`: of a load; None where that is not known, and the load is passed over.
    fn over(curve: &[At], holds: impl Fn(&At) -> Option<bool>) -> Self {
        let known: Vec<(f64, bool)> = curve.iter().filter_map(|at| Some((at.load, holds(at)?))).collect();
        match (known.iter().position(|at| !at.1), known.last()) {
            (_, None) => Self::Unknown,
            (Some(0), _) => Self::Nowhere,
            (Some(first), _) => Self::UpTo(known[first - 1].0),
            (None, Some(last)) => Self::Throughout(last.0),
        }
    }

    /// The highest load up to which it holds, so far as is known; 0 where it holds at none.
    fn load(&self) -> Option<f64> {
        match self {
            Self::Nowhere => Some(0.0),
            Self::UpTo(load) | Self::Throughout(load) => Some(*load),
            Self::Unknown => None,
        }
    }
}

/// Whether at least 99 % of what is offered is achieved; None in a closed loop. Requests under way when the time ends
/// are not yet behind: as many are forgiven as the least response time leaves there (Little's law), and three standard
/// deviations of that number, which is a Poisson one.
fn kept(at: &At, least_response: f64) -> Option<bool> {
    let offered = at.offered.filter(|offered| *offered > 0.0)?;
    let under_way = offered * least_response;
    let forgiven = if at.seconds > 0.0 { (under_way + 3.0 * under_way.sqrt()) / at.seconds } else { 0.0 };
    Some(at.achieved + forgiven >= KEPT * offered * (1.0 - 1e-9))
}

fn last_kept(trials: &Trials) -> Option<LoadLimit> {
    let held = |curve: &[At]| {
        let least = curve.iter().filter_map(|at| at.mean).min_by(f64::total_cmp).unwrap_or(0.0);
        Held::over(curve, |at| kept(at, least))
    };
    if trials.unit != LoadUnit::PerSecond {
        return None;
    }
    let how = "The highest load up to which at least 99 % of what is offered is achieved.";
    Some(limit(trials, (LimitKind::Kept, "99 % achieved".into()), how, held))
}

fn of_objective(trials: &Trials, index: usize, kind: LimitKind) -> LoadLimit {
    let held = |curve: &[At]| Held::over(curve, |at| Some(at.met.get(index).copied().flatten()? > 0.5));
    let how = "The highest load up to which it is met at every load, in more than half of the trials.";
    let mut limit = limit(trials, (kind, trials.objectives[index].to_string()), how, held);
    // Blocks do not say whether a run met an objective.
    if let Some(at) = limit.at.as_mut().filter(|at| at.band == Band::WithinRun) {
        at.band = Band::One;
    }
    limit
}

fn limit(trials: &Trials, of: (LimitKind, String), how: &str, held: impl Fn(&[At]) -> Held) -> LoadLimit {
    let whole = held(&trials.curve());
    let at = matches!(whole, Held::UpTo(_)).then(|| trials.banded(|curve| held(curve).load())).flatten();
    let how = match whole {
        Held::UpTo(_) => how.to_owned(),
        Held::Nowhere => "Not met at the lowest load of the sweep; sweep lower.".into(),
        Held::Throughout(highest) => {
            format!(
                "Not reached: it still holds at the highest load of the sweep, {}; {}.",
                load(trials.unit, highest),
                trials.advice_above()
            )
        }
        Held::Unknown => "Not known: no trial has this figure.".into(),
    };
    LoadLimit { kind: of.0, name: of.1, at, unit: unit(trials.unit), how, robust: None }
}
