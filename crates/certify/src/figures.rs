//! The figures that a tool tells, or that are true: one type for both, so that they can be held against each other.

use serde_json::{Value, json};

/// What is told of a run. What is not told is none. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Median of the response times.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Replies per second.
    pub throughput: Option<f64>,
    /// Requests without a whole reply.
    pub failed: Option<f64>,
    /// Replies with a status of 400 or more.
    pub refused: Option<f64>,
    /// Both together.
    pub errors: Option<f64>,
}

/// One of the figures.
#[derive(Debug)]
pub struct Key {
    /// How it is called.
    pub name: &'static str,
    /// Its unit in tables.
    pub unit: Unit,
    /// Reads it.
    pub of: fn(&Figures) -> Option<f64>,
}

/// How a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, shown in milliseconds.
    Time,
    /// Per second.
    Rate,
    /// A number of requests.
    Count,
}

/// All figures, in the order of the columns.
pub const KEYS: [Key; 10] = [
    Key { name: "p50", unit: Unit::Time, of: |f| f.p50 },
    Key { name: "p90", unit: Unit::Time, of: |f| f.p90 },
    Key { name: "p99", unit: Unit::Time, of: |f| f.p99 },
    Key { name: "p99.9", unit: Unit::Time, of: |f| f.p99_9 },
    Key { name: "max", unit: Unit::Time, of: |f| f.max },
    Key { name: "mean", unit: Unit::Time, of: |f| f.mean },
    Key { name: "per s", unit: Unit::Rate, of: |f| f.throughput },
    Key { name: "failed", unit: Unit::Count, of: |f| f.failed },
    Key { name: "refused", unit: Unit::Count, of: |f| f.refused },
    Key { name: "errors", unit: Unit::Count, of: |f| f.errors },
];

impl Figures {
    /// The figures of single response times, in seconds; quantiles by nearest rank.
    pub fn of_times(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let count = times.len();
        let rank = |per_mille: usize| (count * per_mille).div_ceil(1000).max(1) - 1;
        let quantile = |per_mille| times.get(rank(per_mille)).copied();
        Self {
            p50: quantile(500),
            p90: quantile(900),
            p99: quantile(990),
            p99_9: quantile(999),
            max: times.last().copied(),
            mean: (count > 0).then(|| times.iter().sum::<f64>() / count as f64),
            ..Self::default()
        }
    }

    /// The figures of a summary of the lab's: an object with `p50`, …, `mean`.
    pub fn of_summary(summary: &Value) -> Self {
        let at = |key: &str| summary[key].as_f64();
        Self {
            p50: at("p50"),
            p90: at("p90"),
            p99: at("p99"),
            p99_9: at("p99_9"),
            max: at("max"),
            mean: at("mean"),
            ..Self::default()
        }
    }

    /// The same with counts of both kinds of errors.
    #[must_use]
    pub fn with_errors(self, failed: f64, refused: f64) -> Self {
        Self { failed: Some(failed), refused: Some(refused), errors: Some(failed + refused), ..self }
    }

    /// The same with each response time later by as much as `written` is later than `computed`; where one of them is not
    /// known, as it was.
    #[must_use]
    pub fn later(self, computed: &Self, written: &Self) -> Self {
        let add = |own: Option<f64>, of: fn(&Self) -> Option<f64>| {
            Some(own? + of(written).zip(of(computed)).map_or(0.0, |(written, computed)| written - computed))
        };
        Self {
            p50: add(self.p50, |f| f.p50),
            p90: add(self.p90, |f| f.p90),
            p99: add(self.p99, |f| f.p99),
            p99_9: add(self.p99_9, |f| f.p99_9),
            max: add(self.max, |f| f.max),
            mean: add(self.mean, |f| f.mean),
            ..self
        }
    }

    /// As an object; every key that has a unit says so.
    pub fn to_json(&self) -> Value {
        let seconds = json!({
            "p50": self.p50, "p90": self.p90, "p99": self.p99, "p99_9": self.p99_9, "max": self.max, "mean": self.mean,
        });
        json!({
            "response_time_seconds": seconds,
            "throughput_per_second": self.throughput,
            "failed": self.failed,
            "refused": self.refused,
            "errors": self.errors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let told = Figures::of_times((1..=1000).rev().map(f64::from).collect());
        assert_eq!((told.p50, told.p99, told.p99_9, told.max), (Some(500.0), Some(990.0), Some(999.0), Some(1000.0)));
        assert_eq!(told.mean, Some(500.5));
        assert_eq!(Figures::of_times(Vec::new()), Figures::default());
    }
}
