//! Computes the truth: the time of every request in the system, from arrivals
//! and service times alone.
//!
//! No clock, no socket. The server uses [`ServiceQueue`] and [`Stall`] to decide when to reply. Afterwards
//! [`sojourns`] computes the same times again from the recorded arrivals and draws, and
//! [`crate::report`] compares them with the written times. All instants and times are nanoseconds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;

use crate::freeze::Freeze;
use crate::units::{parse_positive_span, seconds};

/// A first-come-first-served queue in front of equal servers.
#[derive(Debug, Clone)]
pub enum ServiceQueue {
    /// An infinite number of servers: no request waits.
    Infinite,
    /// One server: Lindley's recursion (1952), by the instant at which the server becomes free.
    One(u64),
    /// K servers: the workload recursion of Kiefer and Wolfowitz (1955). The heap holds the
    /// instants at which they become free.
    Many(BinaryHeap<Reverse<u64>>),
}

impl ServiceQueue {
    /// Creates an empty queue in front of `workers` servers; 0 means infinitely many.
    pub fn new(workers: usize) -> Self {
        match workers {
            0 => Self::Infinite,
            1 => Self::One(0),
            // All workers are free at the start.
            _ => Self::Many((0..workers).map(|_| Reverse(0)).collect()),
        }
    }

    /// Returns the departure of a request that arrives at `arrival` and takes `service`. Must be
    /// called in order of arrival.
    pub fn depart(&mut self, arrival: u64, service: u64) -> u64 {
        match self {
            Self::Infinite => arrival.saturating_add(service),
            Self::One(free) => {
                *free = arrival.max(*free).saturating_add(service);
                *free
            }
            Self::Many(free) => {
                // First come, first served: the request takes the server that becomes free first.
                let Some(mut earliest) = free.peek_mut() else { return arrival };
                let departure = arrival.max(earliest.0).saturating_add(service);
                *earliest = Reverse(departure);
                departure
            }
        }
    }
}

/// Holds replies for the last `length` of every `period`, counted from the server's
/// first request. Service continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Length of each hold, in nanoseconds; less than the period.
    pub length: u64,
    /// Time from the start of one hold to the start of the next, in nanoseconds.
    pub period: u64,
}

impl Stall {
    /// Parses `LENGTH/PERIOD`, e.g. `1s/5s`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (length, period) = text.split_once('/').ok_or_else(|| {
            format!("`{text}`: write how long and how often, e.g. `1s/5s` for 1 s in every 5 s")
        })?;
        let length = parse_positive_span(length)?;
        let period = parse_positive_span(period)?;
        if length >= period {
            return Err(format!(
                "`{text}`: the stall must be shorter than its period, e.g. `1s/5s`"
            ));
        }
        Ok(Self { length, period })
    }

    /// Returns the instant at which a reply leaves that is ready at `instant`: the same, or the
    /// end of its hold.
    pub fn release(&self, origin: u64, instant: u64) -> u64 {
        let phase = instant.saturating_sub(origin) % self.period;
        if phase >= self.period - self.length { instant + (self.period - phase) } else { instant }
    }
}

/// Parameters of the sojourn times besides arrivals and draws.
#[derive(Debug, Clone)]
pub struct Model {
    /// Number of servers; 0 means infinitely many.
    pub workers: usize,
    /// Periods in which all replies are held.
    pub stall: Option<Stall>,
    /// Tick from which the stall's periods are counted.
    pub origin: u64,
    /// Periods in which the process was stopped, in order.
    pub freezes: Vec<Freeze>,
    /// Time from the first to the last byte of a dripping reply, by the index of its request.
    pub tails: BTreeMap<u32, u64>,
}

impl Model {
    /// Describes how the sojourn times are computed.
    pub fn method(&self) -> String {
        let queue = match self.workers {
            0 => "infinite servers: sojourn = service".to_owned(),
            1 => "Lindley recursion, 1 server, first come first served".to_owned(),
            workers => {
                format!("Kiefer-Wolfowitz recursion, {workers} servers, first come first served")
            }
        };
        let stalled = if self.stall.is_some() { "; then held to the end of the stall" } else { "" };
        let dripping =
            if self.tails.is_empty() { "" } else { "; a dripping reply ends with its last byte" };
        let frozen =
            if self.freezes.is_empty() { "" } else { "; then held while the process was stopped" };
        queue + stalled + dripping + frozen
    }
}

/// Returns the time in the system of each request, in the order of the arrays, which may differ
/// from the order of arrival.
pub fn sojourns(model: &Model, arrivals: &[u64], services: &[u64]) -> Vec<u64> {
    let mut queue = ServiceQueue::new(model.workers);
    let mut visit = |index: usize| {
        let departure = queue.depart(arrivals[index], services[index]);
        let release = model.stall.map_or(departure, |stall| stall.release(model.origin, departure));
        let last_byte = release + model.tails.get(&(index as u32)).unwrap_or(&0);
        model.freezes.iter().fold(last_byte, |instant, freeze| freeze.release(instant))
            - arrivals[index]
    };
    // Only the requests of one turn are sorted; a later turn may read earlier arrivals.
    if arrivals.is_sorted() {
        return (0..arrivals.len()).map(visit).collect();
    }
    let mut order: Vec<u32> = (0..arrivals.len() as u32).collect();
    order.sort_by_key(|&index| arrivals[index as usize]);
    let mut times = vec![0; arrivals.len()];
    for index in order {
        times[index as usize] = visit(index as usize);
    }
    times
}

/// Summary of a distribution, in seconds. Quantiles are by nearest rank: the smallest value that at
/// least this share of the values does not exceed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Number of summarized values.
    pub count: u64,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// 50th percentile, the median.
    pub p50: f64,
    /// 75th percentile, by nearest rank.
    pub p75: f64,
    /// 90th percentile, by nearest rank.
    pub p90: f64,
    /// 95th percentile, by nearest rank.
    pub p95: f64,
    /// 99th percentile, by nearest rank.
    pub p99: f64,
    /// 99.9th percentile, by nearest rank.
    pub p99_9: f64,
    /// Greatest of the values.
    pub max: f64,
}

impl Summary {
    /// Summarizes times in nanoseconds. None if there are no times.
    pub fn of(mut times: Vec<u64>) -> Option<Self> {
        times.sort_unstable();
        let max = seconds(*times.last()?);
        // Nanoseconds of many requests may exceed 64 bits.
        let total: u128 = times.iter().map(|&time| u128::from(time)).sum();
        let quantile = |per_mille: usize| seconds(times[nearest_rank(times.len(), per_mille)]);
        Some(Self {
            count: times.len() as u64,
            mean: total as f64 / times.len() as f64 / 1e9,
            p50: quantile(500),
            p75: quantile(750),
            p90: quantile(900),
            p95: quantile(950),
            p99: quantile(990),
            p99_9: quantile(999),
            max,
        })
    }
}

/// Index of the nearest-rank quantile in `count` sorted values.
fn nearest_rank(count: usize, per_mille: usize) -> usize {
    // With integers, 99.9 % of 1,000 is exact.
    (count * per_mille).div_ceil(1000).max(1) - 1
}

/// Statistics of the arrivals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArrivalStatistics {
    /// Number of counted requests.
    pub count: u64,
    /// Number of gaps between the first and the last arrival, divided by the time between them.
    pub rate_per_second: Option<f64>,
    /// Variance over mean of the counts in complete 1 ms bins from the first arrival on: 1 for
    /// Poisson, 0 for a metronome.
    pub dispersion_1ms: Option<f64>,
}

/// Returns variance over mean of the counts in complete bins of `width` nanoseconds between the
/// first and the last arrival.
///
/// The start of the first bin is arbitrary, and even arrivals near a border of bins fall now into
/// one, now into the other. The result is therefore the mean over ten starts.
pub fn dispersion(arrivals: &[u64], width: u64) -> Option<f64> {
    const STARTS: u64 = 10;
    let first = *arrivals.iter().min()?;
    let dispersions =
        (0..STARTS).map(|n| dispersion_from(arrivals, first + n * width / STARTS, width));
    Some(dispersions.sum::<Option<f64>>()? / STARTS as f64)
}

fn dispersion_from(arrivals: &[u64], from: u64, width: u64) -> Option<f64> {
    let bins = (arrivals.iter().max()?.saturating_sub(from) / width) as usize;
    // The variance of a single bin is undefined.
    if bins < 2 {
        return None;
    }
    let mut counts = vec![0u32; bins];
    for arrival in arrivals.iter().filter_map(|arrival| arrival.checked_sub(from)) {
        if let Some(count) = counts.get_mut((arrival / width) as usize) {
            *count += 1;
        }
    }
    let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / bins as f64;
    let squares: f64 = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum();
    // The sample variance, which is unbiased.
    Some(squares / (bins - 1) as f64 / mean)
}

#[cfg(test)]
mod tests;
