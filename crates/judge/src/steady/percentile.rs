//! Percentiles of the response time with their intervals.
//!
//! For each quantile, requests beyond it are counted per point; how much that count varies over blocks says
//! how many independent requests the run is worth; the interval are the order statistics of so many, widened to the
//! edges of their buckets. Out of scope: the spread of repeated runs, each of which may settle elsewhere.

use super::FEWEST_TIMES;
use super::known::{Bucket, ResponseTimes};
use brunt_model::Run;
use brunt_model::finding::{Estimate, Interval};
use brunt_model::series::Point;
use brunt_model::time::seconds_of;
use brunt_stats::blocks::{self, FEWEST_BLOCKS, Spread};
use brunt_stats::order::{self, Sample};

/// The quantiles (0 to 1) of the response time, each with its interval, in seconds.
pub fn intervals(run: &Run, points: &[Point], quantiles: &[f64]) -> Vec<Interval> {
    let known = ResponseTimes::of(run);
    if known.count() == 0 {
        return Vec::new();
    }
    let counts = count_beyond(points, &known, quantiles);
    quantiles.iter().zip(&counts).map(|(q, counts)| interval(run, &known, *q, counts)).collect()
}

/// Of each point: (requests, those beyond the quantile).
type Counts = Vec<(f64, f64)>;

/// One pass over the cells of the series serves all quantiles.
fn count_beyond(points: &[Point], known: &ResponseTimes, quantiles: &[f64]) -> Vec<Counts> {
    let thresholds: Vec<u64> = quantiles.iter().map(|q| known.threshold(*q)).collect();
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

/// What the run is worth at a quantile.
struct EffectiveSize {
    sample: Sample,
    spread: Spread,
}

/// Var(Σ(bᵢ − p·nᵢ)) against N·p(1−p), which independent requests would have (Cochran, "Sampling Techniques", §6: ratio
/// estimator, since the requests of a point are random too). A run is never worth more than it has requests.
fn worth(counts: &Counts, requests: f64) -> Option<EffectiveSize> {
    let (all, beyond) = counts.iter().fold((0.0, 0.0), |sum, (n, b)| (sum.0 + n, sum.1 + b));
    let p = beyond / all;
    let apart: Vec<f64> = counts.iter().map(|(n, b)| b - p * n).collect();
    let spread = blocks::spread(&apart)?;
    let alone = all * p * (1.0 - p);
    let inflation = if alone > 0.0 { (spread.variance * apart.len() as f64 / alone).max(1.0) } else { 1.0 };
    let effective = requests / inflation;
    Some(EffectiveSize { sample: Sample { effective, freedom: spread.freedom, skewness: spread.skewness }, spread })
}

fn interval(run: &Run, known: &ResponseTimes, q: f64, counts: &Counts) -> Interval {
    let mut interval = Interval {
        quantile: q,
        estimate: None,
        effective_samples: 0.0,
        too_short: None,
        method: "order statistics of the effective sample size".to_owned(),
    };
    let Some(worth) = worth(counts, known.count() as f64) else {
        interval.too_short = Some(format!("no {FEWEST_BLOCKS} blocks of the run are independent of each other"));
        return interval;
    };
    let (effective, spread) = (worth.sample.effective, worth.spread);
    interval.effective_samples = effective;
    interval.method = format!("{} from {} blocks of {} points", interval.method, spread.blocks, spread.block);
    if effective < FEWEST_TIMES {
        interval.too_short =
            Some(format!("the run is {effective:.0} correlation times long, {FEWEST_TIMES} are needed"));
        return interval;
    }
    interval.estimate = Some(estimate(run, known, q, worth.sample));
    interval
}

fn estimate(run: &Run, known: &ResponseTimes, q: f64, sample: Sample) -> Estimate {
    let shares = order::shares(q, sample);
    let count = known.count() as f64;
    let place = known.quantile(q);
    let low = known.rank((shares.low * count).floor() as u64);
    let high = shares.high.map(|share| known.rank((share * count).ceil() as u64));
    let value = if place.at_least { run.total.response_quantile(q).value.max(place.low) } else { place.high };
    Estimate { value: seconds_of(value), low: seconds_of(low.low), high: high.and_then(upper) }
}

fn upper(place: Bucket) -> Option<f64> {
    (!place.at_least).then_some(seconds_of(place.high))
}
