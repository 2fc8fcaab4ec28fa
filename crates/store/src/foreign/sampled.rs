//! A trial from its single requests: throughput, percentiles, seconds.

use brunt_model::analysis::{Block, ObservedQuantile};
use brunt_model::{LoadUnit, Observation, Observations};

/// A trial is no longer: a week. What looks longer has times that make no sense.
const LONGEST: f64 = 7.0 * 86_400.0;

const QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// A request that ended. Times in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// When it was begun, on any clock.
    pub begun: f64,
    /// How long it took.
    pub took: f64,
    /// A whole reply came.
    pub completed: bool,
    /// And it was as expected.
    pub good: bool,
}

/// How finely a file knows when requests were begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeResolution {
    /// To the second: the seconds at both ends are parts of unknown length.
    Second,
    /// To the millisecond.
    Millisecond,
}

/// The one trial of a file, in a closed loop; the load is left to the caller.
pub fn trial(samples: &[Sampled], grain: TimeResolution) -> Result<Observation, String> {
    let first = samples.iter().map(|s| s.begun).fold(f64::INFINITY, f64::min);
    let last = samples.iter().map(|s| s.begun + s.took).fold(0.0, f64::max);
    let lasted = last - first;
    if !lasted.is_finite() || lasted <= 0.0 {
        return Err("it holds no request whose time is known".into());
    }
    if lasted > LONGEST {
        return Err("its requests lie more than a week apart: times that make no sense".into());
    }
    let mut times: Vec<f64> = samples.iter().filter(|s| s.completed).map(|s| s.took).collect();
    times.sort_by(f64::total_cmp);
    let bad = samples.iter().filter(|s| !s.good).count();
    let blocks = blocks(samples, (first, lasted), grain);
    let whole: f64 = blocks.iter().map(|block| block.completed as f64).sum();
    // Where both ends are rough, the whole seconds between them tell more.
    let rough = grain == TimeResolution::Second && blocks.len() >= 3 && whole > 0.0;
    Ok(Observation {
        achieved: if rough { whole / blocks.len() as f64 } else { times.len() as f64 / lasted },
        mean: mean(&times),
        quantiles: QUANTILES.iter().filter_map(|q| quantile(&times, *q)).collect(),
        min: times.first().copied(),
        max: times.last().copied(),
        errors: Some(bad as f64 / samples.len() as f64),
        blocks,
        ..Observation::default()
    })
}

/// Requests under way on average, by Little's law; 1 at least.
pub fn concurrency(samples: &[Sampled], observation: &Observation) -> f64 {
    let completed = samples.iter().filter(|s| s.completed).count() as f64;
    let busy: f64 = samples.iter().map(|s| s.took).sum();
    if completed == 0.0 { 1.0 } else { (busy * observation.achieved / completed).round().max(1.0) }
}

/// One trial as all that there is.
pub fn alone(observation: Observation, notes: &[&str]) -> Observations {
    Observations {
        contenders: vec![String::new()],
        factors: Vec::new(),
        unit: LoadUnit::Users { think: None },
        observations: vec![observation],
        objectives: Vec::new(),
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
    }
}

fn mean(times: &[f64]) -> Option<f64> {
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// By rank ⌈qn⌉, where at least one value is expected beyond it.
fn quantile(sorted: &[f64], quantile: f64) -> Option<ObservedQuantile> {
    let enough = sorted.len() as f64 * (1.0 - quantile) >= 1.0 - 1e-9;
    let seconds = *sorted.get(rank(sorted.len(), quantile)).filter(|_| enough)?;
    Some(ObservedQuantile { quantile, seconds, at_least: false })
}

fn rank(count: usize, quantile: f64) -> usize {
    ((quantile * count as f64 - 1e-9).ceil() as usize).saturating_sub(1)
}

fn blocks(samples: &[Sampled], (first, lasted): (f64, f64), grain: TimeResolution) -> Vec<Block> {
    let count = lasted.ceil().max(1.0) as usize;
    let mut blocks = vec![Block { seconds: 1.0, ..Block::default() }; count];
    let mut ended: Vec<Vec<f64>> = vec![Vec::new(); count];
    let at = |instant: f64| ((instant - first).max(0.0) as usize).min(count - 1);
    for sample in samples {
        blocks[at(sample.begun)].planned += 1;
        if sample.completed {
            ended[at(sample.begun + sample.took)].push(sample.took);
        }
    }
    for (block, times) in blocks.iter_mut().zip(&mut ended) {
        times.sort_by(f64::total_cmp);
        block.completed = times.len() as u64;
        block.mean = mean(times);
        block.p99 = times.get(rank(times.len(), 0.99)).copied();
    }
    trimmed(blocks, lasted, grain)
}

fn trimmed(mut blocks: Vec<Block>, lasted: f64, grain: TimeResolution) -> Vec<Block> {
    if grain == TimeResolution::Second {
        return if blocks.len() > 2 { blocks[1..blocks.len() - 1].to_vec() } else { Vec::new() };
    }
    let whole = blocks.len() - 1;
    if let Some(last) = blocks.last_mut() {
        last.seconds = lasted - whole as f64;
    }
    blocks
}
