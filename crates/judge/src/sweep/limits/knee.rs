//! Finds the knee: the load at which the response time starts to bend.

use crate::sweep::response::Response;
use crate::sweep::trials::{LoadFigures, Trials};
use crate::texts::message;
use brunt_model::analysis::{LimitKind, LoadLimit};
use brunt_model::numbers::three_digits;
use brunt_model::{Text, text};
use brunt_stats::isotonic;
use brunt_stats::kneedle::{self, Bend};

/// Minimum number of loads that have a shape.
const FEWEST_LOADS: usize = 5;
/// Minimum rise of the response time over the range, as a factor. Below it, the curve has
/// not begun to bend.
const RISE: f64 = 2.0;
/// Kneedle's default sensitivity.
const SENSITIVITY: f64 = 1.0;

/// Returns the knee, by Kneedle on the smoothed logarithm of the response time.
pub fn limit(trials: &Trials) -> LoadLimit {
    let curve = trials.curve();
    let estimate = trials.estimate(|curve| knee(curve).ok());
    let at = estimate.map(|estimate| estimate.figure);
    let robust = at.and_then(|knee| is_robust(&curve, knee.value));
    let doubt = estimate.map(|estimate| estimate.doubt()).unwrap_or_default();
    let doubts = match robust {
        Some(false) => {
            message!("doubts", first = doubt, second = message!("limit-knee.not-robust"))
        }
        _ => doubt,
    };
    let how = match knee(&curve) {
        Ok(_) => method_text(trials, &curve, doubts),
        Err(reason) => no_knee_text(trials, &curve, &reason, doubts),
    };
    LoadLimit {
        kind: LimitKind::Knee,
        name: text!("chart-label.knee"),
        at,
        unit: trials.unit.name(),
        how,
        robust,
        held: None,
    }
}

/// Reason why there is no knee.
enum NoKnee {
    /// Number of loads with a response time.
    FewLoads(usize),
    /// Rise of the response time over the range, as a factor.
    Flat(f64),
    /// The same; the response time rises, but nowhere more steeply than before.
    Rises(f64),
}

/// Returns the load at the knee.
fn knee(curve: &[LoadFigures]) -> Result<f64, NoKnee> {
    let points: Vec<(f64, f64)> = curve
        .iter()
        .filter_map(|point| Some((point.load, point.response.filter(|r| *r > 0.0)?)))
        .collect();
    if points.len() < FEWEST_LOADS {
        return Err(NoKnee::FewLoads(points.len()));
    }
    let loads: Vec<f64> = points.iter().map(|point| point.0).collect();
    // On a linear axis, values under overload, which depend on the length of the step, push the
    // knee to the first overloaded load.
    let response: Vec<f64> = points.iter().map(|point| point.1.ln()).collect();
    let smooth = isotonic::non_decreasing(&response, &vec![1.0; response.len()]);
    let rise = (smooth[smooth.len() - 1] - smooth[0]).exp();
    // Kneedle would scale the noise of a flat curve to the unit square, too.
    if rise < RISE {
        return Err(NoKnee::Flat(rise));
    }
    let knee = kneedle::knee(&axis(&loads), &smooth, Bend::Steepens, SENSITIVITY);
    knee.map(|knee| loads[knee.index]).ok_or(NoKnee::Rises(rise))
}

/// Loads on the axis (plain or logarithmic) on which they are more evenly spaced.
fn axis(loads: &[f64]) -> Vec<f64> {
    if is_geometric(loads) { loads.iter().map(|load| load.ln()).collect() } else { loads.to_vec() }
}

fn is_geometric(loads: &[f64]) -> bool {
    let logarithms: Vec<f64> = loads.iter().map(|load| load.ln()).collect();
    loads.first().is_some_and(|least| *least > 0.0) && unevenness(&logarithms) < unevenness(loads)
}

/// Sum of the squared relative deviations of the steps from their mean.
fn unevenness(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    steps.iter().map(|step| (step / mean - 1.0).powi(2)).sum::<f64>()
}

/// True if the knee moves by at most a step when the top third of the range is cut off. None if
/// too few loads remain.
fn is_robust(curve: &[LoadFigures], knee_load: f64) -> Option<bool> {
    let loads: Vec<f64> = curve.iter().map(|point| point.load).collect();
    let on_axis = axis(&loads);
    let top = on_axis[0] + (on_axis[on_axis.len() - 1] - on_axis[0]) * 2.0 / 3.0;
    let remaining = on_axis.iter().filter(|x| **x <= top).count();
    match knee(&curve[..remaining]) {
        Err(NoKnee::FewLoads(_)) => None,
        Err(_) => Some(false),
        Ok(new_load) => {
            let new_index = loads.iter().position(|load| *load == new_load)?;
            let index = loads.iter().position(|load| *load == knee_load)?;
            Some(new_index.abs_diff(index) <= 1)
        }
    }
}

fn method_text(trials: &Trials, curve: &[LoadFigures], doubts: Text) -> Text {
    let loads: Vec<f64> = curve.iter().map(|point| point.load).collect();
    let response = response_name(trials);
    let range = range(trials, curve);
    if is_geometric(&loads) {
        message!("limit-knee.method-of-both", response, range, doubts)
    } else {
        message!("limit-knee.method", response, range, doubts)
    }
}

fn no_knee_text(trials: &Trials, curve: &[LoadFigures], reason: &NoKnee, doubts: Text) -> Text {
    let response = response_name(trials);
    let range = range(trials, curve);
    match reason {
        NoKnee::FewLoads(n) => {
            let needed = FEWEST_LOADS.to_string();
            message!("limit-knee.few-loads", needed, have = n.to_string(), doubts)
        }
        NoKnee::Flat(rise) => {
            let rise = three_digits(*rise);
            let advice = trials.advice_above();
            message!("limit-knee.flat", response, rise, range, advice, doubts)
        }
        NoKnee::Rises(rise) => {
            message!("limit-knee.rises", response, rise = three_digits(*rise), range, doubts)
        }
    }
}

fn response_name(trials: &Trials) -> Text {
    trials.response.map_or_else(|| message!("limit-knee.response"), Response::words)
}

fn range(trials: &Trials, curve: &[LoadFigures]) -> Text {
    let low = trials.unit.format(curve.first().map_or(0.0, |point| point.load));
    let high = trials.unit.format(curve.last().map_or(0.0, |point| point.load));
    message!("limit-knee.range", low, high, count = curve.len().to_string())
}
