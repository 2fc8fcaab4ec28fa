//! Finds steps (loads) that differ from their neighbors, and repetitions that differ from the
//! others of their step.

use super::limits::{self, ThroughputGrowth};
use super::trials::{LoadFigures, LoadTrials, Trials};
use crate::texts::message;
use brunt_model::analysis::Outlier;
use brunt_model::numbers::{rate, seconds};
use brunt_stats::robust;

/// Minimum distance of an outlier from the median or fit, in robust standard deviations
/// ([`robust::width`]; Iglewicz & Hoaglin, "How to Detect and Handle Outliers", 1993).
const MIN_WIDTHS: f64 = 3.5;
/// Minimum relative difference in throughput that is worth another measurement.
const MIN_RATE_DIFFERENCE: f64 = 0.1;
/// Minimum ratio of response times that is worth another measurement.
const MIN_TIME_RATIO: f64 = 1.5;
/// Number of neighbors on either side of a step. The reference is the median of the step and these.
const NEIGHBORS_PER_SIDE: usize = 2;
/// Minimum number of loads: with fewer, a step has too few neighbours.
const FEWEST_LOADS: usize = 5;
/// Minimum number of repetitions: with fewer, the median absolute deviation
/// calls sound repetitions outliers.
const FEWEST_REPETITIONS: usize = 4;

/// Returns all outliers of a contender, sorted by load; a step comes before its repetitions.
pub fn outliers(trials: &Trials) -> Vec<Outlier> {
    let mut outliers = outlying_steps(trials);
    let saturation_load = match limits::growth(&trials.curve()) {
        ThroughputGrowth::Ends { from, .. } => from,
        ThroughputGrowth::Flat { .. } => 0.0,
        ThroughputGrowth::Continues | ThroughputGrowth::Unknown => f64::INFINITY,
    };
    outliers.extend(
        trials.steps.iter().flat_map(|step| outlying_repetitions(trials, step, saturation_load)),
    );
    outliers.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.repetition.cmp(&b.repetition)));
    outliers
}

/// Finds steps with a throughput that differs both from the neighbors' and from the fitted curve.
/// The neighbors alone would make a corner an outlier, and the fit alone a smooth bend.
fn outlying_steps(trials: &Trials) -> Vec<Outlier> {
    let curve = trials.curve();
    if curve.len() < FEWEST_LOADS {
        return Vec::new();
    }
    let achieved: Vec<f64> = curve.iter().map(|point| point.achieved).collect();
    let neighbours = robust::neighbours(&achieved, NEIGHBORS_PER_SIDE);
    let fit = fitted_throughput(&curve);
    let width_rising = residual_width(&fit, &achieved, false);
    let width_saturated = residual_width(&fit, &achieved, true);
    let mut outliers = Vec::new();
    for (index, point) in curve.iter().enumerate() {
        let fitted = fit[index].throughput;
        let width = if fit[index].is_saturated { width_saturated } else { width_rising };
        let is_outlier = is_far(point.achieved, fitted)
            && is_far(point.achieved, neighbours[index])
            && (point.achieved - fitted).abs() > MIN_WIDTHS * width;
        if !is_outlier {
            continue;
        }
        let sentence = message!(
            "outliers.step",
            contender = trials.contender,
            load = trials.unit.format(point.load),
            rate = rate(point.achieved),
            neighbors = rate(neighbours[index])
        );
        outliers.push(Outlier { load: point.load, repetition: None, sentence });
    }
    outliers
}

/// True if a throughput differs from the reference by more than [`MIN_RATE_DIFFERENCE`].
fn is_far(achieved: f64, reference: f64) -> bool {
    (achieved - reference).abs() > MIN_RATE_DIFFERENCE * reference
}

/// Robust standard deviation of measured − fitted throughput, on one side of the corner.
fn residual_width(fit: &[FittedPoint], achieved: &[f64], is_saturated: bool) -> f64 {
    let side = fit.iter().zip(achieved).filter(|(fitted, _)| fitted.is_saturated == is_saturated);
    let deviations: Vec<f64> =
        side.map(|(fitted, achieved)| achieved - fitted.throughput).collect();
    robust::width(&deviations)
}

/// Throughput at a load by the fit.
struct FittedPoint {
    throughput: f64,
    /// True from the corner on, where the throughput is the plateau.
    is_saturated: bool,
}

/// Fits a line through the origin (median of achieved ÷ offered) up to the corner, and the plateau
/// from there on. Without a plateau, the line covers all loads.
fn fitted_throughput(curve: &[LoadFigures]) -> Vec<FittedPoint> {
    let slopes: Vec<f64> = curve
        .iter()
        .map(|point| point.achieved / point.offered_or_load().max(f64::MIN_POSITIVE))
        .collect();
    let (plateau, from) = match limits::growth(curve) {
        ThroughputGrowth::Ends { plateau, from } => (plateau, from),
        ThroughputGrowth::Flat { plateau } => (plateau, 0.0),
        ThroughputGrowth::Continues | ThroughputGrowth::Unknown => (f64::INFINITY, f64::INFINITY),
    };
    let rising = slopes.iter().zip(curve).filter(|(_, point)| point.offered_or_load() < from);
    let rising: Vec<f64> = rising.map(|(slope, _)| *slope).collect();
    let slope = robust::median(&rising).unwrap_or(0.0);
    let mut fit = Vec::new();
    for point in curve {
        let is_saturated = point.offered_or_load() >= from;
        let throughput = if is_saturated { plateau } else { slope * point.offered_or_load() };
        fit.push(FittedPoint { throughput, is_saturated });
    }
    fit
}

/// Finds repetitions of a step with another throughput or response time than the rest. From
/// `saturation_load` on, response times are not examined: the queue grows as long as the step
/// lasts, and at random.
fn outlying_repetitions(trials: &Trials, step: &LoadTrials, saturation_load: f64) -> Vec<Outlier> {
    if step.trials.len() < FEWEST_REPETITIONS {
        return Vec::new();
    }
    let achieved: Vec<f64> = step.trials.iter().map(|trial| trial.achieved).collect();
    // Response times differ by factors, so their logarithms are compared.
    let response: Vec<f64> = step
        .trials
        .iter()
        .filter_map(|trial| trial.mean.filter(|m| *m > 0.0).map(f64::ln))
        .collect();
    let by_rate =
        outlying(&achieved, MIN_RATE_DIFFERENCE * robust::median(&achieved).unwrap_or(0.0));
    let by_time = if response.len() == achieved.len() && step.load < saturation_load {
        outlying(&response, MIN_TIME_RATIO.ln())
    } else {
        Vec::new()
    };
    let mut outliers = Vec::new();
    for (index, trial) in step.trials.iter().enumerate() {
        let contender = trials.contender;
        let repetition = (trial.repetition + 1).to_string();
        let load = trials.unit.format(step.load);
        let sentence = if by_rate.contains(&index) {
            let Some(median) = robust::median(&achieved) else { continue };
            message!(
                "outliers.repetition-throughput",
                contender,
                repetition,
                load,
                value = rate(achieved[index]),
                median = rate(median)
            )
        } else if by_time.contains(&index) {
            let Some(median) = robust::median(&response) else { continue };
            message!(
                "outliers.repetition-time",
                contender,
                repetition,
                load,
                value = seconds(response[index].exp()),
                median = seconds(median.exp())
            )
        } else {
            continue;
        };
        outliers.push(Outlier { load: step.load, repetition: Some(trial.repetition), sentence });
    }
    outliers
}

/// Indices of the values that differ from the median by more than [`MIN_WIDTHS`] and more than
/// `min_difference`.
fn outlying(values: &[f64], min_difference: f64) -> Vec<usize> {
    let Some(median) = robust::median(values) else { return Vec::new() };
    let deviations: Vec<f64> = values.iter().map(|v| v - median).collect();
    let most = (MIN_WIDTHS * robust::width(&deviations)).max(min_difference);
    (0..values.len()).filter(|i| deviations[*i].abs() > most).collect()
}
