//! Keys of a plan file, their kinds, and their meaning. The JSON Schema is generated
//! from these types.
//!
//! Out of scope: keys that are settings. [`sections`](super::sections) has their names and kinds.

use super::probes::Probe;
use super::scenario::keys::{ScenarioKeys, StageSteps};
use super::sections::{
    ChecksSection, CompareSection, ConnectionSection, FindSection, LoadSection, ScriptSection,
};
use super::words::{Commands, DurationKey, PositiveDuration, Scalar, ScalarList, ScalarOr};
use brunt_model::experiment::{Restart, TrialOrder};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment, as people write it: what is asked, how much, of whom, how often, and what is done around it.
///
/// `${name}` stands for a variable, in any value; `$$` is a dollar sign.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    /// Name of the experiment. Default: the name of the file.
    pub name: Option<Scalar>,
    /// A description for readers of the report.
    pub about: Option<Scalar>,
    /// Variables: `${name}` anywhere in values stands for the value here; `--set name=value` changes it.
    pub vars: BTreeMap<String, Scalar>,
    /// Names of free loopback ports, drawn when the experiment begins: `${port.http}` is the one named `http`.
    pub ports: Vec<String>,
    /// Overrides of the plan by the value of a variable. A value that is not listed changes nothing.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub choose: Option<serde::de::IgnoredAny>,
    /// Requests to send.
    pub script: Option<ScriptSection>,
    /// Steps of each user, in place of `script`.
    pub scenario: Option<ScenarioKeys>,
    /// Steps that are carried out before the load, by one user: what they extract and set is there in `scenario` and `teardown`.
    #[schemars(with = "Option<StageSteps>")]
    pub setup: Option<serde::de::IgnoredAny>,
    /// Steps that are carried out after the load, however that ended.
    #[schemars(with = "Option<StageSteps>")]
    pub teardown: Option<serde::de::IgnoredAny>,
    /// Load, and the conditions that end the run.
    pub load: Option<LoadSection>,
    /// Users of several kinds at the same time: names, each with its own script, load, checks and connection; what one does not say is
    /// that of the plan. A sweep varies the load of the first, and its figures are of the first.
    #[schemars(with = "BTreeMap<String, PopulationKeys>")]
    pub populations: Option<serde::de::IgnoredAny>,
    /// Connection settings.
    pub connection: Option<ConnectionSection>,
    /// Conditions for a good reply.
    pub checks: Option<ChecksSection>,
    pub objectives: Option<ScalarList>,
    pub on: Option<Scalar>,
    pub allow: Option<ScalarList>,
    pub repetitions: Option<u32>,
    /// Comparison of the contenders: each with the first, with as many repetitions as a decision needs.
    pub compare: Option<CompareSection>,
    pub order: Option<TrialOrder>,
    pub cooldown: Option<DurationKey>,
    /// The capacity is looked for, in place of a sweep: what a load is to meet stands below `objectives`. With {} all is as usual.
    pub find: Option<FindSection>,
    /// Shell commands before and after parts of the experiment.
    pub hooks: Hooks,
    /// The server that brunt starts, and stops.
    pub server: Option<ServerKeys>,
    /// Probes during the runs: `host`, `server`, or one key with its settings.
    #[schemars(with = "Option<Vec<ScalarOr<Probe>>>")]
    pub probes: Option<Vec<Probe>>,
    /// Time from one reading of a probe to the next. Default: 1s.
    pub probe_interval: Option<PositiveDuration>,
    pub outputs: Option<ScalarList>,
    /// Contenders: names, each with its overrides of the plan.
    #[schemars(with = "BTreeMap<String, Option<Box<Written>>>")]
    pub contenders: Option<serde::de::IgnoredAny>,
    /// Factors, each with levels, each level with its overrides of the plan. The product of all factors (and contenders) is
    /// compared.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub factors: Option<serde::de::IgnoredAny>,
}

/// Users of one kind.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PopulationKeys {
    /// Requests of the population.
    pub script: Option<ScriptSection>,
    /// Steps of each user of the population, in place of `script`.
    pub scenario: Option<ScenarioKeys>,
    /// Load of the population.
    pub load: Option<LoadSection>,
    /// Conditions for a good reply to its requests.
    pub checks: Option<ChecksSection>,
    /// Its connection settings, where they differ from those of the plan.
    pub connection: Option<ConnectionSection>,
}

/// Shell commands before and after parts of the experiment. One that fails stops the experiment.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// Commands before.
    pub before: HookLevels,
    /// Commands after; they also run if it was stopped.
    pub after: HookLevels,
}

/// Hooks by level, each a command, a list of commands, or `{run, timeout}`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookLevels {
    /// Around the whole experiment.
    pub experiment: Commands,
    /// Around all trials of a contender that follow one another.
    pub contender: Commands,
    /// Around each repetition: before its server is started, and after it was stopped.
    pub repetition: Commands,
    /// Around each step.
    pub step: Commands,
}

/// A server that brunt starts as a process group of its own, and stops.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerKeys {
    /// Command line passed to `sh -c`, in the folder of the plan file; it stays in the foreground.
    // Required, but optional in the schema, since an override of a contender may set it.
    #[schemars(with = "Option<Scalar>")]
    pub start: Scalar,
    /// Condition for the server to be ready: a URL that answers, HOST:PORT that listens, or `{command: …}` that exits
    /// with 0.
    // Optional in the schema for the same reason as `start`.
    #[schemars(with = "Option<ScalarOr<ReadyCommand>>")]
    pub ready: ScalarOr<ReadyCommand>,
    /// Command that stops the server. Default: SIGTERM to its process group.
    #[serde(default)]
    pub stop: Option<Scalar>,
    /// Trials between which it is restarted. Default: repetition.
    #[serde(default)]
    pub restart: Option<Restart>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, Scalar>,
    /// Time limit for readiness. Default: 30s.
    #[serde(default)]
    pub ready_timeout: Option<PositiveDuration>,
    /// Time limit for its end. Default: 10s.
    #[serde(default)]
    pub stop_timeout: Option<PositiveDuration>,
}

/// A shell command that says when a server is ready.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyCommand {
    /// Command line passed to `sh -c`.
    pub command: Scalar,
}

/// A command with its bound.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandKeys {
    /// Command line passed to `sh -c`.
    pub run: Scalar,
    /// Time limit. Default: 60s.
    #[serde(default)]
    pub timeout: Option<PositiveDuration>,
}
