//! Goals: the precision of a figure at which a run ends early, such as `p99±5%`.

use crate::numbers;
use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Condition for an early end: the intervals are narrow enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Until {
    /// Goals that must hold twice in a row. Empty: the caller decides, as in a search.
    pub goals: Vec<Goal>,
    /// Minimum measured time, in seconds.
    #[serde(with = "seconds", rename = "least_seconds")]
    #[schemars(with = "f64")]
    pub least: Duration,
}

/// Target width of the 95 % interval of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// Figure with the interval.
    pub aim: Aim,
    /// Maximum distance of either end of the interval, as a share of the figure: 0.05 is ±5 %.
    pub within: f64,
}

/// A figure of a run that has an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// A quantile (0 to 1) of the response time.
    Quantile(f64),
    /// Completed requests per second.
    Throughput,
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(q) => f.write_str(&numbers::percentile(*q)),
            Self::Throughput => f.write_str("throughput"),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}±{}%", self.aim, numbers::exact_percent(self.within))
    }
}
