//! Defines the JSON document of a study. The comments of its types are the
//! descriptions in the schema.
//!
//! Every time is in seconds, and every key with a unit contains it. Out of scope: computing
//! figures. Each is read from a [`brunt_model::Study`] and its analysis, in `study/build.rs`.

mod build;
mod method;

pub(crate) use build::{load_of, name_of};
pub use method::{method, of_analysis};

use crate::result::{
    CheckFailureRow, EnvironmentSection, IterationCounts, LabelRow, ObjectiveDocument,
    RequestCounts, Times, Transaction,
};
use brunt_model::experiment::{ContenderHooks, HookCommands, ManagedServer, TrialOrder};
use brunt_model::finding::{ConsistencyCheck, Finding, Verdict};
use brunt_model::{Analysis, Bottleneck, LoadUnit, Plan, ProbeSpec, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the document. It increases when a key changes its meaning or is removed. New keys may
/// be added at any time.
pub const VERSION: u32 = 1;

/// Result of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "brunt study")]
pub struct StudyDocument {
    /// The version of this document: 1. It grows when a key changes its meaning or goes away.
    pub version: u32,
    /// Its short id in the store; null where it is not kept.
    pub id: Option<String>,
    /// Name of the experiment.
    pub name: String,
    /// A description by its author; may be empty.
    pub about: String,
    /// Start of the experiment: RFC 3339, UTC.
    pub started: String,
    /// True if the experiment was stopped before its last trial.
    pub interrupted: bool,
    /// Number of planned trials.
    pub planned_trials: u64,
    /// Environment of the experiment: the generator's machine, kernel, versions.
    pub environment: EnvironmentSection,
    /// Resolved experiment.
    pub experiment: Arrangement,
    /// Analysis: curves, limits, outliers, bottlenecks, findings.
    pub analysis: Analysis,
    /// The trials in the order in which they were made.
    pub trials: Vec<TrialDocument>,
    /// Warnings, each a sentence.
    pub warnings: Vec<Text>,
    /// Methods behind the figures, each a sentence.
    pub method: Vec<Text>,
}

/// Resolved experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrangement {
    /// The text that it was made from: a plan file, or a command line. Passwords in URLs are left out.
    pub source: String,
    /// Planned repetitions of each step of each contender.
    pub repetitions: u32,
    /// Order of the trials.
    pub order: TrialOrder,
    /// Pause before each trial but the first, in seconds.
    pub cooldown_seconds: f64,
    /// Seed of the random order.
    pub seed: u64,
    /// Commands before and after the whole experiment.
    pub hooks: HookCommands,
    /// Contenders.
    pub contenders: Vec<ContenderDocument>,
}

/// One of the servers, builds or settings compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderDocument {
    /// Its name.
    pub name: String,
    /// The factors whose product it is, and its level of each.
    pub factors: Vec<Factor>,
    /// Unit of its loads.
    pub unit: LoadUnit,
    /// Its loads, in the order in which they were written.
    pub loads: Vec<f64>,
    /// The server that was started for it; null where brunt started none.
    pub server: Option<ManagedServer>,
    /// Commands before and after its trials.
    pub hooks: ContenderHooks,
    /// Probes of its server; passwords in URLs are left out.
    pub probes: Vec<ProbeSpec>,
    /// The run of its first step; the others differ in their load.
    pub plan: Option<Plan>,
}

/// A factor and the level that a contender has of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Factor {
    /// The factor, such as `server`.
    pub factor: String,
    /// Its level, such as `nginx`.
    pub level: String,
}

/// One run of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialDocument {
    /// The contender's name.
    pub contender: String,
    /// Repetition, from 1.
    pub repetition: u32,
    /// Step of the contender, from 1.
    pub step: u64,
    /// The load that was asked for: arrivals per second or virtual users.
    pub load: f64,
    /// The run's short id in the store; null where it is not kept.
    pub id: Option<String>,
    /// Start of the run, before any warm-up: RFC 3339, UTC.
    pub started: String,
    /// Seconds of measured time.
    pub measured_seconds: f64,
    /// Arrivals per second that became due in the measured time; null in a closed loop.
    pub offered_per_second: Option<f64>,
    /// Whole replies that came in the measured time, per second of it.
    pub throughput_per_second: f64,
    /// Goodput: good replies within the measured time, per second.
    pub goodput_per_second: f64,
    /// Requests planned in the measured time.
    pub requests: RequestCounts,
    /// Iterations with a first request planned in the measured time; left out where each iteration is one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<IterationCounts>,
    /// The share of errors in all that was begun or dropped, 0 to 1; null where there was nothing.
    pub error_share: Option<f64>,
    /// Number of failed requests by kind; kinds with no failures are left out.
    pub failures: BTreeMap<String, u64>,
    /// Response time, planned to last byte, in seconds; null where nothing was counted.
    pub response_time_seconds: Option<Times>,
    /// The 99th percentile of the service time, sent to last byte, in seconds.
    pub service_time_p99_seconds: Option<f64>,
    /// The 99th percentile of the lag, the generator's own lateness, in seconds.
    pub lag_p99_seconds: Option<f64>,
    /// Verdict: the generator was the bottleneck, or not.
    pub verdict: Verdict,
    /// The consistency checks that failed; left out where all passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<ConsistencyCheck>,
    /// Findings, most serious first.
    pub findings: Vec<Finding>,
    /// Answer of the trial in a sentence; null if no reply came.
    pub conclusion: Option<Text>,
    /// Server bottleneck; null without readings of the server.
    pub bottleneck: Option<Bottleneck>,
    /// Objectives of the plan, each with its result.
    pub objectives: Vec<ObjectiveDocument>,
    /// Warnings during the run, each a sentence.
    pub warnings: Vec<Text>,
    /// True if the run was stopped early, or its log has no end.
    pub interrupted: bool,
    /// Reason why nothing could be measured; null if something could.
    pub error: Option<Text>,
    /// Readings by source and name: means over the measured time. A counter is given as its growth per second:
    /// `requests_total` as `requests_per_second`, `cpu_user_seconds` (a time) as `cpu_user_seconds_per_second`, where
    /// 1 is a whole core.
    pub readings: BTreeMap<String, BTreeMap<String, f64>>,
    /// The requests by label; left out where there is only one label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelRow>,
    /// The transactions by name; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<Transaction>,
    /// Checks that replies failed; left out where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_failures: Vec<CheckFailureRow>,
}
