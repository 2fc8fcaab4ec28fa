//! Builds the curve of a contender: the figures at each load, with their bands.

use super::trials::{ENOUGH_BLOCKS, LoadTrials, Trials};
use brunt_model::analysis::{Band, BandedFigure, CurvePoint, MetricFigure, SecondOfTrial};
use brunt_model::finding::FigureEstimate;
use brunt_model::objective::Metric;
use brunt_model::{Observation, Study};
use brunt_stats::{blocks, order, robust};

/// Returns one point for each load. Its figures are medians over the trials at that load.
pub fn points(trials: &Trials) -> Vec<CurvePoint> {
    trials.steps.iter().map(point).collect()
}

/// Sets the bands of percentiles at loads with a single trial, from the confidence intervals in
/// that trial's judgement. A figure without a two-sided interval keeps its band.
pub fn set_percentile_bands(study: &Study, contender: usize, points: &mut [CurvePoint]) {
    for point in points.iter_mut().filter(|point| point.trials == 1) {
        let trial = study.trials_of(contender).find(|trial| {
            let is_at_load =
                study.experiment.step(trial.place).is_some_and(|step| step.load == point.load);
            is_at_load
                && !trial.judgement.findings.iter().any(|finding| finding.rule == "cut_short")
        });
        let Some(trial) = trial else { continue };
        let fields = [(0.5, &mut point.p50), (0.95, &mut point.p95), (0.99, &mut point.p99)];
        let fields = fields
            .into_iter()
            .filter_map(|(quantile, figure)| Some((Metric::Quantile(quantile), figure.as_mut()?)));
        let others = point.others.iter_mut().map(|other| (other.metric, &mut other.figure));
        for (metric, figure) in fields.chain(others) {
            let mut intervals = trial.judgement.intervals.iter();
            let interval = intervals.find(|i| Metric::Quantile(i.quantile).is_same(metric));
            let estimate = interval.and_then(|interval| interval.estimate);
            if let Some(FigureEstimate { low, high: Some(high), .. }) = estimate {
                let low = low.min(figure.value);
                let high = high.max(figure.value);
                *figure = BandedFigure { low, high, band: Band::WithinRun, ..*figure };
            }
        }
    }
}

fn point(step: &LoadTrials) -> CurvePoint {
    let mut point = CurvePoint {
        load: step.load,
        trials: step.trials.len() as u32,
        offered: over_trials(step, |trial| trial.offered),
        achieved: metric_over_trials(step, Metric::Throughput).unwrap_or_default(),
        mean: metric_over_trials(step, Metric::Mean),
        p50: metric_over_trials(step, Metric::Quantile(0.5)),
        p95: metric_over_trials(step, Metric::Quantile(0.95)),
        p99: metric_over_trials(step, Metric::Quantile(0.99)),
        errors: metric_over_trials(step, Metric::Errors),
        others: Vec::new(),
    };
    let quantiles = step.trials.iter().flat_map(|trial| &trial.quantiles);
    let quantiles = quantiles.map(|known| Metric::Quantile(known.quantile));
    for metric in [Metric::Goodput, Metric::Max].into_iter().chain(quantiles) {
        // Trials share most quantiles, and some have fields.
        if point.figure(metric).is_none()
            && let Some(figure) = metric_over_trials(step, metric)
        {
            point.others.push(MetricFigure { metric, figure });
        }
    }
    // The blocks of a single trial are the only evidence of its variation.
    if let [only] = step.trials[..] {
        set_band(&mut point.achieved, rate_half_width(&only.blocks));
        if let Some(mean) = &mut point.mean {
            set_band(mean, mean_half_width(&only.blocks));
        }
    }
    point
}

fn metric_over_trials(step: &LoadTrials, metric: Metric) -> Option<BandedFigure> {
    over_trials(step, |trial| trial.figure(metric).map(|(value, _)| value))
}

/// Median of a figure over the trials that have it; None if no trial has it. The band is the 95 %
/// interval by order statistics if at least six trials have the figure, otherwise the range.
fn over_trials(
    step: &LoadTrials,
    figure_of: impl Fn(&Observation) -> Option<f64>,
) -> Option<BandedFigure> {
    let values = step.trials.iter().filter_map(|trial| figure_of(trial)).filter(|v| v.is_finite());
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let value = robust::median(&values)?;
    let (low, high, band) = match (values.len(), order::median_ranks(values.len())) {
        (1, _) => (1, 1, Band::One),
        (_, Some((low, high))) => (low, high, Band::Repetitions),
        (n, None) => (1, n, Band::Range),
    };
    Some(BandedFigure { value, low: values[low - 1], high: values[high - 1], band })
}

/// Replaces the band of a figure by the figure ± `half`, not below 0. No change without a finite
/// `half`.
fn set_band(figure: &mut BandedFigure, half: Option<f64>) {
    if let Some(half) = half.filter(|half| half.is_finite()) {
        let low = (figure.value - half).max(0.0);
        let high = figure.value + half;
        *figure = BandedFigure { low, high, band: Band::WithinRun, ..*figure };
    }
}

/// Half the 95 % interval of the throughput, in completed requests/s, from the differences between
/// blocks of time. None with too few blocks.
fn rate_half_width(blocks: &[SecondOfTrial]) -> Option<f64> {
    half_width(blocks.iter().map(|block| (block.completed as f64, block.seconds)))
}

/// Half the 95 % interval of the mean response time, in seconds, from the differences between
/// blocks of time. None with too few blocks.
fn mean_half_width(blocks: &[SecondOfTrial]) -> Option<f64> {
    let means = blocks.iter().filter_map(|block| Some((block.mean?, block.completed as f64)));
    half_width(means.map(|(mean, completed)| (mean * completed, completed)))
}

/// Half the 95 % interval of Σsum / Σweight over blocks (ratio estimator). The blocks may be
/// correlated: [`blocks::spread`] merges them until they are not (batch means). None with fewer
/// than [`ENOUGH_BLOCKS`] blocks, without weight, or if even merged blocks are correlated.
fn half_width(sums_and_weights: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = sums_and_weights.collect();
    let (sum, weight) =
        pairs.iter().fold((0.0, 0.0), |(sum, weight), block| (sum + block.0, weight + block.1));
    if pairs.len() < ENOUGH_BLOCKS || weight <= 0.0 {
        return None;
    }
    let deviations: Vec<f64> = pairs.iter().map(|block| block.0 - sum / weight * block.1).collect();
    let spread = blocks::spread(&deviations)?;
    Some(order::student(spread.freedom) * (spread.variance * pairs.len() as f64).sqrt() / weight)
}
