//! Figures that the scripts of users report themselves.

use brunt_stats::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of a [`Trend`] are counted in millionths, because a histogram counts integers.
const MILLION: f64 = 1e6;

/// Reports of scripts in an interval, or in a whole run. Merging is associative, and
/// commutative except for the last value of a gauge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Figures by name.
    pub figures: BTreeMap<String, Metric>,
    /// Lines of the console; only in events, because the memory of a run is bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// A sum.
    Counter {
        /// Sum of the added values.
        sum: f64,
        /// Number of added values.
        count: u64,
    },
    /// A level.
    Gauge {
        /// The last value.
        last: f64,
        /// The smallest value.
        least: f64,
        /// The greatest value.
        most: f64,
    },
    /// A share.
    Rate {
        /// Number of values that are true.
        passed: u64,
        /// Number of all values.
        total: u64,
    },
    /// A distribution.
    Trend(Trend),
}

/// A distribution of numbers, with the precision of a [`Histogram`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredTrend", into = "StoredTrend")]
pub struct Trend {
    /// Numbers from 0 on, in millionths.
    positive: Histogram,
    /// Distances from 0 of the other numbers, in millionths.
    negative: Histogram,
}

impl Metrics {
    /// Adds figures of the same names. Drops the lines.
    pub fn merge(&mut self, other: &Self) {
        for (name, metric) in &other.figures {
            match self.figures.get_mut(name) {
                Some(own) => own.merge(metric),
                None => {
                    self.figures.insert(name.clone(), metric.clone());
                }
            }
        }
    }

    /// True if nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.lines.is_empty()
    }
}

impl Metric {
    /// Adds a figure of the same kind. Of another kind, it is ignored: a script declares a name once.
    pub fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter { sum, count }, Self::Counter { sum: more, count: further }) => {
                *sum += more;
                *count += further;
            }
            (
                Self::Gauge { last, least, most },
                Self::Gauge { last: later, least: low, most: high },
            ) => {
                *last = *later;
                *least = least.min(*low);
                *most = most.max(*high);
            }
            (
                Self::Rate { passed, total },
                Self::Rate { passed: further_passed, total: further },
            ) => {
                *passed += further_passed;
                *total += further;
            }
            (Self::Trend(trend), Self::Trend(other)) => trend.merge(other),
            _ => {}
        }
    }
}

impl Trend {
    /// Adds a number.
    pub fn record(&mut self, value: f64) {
        let millionths = (value.abs() * MILLION).round() as u64;
        if value < 0.0 {
            self.negative.record(millionths);
        } else {
            self.positive.record(millionths);
        }
    }

    /// Adds the numbers of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
    }

    /// Number of numbers.
    pub fn count(&self) -> u64 {
        self.positive.count() + self.negative.count()
    }

    /// Sum of the numbers.
    pub fn sum(&self) -> f64 {
        (self.positive.sum() as f64 - self.negative.sum() as f64) / MILLION
    }

    /// Mean; 0 without numbers.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum() / self.count() as f64 }
    }

    /// The smallest number; 0 without numbers.
    pub fn min(&self) -> f64 {
        if self.negative.is_empty() {
            number(self.positive.min())
        } else {
            -number(self.negative.max())
        }
    }

    /// The greatest number; 0 without numbers.
    pub fn max(&self) -> f64 {
        if self.positive.is_empty() {
            -number(self.negative.min())
        } else {
            number(self.positive.max())
        }
    }

    /// Returns the quantile `q` (0 to 1), linear between the two nearest numbers; 0 without numbers.
    pub fn quantile(&self, q: f64) -> f64 {
        let Some(last) = self.count().checked_sub(1) else { return 0.0 };
        let place = q.clamp(0.0, 1.0) * last as f64;
        let low = self.at(place.floor() as u64);
        let high = self.at(place.ceil() as u64);
        (low + (high - low) * place.fract()).clamp(self.min(), self.max())
    }

    /// Returns the number at a place, from 0, in ascending order.
    fn at(&self, place: u64) -> f64 {
        let negatives = self.negative.count();
        match place.checked_sub(negatives) {
            Some(place) => number(self.positive.value_at_rank(place + 1)),
            None => -number(self.negative.value_at_rank(negatives - place)),
        }
    }
}

fn number(millionths: u64) -> f64 {
    millionths as f64 / MILLION
}

/// The form of a [`Trend`] in messages.
#[derive(Serialize, Deserialize)]
struct StoredTrend {
    positive: StoredHistogram,
    negative: StoredHistogram,
}

/// Sum, minimum, maximum, and [`Histogram::steps`].
type StoredHistogram = (u64, u64, u64, Vec<(u32, u64)>);

impl From<Trend> for StoredTrend {
    fn from(trend: Trend) -> Self {
        let stored = |histogram: &Histogram| {
            let sum = u64::try_from(histogram.sum()).unwrap_or(u64::MAX);
            (sum, histogram.min(), histogram.max(), histogram.steps().collect())
        };
        Self { positive: stored(&trend.positive), negative: stored(&trend.negative) }
    }
}

impl From<StoredTrend> for Trend {
    fn from(stored: StoredTrend) -> Self {
        let read = |(sum, min, max, steps): StoredHistogram| {
            Histogram::from_steps((sum.into(), min, max), steps).unwrap_or_default()
        };
        Self { positive: read(stored.positive), negative: read(stored.negative) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_trend_has_the_figures_of_its_numbers(
            numbers in prop::collection::vec(-1e6..1e6, 1..200),
            q in 0.0..=1.0,
        ) {
            let mut trend = Trend::default();
            for number in &numbers {
                trend.record(*number);
            }
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            let place: f64 = q * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            let expected = low + (high - low) * place.fract();
            let near = |found: f64, expected: f64, scale: f64| (found - expected).abs() <= scale.abs() * 0.01 + 1e-5;
            prop_assert!(near(trend.quantile(q), expected, low.abs().max(high.abs())), "{} {expected}", trend.quantile(q));
            prop_assert!(near(trend.min(), sorted[0], sorted[0]));
            prop_assert!(near(trend.max(), sorted[sorted.len() - 1], sorted[sorted.len() - 1]));
            let json = serde_json::to_string(&trend).unwrap();
            prop_assert_eq!(serde_json::from_str::<Trend>(&json).unwrap(), trend);
        }
    }
}
