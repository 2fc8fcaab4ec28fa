//! What an experiment is to decide.
//!
//! Out of scope: the answer (that is in [`answer`](crate::answer) and [`comparison`](crate::comparison)).

use crate::Objective;
use crate::answer::Estimate;
use crate::comparison::Compared;
use crate::numbers;
use crate::objective::{Metric, Relation};
use crate::time::{optional_seconds, seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What an experiment is to decide.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How each contender goes at each of its loads, which are known before.
    #[default]
    Sweep,
    /// How much each contender carries: its loads are chosen one after the other. The first step of a contender is the
    /// pattern of all, and is not measured itself; each trial appends one.
    Find(Find),
    /// Which contender is better: each repetition is a block, and it ends as soon as enough is known.
    Compare(Compare),
}

/// How a capacity is looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Find {
    /// Each gives a capacity of its own; one at least.
    pub objectives: Vec<ObjectiveSet>,
    /// It ends early when half the interval of each capacity is at most this share of it, such as 0.02.
    pub precision: f64,
    /// All trials together may take so many seconds.
    #[serde(with = "seconds", rename = "within_seconds")]
    #[schemars(with = "f64")]
    pub within: Duration,
    /// The load of the first trial.
    pub start: f64,
    /// No load above it is tried; null: as far as it goes.
    pub most: Option<f64>,
    /// How long trials are.
    pub trial: TrialTimes,
    /// What is done between two trials.
    pub between: Between,
    /// The load after the search as a multiple of the capacity, to see how the server behaves in overload and
    /// how long it takes to recover; null: no overload.
    pub overload: Option<f64>,
    /// What each capacity is required to be; brunt fails where one is not.
    #[serde(default)]
    pub require: Vec<Requirement>,
}

/// What a capacity is required to be, such as `capacity > 3000/s`. Its interval decides, not the figure alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// How it must stand to the bound: above, or at least.
    pub relation: Relation,
    /// The bound: arrivals per second or users, as the loads are.
    pub bound: f64,
}

/// What became of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequirementOutcome {
    /// The whole interval fulfils it.
    Met,
    /// The interval has ends on both sides of the bound, or none where it would matter.
    Undecided,
    /// No part of the interval fulfils it.
    Missed,
}

impl Requirement {
    /// What the interval of a capacity makes of it.
    pub fn decide(&self, at: &Estimate) -> RequirementOutcome {
        match (at.low, at.high) {
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
    /// Its name: the objectives as they were written, or the limit of patience.
    pub name: String,
    /// All of them; one at least.
    pub all: Vec<Objective>,
}

/// How long a trial of a search is. It ends between `least` and `most` after its warm-up, as soon as it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialTimes {
    /// Seconds before measuring.
    #[serde(with = "seconds", rename = "warmup_seconds")]
    #[schemars(with = "f64")]
    pub warmup: Duration,
    /// Seconds measured at least.
    #[serde(with = "seconds", rename = "least_seconds")]
    #[schemars(with = "f64")]
    pub least: Duration,
    /// Seconds measured at most.
    #[serde(with = "seconds", rename = "most_seconds")]
    #[schemars(with = "f64")]
    pub most: Duration,
}

/// What a search uses a trial for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialPurpose {
    /// To find the capacity.
    Search,
    /// To measure once more at the capacity that was found.
    Confirm,
    /// To overload the server.
    Overload,
    /// To see how long the server takes to recover from the overload.
    Recovery,
}

/// What is done between two trials of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// The server is left alone for so many seconds.
    Cool(
        /// As seconds.
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        Duration,
    ),
    /// The managed server is started anew.
    Restart,
}

/// How contenders are compared: each with the first, at each load that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compare {
    /// What is compared. The first decides; the others are told beside it.
    pub metrics: Vec<Measure>,
    /// The smallest difference that matters, as a share: within it, contenders are equal.
    pub smallest: f64,
    /// How often, at most, contenders that are alike may be found to differ: 0.05.
    pub alpha: f64,
    /// Differences that make brunt fail.
    pub fail_if: Vec<Regression>,
    /// No block is begun that would be over later than so many seconds after the beginning; null: all may be made.
    #[serde(default, with = "optional_seconds", rename = "within_seconds")]
    #[schemars(with = "Option<f64>")]
    pub within: Option<Duration>,
    /// In each repetition each contender's capacity is looked for; null: only loads that are known before are measured.
    #[serde(default)]
    pub at_capacity: Option<AtCapacity>,
}

/// How contenders are measured at their capacities: a search of each is one observation of it. The first step of a contender
/// is the pattern of its searches' trials, behind it stand the loads that are known before, and each trial appends one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtCapacity {
    /// How each search goes; `within` is of one of them.
    pub find: Find,
    /// How many loads, known before, are measured in each repetition besides.
    pub given: usize,
}

/// A difference that makes brunt fail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regression {
    /// Of what.
    pub measure: Measure,
    /// Worse by more than this share, with the whole interval.
    pub by: f64,
}

impl Regression {
    /// Whether the other contender is worse by more than the margin, with the whole interval. False where there is none, and
    /// where the figure is another.
    pub fn is_shown_by(&self, compared: &Compared) -> bool {
        let end = if self.measure.more_is_better() { compared.high.map(|high| -high) } else { compared.low };
        compared.measure == self.measure && end.is_some_and(|worse| worse > self.by)
    }
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} worse by {}%", self.measure, numbers::exact_percent(self.by))
    }
}

/// A figure by which contenders are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A figure of the run.
    Run(Metric),
    /// The server's CPU time per completed request: of the processes that are read, or of the host where none are.
    ServerCpu,
    /// The capacity that a search found.
    Capacity,
}

impl Measure {
    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Run(Metric::Throughput | Metric::Goodput) | Self::Capacity)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Run(metric) => metric.fmt(f),
            Self::ServerCpu => f.write_str("server CPU per request"),
            Self::Capacity => f.write_str("capacity"),
        }
    }
}
