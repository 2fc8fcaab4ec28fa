//! How much a server carries: words that the room `search` fills in and reports show.
//!
//! Out of scope: the mathematics, and the choice of the next load.

use crate::LoadUnit;
use crate::analysis::Bottleneck;
use crate::question::ObjectiveSet;
use crate::time::optional_seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a search came to, of one contender; also one that was stopped on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Its name.
    pub contender: String,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// The whole in one sentence: "capacity 3,412 ± 60 requests/s at p99 < 50ms; bends at 2,950 to 3,050; …".
    pub sentence: String,
    /// One for each set of objectives, in their order.
    pub capacities: Vec<Capacity>,
    /// Where the response time starts to bend; null where it was not found.
    pub knee: Option<Estimate>,
    /// The throughput that does not grow any more, per second; null where it was not reached.
    pub saturation: Option<Estimate>,
    /// The least load at which throughput fell clearly below the saturation; null where it never did.
    pub collapse: Option<f64>,
    /// What became of it after an overload; null where there was none.
    pub recovery: Option<Recovery>,
    /// What limited the server at its capacity; null where nothing was read of it.
    pub bottleneck: Option<Bottleneck>,
    /// What was tried, in order.
    pub trials: Vec<SearchTrial>,
    /// The server's capacity drifted during the search: as a sentence with its figures; null where no drift was found.
    pub drift: Option<String>,
    /// Why no more was tried.
    pub ended: SearchEnd,
}

/// The highest load that meets a set of objectives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Which objectives.
    pub objectives: ObjectiveSet,
    /// Its interval; a side that is not known is open.
    pub at: Estimate,
    /// As a sentence: "3,412 requests/s (3,352 to 3,472)", "at least 5,000 requests/s: the generator was the limit (its worker
    /// threads had no time left)".
    pub sentence: String,
}

/// A figure with its 95 % interval, of which a side may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The figure; null where only a side of it is known.
    pub value: Option<f64>,
    /// It is at least so much; null where not known.
    pub low: Option<f64>,
    /// It is at most so much; null where not known.
    pub high: Option<f64>,
}

/// What became of a server after an overload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recovery {
    /// The load that overloaded it.
    pub overload: f64,
    /// The load at which it was to recover.
    pub load: f64,
    /// Completed per second meanwhile.
    pub throughput_overloaded: f64,
    /// So many seconds until replies were again as they had been at that load; null where they were not before the end.
    #[serde(with = "optional_seconds", rename = "recovery_seconds")]
    #[schemars(with = "Option<f64>")]
    pub after: Option<Duration>,
}

/// A trial of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchTrial {
    /// The load.
    pub load: f64,
    /// Why it was tried: "twice the last", "refine below the estimate", "confirmation run".
    pub why: String,
    /// How many seconds were measured.
    pub seconds: f64,
    /// Completed per second.
    pub achieved: f64,
    /// What it says of each set of objectives, in their order.
    pub sides: Vec<LoadSide>,
    /// Why it says nothing of the server, where that is so: the generator was the limit, and by what.
    pub limited: Option<String>,
    /// The first capacity as it was known after it.
    pub known: Estimate,
}

/// On which side of a capacity a load lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadSide {
    /// The objectives were met: the capacity is higher.
    Below,
    /// They were not: it is lower.
    Above,
    /// That was not decided in the time that a trial has.
    Undecided,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// All capacities are known as well as was asked.
    Precise,
    /// Its time was over.
    Budget,
    /// The load generator saturated.
    Generator,
    /// The highest load allowed met the objectives.
    Most,
    /// The lowest load that makes sense missed the objectives.
    Least,
    /// Somebody stopped it.
    Stopped,
}
