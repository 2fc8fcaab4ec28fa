//! Where the response time starts to bend.

use super::unit;
use crate::sweep::trials::{At, Trials};
use brunt_model::analysis::{LimitKind, LoadLimit};
use brunt_model::numbers::{load, three};
use brunt_stats::isotonic;
use brunt_stats::kneedle::{self, Bend};

/// Fewer loads have no shape.
const FEWEST_LOADS: usize = 5;
/// A response time that rises less than this over the range has not begun to bend.
const RISE: f64 = 2.0;
/// Kneedle's usual sensitivity.
const SENSITIVITY: f64 = 1.0;

/// The knee, by Kneedle on the smoothed logarithm of the response time.
pub fn limit(trials: &Trials) -> LoadLimit {
    let curve = trials.curve();
    let known = trials.known(|curve| knee(curve).ok());
    let mut how = match knee(&curve) {
        Ok(_) => found(trials, &curve),
        Err(why) => said(trials, &curve, &why),
    };
    how += &known.map(|known| known.doubt()).unwrap_or_default();
    let at = known.map(|known| known.at);
    let robust = at.and_then(|at| stays(&curve, at.value));
    if robust == Some(false) {
        how += " Not robust: without the top third of the range it lies elsewhere, or is gone.";
    }
    LoadLimit { kind: LimitKind::Knee, name: "knee".into(), at, unit: unit(trials.unit), how, robust }
}

/// Why there is none.
enum Why {
    FewLoads(usize),
    Flat(f64),
    Rises(f64),
}

/// The load at the knee.
fn knee(curve: &[At]) -> Result<f64, Why> {
    let known: Vec<(f64, f64)> =
        curve.iter().filter_map(|at| Some((at.load, at.response.filter(|r| *r > 0.0)?))).collect();
    if known.len() < FEWEST_LOADS {
        return Err(Why::FewLoads(known.len()));
    }
    let loads: Vec<f64> = known.iter().map(|at| at.0).collect();
    let response: Vec<f64> = known.iter().map(|at| at.1.ln()).collect();
    let smooth = isotonic::non_decreasing(&response, &vec![1.0; response.len()]);
    let rise = (smooth[smooth.len() - 1] - smooth[0]).exp();
    if rise < RISE {
        return Err(Why::Flat(rise));
    }
    let knee = kneedle::knee(&axis(&loads), &smooth, Bend::Steepens, SENSITIVITY);
    knee.map(|knee| loads[knee.index]).ok_or(Why::Rises(rise))
}

/// The loads on the axis, plain or logarithmic, on which they stand more evenly.
fn axis(loads: &[f64]) -> Vec<f64> {
    if is_geometric(loads) { loads.iter().map(|load| load.ln()).collect() } else { loads.to_vec() }
}

fn is_geometric(loads: &[f64]) -> bool {
    let uneven = |of: &dyn Fn(f64) -> f64| {
        let steps: Vec<f64> = loads.windows(2).map(|pair| of(pair[1]) - of(pair[0])).collect();
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        steps.iter().map(|step| (step / mean - 1.0).powi(2)).sum::<f64>()
    };
    loads.first().is_some_and(|least| *least > 0.0) && uneven(&f64::ln) < uneven(&|load| load)
}

/// Whether it stays within a step of where it is when the top third of the range is cut off; None where too little is
/// left.
fn stays(curve: &[At], found: f64) -> Option<bool> {
    let loads: Vec<f64> = curve.iter().map(|at| at.load).collect();
    let on_axis = axis(&loads);
    let top = on_axis[0] + (on_axis[on_axis.len() - 1] - on_axis[0]) * 2.0 / 3.0;
    let left = on_axis.iter().filter(|x| **x <= top).count();
    let place = |load: f64| loads.iter().position(|l| *l == load);
    match knee(&curve[..left]) {
        Err(Why::FewLoads(_)) => None,
        Err(_) => Some(false),
        Ok(again) => Some(place(again)?.abs_diff(place(found)?) <= 1),
    }
}

fn found(trials: &Trials, curve: &[At]) -> String {
    let loads: Vec<f64> = curve.iter().map(|at| at.load).collect();
    let spaced = if is_geometric(&loads) { " and of the load" } else { "" };
    format!("Kneedle on the logarithm of {}{spaced}, made non-decreasing, {}.", what(trials), range(trials, curve))
}

fn said(trials: &Trials, curve: &[At], why: &Why) -> String {
    let (what, range) = (what(trials), range(trials, curve));
    match why {
        Why::FewLoads(n) => {
            format!("Not computed: {FEWEST_LOADS} loads with a response time are needed (have {n}).")
        }
        Why::Flat(rise) => {
            let rise = three(*rise);
            format!(
                "Not reached: at the highest load {what} is still {rise} times that at the lowest, {range}; {}.",
                trials.advice_above()
            )
        }
        Why::Rises(rise) => {
            let rise = three(*rise);
            format!("None: {what} rises {rise} times {range}, and nowhere more steeply than before; sweep lower loads.")
        }
    }
}

fn what(trials: &Trials) -> &'static str {
    trials.response.map_or("the response time", |response| response.words())
}

fn range(trials: &Trials, curve: &[At]) -> String {
    let ends = |at: Option<&At>| at.map_or(0.0, |at| at.load);
    let (low, high) = (load(trials.unit, ends(curve.first())), load(trials.unit, ends(curve.last())));
    format!("from {low} to {high} ({} loads)", curve.len())
}
