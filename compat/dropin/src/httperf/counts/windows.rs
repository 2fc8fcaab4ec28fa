//! Counts events in windows of five seconds.

use brunt_model::Tick;
use brunt_model::time::seconds_of;

/// Length of a window, in nanoseconds.
const WINDOW_NANOS: u64 = 5_000_000_000;

/// Counts of events in consecutive windows.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    /// Length of the first window, in nanoseconds. It differs between clients, so that together
    /// they sample more often.
    first_length: u64,
    start: Tick,
    counts: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WindowSpread {
    pub min: f64,
    pub avg: f64,
    pub max: f64,
    /// Standard deviation of the sample.
    pub stddev: f64,
    pub samples: usize,
}

impl Windows {
    /// Windows of client `id` of `clients`.
    pub fn of_client(id: u64, clients: u64) -> Self {
        let first_length = (id.saturating_add(1)).saturating_mul(WINDOW_NANOS) / clients.max(1);
        Self { first_length: first_length.max(1), start: Tick::ZERO, counts: Vec::new() }
    }

    /// Sets the start of the first window.
    pub fn begin(&mut self, start: Tick) {
        self.start = start;
    }

    pub fn count(&mut self, instant: Tick) {
        let index = self.index(instant.nanos_since(self.start));
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// Index of the window that contains this time; also the number of complete windows before it.
    fn index(&self, nanos: u64) -> usize {
        if nanos < self.first_length {
            0
        } else {
            1 + ((nanos - self.first_length) / WINDOW_NANOS) as usize
        }
    }

    /// The rates of complete windows up to an instant.
    pub fn rates(&self, ended: Tick) -> Vec<f64> {
        let complete = self.index(ended.nanos_since(self.start));
        (0..complete)
            .map(|index| self.counts.get(index).copied().unwrap_or(0) as f64 / self.length(index))
            .collect()
    }

    /// Length of a window in seconds.
    fn length(&self, index: usize) -> f64 {
        seconds_of(if index == 0 { self.first_length } else { WINDOW_NANOS })
    }
}

impl WindowSpread {
    /// Computes the statistics; all zeros without rates.
    pub fn of(rates: &[f64]) -> Self {
        if rates.is_empty() {
            return Self::default();
        }
        let n = rates.len() as f64;
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        let variance =
            if rates.len() > 1 { ((squares - sum * sum / n) / (n - 1.0)).max(0.0) } else { 0.0 };
        let min = rates.iter().fold(f64::MAX, |least, rate| least.min(*rate));
        let max = rates.iter().fold(0.0_f64, |most, rate| most.max(*rate));
        Self { min, avg: sum / n, max, stddev: variance.sqrt(), samples: rates.len() }
    }
}
