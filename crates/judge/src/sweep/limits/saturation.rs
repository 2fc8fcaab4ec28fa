//! Where the throughput stops growing, and the number of users at which the asymptotes of a closed loop cross.

use super::unit;
use crate::sweep::trials::{At, Trials};
use brunt_model::LoadUnit;
use brunt_model::analysis::{LimitKind, LoadLimit};
use brunt_model::numbers::{load, rate, seconds};
use brunt_stats::saturation;

/// A load lies behind the corner when the line exceeds the plateau by this factor.
const BEYOND: f64 = 1.05;
/// So many loads must lie there: one alone may be an accident.
const FEWEST_BEYOND: usize = 2;
/// The throughput grows when it does so by more than this.
const GROWS: f64 = 1.02;
/// A plateau below this share of the greatest throughput that was measured is none: the server has done more.
const OF_PEAK: f64 = 0.8;

/// How the throughput goes with the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Growth {
    /// It grows and then stops.
    Ends {
        /// The plateau, per second.
        plateau: f64,
        /// The load at which it is reached.
        from: f64,
    },
    /// It does not grow over the range.
    Flat {
        /// The plateau, per second.
        plateau: f64,
    },
    /// It grows to the highest load.
    Goes,
    /// One load, or none.
    Unknown,
}

impl Growth {
    /// The plateau, where there is one.
    pub fn plateau(self) -> Option<f64> {
        match self {
            Self::Ends { plateau, .. } | Self::Flat { plateau } => Some(plateau),
            Self::Goes | Self::Unknown => None,
        }
    }
}

/// The plateau of a curve; None where a throughput well above it was measured, since a server that saturates does no more
/// than that.
pub fn plateau(curve: &[At]) -> Option<f64> {
    let peak = peak(curve).map_or(0.0, |peak| peak.achieved);
    growth(curve).plateau().filter(|plateau| *plateau >= OF_PEAK * peak)
}

/// The load at which most was achieved.
pub fn peak(curve: &[At]) -> Option<&At> {
    curve.iter().max_by(|a, b| a.achieved.total_cmp(&b.achieved))
}

/// How the throughput of a curve goes with its load.
pub fn growth(curve: &[At]) -> Growth {
    // What was offered follows the draw of the arrivals; the load is what was meant.
    let (x, y): (Vec<f64>, Vec<f64>) = curve.iter().map(|at| (at.offered.unwrap_or(at.load), at.achieved)).unzip();
    let usable = x.iter().all(|x| *x > 0.0);
    let Some(fit) = usable.then(|| saturation::fit(&x, &y)).flatten() else { return Growth::Unknown };
    let beyond = x.iter().filter(|x| fit.slope * **x >= BEYOND * fit.plateau).count();
    if beyond < FEWEST_BEYOND {
        return Growth::Goes;
    }
    if fit.corner() <= GROWS * x[0] {
        return Growth::Flat { plateau: fit.plateau };
    }
    Growth::Ends { plateau: fit.plateau, from: fit.corner() }
}

/// The saturation point: the throughput of the plateau.
pub fn limit(trials: &Trials) -> LoadLimit {
    let curve = trials.curve();
    let estimate = trials.known(plateau);
    let how = said(trials, &curve) + &estimate.map(|estimate| estimate.doubt()).unwrap_or_default();
    let at = estimate.map(|estimate| estimate.at);
    let name = "saturation point".into();
    LoadLimit { kind: LimitKind::Saturation, name, at, unit: "/s".into(), how, robust: None }
}

fn said(trials: &Trials, curve: &[At]) -> String {
    let highest = curve.last().map_or(0.0, |at| at.load);
    let growth = growth(curve);
    if let (Some(_), None, Some(peak)) = (growth.plateau(), plateau(curve), peak(curve)) {
        return format!(
            "None: the throughput peaks at {} at {} and is far lower at higher loads.",
            rate(peak.achieved),
            load(trials.unit, peak.load)
        );
    }
    match growth {
        Growth::Ends { from, .. } => {
            let from = load(trials.unit, brunt_model::numbers::round3(from));
            format!(
                "The throughput grows with the load up to {from} and no further (least absolute deviations from min(slope · load, plateau))."
            )
        }
        Growth::Flat { .. } => {
            let lowest = curve.first().map_or(0.0, |at| at.load);
            format!(
                "The throughput is saturated at the lowest load already, {}; sweep lower.",
                load(trials.unit, lowest)
            )
        }
        Growth::Goes => format!(
            "Not reached: the highest load of the sweep, {}, still raises the throughput (or one load alone does not); {}.",
            load(trials.unit, highest),
            trials.advice_above()
        ),
        Growth::Unknown => "Not computed: several loads are needed.".into(),
    }
}

/// N* = `X_max` · (`R_min` + think); None for an open loop, or where the think time is not known.
pub fn asymptotes(trials: &Trials) -> Option<LoadLimit> {
    let LoadUnit::Users { think: Some(think) } = trials.unit else { return None };
    let think = think.as_secs_f64();
    let curve = trials.curve();
    let at = trials.banded(|curve| Some(plateau(curve)? * (least(curve)? + think)));
    let how = match (at, least(&curve), plateau(&curve)) {
        (Some(_), Some(least), Some(plateau)) => {
            format!(
                "{} · ({} + {} of thinking): above it, users wait for one another.",
                rate(plateau),
                seconds(least),
                seconds(think)
            )
        }
        _ if growth(&curve).plateau().is_some() => "None: the throughput has no plateau.".into(),
        _ => format!(
            "Not reached: the throughput still grows at the highest load of the sweep; {}.",
            trials.advice_above()
        ),
    };
    let (kind, name) = (LimitKind::Asymptotes, "users for full throughput".into());
    Some(LoadLimit { kind, name, at, unit: unit(trials.unit), how, robust: None })
}

/// The least mean response time of a load.
fn least(curve: &[At]) -> Option<f64> {
    curve.iter().filter_map(|at| at.mean).min_by(f64::total_cmp)
}
