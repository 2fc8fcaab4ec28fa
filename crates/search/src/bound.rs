//! What an objective asks of a block of a trial: how much of it was over, of how much.
//!
//! What it is: every objective as a figure that grows with the load, and the value of it that is just allowed. A quantile
//! is turned round: p99 < 50 ms allows a share of 1 % of requests slower than 50 ms. Out of scope: a judgement.

use brunt_model::Objective;
use brunt_model::objective::{Metric, Relation};

/// "The longest response time" grows with the number of requests, so it has no value over all steady time. In its place
/// stands this share of requests beyond the bound.
const MAX_SHARE: f64 = 1e-5;

/// So much of what is offered must be achieved for the server to be keeping up.
pub const KEPT: f64 = 0.99;

/// What is counted over what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counted {
    /// Requests slower than so many seconds, over all.
    Slower(f64),
    /// Errors, over all.
    Errors,
    /// Seconds of response time, over replies.
    Mean,
    /// Replies that are wanted, over those that came: so many per second, or all but 1 % of what is offered if that is
    /// less. Only good replies, where `good`.
    Wanted {
        /// So many per second.
        rate: f64,
        /// Of which replies.
        replies: Replies,
    },
}

/// Which replies count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replies {
    /// Whole ones.
    Completed,
    /// Good ones.
    Good,
}

/// An objective, turned into a figure that grows with the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The figure.
    pub counted: Counted,
    /// Its value that is just allowed.
    pub allowed: f64,
}

impl Bound {
    /// The bound that an objective is.
    pub fn of(objective: &Objective) -> Self {
        let bound = objective.bound;
        let (counted, allowed) = match objective.metric {
            Metric::Quantile(q) => (Counted::Slower(bound), 1.0 - q),
            Metric::Max => (Counted::Slower(bound), MAX_SHARE),
            Metric::Errors => (Counted::Errors, bound),
            Metric::Mean => (Counted::Mean, bound),
            Metric::Throughput => (Counted::Wanted { rate: bound, replies: Replies::Completed }, 1.0),
            Metric::Goodput => (Counted::Wanted { rate: bound, replies: Replies::Good }, 1.0),
        };
        Self { counted, allowed: allowed.max(MAX_SHARE) }
    }

    /// Whether the figure is large because requests wait.
    pub fn waits(&self) -> bool {
        matches!(self.counted, Counted::Slower(_) | Counted::Mean)
    }

    /// Of how many seconds the clumps are taken to be in which what counts against it comes, before anything is known. Where
    /// 1 % of the requests wait longer than t, such a queue takes two to three times t to be gone again.
    pub fn clump(&self) -> f64 {
        match self.counted {
            Counted::Slower(than) => 2.5 * than,
            Counted::Errors | Counted::Mean | Counted::Wanted { .. } => 0.5,
        }
    }

    /// Whether the figure is a share of requests.
    pub fn is_share(&self) -> bool {
        matches!(self.counted, Counted::Slower(_) | Counted::Errors)
    }
}

/// Why no load can be looked for that meets an objective: as a sentence that says what to write instead.
pub fn objection(objective: &Objective) -> Option<String> {
    let upper = matches!(objective.relation, Relation::Below | Relation::AtMost);
    let less_is_better = !matches!(objective.metric, Metric::Throughput | Metric::Goodput);
    if upper != less_is_better {
        let sign = if less_is_better { "<" } else { ">" };
        return Some(format!(
            "{objective} does not bound the load, since higher loads meet it: write `{} {sign} …`",
            objective.metric
        ));
    }
    (!(objective.bound.is_finite() && objective.bound >= 0.0))
        .then(|| format!("{objective}: the bound must be a number above 0"))
}
