//! Computes a trial from its single requests: throughput, percentiles, blocks of a second.

use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::{LoadUnit, Observation, Observations};

/// Maximum length of a trial: a week, in seconds. A longer one has invalid times.
const MAX_SECONDS: f64 = 7.0 * 86_400.0;

const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// A completed or failed request. Times are in seconds.
#[derive(Debug, Clone, Copy)]
pub struct RequestSample {
    /// Start time, on any clock.
    pub start: f64,
    /// Time from start to end.
    pub duration: f64,
    /// True if a complete reply was received.
    pub completed: bool,
    /// True if the reply was also as expected.
    pub good: bool,
}

/// Resolution of the start times in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeResolution {
    /// Seconds. The first and the last second are only partly covered.
    Second,
    /// Milliseconds.
    Millisecond,
}

/// Computes the one trial of a file, in a closed loop. The caller sets the load.
pub fn trial(samples: &[RequestSample], resolution: TimeResolution) -> Result<Observation, String> {
    let first = samples.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
    let last = samples.iter().map(|s| s.start + s.duration).fold(0.0, f64::max);
    let seconds = last - first;
    if !seconds.is_finite() || seconds <= 0.0 {
        return Err("it has no request with a known time".into());
    }
    if seconds > MAX_SECONDS {
        return Err("its requests lie more than a week apart: times that make no sense".into());
    }
    let mut times: Vec<f64> = samples.iter().filter(|s| s.completed).map(|s| s.duration).collect();
    times.sort_by(f64::total_cmp);
    let bad = samples.iter().filter(|s| !s.good).count();
    let blocks = blocks(samples, first, seconds, resolution);
    let whole: f64 = blocks.iter().map(|block| block.completed as f64).sum();
    // If the start times are in seconds, both ends are uncertain. The complete seconds between them
    // are more precise.
    let is_rough = resolution == TimeResolution::Second && blocks.len() >= 3 && whole > 0.0;
    Ok(Observation {
        achieved: if is_rough { whole / blocks.len() as f64 } else { times.len() as f64 / seconds },
        mean: mean(&times),
        quantiles: QUANTILES.iter().filter_map(|q| quantile(&times, *q)).collect(),
        min: times.first().copied(),
        max: times.last().copied(),
        errors: Some(bad as f64 / samples.len() as f64),
        blocks,
        ..Observation::default()
    })
}

/// Returns the mean number of requests in flight, by Little's law; at least 1.
pub fn concurrency(samples: &[RequestSample], observation: &Observation) -> f64 {
    let completed = samples.iter().filter(|s| s.completed).count() as f64;
    let busy: f64 = samples.iter().map(|s| s.duration).sum();
    if completed == 0.0 { 1.0 } else { (busy * observation.achieved / completed).round().max(1.0) }
}

/// Wraps the one trial of a file into a result set.
pub fn alone(observation: Observation, notes: &[&str]) -> Observations {
    Observations {
        contenders: vec![String::new()],
        factors: Vec::new(),
        unit: LoadUnit::Users { think: None },
        observations: vec![observation],
        objectives: Vec::new(),
        notes: notes.iter().map(|note| (*note).into()).collect(),
    }
}

fn mean(times: &[f64]) -> Option<f64> {
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// Returns the quantile by rank ⌈qn⌉, or None if less than one value is expected above it.
fn quantile(sorted: &[f64], quantile: f64) -> Option<ObservedQuantile> {
    let enough = sorted.len() as f64 * (1.0 - quantile) >= 1.0 - 1e-9;
    let seconds = *sorted.get(rank(sorted.len(), quantile)).filter(|_| enough)?;
    Some(ObservedQuantile { quantile, seconds, at_least: false })
}

fn rank(count: usize, quantile: f64) -> usize {
    ((quantile * count as f64 - 1e-9).ceil() as usize).saturating_sub(1)
}

/// Groups requests by seconds: the ones that began and the ones that ended in each.
fn blocks(
    samples: &[RequestSample],
    first: f64,
    lasted: f64,
    resolution: TimeResolution,
) -> Vec<SecondOfTrial> {
    let count = lasted.ceil().max(1.0) as usize;
    let mut blocks = vec![SecondOfTrial { seconds: 1.0, ..SecondOfTrial::default() }; count];
    let mut ended: Vec<Vec<f64>> = vec![Vec::new(); count];
    let block_of = |instant: f64| ((instant - first).max(0.0) as usize).min(count - 1);
    for sample in samples {
        blocks[block_of(sample.start)].planned += 1;
        if sample.completed {
            ended[block_of(sample.start + sample.duration)].push(sample.duration);
        }
    }
    for (block, times) in blocks.iter_mut().zip(&mut ended) {
        times.sort_by(f64::total_cmp);
        block.completed = times.len() as u64;
        block.mean = mean(times);
        block.p99 = times.get(rank(times.len(), 0.99)).copied();
    }
    trimmed(blocks, lasted, resolution)
}

/// Removes the first and the last block if they are uncertain, and else sets the length
/// of the last one.
fn trimmed(
    mut blocks: Vec<SecondOfTrial>,
    lasted: f64,
    resolution: TimeResolution,
) -> Vec<SecondOfTrial> {
    if resolution == TimeResolution::Second {
        return if blocks.len() > 2 { blocks[1..blocks.len() - 1].to_vec() } else { Vec::new() };
    }
    let whole = blocks.len() - 1;
    if let Some(last) = blocks.last_mut() {
        last.seconds = lasted - whole as f64;
    }
    blocks
}
