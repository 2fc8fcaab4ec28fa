//! How much is asked, and when to stop.

use crate::time::{optional_seconds, seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Load model: closed (each reply triggers the next request) or open (a schedule does).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum Load {
    /// Virtual users: each sends its next request after its last reply and its think time. Hides queueing (coordinated
    /// omission).
    Closed {
        /// Number of users.
        users: Shape,
        /// Think time between a reply and the user's next request.
        think: Think,
    },
    /// Arrivals follow a schedule that does not wait for replies.
    Open {
        /// Arrivals per second.
        rate: Shape,
        /// Spacing of the arrivals.
        arrivals: Arrivals,
        /// Maximum number of connections; an arrival that finds none free waits. Null: no maximum.
        connections: Option<u32>,
        /// Maximum number of requests in flight; further arrivals are dropped and counted.
        max_in_flight: u32,
    },
}

/// A quantity over time: stages, each linear from one value to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Stages in order; never empty.
    pub stages: Vec<Stage>,
}

/// One stage of a [`Shape`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// The value at its beginning.
    pub from: f64,
    /// The value at its end.
    pub to: f64,
    /// Duration in seconds; null: until the run stops.
    #[serde(with = "optional_seconds", rename = "duration_seconds")]
    #[schemars(with = "Option<f64>")]
    pub duration: Option<Duration>,
}

impl Shape {
    /// One value for ever.
    pub fn constant(value: f64) -> Self {
        Self { stages: vec![Stage { from: value, to: value, duration: None }] }
    }

    /// The sum of the stages' durations; None where one has no end.
    pub fn duration(&self) -> Option<Duration> {
        self.stages.iter().map(|s| s.duration).sum()
    }

    /// The greatest value.
    pub fn peak(&self) -> f64 {
        self.stages.iter().flat_map(|s| [s.from, s.to]).fold(0.0, f64::max)
    }

    /// The single value, where it never changes.
    pub fn as_constant(&self) -> Option<f64> {
        let first = self.stages.first()?.from;
        self.stages.iter().all(|s| s.from == first && s.to == first).then_some(first)
    }

    /// The value `t` after the beginning; that of the end, past it.
    pub fn at(&self, t: Duration) -> f64 {
        let mut left = t;
        for stage in &self.stages {
            match stage.duration {
                Some(d) if left >= d => left -= d,
                Some(d) => return stage.from + (stage.to - stage.from) * left.as_secs_f64() / d.as_secs_f64(),
                None => return stage.to,
            }
        }
        self.stages.last().map_or(0.0, |s| s.to)
    }
}

impl Shape {
    /// The value summed up over the first `t`: of a rate, how many arrivals that makes. There are none past the end.
    pub fn area(&self, t: Duration) -> f64 {
        let (mut left, mut area) = (t, 0.0);
        for stage in &self.stages {
            let within = stage.duration.map_or(left, |d| d.min(left));
            let reached = match stage.duration {
                Some(d) if !d.is_zero() => {
                    stage.from + (stage.to - stage.from) * within.as_secs_f64() / d.as_secs_f64()
                }
                _ => stage.to,
            };
            let from = if stage.duration.is_some() { stage.from } else { stage.to };
            area += f64::midpoint(from, reached) * within.as_secs_f64();
            left -= within;
        }
        area
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from != self.to {
            write!(f, "{}..", self.from)?;
        }
        write!(f, "{}", self.to)?;
        self.duration.map_or(Ok(()), |d| write!(f, "/{}s", d.as_secs_f64()))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stage) in self.stages.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{stage}")?;
        }
        Ok(())
    }
}

/// Spacing of arrivals around their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Poisson process: random and independent, as from many people.
    Poisson,
    /// Equal intervals.
    Even,
    /// Bursts of this many arrivals at one instant.
    Burst(u32),
    /// Random independent intervals, uniformly distributed around their mean; the value is the maximum deviation, in
    /// millionths of the mean.
    Uniform(u32),
}

impl Load {
    /// The greatest number of virtual users, or arrivals per second, that it reaches.
    pub fn peak(&self) -> f64 {
        self.shape().peak()
    }

    /// Virtual users, or arrivals per second, over time.
    pub fn shape(&self) -> &Shape {
        let (Self::Closed { users: shape, .. } | Self::Open { rate: shape, .. }) = self;
        shape
    }
}

/// Think time between a reply and the user's next request: uniformly distributed from `least` to `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Think {
    /// Minimum, in seconds.
    #[serde(with = "seconds", rename = "least_seconds")]
    #[schemars(with = "f64")]
    pub least: Duration,
    /// Maximum, in seconds.
    #[serde(with = "seconds", rename = "most_seconds")]
    #[schemars(with = "f64")]
    pub most: Duration,
}

impl Think {
    /// No waiting at all.
    pub const NONE: Self = Self { least: Duration::ZERO, most: Duration::ZERO };

    /// Whether users never wait.
    pub fn is_none(&self) -> bool {
        self.most.is_zero()
    }

    /// The mean wait.
    pub fn mean(&self) -> Duration {
        (self.least + self.most) / 2
    }
}

/// Conditions that end a run; the first to hold counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// Seconds before the measured time, with load, whose samples are kept apart.
    #[serde(with = "seconds", rename = "warmup_seconds")]
    #[schemars(with = "f64")]
    pub warmup: Duration,
    /// The warm-up ends as soon as the server is found steady; `warmup` is then the longest that it may take.
    #[serde(default)]
    pub warmup_until_steady: bool,
    /// Seconds of measured time.
    #[serde(with = "optional_seconds", rename = "duration_seconds")]
    #[schemars(with = "Option<f64>")]
    pub duration: Option<Duration>,
    /// Measured requests; where an iteration has several, iterations.
    pub requests: Option<u64>,
    /// Iterations of each virtual user of a closed loop, warm-up included; null: as many as there is time for.
    #[serde(default)]
    pub iterations_per_user: Option<u64>,
    /// Seconds for requests under way at the end to finish, before they are counted as cut.
    #[serde(with = "seconds", rename = "grace_seconds")]
    #[schemars(with = "f64")]
    pub grace: Duration,
}

impl Stop {
    /// After so much measured time, and the grace; without a warm-up.
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
