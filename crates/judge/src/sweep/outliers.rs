//! Steps that do not fit to their neighbours, and repetitions that do not fit to the others of their step.

use super::limits::{self, Growth};
use super::trials::{At, Step, Trials};
use brunt_model::analysis::Outlier;
use brunt_model::numbers::{self, rate, seconds};
use brunt_stats::robust;

/// So many widths away stands apart (Iglewicz & Hoaglin, "How to Detect and Handle Outliers", 1993).
const APART: f64 = 3.5;
/// A difference in throughput smaller than this share is not worth another measurement.
const MATTERS: f64 = 0.1;
/// The same of a response time, as a factor.
const MATTERS_TIMES: f64 = 1.5;
/// Neighbours to either side of a step.
const NEIGHBOURS: usize = 2;
/// Fewer loads have too few neighbours.
const FEWEST_LOADS: usize = 5;
/// With fewer repetitions, the median absolute deviation calls sound repetitions outliers.
const FEWEST_REPETITIONS: usize = 4;

/// All of them, by load.
pub fn outliers(trials: &Trials) -> Vec<Outlier> {
    let mut outliers = steps(trials);
    let from = match limits::growth(&trials.curve()) {
        Growth::Ends { from, .. } => from,
        Growth::Flat { .. } => 0.0,
        Growth::Goes | Growth::Unknown => f64::INFINITY,
    };
    outliers.extend(trials.steps.iter().flat_map(|step| repetitions(trials, step, from)));
    outliers.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.repetition.cmp(&b.repetition)));
    outliers
}

/// A step stands apart when its throughput does so both from its neighbours' and from the fitted curve: the one alone
/// would hold a corner, or a smooth bend, against it.
fn steps(trials: &Trials) -> Vec<Outlier> {
    let curve = trials.curve();
    if curve.len() < FEWEST_LOADS {
        return Vec::new();
    }
    let achieved: Vec<f64> = curve.iter().map(|at| at.achieved).collect();
    let around = robust::neighbours(&achieved, NEIGHBOURS);
    let expected = expected(&curve);
    let width = |behind: bool| {
        let side: Vec<f64> =
            expected.iter().zip(&achieved).filter(|(e, _)| e.1 == behind).map(|(e, a)| a - e.0).collect();
        robust::width(&side)
    };
    let widths = [width(false), width(true)];
    let stands = |i: &usize| {
        let ((fitted, behind), seen) = (expected[*i], achieved[*i]);
        let far = |from: f64| (seen - from).abs() > MATTERS * from;
        far(fitted) && far(around[*i]) && (seen - fitted).abs() > APART * widths[usize::from(behind)]
    };
    let told = |i: usize| Outlier {
        load: curve[i].load,
        repetition: None,
        sentence: format!(
            "{}: at {} the throughput was {}, where its neighbours have {}. Measure this step again.",
            trials.contender,
            numbers::load(trials.unit, curve[i].load),
            rate(achieved[i]),
            rate(around[i]),
        ),
    };
    (0..curve.len()).filter(stands).map(told).collect()
}

/// The throughput that the fit leads one to expect, and whether it lies behind the corner.
fn expected(curve: &[At]) -> Vec<(f64, bool)> {
    let x = |at: &At| at.offered.unwrap_or(at.load);
    let slopes: Vec<f64> = curve.iter().map(|at| at.achieved / x(at).max(f64::MIN_POSITIVE)).collect();
    let (plateau, from) = match limits::growth(curve) {
        Growth::Ends { plateau, from } => (plateau, from),
        Growth::Flat { plateau } => (plateau, 0.0),
        Growth::Goes | Growth::Unknown => (f64::INFINITY, f64::INFINITY),
    };
    let rising: Vec<f64> = slopes.iter().zip(curve).filter(|(_, at)| x(at) < from).map(|(slope, _)| *slope).collect();
    let slope = robust::median(&rising).unwrap_or(0.0);
    curve.iter().map(|at| if x(at) < from { (slope * x(at), false) } else { (plateau, true) }).collect()
}

/// Repetitions of a step whose throughput or response time stands apart from the others'. Behind the saturation point
/// (`from`) response times are those of a queue that grows by chance, and are not looked at.
fn repetitions(trials: &Trials, step: &Step, from: f64) -> Vec<Outlier> {
    if step.trials.len() < FEWEST_REPETITIONS {
        return Vec::new();
    }
    let achieved: Vec<f64> = step.trials.iter().map(|trial| trial.achieved).collect();
    // Response times differ by factors: their logarithms are looked at.
    let response: Vec<f64> =
        step.trials.iter().filter_map(|trial| trial.mean.filter(|m| *m > 0.0).map(f64::ln)).collect();
    let by_rate = apart(&achieved, MATTERS * robust::median(&achieved).unwrap_or(0.0));
    let by_time = if response.len() == achieved.len() && step.load < from {
        apart(&response, MATTERS_TIMES.ln())
    } else {
        Vec::new()
    };
    let told = |i: usize| {
        let (seen, others) = match (by_rate.contains(&i), by_time.contains(&i)) {
            (true, _) => (rate(achieved[i]), rate(robust::median(&achieved)?)),
            (false, true) => (seconds(response[i].exp()), seconds(robust::median(&response)?.exp())),
            (false, false) => return None,
        };
        let what = if by_rate.contains(&i) { "throughput" } else { "mean response time" };
        let load = numbers::load(trials.unit, step.load);
        let repetition = step.trials[i].repetition;
        let sentence = format!(
            "{}: in repetition {} at {load} the {what} was {seen}, where the repetitions have {others} in the middle. Measure it again.",
            trials.contender,
            repetition + 1,
        );
        Some(Outlier { load: step.load, repetition: Some(repetition), sentence })
    };
    (0..achieved.len()).filter_map(told).collect()
}

/// Which values stand further from the median than chance, and than `matters`.
fn apart(values: &[f64], matters: f64) -> Vec<usize> {
    let Some(middle) = robust::median(values) else { return Vec::new() };
    let away: Vec<f64> = values.iter().map(|v| v - middle).collect();
    let most = (APART * robust::width(&away)).max(matters);
    (0..values.len()).filter(|i| away[*i].abs() > most).collect()
}
