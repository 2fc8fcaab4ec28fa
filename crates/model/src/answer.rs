//! Results of a capacity search. `search` computes them, reports show them.

use crate::analysis::Bottleneck;
use crate::question::ObjectiveSet;
use crate::text::{Language, Text};
use crate::time::{optional_seconds, seconds};
use crate::{LoadUnit, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Result of a capacity search for one contender; also of a search that was stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityResult {
    /// Name of the contender.
    pub contender: String,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// Summary in one sentence: "capacity 3,412 ± 60 requests/s at p99 < 50ms; knee at
    /// 2,950 to 3,050; …".
    pub sentence: Text,
    /// Capacity for each set of objectives, in their order.
    pub capacities: Vec<Capacity>,
    /// Load at which the response time starts to bend; null if not found.
    pub knee: Option<Estimate>,
    /// Maximum throughput, per second; null if not reached.
    pub saturation: Option<Estimate>,
    /// Lowest load at which throughput fell clearly below the maximum; null if it never did.
    pub collapse: Option<f64>,
    /// Recovery after an overload; null without an overload phase.
    pub recovery: Option<Recovery>,
    /// Server bottleneck at its capacity; null without readings of the server.
    pub bottleneck: Option<Bottleneck>,
    /// Trials of the search, in order.
    pub trials: Vec<SearchTrial>,
    /// Change of the server during the search, as a sentence with its figures; null if there was
    /// none.
    pub change: Option<Text>,
    /// Total measured time of the trials, in seconds. What happens more rarely was not seen.
    #[serde(with = "seconds", rename = "watched_seconds")]
    #[schemars(with = "f64")]
    pub watched: Duration,
    /// Time budget that confirms both ends of each interval, in seconds; null if the budget was
    /// sufficient, or if no budget is.
    #[serde(with = "optional_seconds", rename = "needed_budget_seconds")]
    #[schemars(with = "Option<f64>")]
    pub needed_budget: Option<Duration>,
    /// Reason why the search ended.
    pub ended: SearchEnd,
}

impl CapacityResult {
    /// Replaces all texts by their forms in a language.
    pub(crate) fn translate(&mut self, language: Language) {
        self.sentence.translate(language);
        self.change.iter_mut().for_each(|change| change.translate(language));
        self.bottleneck.iter_mut().for_each(|bottleneck| bottleneck.translate(language));
        for capacity in &mut self.capacities {
            capacity.sentence.translate(language);
        }
        for trial in &mut self.trials {
            trial.why.translate(language);
            trial.limited.iter_mut().for_each(|limited| limited.translate(language));
        }
    }
}

/// The highest load that meets a set of objectives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Objectives that the load meets.
    pub objectives: ObjectiveSet,
    /// Capacity with its interval; an unknown end is null.
    pub at: Estimate,
    /// Capacity as a sentence: "3,412 requests/s (3,352 to 3,472)", "at least 5,000 requests/s:
    /// limited by a worker thread at 100 % CPU, not by the server alone".
    pub sentence: Text,
}

/// A figure with its 95 % interval; an end may be unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Figure; null if only a bound is known.
    pub value: Option<f64>,
    /// Lower end of the interval; null if unknown.
    pub low: Option<f64>,
    /// Upper end of the interval; null if unknown.
    pub high: Option<f64>,
}

/// Recovery of a server after an overload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recovery {
    /// Load of the overload.
    pub overload: f64,
    /// Load at which recovery was measured.
    pub load: f64,
    /// Throughput during the overload, per second.
    pub throughput_overloaded: f64,
    /// Seconds until response times were normal again at that load; null if they were
    /// not by the end.
    #[serde(with = "optional_seconds", rename = "recovery_seconds")]
    #[schemars(with = "Option<f64>")]
    pub after: Option<Duration>,
}

/// A trial of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchTrial {
    /// Load of the trial.
    pub load: f64,
    /// Reason for the trial: "twice the previous load", "refine below
    /// the estimate", "confirmation run".
    pub why: Text,
    /// Measured time, in seconds.
    pub seconds: f64,
    /// Completed requests per second.
    pub achieved: f64,
    /// Side of each capacity on which the load lies, in the order of the objective sets.
    pub sides: Vec<LoadSide>,
    /// Generator limit that makes the trial useless for the server; null if there was none.
    pub limited: Option<Text>,
    /// Running estimate of the first capacity after this trial.
    pub running_estimate: Estimate,
}

/// Side of a capacity on which a load lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadSide {
    /// Below: the load met the objectives.
    Below,
    /// Above: the load missed the objectives.
    Above,
    /// Not decided within the time of a trial.
    Undecided,
}

/// Reason why a search ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The target precision of all capacities was reached.
    Precise,
    /// The time budget was used up.
    Budget,
    /// The generator, or other processes on the machine that it shares with the
    /// server, were the limit.
    Generator,
    /// The highest load allowed met the objectives.
    Most,
    /// The lowest useful load missed the objectives.
    Least,
    /// The server did not recover from an overload.
    Damaged,
    /// It was stopped by the user.
    Stopped,
}

impl SearchEnd {
    /// Returns the reason as a clause: `the time budget was used up`.
    pub fn words(self) -> Text {
        match self {
            Self::Precise => text!("search-end.precise"),
            Self::Budget => text!("search-end.budget"),
            Self::Generator => text!("search-end.generator"),
            Self::Most => text!("search-end.most"),
            Self::Least => text!("search-end.least"),
            Self::Damaged => text!("search-end.damaged"),
            Self::Stopped => text!("search-end.stopped"),
        }
    }
}

impl fmt::Display for SearchEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}
