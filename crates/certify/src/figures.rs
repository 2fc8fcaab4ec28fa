//! Figures that a tool reports, or that are true: one type for both, so that they can be compared.

use serde_json::{Value, json};

/// Figures of a run; None for a figure that is not reported. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CertifiedFigures {
    /// Median of the response times.
    pub p50: Option<f64>,
    /// 90th percentile of the response times.
    pub p90: Option<f64>,
    /// 99th percentile of the response times.
    pub p99: Option<f64>,
    /// 99.9th percentile of the response times.
    pub p99_9: Option<f64>,
    /// Longest of the response times.
    pub max: Option<f64>,
    /// Mean of the response times.
    pub mean: Option<f64>,
    /// Number of replies per second.
    pub throughput: Option<f64>,
    /// Number of requests without a whole reply.
    pub failed: Option<f64>,
    /// Number of replies with a status of 400 or more.
    pub refused: Option<f64>,
    /// Sum of `failed` and `refused`.
    pub errors: Option<f64>,
}

/// Describes one of the figures.
#[derive(Debug)]
pub struct FigureKey {
    /// Name at the top of the column.
    pub name: &'static str,
    /// Unit of the figure in tables.
    pub unit: FigureUnit,
    /// Reads this figure from a set of figures.
    pub value: fn(&CertifiedFigures) -> Option<f64>,
}

/// Unit of a figure in tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// Seconds, shown in milliseconds.
    Time,
    /// Number of events per second.
    Rate,
    /// A number of requests.
    Count,
}

/// All figures, in the order of the columns.
pub const KEYS: [FigureKey; 10] = [
    FigureKey { name: "p50", unit: FigureUnit::Time, value: |f| f.p50 },
    FigureKey { name: "p90", unit: FigureUnit::Time, value: |f| f.p90 },
    FigureKey { name: "p99", unit: FigureUnit::Time, value: |f| f.p99 },
    FigureKey { name: "p99.9", unit: FigureUnit::Time, value: |f| f.p99_9 },
    FigureKey { name: "max", unit: FigureUnit::Time, value: |f| f.max },
    FigureKey { name: "mean", unit: FigureUnit::Time, value: |f| f.mean },
    FigureKey { name: "per s", unit: FigureUnit::Rate, value: |f| f.throughput },
    FigureKey { name: "failed", unit: FigureUnit::Count, value: |f| f.failed },
    FigureKey { name: "refused", unit: FigureUnit::Count, value: |f| f.refused },
    FigureKey { name: "errors", unit: FigureUnit::Count, value: |f| f.errors },
];

impl CertifiedFigures {
    /// Computes the figures of single response times, in seconds; quantiles by nearest rank.
    pub fn from_times(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let count = times.len();
        Self {
            p50: quantile(&times, 500),
            p90: quantile(&times, 900),
            p99: quantile(&times, 990),
            p99_9: quantile(&times, 999),
            max: times.last().copied(),
            mean: (count > 0).then(|| times.iter().sum::<f64>() / count as f64),
            ..Self::default()
        }
    }

    /// Reads the figures of a summary of the lab: an object with `p50`, …, `mean`.
    pub fn from_summary(summary: &Value) -> Self {
        Self {
            p50: summary["p50"].as_f64(),
            p90: summary["p90"].as_f64(),
            p99: summary["p99"].as_f64(),
            p99_9: summary["p99_9"].as_f64(),
            max: summary["max"].as_f64(),
            mean: summary["mean"].as_f64(),
            ..Self::default()
        }
    }

    /// Adds the counts of both kinds of errors.
    #[must_use]
    pub fn with_errors(self, failed: f64, refused: f64) -> Self {
        Self {
            failed: Some(failed),
            refused: Some(refused),
            errors: Some(failed + refused),
            ..self
        }
    }

    /// Delays each response time by the difference between `written` and `computed`. A time is
    /// unchanged if one of them is not known.
    #[must_use]
    pub fn with_delay(self, computed: &Self, written: &Self) -> Self {
        Self {
            p50: delayed(self.p50, computed.p50, written.p50),
            p90: delayed(self.p90, computed.p90, written.p90),
            p99: delayed(self.p99, computed.p99, written.p99),
            p99_9: delayed(self.p99_9, computed.p99_9, written.p99_9),
            max: delayed(self.max, computed.max, written.max),
            mean: delayed(self.mean, computed.mean, written.mean),
            ..self
        }
    }

    /// Returns the figures as a JSON object, with the units in the keys.
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

/// Quantile of sorted times by nearest rank, in thousandths; None without times.
fn quantile(times: &[f64], per_mille: usize) -> Option<f64> {
    let rank = (times.len() * per_mille).div_ceil(1000).max(1);
    times.get(rank - 1).copied()
}

fn delayed(time: Option<f64>, computed: Option<f64>, written: Option<f64>) -> Option<f64> {
    let delay = written.zip(computed).map_or(0.0, |(written, computed)| written - computed);
    Some(time? + delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let reported = CertifiedFigures::from_times((1..=1000).rev().map(f64::from).collect());
        assert_eq!(
            (reported.p50, reported.p99, reported.p99_9, reported.max),
            (Some(500.0), Some(990.0), Some(999.0), Some(1000.0))
        );
        assert_eq!(reported.mean, Some(500.5));
        assert_eq!(CertifiedFigures::from_times(Vec::new()), CertifiedFigures::default());
    }
}
