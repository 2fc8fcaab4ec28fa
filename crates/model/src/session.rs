//! What one iteration of a virtual user asks, where that is more than one request.

use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What one iteration asks: its bursts, one after the other. It is over early where a request of it failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its bursts.
    pub bursts: Vec<Burst>,
}

/// Some requests, and a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Burst {
    /// How often it comes, one after the other.
    pub times: u64,
    /// How many requests it has.
    pub requests: u32,
    /// Which of the script's requests these are.
    pub pick: Pick,
    /// How its requests follow each other.
    pub manner: Manner,
    /// Seconds between its last reply and what comes next of the iteration.
    #[serde(with = "seconds", rename = "think_seconds")]
    #[schemars(with = "f64")]
    pub think: Duration,
}

/// Which of the script's requests those of a burst are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// The next ones in the script's order, of all iterations together.
    Order,
    /// Those from this number on.
    From(u32),
    /// Request n of the run is number ⌊(n + 1) · s⌋ of the list, over and over, where s is so many millionths: a new one
    /// every 1/s requests.
    Slow(u32),
}

/// How the requests of a burst follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// All are sent at once on one connection, and their replies awaited in order (pipelining, RFC 9112 section 9.3.2).
    Together,
    /// The first is sent alone; when its reply is there, the rest together.
    AfterTheFirst,
}

impl Session {
    /// How many requests it has.
    pub fn requests(&self) -> u64 {
        self.bursts.iter().map(|burst| burst.times.saturating_mul(burst.requests.into())).sum()
    }
}
