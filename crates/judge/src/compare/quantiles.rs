//! How the quantiles of the response time of a pair differ.
//!
//! Out of scope: a decision.

use super::sample::Paired;
use brunt_model::comparison::QuantileShift;
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_stats::bands::bands;
use brunt_stats::shift::Between;

/// Where the two distributions are held against each other.
const QUANTILES: [f64; 8] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// The shift function, with bands that hold all its quantiles together with 1 − `alpha`. Quantiles that are known from below only
/// in some block are left out; all, where blocks are too few, or are none.
pub fn shift(pair: &Paired, alpha: f64) -> Vec<QuantileShift> {
    let known: Vec<(f64, Vec<f64>)> =
        QUANTILES.into_iter().filter_map(|quantile| Some((quantile, differences(pair, quantile)?))).collect();
    let blocks = known.iter().map(|(_, differences)| differences.len()).max().unwrap_or(0);
    let (quantiles, figures): (Vec<f64>, Vec<Vec<f64>>) =
        known.into_iter().filter(|(_, differences)| differences.len() == blocks).unzip();
    let banded = bands(&figures, alpha).unwrap_or_default();
    let shift = |(quantile, banded): (f64, brunt_stats::bands::Banded)| QuantileShift {
        quantile,
        seconds: banded.value,
        low: banded.band.low,
        high: banded.band.high,
    };
    quantiles.into_iter().zip(banded).map(shift).collect()
}

/// By block; None where one is not known.
fn differences(pair: &Paired, quantile: f64) -> Option<Vec<f64>> {
    let figures = pair.figures(Measure::Run(Metric::Quantile(quantile)));
    figures.most?;
    let difference = |(ours, theirs): (&Between, &Between)| theirs.less(*ours).known();
    figures.ours.iter().zip(&figures.theirs).map(difference).collect()
}
