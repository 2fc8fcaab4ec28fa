//! Finds the saturation of the throughput, and the number of users at which the asymptotes of
//! a closed loop cross.

use crate::sweep::trials::{LoadFigures, Trials};
use crate::texts::message;
use brunt_model::analysis::{LimitKind, LoadLimit};
use brunt_model::numbers::{rate, seconds};
use brunt_model::{LoadUnit, Text, text};
use brunt_stats::saturation;

/// Minimum ratio of the fitted line to the plateau at a load beyond the corner.
const BEYOND: f64 = 1.05;
/// Minimum number of loads beyond the corner: a single one may be chance.
const FEWEST_BEYOND: usize = 2;
/// Minimum ratio by which the throughput must grow to count as growing.
const GROWS: f64 = 1.02;
/// Minimum ratio of a plateau to the greatest measured throughput. Below it, the server is known to
/// be able to do more.
const OF_PEAK: f64 = 0.8;

/// Growth of the throughput with the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThroughputGrowth {
    /// It grows and then stops.
    Ends {
        /// Throughput of the plateau, per second.
        plateau: f64,
        /// Load at which the plateau is reached.
        from: f64,
    },
    /// The throughput does not grow over the range.
    Flat {
        /// Throughput of the plateau, per second.
        plateau: f64,
    },
    /// The throughput grows up to the highest load.
    Continues,
    /// There are too few loads.
    Unknown,
}

impl ThroughputGrowth {
    /// Throughput of the plateau, if there is one.
    pub fn plateau(self) -> Option<f64> {
        match self {
            Self::Ends { plateau, .. } | Self::Flat { plateau } => Some(plateau),
            Self::Continues | Self::Unknown => None,
        }
    }
}

/// Returns the plateau of a curve. None if a throughput well above it was measured, since a
/// saturated server achieves no more than the plateau.
pub fn plateau(curve: &[LoadFigures]) -> Option<f64> {
    let peak = peak(curve).map_or(0.0, |peak| peak.achieved);
    growth(curve).plateau().filter(|plateau| *plateau >= OF_PEAK * peak)
}

/// Returns the point with the greatest throughput.
pub fn peak(curve: &[LoadFigures]) -> Option<&LoadFigures> {
    curve.iter().max_by(|a, b| a.achieved.total_cmp(&b.achieved))
}

/// Determines the growth of a curve's throughput.
pub fn growth(curve: &[LoadFigures]) -> ThroughputGrowth {
    // The achieved throughput follows the random number of arrivals, and so does the offered load;
    // the planned load does not.
    let (x, y): (Vec<f64>, Vec<f64>) =
        curve.iter().map(|point| (point.offered.unwrap_or(point.load), point.achieved)).unzip();
    let usable = x.iter().all(|x| *x > 0.0);
    let Some(fit) = usable.then(|| saturation::fit(&x, &y)).flatten() else {
        return ThroughputGrowth::Unknown;
    };
    let beyond = x.iter().filter(|x| fit.slope * **x >= BEYOND * fit.plateau).count();
    // A single load below the line may be a disturbed trial.
    if beyond < FEWEST_BEYOND {
        return ThroughputGrowth::Continues;
    }
    // The corner is at the lowest load, so no load of the sweep shows growth.
    if fit.corner() <= GROWS * x[0] {
        return ThroughputGrowth::Flat { plateau: fit.plateau };
    }
    ThroughputGrowth::Ends { plateau: fit.plateau, from: fit.corner() }
}

/// Returns the saturation point: the throughput of the plateau.
pub fn limit(trials: &Trials) -> LoadLimit {
    let curve = trials.curve();
    let estimate = trials.estimate(plateau);
    let doubt = estimate.map(|estimate| estimate.doubt()).unwrap_or_default();
    LoadLimit {
        kind: LimitKind::Saturation,
        name: text!("chart-label.saturation"),
        at: estimate.map(|estimate| estimate.figure),
        unit: LoadUnit::PerSecond.name(),
        how: explanation(trials, &curve, doubt),
        robust: None,
        held: None,
    }
}

fn explanation(trials: &Trials, curve: &[LoadFigures], doubt: Text) -> Text {
    let highest = curve.last().map_or(0.0, |point| point.load);
    let growth = growth(curve);
    // The throughput falls under overload, so the fitted plateau is below a measured throughput.
    if let (Some(_), None, Some(peak)) = (growth.plateau(), plateau(curve), peak(curve)) {
        let load = trials.unit.format(peak.load);
        return message!("limit-saturation.peak", rate = rate(peak.achieved), load, doubt);
    }
    match growth {
        ThroughputGrowth::Ends { from, .. } => {
            let load = trials.unit.format(brunt_model::numbers::round3(from));
            message!("limit-saturation.ends", load, doubt)
        }
        ThroughputGrowth::Flat { .. } => {
            let lowest = curve.first().map_or(0.0, |point| point.load);
            message!("limit-saturation.flat", load = trials.unit.format(lowest), doubt)
        }
        ThroughputGrowth::Continues => message!(
            "limit-saturation.continues",
            load = trials.unit.format(highest),
            advice = trials.advice_above(),
            doubt
        ),
        ThroughputGrowth::Unknown => message!("limit-saturation.unknown", doubt),
    }
}

/// Returns N* = `X_max` · (`R_min` + think). None for an open loop, or if the think
/// time is not known.
pub fn asymptotes(trials: &Trials) -> Option<LoadLimit> {
    let LoadUnit::Users { think: Some(think) } = trials.unit else { return None };
    let think = think.as_secs_f64();
    let curve = trials.curve();
    let at = trials.banded(|curve| Some(plateau(curve)? * (least_response(curve)? + think)));
    let how = match (at, least_response(&curve), plateau(&curve)) {
        (Some(_), Some(least_response), Some(plateau)) => {
            message!(
                "limit-saturation.asymptotes",
                rate = rate(plateau),
                least = seconds(least_response),
                think = seconds(think)
            )
        }
        _ if growth(&curve).plateau().is_some() => message!("limit-saturation.asymptotes-none"),
        _ if growth(&curve) == ThroughputGrowth::Unknown => {
            message!("limit-saturation.unknown", doubt = Text::default())
        }
        _ => message!("limit-saturation.asymptotes-beyond", advice = trials.advice_above()),
    };
    Some(LoadLimit {
        kind: LimitKind::Asymptotes,
        name: message!("load-limit.asymptotes"),
        at,
        unit: trials.unit.name(),
        how,
        robust: None,
        held: None,
    })
}

/// Least mean response time of all loads.
fn least_response(curve: &[LoadFigures]) -> Option<f64> {
    curve.iter().filter_map(|point| point.mean).min_by(f64::total_cmp)
}
