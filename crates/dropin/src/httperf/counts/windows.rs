//! What came every five seconds. The first instant of several clients differs, so that together they see more.

use brunt_model::Tick;
use brunt_model::time::seconds_of;

/// Nanoseconds between two rates.
const APART: u64 = 5_000_000_000;

/// How many came between two instants.
#[derive(Debug, Clone, Default)]
pub struct Windows {
    /// The first instant, in nanoseconds from the beginning.
    first: u64,
    begins: Tick,
    counts: Vec<u64>,
}

/// The least, mean and greatest rate, the deviation, and how many rates there are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The greatest.
    pub max: f64,
    /// The deviation of the sample.
    pub stddev: f64,
    /// How many.
    pub samples: usize,
}

impl Windows {
    /// Those of client `id` of `clients`.
    pub fn of((id, clients): (u64, u64)) -> Self {
        let first = (id.saturating_add(1)).saturating_mul(APART) / clients.max(1);
        Self { first: first.max(1), begins: Tick::ZERO, counts: Vec::new() }
    }

    /// They begin now.
    pub fn begin(&mut self, at: Tick) {
        self.begins = at;
    }

    /// One came.
    pub fn count(&mut self, at: Tick) {
        let number = self.number(at.nanos_since(self.begins));
        if self.counts.len() <= number {
            self.counts.resize(number + 1, 0);
        }
        self.counts[number] += 1;
    }

    /// In which window so many nanoseconds lie; how many there were before.
    fn number(&self, nanos: u64) -> usize {
        if nanos < self.first { 0 } else { 1 + ((nanos - self.first) / APART) as usize }
    }

    /// The rates of whole windows up to an instant.
    pub fn rates(&self, ended: Tick) -> Vec<f64> {
        let whole = self.number(ended.nanos_since(self.begins));
        let length = |number: usize| seconds_of(if number == 0 { self.first } else { APART });
        (0..whole).map(|n| self.counts.get(n).copied().unwrap_or(0) as f64 / length(n)).collect()
    }
}

impl Spread {
    /// Of these rates; nothing of none.
    pub fn of(rates: &[f64]) -> Self {
        if rates.is_empty() {
            return Self::default();
        }
        let n = rates.len() as f64;
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        let variance = if rates.len() > 1 { ((squares - sum * sum / n) / (n - 1.0)).max(0.0) } else { 0.0 };
        let (min, max) =
            rates.iter().fold((f64::MAX, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
        Self { min, avg: sum / n, max, stddev: variance.sqrt(), samples: rates.len() }
    }
}
