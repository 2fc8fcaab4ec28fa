//! Computes percentiles of the response time with their intervals.
//!
//! For each quantile, the requests beyond it are counted per point. The variance of that count over
//! blocks gives the effective sample size of the run. The interval consists of the order statistics
//! of a sample of that size, widened to the edges of their buckets. Out of scope: the variation
//! between repeated runs, each of which may settle at another level.

use super::FEWEST_TIMES;
use super::response_times::{Bucket, ResponseTimes};
use crate::texts::message;
use brunt_model::Run;
use brunt_model::finding::{FigureEstimate, PercentileInterval};
use brunt_model::series::SeriesPoint;
use brunt_model::time::seconds_of;
use brunt_stats::blocks::{self, FEWEST_BLOCKS, Spread};
use brunt_stats::order::{self, EffectiveSample};

/// Returns the quantiles (0 to 1) of the response time, each with its interval, in seconds.
pub fn intervals(run: &Run, points: &[SeriesPoint], quantiles: &[f64]) -> Vec<PercentileInterval> {
    let response_times = ResponseTimes::new(run);
    if response_times.count() == 0 {
        return Vec::new();
    }
    let counts = count_beyond(points, &response_times, quantiles);
    quantiles
        .iter()
        .zip(&counts)
        .map(|(q, counts)| interval(run, &response_times, *q, counts))
        .collect()
}

/// For each point: the number of requests, and of those beyond the quantile.
pub type Counts = Vec<(f64, f64)>;

/// Counts the requests beyond all quantiles in one pass over the cells of the series.
pub fn count_beyond(
    points: &[SeriesPoint],
    response_times: &ResponseTimes,
    quantiles: &[f64],
) -> Vec<Counts> {
    let thresholds: Vec<u64> = quantiles.iter().map(|q| response_times.threshold(*q)).collect();
    let mut counts = vec![Vec::with_capacity(points.len()); quantiles.len()];
    let mut beyond = vec![0_u64; quantiles.len()];
    for point in points {
        beyond.fill(0);
        let mut all = 0;
        for (low, n) in point.response.cells() {
            all += n;
            for (beyond, least) in beyond.iter_mut().zip(&thresholds) {
                *beyond += if low >= *least { n } else { 0 };
            }
        }
        for (counts, beyond) in counts.iter_mut().zip(&beyond) {
            counts.push((all as f64, *beyond as f64));
        }
    }
    counts
}

/// Effective sample size of the run at a quantile, with the spread that it was computed from.
struct EffectiveSize {
    sample: EffectiveSample,
    spread: Spread,
}

/// Compares Var(Σ(bᵢ − p·nᵢ)) with N·p(1−p), the variance for independent requests. It is a ratio
/// estimator, since the number of requests in a point is random, too (Cochran, "Sampling
/// Techniques", §6). The effective size never exceeds the number of requests.
fn effective_size(counts: &Counts, requests: f64) -> Option<EffectiveSize> {
    let (all, beyond) = counts.iter().fold((0.0, 0.0), |sum, (n, b)| (sum.0 + n, sum.1 + b));
    let p = beyond / all;
    let deviations: Vec<f64> = counts.iter().map(|(n, b)| b - p * n).collect();
    let spread = blocks::spread(&deviations)?;
    let independent_variance = all * p * (1.0 - p);
    // A run is never worth more than the number of its requests.
    let inflation = if independent_variance > 0.0 {
        (spread.variance * deviations.len() as f64 / independent_variance).max(1.0)
    } else {
        1.0
    };
    let effective = requests / inflation;
    Some(EffectiveSize {
        sample: EffectiveSample { effective, freedom: spread.freedom, skewness: spread.skewness },
        spread,
    })
}

fn interval(
    run: &Run,
    response_times: &ResponseTimes,
    q: f64,
    counts: &Counts,
) -> PercentileInterval {
    let mut interval = PercentileInterval {
        quantile: q,
        estimate: None,
        effective_samples: 0.0,
        too_short: None,
        method: message!("method-of-run.interval"),
    };
    let Some(EffectiveSize { sample, spread }) =
        effective_size(counts, response_times.count() as f64)
    else {
        interval.too_short =
            Some(message!("method-of-run.no-blocks", needed = FEWEST_BLOCKS.to_string()));
        return interval;
    };
    let effective = sample.effective;
    interval.effective_samples = effective;
    interval.method = message!(
        "method-of-run.interval-from-blocks",
        blocks = spread.blocks.to_string(),
        points = spread.block.to_string()
    );
    if effective < FEWEST_TIMES {
        interval.too_short = Some(message!(
            "method-of-run.too-short",
            times = format!("{effective:.0}"),
            needed = FEWEST_TIMES.to_string()
        ));
        return interval;
    }
    interval.estimate = Some(estimate(run, response_times, q, sample));
    interval
}

fn estimate(
    run: &Run,
    response_times: &ResponseTimes,
    q: f64,
    sample: EffectiveSample,
) -> FigureEstimate {
    let shares = order::shares(q, sample);
    let count = response_times.count() as f64;
    let bucket = response_times.quantile(q);
    let low = response_times.rank((shares.low * count).floor() as u64);
    let high = shares.high.map(|share| response_times.rank((share * count).ceil() as u64));
    let value = if bucket.at_least {
        run.total.response_quantile(q).value.max(bucket.low)
    } else {
        bucket.high
    };
    FigureEstimate {
        value: seconds_of(value),
        low: seconds_of(low.low),
        high: high.and_then(upper),
    }
}

fn upper(bucket: Bucket) -> Option<f64> {
    (!bucket.at_least).then_some(seconds_of(bucket.high))
}
