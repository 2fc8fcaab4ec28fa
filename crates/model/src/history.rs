//! The readings of one source over time, in bounded memory.

use crate::{Reading, Tick};

/// With more readings than this, every second one is given up.
const MOST_READINGS: usize = 2048;

/// The readings of one source, in order of time. A reading is either a counter that only grows (its name ends in
/// `_total`, or it is a time spent, as `cpu_seconds`) or a state; in a history too long for 2048 readings, both are
/// kept at wider and wider distances.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    names: Vec<String>,
    /// By name.
    last: Vec<f64>,
    readings: Vec<(Tick, Vec<f64>)>,
    /// One reading in so many is kept (a power of two).
    stride: u64,
    seen: u64,
}

impl History {
    /// Adds the next reading.
    pub fn push(&mut self, reading: &Reading) {
        for (name, value) in &reading.values {
            if let Some(at) = self.position(name) {
                self.last[at] = *value;
            } else {
                self.names.push(name.clone());
                self.last.push(*value);
            }
        }
        let stride = self.stride.max(1);
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(stride) {
            return;
        }
        let mut row = vec![f64::NAN; self.names.len()];
        for (name, value) in &reading.values {
            if let Some(at) = self.position(name) {
                row[at] = *value;
            }
        }
        self.readings.push((reading.at, row));
        if self.readings.len() > MOST_READINGS {
            let mut keep = false;
            self.readings.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = stride * 2;
        }
    }

    /// The names of what was read.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The last value that was read, also where its reading was given up.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.position(name).map(|at| self.last[at])
    }

    /// One value over time: when, and what; instants at which it could not be read are left out.
    pub fn of(&self, name: &str) -> Vec<(Tick, f64)> {
        let Some(at) = self.position(name) else { return Vec::new() };
        let value = |(tick, row): &(Tick, Vec<f64>)| Some((*tick, *row.get(at)?)).filter(|r| !r.1.is_nan());
        self.readings.iter().filter_map(value).collect()
    }

    /// The growth of a counter from each reading to the next, per second of it: from when, to when, how much.
    pub fn rates(&self, name: &str) -> Vec<(Tick, Tick, f64)> {
        let readings = self.of(name);
        let pairs = readings.windows(2).filter(|w| w[1].0 > w[0].0);
        pairs.map(|w| (w[0].0, w[1].0, (w[1].1 - w[0].1) * 1e9 / w[1].0.nanos_since(w[0].0) as f64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: u64, values: &[(&str, f64)]) -> Reading {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        Reading { at: Tick(at * 1_000_000_000), source: "generator".into(), values }
    }

    #[test]
    fn a_name_that_comes_late_is_missing_before() {
        let mut history = History::default();
        history.push(&reading(0, &[("a", 1.0)]));
        history.push(&reading(1, &[("b", 5.0), ("a", 3.0)]));
        history.push(&reading(2, &[("b", 9.0)]));
        assert_eq!(history.of("a").iter().map(|r| r.1).collect::<Vec<_>>(), [1.0, 3.0]);
        assert_eq!(history.rates("b"), [(Tick(1_000_000_000), Tick(2_000_000_000), 4.0)]);
        assert_eq!(history.of("c"), []);
        assert_eq!(["a", "b", "c"].map(|name| history.last(name)), [Some(3.0), Some(9.0), None]);
    }

    #[test]
    fn a_long_history_is_bounded_and_evenly_spaced() {
        let mut history = History::default();
        (0..10_000).for_each(|i| history.push(&reading(i, &[("n_total", i as f64 * 3.0)])));
        let rates = history.rates("n_total");
        assert!(rates.len() < MOST_READINGS);
        assert!(rates.iter().all(|r| (r.2 - 3.0).abs() < 1e-9));
    }
}
