//! Defines the keys of a plan file, their types and their meaning. The JSON Schema is generated
//! from these types.
//!
//! Out of scope: keys that are settings. [`sections`](super::sections) has their names and types.

use super::probes::Probe;
use super::scenario::keys::{ScenarioKeys, StageSteps};
use super::sections::{
    ChecksSection, CompareSection, ConnectionSection, FindSection, FleetSection, LoadSection,
    ScriptSection,
};
use super::words::{Commands, DurationKey, PositiveDuration, Scalar, ScalarList, ScalarOr};
use brunt_model::experiment::{Restart, TrialOrder};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment: requests, loads, servers, repetitions, probes and hooks.
///
/// In any value, `${name}` is replaced by the value of a variable, and `$$` by a dollar sign.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    /// Name of the experiment. Default: the name of the file.
    pub name: Option<Scalar>,
    /// A description for readers of the report.
    pub about: Option<Scalar>,
    /// Variables, by name: `${name}` in any value is replaced by the value given here. `--set name=value` overrides it.
    pub vars: BTreeMap<String, Scalar>,
    /// Names of free loopback ports, chosen when the experiment begins: `${port.http}` is the port with the name `http`.
    pub ports: Vec<String>,
    /// Overrides of the plan, by the name of a variable and its value. A value that is not listed overrides nothing.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub choose: Option<serde::de::IgnoredAny>,
    /// Requests to send.
    pub script: Option<ScriptSection>,
    /// Steps of each user, instead of `script`.
    pub scenario: Option<ScenarioKeys>,
    /// Steps that are executed before the load, by default by one user. `scenario` and `teardown` can use the variables that they set.
    #[schemars(with = "Option<StageSteps>")]
    pub setup: Option<serde::de::IgnoredAny>,
    /// Steps that are executed after the load, even if the load ended early.
    #[schemars(with = "Option<StageSteps>")]
    pub teardown: Option<serde::de::IgnoredAny>,
    /// Load, and conditions that end the run.
    pub load: Option<LoadSection>,
    /// Populations that run at the same time, by name, each with its own script, load, checks and connection. A key that a
    /// population omits has the value of the plan. A sweep varies the load of the first population and reports its figures.
    #[schemars(with = "BTreeMap<String, PopulationKeys>")]
    pub populations: Option<serde::de::IgnoredAny>,
    /// Connection settings.
    pub connection: Option<ConnectionSection>,
    /// Checks that a good reply passes.
    pub checks: Option<ChecksSection>,
    pub objectives: Option<ScalarList>,
    pub on: Option<Scalar>,
    pub allow: Option<ScalarList>,
    /// Agents that share the load.
    pub fleet: Option<FleetSection>,
    pub repetitions: Option<u32>,
    /// Comparison of each contender with the first. Repetitions continue until each comparison is decided.
    pub compare: Option<CompareSection>,
    pub order: Option<TrialOrder>,
    pub cooldown: Option<DurationKey>,
    /// Search for the capacity, instead of a sweep: the highest load that meets `objectives`. `{}` uses all defaults.
    pub find: Option<FindSection>,
    /// Shell commands before and after parts of the experiment.
    pub hooks: Hooks,
    /// Server that brunt starts and stops.
    pub server: Option<ServerKeys>,
    /// Probes that are read during the runs: `host`, `server`, or one key with its settings.
    #[schemars(with = "Option<Vec<ScalarOr<Probe>>>")]
    pub probes: Option<Vec<Probe>>,
    /// Interval between two readings of a probe. Default: 1s.
    pub probe_interval: Option<PositiveDuration>,
    pub outputs: Option<ScalarList>,
    /// Contenders, by name, each with its overrides of the plan.
    #[schemars(with = "BTreeMap<String, Option<Box<Written>>>")]
    pub contenders: Option<serde::de::IgnoredAny>,
    /// Factors, by name, each with its levels; each level has its overrides of the plan. All combinations of levels (and
    /// contenders) are compared.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub factors: Option<serde::de::IgnoredAny>,
}

/// A population: users with the same script, load, checks and connection settings.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PopulationKeys {
    /// Requests of the population.
    pub script: Option<ScriptSection>,
    /// Steps of each user of the population, instead of `script`.
    pub scenario: Option<ScenarioKeys>,
    /// Load of the population.
    pub load: Option<LoadSection>,
    /// Checks that a good reply to its requests passes.
    pub checks: Option<ChecksSection>,
    /// Connection settings of the population that differ from those of the plan.
    pub connection: Option<ConnectionSection>,
    /// Group of agents over which its load is dealt. Default: all agents.
    pub group: Option<Scalar>,
}

/// Shell commands before and after parts of the experiment. A command that fails stops the experiment.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// Commands that run before these parts.
    pub before: HookLevels,
    /// Commands that run after these parts, even if the experiment was stopped.
    pub after: HookLevels,
}

/// Hooks by part of the experiment, each a command, a list of commands, or `{run, timeout}`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookLevels {
    /// Before or after the whole experiment.
    pub experiment: Commands,
    /// Before or after consecutive trials of the same contender.
    pub contender: Commands,
    /// Before the server of each repetition is started, or after it was stopped.
    pub repetition: Commands,
    /// Before or after each step.
    pub step: Commands,
}

/// A server that brunt starts in a new process group, and stops.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerKeys {
    /// Command line passed to `sh -c`, in the folder of the plan file. The server must stay in the foreground.
    // Required, but optional in the schema, since an override of a contender may set it.
    #[schemars(with = "Option<Scalar>")]
    pub start: Scalar,
    /// Test of readiness: a URL that replies, a HOST:PORT that accepts connections, or `{command: …}` that exits with 0.
    // Optional in the schema for the same reason as `start`.
    #[schemars(with = "Option<ScalarOr<ReadyCommand>>")]
    pub ready: ScalarOr<ReadyCommand>,
    /// Command that stops the server. Default: SIGTERM to its process group.
    #[serde(default)]
    pub stop: Option<Scalar>,
    /// Trials between which the server is restarted. Default: repetition.
    #[serde(default)]
    pub restart: Option<Restart>,
    /// Environment variables of the server.
    #[serde(default)]
    pub environment: BTreeMap<String, Scalar>,
    /// Time limit for readiness. Default: 30s.
    #[serde(default)]
    pub ready_timeout: Option<PositiveDuration>,
    /// Time limit for the server to stop. Default: 10s.
    #[serde(default)]
    pub stop_timeout: Option<PositiveDuration>,
}

/// A shell command that tests the readiness of a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyCommand {
    /// Command line passed to `sh -c`.
    pub command: Scalar,
}

/// A command with a time limit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandKeys {
    /// Command line passed to `sh -c`.
    pub run: Scalar,
    /// Time limit. Default: 60s.
    #[serde(default)]
    pub timeout: Option<PositiveDuration>,
}
