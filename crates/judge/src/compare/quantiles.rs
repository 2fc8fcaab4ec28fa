//! Differences between the quantiles of the response times of a pair.
//!
//! Out of scope: a decision.

use super::sample::ContenderPair;
use brunt_model::comparison::QuantileShift;
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_stats::bands::bands;

/// Quantiles at which the two distributions are compared.
const QUANTILES: [f64; 8] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Returns the shift function, with bands that contain all its quantiles together with probability
/// 1 − `alpha`. Quantiles that are only known from below in some block are left out. Empty if there
/// are no blocks, or too few.
pub fn shift(pair: &ContenderPair, alpha: f64) -> Vec<QuantileShift> {
    let with_differences: Vec<(f64, Vec<f64>)> = QUANTILES
        .into_iter()
        .filter_map(|quantile| Some((quantile, differences(pair, quantile)?)))
        .collect();
    let blocks =
        with_differences.iter().map(|(_, differences)| differences.len()).max().unwrap_or(0);
    // The bands hold for all quantiles together, so all need the same blocks.
    let (quantiles, figures): (Vec<f64>, Vec<Vec<f64>>) =
        with_differences.into_iter().filter(|(_, differences)| differences.len() == blocks).unzip();
    let banded = bands(&figures, alpha).unwrap_or_default();
    let mut shifts = Vec::new();
    for (quantile, banded) in quantiles.into_iter().zip(banded) {
        let seconds = banded.value;
        shifts.push(QuantileShift {
            quantile,
            seconds,
            low: banded.band.low,
            high: banded.band.high,
        });
    }
    shifts
}

/// Differences by block; None if one is not known.
fn differences(pair: &ContenderPair, quantile: f64) -> Option<Vec<f64>> {
    let figures = pair.figures(Measure::Run(Metric::Quantile(quantile)));
    if !figures.is_paired() {
        return None;
    }
    figures
        .ours
        .iter()
        .zip(&figures.theirs)
        .map(|(ours, theirs)| theirs.minus(*ours).exact_value())
        .collect()
}
