//! Computes a trial from its single requests: throughput, percentiles, blocks of a second.

use super::File;
use super::join::number_of;
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

/// Requests of a file with a row for each request, and a count of the rows that cannot be read.
#[derive(Debug, Default)]
pub struct SampleRows {
    /// Requests of all rows that can be read.
    pub samples: Vec<RequestSample>,
    unreadable: u64,
    first_unreadable: u64,
}

impl SampleRows {
    /// Adds the request of a row, or None if the row cannot be read. Lines count from 1.
    pub fn add(&mut self, line: u64, sample: Option<RequestSample>) {
        match sample {
            Some(sample) => self.samples.push(sample),
            None => self.skip(line),
        }
    }

    /// Counts a row that cannot be read.
    pub fn skip(&mut self, line: u64) {
        if self.unreadable == 0 {
            self.first_unreadable = line;
        }
        self.unreadable += 1;
    }

    /// Computes the one trial of the file: users without a known think time. The load is the
    /// number at the end of the file's name if it can be that, else the mean concurrency.
    ///
    /// # Errors
    ///
    /// No row can be read: `expected` describes one. Or the times make no sense.
    pub fn observations(
        &self,
        file: &File,
        resolution: TimeResolution,
        expected: &str,
        notes: &[&str],
    ) -> Result<Observations, String> {
        if self.samples.is_empty() && self.unreadable > 0 {
            return Err(format!("line {}: {expected}", self.first_unreadable));
        }
        let mut observation = trial(&self.samples, resolution)?;
        observation.load = named_load(file, concurrency(&self.samples, &observation));
        if !observation.load.is_finite() || !observation.achieved.is_finite() {
            // Damaged times: their sum or a quotient is no number.
            return Err("its times are too short or too long for figures".into());
        }
        let mut all = alone(observation, notes);
        if self.unreadable > 0 {
            let note = format!(
                "rows left out because they cannot be read: {} of {}; the first is in line {}",
                self.unreadable,
                self.unreadable + self.samples.len() as u64,
                self.first_unreadable
            );
            all.notes.push(note.into());
        }
        Ok(all)
    }
}

/// A request with a good reply.
pub fn good_sample(start: f64, duration: f64) -> RequestSample {
    RequestSample { start, duration, completed: true, good: true }
}

/// Returns the number at the end of the file's name if it is within a factor of two of the measured
/// load, else the measured load. A number that differs more may be that of a repetition.
pub fn named_load(file: &File, measured: f64) -> f64 {
    let named = number_of(&file.name);
    named.filter(|named| (measured / 2.0..=measured * 2.0).contains(named)).unwrap_or(measured)
}

/// Computes the one trial of a file, in a closed loop. The caller sets the load.
fn trial(samples: &[RequestSample], resolution: TimeResolution) -> Result<Observation, String> {
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
fn concurrency(samples: &[RequestSample], observation: &Observation) -> f64 {
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
