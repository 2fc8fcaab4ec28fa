//! Stores the readings of one source over time, in bounded memory.

use crate::{Reading, Tick};

/// Maximum number of readings. With more, every second one is dropped.
const MOST_READINGS: usize = 2048;

/// The readings of one source, in order of time. A reading is either a counter that only grows or a
/// state. The name of a counter ends in `_total`, or it is a spent time, such as `cpu_seconds`.
/// With more than 2048 readings, the distance between stored readings grows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    names: Vec<String>,
    /// Latest values, in the order of `names`.
    last: Vec<f64>,
    readings: Vec<(Tick, Vec<f64>)>,
    /// Ratio of received to stored readings (a power of two).
    stride: u64,
    received: u64,
}

impl History {
    /// Adds the next reading.
    pub fn push(&mut self, reading: &Reading) {
        for (name, value) in &reading.values {
            // Stored even if this reading is not, so that the latest value is exact.
            if let Some(at) = self.position(name) {
                self.last[at] = *value;
            } else {
                self.names.push(name.clone());
                self.last.push(*value);
            }
        }
        let stride = self.stride.max(1);
        self.received += 1;
        if !(self.received - 1).is_multiple_of(stride) {
            return;
        }
        // NaN means that the value is missing in this reading.
        let mut row = vec![f64::NAN; self.names.len()];
        for (name, value) in &reading.values {
            if let Some(at) = self.position(name) {
                row[at] = *value;
            }
        }
        self.readings.push((reading.at, row));
        if self.readings.len() > MOST_READINGS {
            // Dropping every second reading doubles the distance, which stays even.
            let mut keep = false;
            self.readings.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = stride * 2;
        }
    }

    /// Converts the readings to the message of a digest.
    pub(crate) fn to_message(&self, source: &str) -> HistoryMessage {
        let Self { names, last, readings, stride, received } = self;
        let readings = readings
            .iter()
            .map(|(at, values)| StoredReading { at_nanos: at.0, values: values.clone() });
        HistoryMessage {
            source: source.to_owned(),
            names: names.clone(),
            last: last.clone(),
            readings: readings.collect(),
            stride: *stride,
            received: *received,
        }
    }

    /// Converts a message to its source and readings; None if it is damaged.
    pub(crate) fn from_message(message: HistoryMessage) -> Option<(String, Self)> {
        let HistoryMessage { source, names, last, readings, stride, received } = message;
        // A reading has no values of names that came later.
        let is_valid = names.len() == last.len()
            && readings.iter().all(|reading| reading.values.len() <= names.len());
        let readings =
            readings.into_iter().map(|reading| (Tick(reading.at_nanos), reading.values)).collect();
        is_valid.then_some((source, Self { names, last, readings, stride, received }))
    }

    /// Names of the values.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Latest value, even if its reading is not stored.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.position(name).map(|at| self.last[at])
    }

    /// Returns one value over time. Readings without this value are left out.
    pub fn values(&self, name: &str) -> Vec<(Tick, f64)> {
        let Some(at) = self.position(name) else { return Vec::new() };
        let values = self.readings.iter().filter_map(|(tick, row)| Some((*tick, *row.get(at)?)));
        values.filter(|(_, value)| !value.is_nan()).collect()
    }

    /// Returns the growth of a counter between readings: start, end, and growth per second.
    pub fn rates(&self, name: &str) -> Vec<(Tick, Tick, f64)> {
        let readings = self.values(name);
        let pairs = readings.windows(2).filter(|w| w[1].0 > w[0].0);
        pairs
            .map(|w| (w[0].0, w[1].0, (w[1].1 - w[0].1) * 1e9 / w[1].0.nanos_since(w[0].0) as f64))
            .collect()
    }
}

/// The readings of one source in a digest.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HistoryMessage {
    #[prost(string, tag = "1")]
    source: String,
    #[prost(string, repeated, tag = "2")]
    names: Vec<String>,
    #[prost(double, repeated, tag = "3")]
    last: Vec<f64>,
    #[prost(message, repeated, tag = "4")]
    readings: Vec<StoredReading>,
    #[prost(uint64, tag = "5")]
    stride: u64,
    #[prost(uint64, tag = "6")]
    received: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredReading {
    #[prost(uint64, tag = "1")]
    at_nanos: u64,
    #[prost(double, repeated, tag = "2")]
    values: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: u64, values: &[(&str, f64)]) -> Reading {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        Reading { at: Tick(at * 1_000_000_000), source: "generator".into(), values }
    }

    #[test]
    fn a_late_name_has_no_earlier_values() {
        let mut history = History::default();
        history.push(&reading(0, &[("a", 1.0)]));
        history.push(&reading(1, &[("b", 5.0), ("a", 3.0)]));
        history.push(&reading(2, &[("b", 9.0)]));
        assert_eq!(history.values("a").iter().map(|r| r.1).collect::<Vec<_>>(), [1.0, 3.0]);
        assert_eq!(history.rates("b"), [(Tick(1_000_000_000), Tick(2_000_000_000), 4.0)]);
        assert_eq!(history.values("c"), []);
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
