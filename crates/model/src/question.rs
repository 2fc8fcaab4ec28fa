//! Questions that an experiment answers. Answers are in [`answer`](crate::answer) and
//! [`comparison`](crate::comparison).

use crate::Objective;
use crate::answer::Estimate;
use crate::comparison::{Better, Compared};
use crate::objective::{Metric, Relation};
use crate::text::Text;
use crate::time::{optional_seconds, seconds};
use crate::{numbers, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Question that an experiment answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Behavior of each contender at given loads.
    #[default]
    Sweep,
    /// Capacity of each contender. Each load is chosen from the results so far. The first step of a
    /// contender is the pattern of its trials and is not measured; each trial appends a step.
    Find(CapacitySearch),
    /// Better contender. Each repetition is a block. The experiment ends as soon
    /// as the test decides.
    Compare(ComparisonSettings),
}

/// Settings of a capacity search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySearch {
    /// Sets of objectives; each has a capacity. At least one.
    pub objectives: Vec<ObjectiveSet>,
    /// Target precision: half of each capacity's interval as a share of the capacity, such as 0.02.
    /// The search ends when it is reached.
    pub precision: f64,
    /// Time budget of all trials, in seconds.
    #[serde(with = "seconds", rename = "within_seconds")]
    #[schemars(with = "f64")]
    pub within: Duration,
    /// Load of the first trial.
    pub start: f64,
    /// Highest load to try; null: no maximum.
    pub most: Option<f64>,
    /// Length of the shortest trials. Confirmations take a share of the time budget.
    pub trial: TrialTimes,
    /// Action between two trials.
    pub between: TrialGap,
    /// Load of an overload trial after the search, as a multiple of the capacity; null: no
    /// overload. It shows the behavior in overload and the time to recover.
    pub overload: Option<f64>,
    /// Required capacities; brunt fails if one is not met.
    #[serde(default)]
    pub require: Vec<Requirement>,
}

/// Required capacity, such as `capacity > 3000/s`. Its interval decides, not only the figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// Relation to the bound: above, or at least.
    pub relation: Relation,
    /// Bound: arrivals per second or users, like the loads.
    pub bound: f64,
}

/// Result of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequirementOutcome {
    /// The whole interval meets the requirement.
    Met,
    /// The interval has ends on both sides of the bound, or the relevant end is open.
    Undecided,
    /// No part of the interval meets the requirement.
    Missed,
}

impl Requirement {
    /// Evaluates the requirement for the interval of a capacity.
    pub fn decide(&self, at: &Estimate) -> RequirementOutcome {
        match (at.low, at.high) {
            // An end alone decides, so the other end may be unknown.
            (Some(low), _) if self.relation.holds(low, self.bound) => RequirementOutcome::Met,
            (_, Some(high)) if !self.relation.holds(high, self.bound) => RequirementOutcome::Missed,
            _ => RequirementOutcome::Undecided,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "capacity {} {}", self.relation.symbol(), self.bound)
    }
}

/// Objectives that a load meets when it meets all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveSet {
    /// Name of the set: the objectives as they were written, or a limit of patience.
    pub name: String,
    /// Objectives of the set; at least one.
    pub all: Vec<Objective>,
}

/// Length of a search trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialTimes {
    /// Length of the warm-up, in seconds.
    #[serde(with = "seconds", rename = "warmup_seconds")]
    #[schemars(with = "f64")]
    pub warmup: Duration,
    /// Measured time, in seconds.
    #[serde(with = "seconds", rename = "measured_seconds")]
    #[schemars(with = "f64")]
    pub measured: Duration,
}

/// Purpose of a trial in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialPurpose {
    /// Finds the capacity of the server.
    Search,
    /// Measures again at the capacity that was found.
    Confirm,
    /// Overloads the server on purpose.
    Overload,
    /// Measures the time to recover from the overload.
    Recovery,
}

/// Action between two trials of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialGap {
    /// A pause without load.
    Cool(
        /// Length of the pause, in seconds.
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        Duration,
    ),
    /// Restart of the managed server.
    Restart,
}

/// Settings of a comparison: each contender is compared with the first, at each
/// load that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonSettings {
    /// Compared figures. The first one decides; the others are reported.
    pub metrics: Vec<Measure>,
    /// Factor of the question: only contenders that differ in it are compared; null: those that
    /// differ in any one factor.
    #[serde(default)]
    pub factor: Option<String>,
    /// Smallest relevant difference, as a share. Contenders with a smaller one are equal.
    pub smallest: f64,
    /// Significance level: the maximum probability of finding a difference between equal
    /// contenders, such as 0.05.
    pub alpha: f64,
    /// Regressions that make brunt fail.
    pub fail_if: Vec<Regression>,
    /// Time budget in seconds: no block starts that would end later; null: no limit.
    #[serde(default, with = "optional_seconds", rename = "within_seconds")]
    #[schemars(with = "Option<f64>")]
    pub within: Option<Duration>,
    /// Search for the capacity of each contender in each repetition; null: only
    /// given loads are measured.
    #[serde(default)]
    pub at_capacity: Option<AtCapacity>,
}

/// Comparison of capacities: each search is one observation of its contender. The first step
/// of a contender is the pattern of its searches. Steps with given loads follow, and each
/// trial appends a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtCapacity {
    /// Settings of each search; `within` is the time budget of one of them.
    pub find: CapacitySearch,
    /// Number of given loads that are also measured in each repetition.
    pub given: usize,
}

/// A regression that makes brunt fail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regression {
    /// Figure of the regression.
    pub measure: Measure,
    /// Minimum deterioration, as a share; the whole interval must exceed it.
    pub by: f64,
}

impl Regression {
    /// True if a comparison proves the regression: the whole interval is worse than the margin.
    /// False without an interval, and for other figures.
    pub fn is_shown_by(&self, compared: &Compared) -> bool {
        // If more is better, a deterioration is a decrease.
        let least_deterioration = if self.measure.more_is_better() {
            compared.high.map(|high| -high)
        } else {
            compared.low
        };
        // A difference from 0 has no share. Each one is beyond any margin.
        let is_from_zero = compared.ours == 0.0 && compared.verdict == Better::Worse;
        let is_beyond = least_deterioration.is_some_and(|worse| worse > self.by);
        compared.measure == self.measure && (is_from_zero || is_beyond)
    }
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} worse by {}%", self.measure, numbers::exact_percent(self.by))
    }
}

/// Figure of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A figure of the run.
    Run(Metric),
    /// Server CPU time per completed request: of the processes with readings, or of the host
    /// if there are none.
    ServerCpu,
    /// The capacity that a search found.
    Capacity,
}

impl Measure {
    /// True if a higher value is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Run(Metric::Throughput | Metric::Goodput) | Self::Capacity)
    }

    /// Returns the name of the figure, for people.
    pub fn words(self) -> Text {
        match self {
            Self::Run(metric) => metric.words(),
            Self::ServerCpu => text!("measure.server-cpu"),
            Self::Capacity => text!("measure.capacity"),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.words())
    }
}
