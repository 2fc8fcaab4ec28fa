//! Finds the knee: the load at which the response time starts to bend.

use super::unit;
use crate::sweep::trials::{LoadFigures, Trials};
use brunt_model::analysis::{LimitKind, LoadLimit};
use brunt_model::numbers::{load, three_digits};
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
    let mut how = match knee(&curve) {
        Ok(_) => method_text(trials, &curve),
        Err(reason) => no_knee_text(trials, &curve, &reason),
    };
    how += &estimate.map(|estimate| estimate.doubt()).unwrap_or_default();
    let at = estimate.map(|estimate| estimate.figure);
    let robust = at.and_then(|knee| is_robust(&curve, knee.value));
    if robust == Some(false) {
        how += " Not robust: without the top third of the range it lies elsewhere, or disappears.";
    }
    LoadLimit {
        kind: LimitKind::Knee,
        name: "knee".into(),
        at,
        unit: unit(trials.unit),
        how,
        robust,
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

fn method_text(trials: &Trials, curve: &[LoadFigures]) -> String {
    let loads: Vec<f64> = curve.iter().map(|point| point.load).collect();
    let axis = if is_geometric(&loads) { " and of the load" } else { "" };
    let response = response_name(trials);
    format!(
        "Kneedle on the logarithm of {response}{axis}, made non-decreasing, {}.",
        range(trials, curve)
    )
}

fn no_knee_text(trials: &Trials, curve: &[LoadFigures], reason: &NoKnee) -> String {
    let response = response_name(trials);
    let range = range(trials, curve);
    match reason {
        NoKnee::FewLoads(n) => {
            format!(
                "Not computed: {FEWEST_LOADS} loads with a response time are needed (have {n})."
            )
        }
        NoKnee::Flat(rise) => {
            let rise = three_digits(*rise);
            format!(
                "Not reached: at the highest load {response} is still {rise} times that at the lowest, {range}; {}.",
                trials.advice_above()
            )
        }
        NoKnee::Rises(rise) => {
            let rise = three_digits(*rise);
            format!(
                "None: {response} rises {rise} times {range}, and nowhere more steeply than before; sweep lower loads."
            )
        }
    }
}

fn response_name(trials: &Trials) -> &'static str {
    trials.response.map_or("the response time", |response| response.words())
}

fn range(trials: &Trials, curve: &[LoadFigures]) -> String {
    let low = load(trials.unit, curve.first().map_or(0.0, |point| point.load));
    let high = load(trials.unit, curve.last().map_or(0.0, |point| point.load));
    format!("from {low} to {high} ({} loads)", curve.len())
}
