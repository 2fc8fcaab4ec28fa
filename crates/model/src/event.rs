//! Events: the only output of the engine.

use crate::metric::Metrics;
use crate::{CheckFailure, Environment, Plan, Sample, SampleRecord, Snapshot, Text, Tick};
use serde::{Deserialize, Serialize};

/// An event of a run. Events are in the order in which they became known.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run has started.
    Started {
        /// The plan of the run.
        plan: Box<Plan>,
        /// Environment of the run.
        environment: Box<Environment>,
        /// Start time, in seconds since 1970-01-01 UTC.
        unix_seconds: f64,
    },
    /// A phase of the run has started.
    Stage {
        /// Start of the phase.
        at: Tick,
        /// The phase that has started.
        phase: Phase,
    },
    /// A label was assigned a number.
    Label {
        /// Number of the label.
        id: u32,
        /// Name of the label.
        name: String,
        /// Number of the step's label, if this is the label of a single request within redirect
        /// chains of that step.
        hop_of: Option<u32>,
    },
    /// Information about the target became known.
    Target {
        /// Addresses of the target's name; empty if not yet known.
        addresses: Vec<String>,
        /// Name of the server software, from its first Server header.
        server: Option<String>,
    },
    /// Sums of one interval.
    Snapshot(Box<Snapshot>),
    /// Sums of one interval for one of several populations. The snapshot
    /// of all populations follows.
    Population {
        /// Number of the population in the plan.
        number: u32,
        /// Sums of the interval.
        snapshot: Box<Snapshot>,
    },
    /// Single samples, if the plan requests them.
    Samples(Vec<Sample>),
    /// Single samples in the form of result files, if the plan requests them. Event logs
    /// do not store them.
    Records(Vec<SampleRecord>),
    /// Checks that failed in an interval, for requests of the measured time.
    CheckFailures(Vec<CheckFailure>),
    /// Figures that scripts of users have reported in an interval.
    Metrics(Metrics),
    /// A reading of the generator or the server.
    Reading(Reading),
    /// A warning for the user.
    Warning(Warning),
    /// The user has marked an instant.
    Mark(Mark),
    /// The run has ended; no event follows.
    Finished(Finish),
    /// A process of the run has ended prematurely.
    Lost(LostProcess),
    /// Another process has taken the place of a lost one, and carries out its share from this time on.
    Resumed {
        /// Begin of the load of the other process.
        at: Tick,
        /// Number of the lost process, from 0.
        process: u32,
    },
    /// An event of one agent of a fleet: its snapshots, and readings of its machine. The events of
    /// the whole run contain its requests, too.
    Agent {
        /// Number of the agent, from 0.
        number: u32,
        /// Event of the agent.
        event: Box<Event>,
    },
}

/// The phases of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Connections are opened, without load.
    #[default]
    Setup,
    /// Load before the measured time; its samples are counted separately.
    Warmup,
    /// The measured time with load.
    Measure,
    /// No new requests; requests in flight may finish.
    Grace,
}

/// A reading of the generator or the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Time of the reading.
    pub at: Tick,
    /// Source of the reading, such as `generator`.
    pub source: String,
    /// Names, with their unit, and values.
    pub values: Vec<(String, f64)>,
}

/// A warning for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Time at which it became known.
    pub at: Tick,
    /// Text of the warning, one sentence.
    pub text: Text,
}

/// An instant that the user has marked during the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// End of the interval in which it was marked.
    pub at: Tick,
    /// What the user wrote.
    pub text: String,
}

/// A process that ended prematurely. Its share of the load is missing from then on, until another process takes
/// its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostProcess {
    /// End of its last reported interval. Requests in flight at that time count as cut.
    pub at: Tick,
    /// Position of the process in the run.
    pub part: crate::ProcessPart,
    /// Instant from which another process carries out its share; `NEVER` if none does.
    pub until: Tick,
}

/// End of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Time of the end.
    pub at: Tick,
    /// True if the run was stopped early.
    pub interrupted: bool,
    /// Reason why nothing could be measured, if that is so.
    pub error: Option<Text>,
}
