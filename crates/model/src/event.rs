//! The only thing that leaves the engine.

use crate::{CheckFailure, Environment, Plan, Sample, SampleRecord, Snapshot, Tick};
use serde::{Deserialize, Serialize};

/// What happened, in the order in which it was known.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run began.
    Started {
        /// What is to be done.
        plan: Box<Plan>,
        /// Where.
        environment: Box<Environment>,
        /// Seconds since 1970-01-01 UTC.
        unix_seconds: f64,
    },
    /// A part of the run began.
    Stage {
        /// When.
        at: Tick,
        /// Which.
        phase: Phase,
    },
    /// A label got a number.
    Label {
        /// The number.
        id: u32,
        /// The name.
        name: String,
        /// The label of a step. Set if this is the label of a single request within chains of redirects of that step.
        hop_of: Option<u32>,
    },
    /// Something was learnt of the target.
    Target {
        /// The addresses that its name has; empty where not yet known.
        addresses: Vec<String>,
        /// What the server calls itself (its first Server header).
        server: Option<String>,
    },
    /// What happened in an interval.
    Snapshot(Box<Snapshot>),
    /// What happened in an interval to one of several populations. The snapshot of all of them follows those of each.
    Population {
        /// Its number in the plan.
        number: u32,
        /// What happened.
        snapshot: Box<Snapshot>,
    },
    /// Single samples, where the plan asks for them.
    Samples(Vec<Sample>),
    /// Single samples as result files list them, where the plan asks for them. Event logs do not keep them.
    Records(Vec<SampleRecord>),
    /// Checks that replies to requests of the measured time failed in an interval.
    CheckFailures(Vec<CheckFailure>),
    /// Something measured beside the requests.
    Reading(Reading),
    /// Something that the reader of the report should know.
    Warning(Warning),
    /// The run is over; nothing follows.
    Finished(Finish),
    /// One of the run's processes ended before its time.
    Lost(Loss),
}

/// The parts of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Connections are opened; no load.
    #[default]
    Setup,
    /// Load whose samples are kept apart.
    Warmup,
    /// The measured time.
    Measure,
    /// No new requests; those under way may finish.
    Grace,
}

/// Something measured beside the requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// When it was taken.
    pub at: Tick,
    /// What was read: `generator`, …
    pub source: String,
    /// Names, with their unit, and values.
    pub values: Vec<(String, f64)>,
}

/// Something that the reader of the report should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// When it was known.
    pub at: Tick,
    /// One sentence.
    pub text: String,
}

/// A process that ended before its time: from then on its share of the load is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The end of the last interval that it told of; what was under way then counts as cut.
    pub at: Tick,
    /// Which process it was.
    pub part: crate::Part,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// When.
    pub at: Tick,
    /// Somebody stopped it before its time.
    pub interrupted: bool,
    /// Why nothing could be measured, where that is so.
    pub error: Option<String>,
}
