//! The load of a run, and the conditions that end it.

use crate::time::{optional_seconds, seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Load model: closed (each reply triggers the next request) or open (a schedule does).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// Virtual users: each sends its next request after its last reply and its think time.
    /// This load hides queueing (coordinated omission).
    Closed {
        /// Number of users over time.
        users: LoadShape,
        /// Think time between a reply and the user's next request.
        think: ThinkTime,
    },
    /// Arrivals follow a schedule that does not wait for replies.
    Open {
        /// Arrivals per second over time.
        rate: LoadShape,
        /// Spacing of the arrivals.
        arrivals: Arrivals,
        /// Maximum number of connections; an arrival that finds none free waits. Null: no maximum.
        connections: Option<u32>,
        /// Maximum number of requests in flight; further arrivals are dropped and counted.
        max_in_flight: u32,
    },
}

impl Load {
    /// Maximum number of users or connections at once; None if the load does not limit it.
    pub fn most_connections(&self) -> Option<u64> {
        match self {
            Self::Closed { users, .. } => Some(users.peak() as u64),
            Self::Open { connections, .. } => connections.map(u64::from),
        }
    }
}

/// A quantity over time: stages, each linear from one value to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadShape {
    /// Stages in order; never empty.
    pub stages: Vec<LoadStage>,
}

/// One stage of a [`LoadShape`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadStage {
    /// Value at the beginning of the stage, if it has a duration.
    pub from: f64,
    /// Value at the end of the stage.
    pub to: f64,
    /// Duration in seconds; null: until the run stops, with the constant value `to`.
    #[serde(with = "optional_seconds", rename = "duration_seconds")]
    #[schemars(with = "Option<f64>")]
    pub duration: Option<Duration>,
}

impl LoadShape {
    /// Creates a shape with one value that never changes.
    pub fn constant(value: f64) -> Self {
        Self { stages: vec![LoadStage { from: value, to: value, duration: None }] }
    }

    /// Sum of the stages' durations; None if a stage has no end.
    pub fn duration(&self) -> Option<Duration> {
        self.stages.iter().map(|s| s.duration).sum()
    }

    /// Greatest value at the beginning or end of a stage; at least 0.
    pub fn peak(&self) -> f64 {
        self.stages.iter().flat_map(|s| [s.from, s.to]).fold(0.0, f64::max)
    }

    /// Returns the value if it never changes; otherwise None.
    pub fn as_constant(&self) -> Option<f64> {
        let first = self.stages.first()?.from;
        self.stages.iter().all(|s| s.from == first && s.to == first).then_some(first)
    }

    /// Returns the value `t` after the beginning. After the last stage, that stage's final value
    /// holds.
    pub fn at(&self, t: Duration) -> f64 {
        let mut rest = t;
        for stage in &self.stages {
            match stage.duration {
                // A stage of length 0 also ends here, so the next line never divides by 0.
                Some(d) if rest >= d => rest -= d,
                Some(d) => {
                    return stage.from
                        + (stage.to - stage.from) * rest.as_secs_f64() / d.as_secs_f64();
                }
                None => return stage.to,
            }
        }
        self.stages.last().map_or(0.0, |s| s.to)
    }
}

impl LoadShape {
    /// Integral of the value over the first `t`, in value × seconds; for a rate, the number of
    /// arrivals. The time after the last stage counts as 0, unlike in [`at`](Self::at), because no
    /// further arrivals are scheduled.
    pub fn area(&self, t: Duration) -> f64 {
        let mut rest = t;
        let mut area = 0.0;
        for stage in &self.stages {
            let within = stage.duration.map_or(rest, |d| d.min(rest));
            let to = match stage.duration {
                Some(d) if !d.is_zero() => {
                    stage.from + (stage.to - stage.from) * within.as_secs_f64() / d.as_secs_f64()
                }
                _ => stage.to,
            };
            // A stage without end has the constant value `to`.
            let from = if stage.duration.is_some() { stage.from } else { stage.to };
            area += f64::midpoint(from, to) * within.as_secs_f64();
            rest -= within;
        }
        area
    }
}

impl fmt::Display for LoadStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from != self.to {
            write!(f, "{}..", self.from)?;
        }
        write!(f, "{}", self.to)?;
        self.duration.map_or(Ok(()), |d| write!(f, "/{}s", d.as_secs_f64()))
    }
}

impl fmt::Display for LoadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stage) in self.stages.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{stage}")?;
        }
        Ok(())
    }
}

/// Spacing of arrivals at a given rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Poisson process: random and independent, as from many people.
    Poisson,
    /// Equal intervals.
    Even,
    /// Bursts of this many arrivals at one instant.
    Burst(u32),
    /// Random independent intervals, uniformly distributed around their mean; the value is the
    /// maximum deviation, in millionths of the mean.
    // An integer, because f64 implements no `Eq`.
    Uniform(u32),
}

impl Load {
    /// Maximum number of virtual users, or of arrivals per second.
    pub fn peak(&self) -> f64 {
        self.shape().peak()
    }

    /// Number of virtual users, or arrivals per second, over time.
    pub fn shape(&self) -> &LoadShape {
        let (Self::Closed { users: shape, .. } | Self::Open { rate: shape, .. }) = self;
        shape
    }
}

/// Think time between a reply and the user's next request: uniformly distributed
/// from `least` to `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkTime {
    /// Minimum think time, in seconds.
    #[serde(with = "seconds", rename = "least_seconds")]
    #[schemars(with = "f64")]
    pub least: Duration,
    /// Maximum think time, in seconds.
    #[serde(with = "seconds", rename = "most_seconds")]
    #[schemars(with = "f64")]
    pub most: Duration,
}

impl ThinkTime {
    /// No think time.
    pub const NONE: Self = Self { least: Duration::ZERO, most: Duration::ZERO };

    /// True if users have no think time.
    pub fn is_none(&self) -> bool {
        self.most.is_zero()
    }

    /// Mean think time.
    pub fn mean(&self) -> Duration {
        (self.least + self.most) / 2
    }
}

/// Limits that end a run (the first to be reached counts), and the times before and after the
/// measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Warm-up before the measured time, in seconds. Its samples are counted separately.
    #[serde(with = "seconds", rename = "warmup_seconds")]
    #[schemars(with = "f64")]
    pub warmup: Duration,
    /// True: the warm-up ends as soon as the server is steady; `warmup` is then its maximum.
    #[serde(default)]
    pub warmup_until_steady: bool,
    /// Length of the measured time, in seconds; null: no limit.
    #[serde(with = "optional_seconds", rename = "duration_seconds")]
    #[schemars(with = "Option<f64>")]
    pub duration: Option<Duration>,
    /// Maximum number of measured requests, or of measured iterations if an iteration has several
    /// requests; null: no limit.
    pub requests: Option<u64>,
    /// Iterations of each virtual user of a closed loop, including the warm-up; null: no limit.
    #[serde(default)]
    pub iterations_per_user: Option<u64>,
    /// Grace period for requests in flight at the end, in seconds; requests that
    /// take longer are cut.
    #[serde(with = "seconds", rename = "grace_seconds")]
    #[schemars(with = "f64")]
    pub grace: Duration,
}

impl Stop {
    /// Creates a limit on the measured time, with a grace period and without warm-up.
    pub fn after(duration: Duration, grace: Duration) -> Self {
        Self {
            warmup: Duration::ZERO,
            warmup_until_steady: false,
            duration: Some(duration),
            requests: None,
            iterations_per_user: None,
            grace,
        }
    }
}
