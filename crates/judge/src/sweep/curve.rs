//! The curve of a contender: each load's figures, each with how far it is known.

use super::response::quantile;
use super::trials::{ENOUGH_BLOCKS, Step, Trials};
use brunt_model::analysis::{Band, BandedFigure, Block, CurvePoint};
use brunt_model::finding::Estimate;
use brunt_model::{Observation, Study, Trial};
use brunt_stats::{blocks, order, robust};

/// One point a load.
pub fn points(trials: &Trials) -> Vec<CurvePoint> {
    trials.steps.iter().map(point).collect()
}

/// Gives percentiles that come of one trial the interval that was decided of it.
pub fn with_intervals(study: &Study, contender: usize, points: &mut [CurvePoint]) {
    for point in points.iter_mut().filter(|point| point.trials == 1) {
        let at_load = |trial: &&Trial| study.experiment.step(trial.place).is_some_and(|step| step.load == point.load);
        let usable = |trial: &&Trial| !trial.judgement.findings.iter().any(|finding| finding.rule == "cut_short");
        let Some(trial) = study.of(contender).filter(at_load).find(usable) else { continue };
        for (quantile, figure) in [(0.5, &mut point.p50), (0.95, &mut point.p95), (0.99, &mut point.p99)] {
            let interval = trial.judgement.intervals.iter().find(|interval| interval.quantile == quantile);
            let estimate = interval.and_then(|interval| interval.estimate);
            if let (Some(figure), Some(Estimate { low, high: Some(high), .. })) = (figure, estimate) {
                let (low, high) = (low.min(figure.value), high.max(figure.value));
                *figure = BandedFigure { low, high, band: Band::WithinRun, ..*figure };
            }
        }
    }
}

fn point(step: &Step) -> CurvePoint {
    let of = |figure: &dyn Fn(&Observation) -> Option<f64>| over_trials(step, figure);
    let mut point = CurvePoint {
        load: step.load,
        trials: step.trials.len() as u32,
        offered: of(&|trial| trial.offered),
        achieved: of(&|trial| Some(trial.achieved)).unwrap_or_default(),
        mean: of(&|trial| trial.mean),
        p50: of(&|trial| quantile(trial, 0.5)),
        p95: of(&|trial| quantile(trial, 0.95)),
        p99: of(&|trial| quantile(trial, 0.99)),
        errors: of(&|trial| trial.errors),
    };
    if let [only] = step.trials[..] {
        widen(&mut point.achieved, rate_half_width(&only.blocks));
        if let Some(mean) = &mut point.mean {
            widen(mean, mean_half_width(&only.blocks));
        }
    }
    point
}

/// The median of a figure over trials. From six on, its 95 % interval by order statistics; below, the range.
fn over_trials(step: &Step, figure: &dyn Fn(&Observation) -> Option<f64>) -> Option<BandedFigure> {
    let known = step.trials.iter().filter_map(|trial| figure(trial)).filter(|v| v.is_finite());
    let mut values: Vec<f64> = known.collect();
    values.sort_by(f64::total_cmp);
    let value = robust::median(&values)?;
    let between =
        |low: usize, high: usize, band| BandedFigure { value, low: values[low - 1], high: values[high - 1], band };
    Some(match (values.len(), order::median_ranks(values.len())) {
        (1, _) => between(1, 1, Band::One),
        (_, Some((low, high))) => between(low, high, Band::Repetitions),
        (n, None) => between(1, n, Band::Range),
    })
}

fn widen(figure: &mut BandedFigure, half: Option<f64>) {
    if let Some(half) = half.filter(|half| half.is_finite()) {
        let (low, high) = ((figure.value - half).max(0.0), figure.value + half);
        *figure = BandedFigure { low, high, band: Band::WithinRun, ..*figure };
    }
}

/// Half the 95 % interval of the completed per second, from how blocks differ.
fn rate_half_width(of: &[Block]) -> Option<f64> {
    half_width(of.iter().map(|block| (block.completed as f64, block.seconds)))
}

/// That of the mean response time.
fn mean_half_width(of: &[Block]) -> Option<f64> {
    let known = of.iter().filter_map(|block| Some((block.mean?, block.completed as f64)));
    half_width(known.map(|(mean, completed)| (mean * completed, completed)))
}

/// Half the 95 % interval of Σsum / Σweight over blocks that may hang together: the ratio estimator, by batch means.
fn half_width(of: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let of: Vec<(f64, f64)> = of.collect();
    let (sum, weight) = of.iter().fold((0.0, 0.0), |(sum, weight), block| (sum + block.0, weight + block.1));
    if of.len() < ENOUGH_BLOCKS || weight <= 0.0 {
        return None;
    }
    let apart: Vec<f64> = of.iter().map(|block| block.0 - sum / weight * block.1).collect();
    let spread = blocks::spread(&apart)?;
    Some(order::student(spread.freedom) * (spread.variance * of.len() as f64).sqrt() / weight)
}
