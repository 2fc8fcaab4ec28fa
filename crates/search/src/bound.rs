//! Turns objectives into figures that grow with the load.
//!
//! Each objective becomes a ratio of two counts and the maximum allowed value of that ratio.
//! For a quantile, this inverts the objective: p99 < 50 ms allows a share of 1 % of requests
//! slower than 50 ms.

use brunt_model::Objective;
use brunt_model::objective::{Metric, Relation};

/// Allowed share of requests beyond the bound of a maximum. The longest response time grows with
/// the number of requests, so it has no value over all steady time.
const MAX_SHARE: f64 = 1e-5;

/// Minimum achieved/offered ratio at which the server keeps up.
pub const MIN_ACHIEVED: f64 = 0.99;

/// The ratio that is compared with the allowed value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CountedRatio {
    /// Requests slower than this many seconds ÷ all requests.
    Slower(f64),
    /// Errors ÷ all requests.
    Errors,
    /// Sum of response times, in seconds ÷ replies.
    Mean,
    /// Required replies ÷ received replies. The required number follows from `rate`, or is 99 % of
    /// the offered requests if that is less.
    Wanted {
        /// Required rate, in replies per second.
        rate: f64,
        /// The replies that count as received.
        replies: CountedReplies,
    },
}

/// Kind of replies that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedReplies {
    /// All complete replies, whatever their status.
    Completed,
    /// Complete replies without an error.
    Good,
}

/// An objective, turned into a figure that grows with the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectiveFigure {
    /// The ratio to count.
    pub counted: CountedRatio,
    /// Maximum allowed value of the ratio.
    pub allowed: f64,
}

impl ObjectiveFigure {
    /// Converts an objective to a bound.
    pub fn from_objective(objective: &Objective) -> Self {
        let bound = objective.bound;
        let (counted, allowed) = match objective.metric {
            Metric::Quantile(q) => (CountedRatio::Slower(bound), 1.0 - q),
            Metric::Max => (CountedRatio::Slower(bound), MAX_SHARE),
            Metric::Errors => (CountedRatio::Errors, bound),
            Metric::Mean => (CountedRatio::Mean, bound),
            Metric::Throughput => {
                (CountedRatio::Wanted { rate: bound, replies: CountedReplies::Completed }, 1.0)
            }
            Metric::Goodput => {
                (CountedRatio::Wanted { rate: bound, replies: CountedReplies::Good }, 1.0)
            }
        };
        Self { counted, allowed: allowed.max(MAX_SHARE) }
    }

    /// True if the figure depends on how long requests wait.
    pub fn depends_on_waiting(&self) -> bool {
        matches!(self.counted, CountedRatio::Slower(_) | CountedRatio::Mean)
    }

    /// Assumed length, in seconds, of a cluster of slow or failed requests, before any
    /// trial. If 1 % of the requests wait longer than t, such a queue takes two to three
    /// times t to become empty.
    pub fn cluster_seconds(&self) -> f64 {
        match self.counted {
            CountedRatio::Slower(than) => 2.5 * than,
            CountedRatio::Errors | CountedRatio::Mean | CountedRatio::Wanted { .. } => 0.5,
        }
    }

    /// True if the figure is a share of requests.
    pub fn is_share(&self) -> bool {
        matches!(self.counted, CountedRatio::Slower(_) | CountedRatio::Errors)
    }
}

/// Returns an error message if the objective cannot bound a load. The
/// message contains the correction.
pub fn objective_error(objective: &Objective) -> Option<String> {
    let is_upper_bound = matches!(objective.relation, Relation::Below | Relation::AtMost);
    let less_is_better = !matches!(objective.metric, Metric::Throughput | Metric::Goodput);
    if is_upper_bound != less_is_better {
        let sign = if less_is_better { "<" } else { ">" };
        return Some(format!(
            "{objective} does not bound the load, since higher loads meet it: write `{} {sign} …`",
            objective.metric
        ));
    }
    (!(objective.bound.is_finite() && objective.bound >= 0.0))
        .then(|| format!("{objective}: the bound must be a number above 0"))
}
