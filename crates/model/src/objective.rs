//! A bound on a figure of a run, such as `p99 < 50ms`.

use crate::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A bound on a figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// The figure.
    pub metric: Metric,
    /// Comparison with the bound.
    pub relation: Relation,
    /// Bound in the unit of the metric: seconds, a share from 0 to 1, or per second.
    pub bound: f64,
}

/// A figure of a run that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// A quantile (0 to 1) of the response time, in seconds.
    Quantile(f64),
    /// The mean response time, in seconds.
    Mean,
    /// The longest response time, in seconds.
    Max,
    /// The share of errors.
    Errors,
    /// Completed requests per second.
    Throughput,
    /// Good requests per second.
    Goodput,
}

/// Comparison of a figure with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Less.
    Below,
    /// Less or equal.
    AtMost,
    /// More.
    Above,
    /// More or equal.
    AtLeast,
}

impl Relation {
    /// Whether a value stands so to a bound.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
        }
    }

    /// Its sign.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// What a run makes of an objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectiveResult {
    /// The bound.
    pub objective: Objective,
    /// The figure; a lower bound of it where `at_least`.
    pub value: f64,
    /// The figure is only known from below.
    pub at_least: bool,
    /// Whether the bound was kept. A figure known from below only never keeps an upper bound.
    pub met: bool,
}

impl Objective {
    /// Holds the run against this bound.
    pub fn judge(&self, run: &Run) -> ObjectiveResult {
        let (value, at_least) = self.metric.of(run);
        let upper = matches!(self.relation, Relation::Below | Relation::AtMost);
        let met = self.relation.holds(value, self.bound) && !(at_least && upper);
        ObjectiveResult { objective: *self, value, at_least, met }
    }

    /// Whether a figure that is known, in the bound's unit, keeps this bound.
    pub fn holds(&self, value: f64) -> bool {
        self.relation.holds(value, self.bound)
    }
}

impl Metric {
    /// This figure of a run, in its unit, and whether it is known from below only.
    pub fn of(self, run: &Run) -> (f64, bool) {
        let total = &run.total;
        let quantile = |q| {
            let q = total.response_quantile(q);
            (q.value as f64 / 1e9, q.at_least || total.planned == 0)
        };
        match self {
            Self::Quantile(q) => quantile(q),
            Self::Max => quantile(1.0),
            Self::Mean => (total.response.mean() / 1e9, total.response.is_empty()),
            Self::Errors => (if total.planned == 0 { 1.0 } else { total.error_share() }, false),
            Self::Throughput => (run.throughput(), false),
            Self::Goodput => (run.goodput(), false),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(q) => write!(f, "p{}", (q * 1e8).round() / 1e6),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            Self::Errors => f.write_str("errors"),
            Self::Throughput => f.write_str("throughput"),
            Self::Goodput => f.write_str("goodput"),
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.metric, self.relation.symbol())?;
        let rounded = |x: f64| (x * 1e6).round() / 1e6;
        match self.metric {
            Metric::Errors => write!(f, "{}%", rounded(self.bound * 100.0)),
            Metric::Throughput | Metric::Goodput => write!(f, "{}/s", self.bound),
            _ if self.bound < 1.0 => write!(f, "{}ms", rounded(self.bound * 1e3)),
            _ => write!(f, "{}s", rounded(self.bound)),
        }
    }
}
