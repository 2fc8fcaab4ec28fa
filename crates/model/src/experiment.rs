//! Experiments: many runs, fully resolved. Contenders, loads, repetitions, their order, and
//! the commands around them.
//!
//! `spec` reads plan files, and `rig` executes experiments.

use crate::numbers::{count, three_digits};
use crate::question::TrialPurpose;
use crate::text::Text;
use crate::time::{optional_seconds, seconds};
use crate::{CapacitySearch, Load, Plan, ProbeSpec, Question, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A fully resolved experiment of many runs: every setting has its value, and nothing else is
/// needed to execute it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Name of the experiment.
    pub name: String,
    /// A description by its author; may be empty.
    pub about: String,
    /// The contenders; at least one.
    pub contenders: Vec<Contender>,
    /// Number of measurements of each step of each contender.
    pub repetitions: u32,
    /// Order of the trials.
    pub order: TrialOrder,
    /// Pause before each trial but the first, in seconds.
    #[serde(with = "seconds", rename = "cooldown_seconds")]
    #[schemars(with = "f64")]
    pub cooldown: Duration,
    /// Commands before and after the whole experiment.
    pub hooks: HookCommands,
    /// Seed of the random order.
    pub seed: u64,
    /// The working directory of commands, and the base of relative paths.
    pub directory: PathBuf,
    /// A folder for its files, created before and removed after it; None if it needs none.
    #[serde(default)]
    pub scratch: Option<PathBuf>,
    /// Question that the experiment answers.
    #[serde(default)]
    pub question: Question,
    /// Text of the plan file, or the command line.
    pub source: String,
}

/// Order of the trials. Steps ascend unless the order is random; one contender's server
/// runs at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOrder {
    /// Each repetition measures all contenders, every second one in reverse order (A B, B A, A B).
    /// A drift of the machine thus affects all contenders equally.
    #[default]
    Interleaved,
    /// All repetitions of one contender, then those of the next.
    Blocks,
    /// Contenders within a repetition, and steps within a contender, in random order.
    Random,
}

/// One of the servers, builds or settings compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Unique name of the contender.
    pub name: String,
    /// Factors with the contender's level of each, such as `("server", "nginx")`; may be empty.
    pub factors: Vec<(String, String)>,
    /// Loads, in the order in which they were written; at least one.
    pub steps: Vec<LoadStep>,
    /// Server that brunt starts for the contender, if any.
    pub server: Option<ManagedServer>,
    /// Commands before and after its trials: consecutive trials, repetitions and steps.
    pub hooks: ContenderHooks,
    /// Probes that are read during its trials.
    pub probes: Vec<ProbeSpec>,
}

/// One load of a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadStep {
    /// Load: arrivals per second or virtual users, depending on the plan's [`Load`]; the
    /// peak if it changes.
    pub load: f64,
    /// Plan of the run.
    pub plan: Plan,
    /// Purpose of the trial in a search; null if no search chose it.
    #[serde(default)]
    pub purpose: Option<TrialPurpose>,
}

/// Commands before and after a part of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookCommands {
    /// Commands before the part, in order.
    pub before: Vec<Hook>,
    /// Commands after the part, in order; they also run if it was stopped.
    pub after: Vec<Hook>,
}

/// The hooks of a contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderHooks {
    /// Hooks around consecutive trials of the contender.
    pub contender: HookCommands,
    /// Hooks around each repetition: before its server is started, and after it was stopped.
    pub repetition: HookCommands,
    /// Hooks around each step.
    pub step: HookCommands,
}

/// A shell command with a timeout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hook {
    /// Command line passed to `sh -c`.
    pub run: String,
    /// Time limit in seconds; then the command is killed and counts as failed.
    #[serde(with = "seconds", rename = "timeout_seconds")]
    #[schemars(with = "f64")]
    pub timeout: Duration,
}

/// A server that brunt starts in a separate process group, and stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagedServer {
    /// Command line passed to `sh -c`; it stays in the foreground.
    pub start: String,
    /// Condition for the server to be ready.
    pub ready: ReadyCondition,
    /// Command that stops the server; null: SIGTERM to its process group. Processes left
    /// after `stop_timeout` are killed.
    pub stop: Option<String>,
    /// Trials before which it is restarted.
    pub restart: Restart,
    /// Additional environment variables of the server.
    pub environment: Vec<(String, String)>,
    /// Time limit for readiness, in seconds.
    #[serde(with = "seconds", rename = "ready_timeout_seconds")]
    #[schemars(with = "f64")]
    pub ready_timeout: Duration,
    /// Time limit for its end, in seconds.
    #[serde(with = "seconds", rename = "stop_timeout_seconds")]
    #[schemars(with = "f64")]
    pub stop_timeout: Duration,
}

/// Condition for a managed server to be ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadyCondition {
    /// A GET of this URL gets a reply with a status below 500.
    Url(String),
    /// Something listens at `HOST:PORT`.
    Address(String),
    /// This shell command exits with 0.
    Command(String),
}

/// Trials between which a server is restarted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// For each repetition: one start of a server is one sample of it.
    #[default]
    Repetition,
    /// For each step of the contender.
    Step,
    /// Only after trials of another contender.
    Never,
}

/// Position of a trial in an experiment.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct TrialIndex {
    /// Repetition of the trial, from 0.
    pub repetition: u32,
    /// Contender, as an index from 0.
    pub contender: usize,
    /// Step, as an index from 0.
    pub step: usize,
}

/// Unit of a step's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "snake_case")]
pub enum LoadUnit {
    /// Open loop: arrivals per second.
    PerSecond,
    /// Closed loop: virtual users.
    Users {
        /// Mean think time of each user, in seconds; null if unknown.
        #[serde(with = "optional_seconds", rename = "think_seconds")]
        #[schemars(with = "Option<f64>")]
        think: Option<Duration>,
    },
}

impl LoadUnit {
    /// Formats a load with its unit: `35.0/s`, `200 users`.
    pub fn format(self, load: f64) -> Text {
        // Loads are round numbers: `35`, not `35.0`.
        let number =
            if load.fract() == 0.0 { count(load.abs() as u64) } else { three_digits(load) };
        match self {
            Self::PerSecond => format!("{number}/s").into(),
            Self::Users { .. } if load == 1.0 => text!("users", count = 1_u64),
            Self::Users { .. } => text!("number-of-users", number),
        }
    }
}

impl Experiment {
    /// Returns the step at a position; None if there is no such step.
    pub fn step(&self, place: TrialIndex) -> Option<&LoadStep> {
        self.contenders.get(place.contender)?.steps.get(place.step)
    }

    /// Number of trials. In an experiment that grows, these are the trials with given loads and
    /// those started so far.
    pub fn trials(&self) -> usize {
        let repetitions = self.repetitions as usize;
        if !self.has_search() {
            return self.contenders.iter().map(|c| c.steps.len()).sum::<usize>() * repetitions;
        }
        // Each repetition measures the given loads again, but a step of a search is measured once.
        let given_trials = self.given_loads() * repetitions;
        self.contenders
            .iter()
            // The pattern and the given loads are steps, too, but a search did not choose them.
            .map(|contender| {
                contender.steps.len().saturating_sub(self.known_steps()) + given_trials
            })
            .sum()
    }

    /// True if a search chooses the steps. The first step of each contender is then the
    /// pattern of the others.
    pub fn has_search(&self) -> bool {
        self.find().is_some()
    }

    /// Returns the settings of the capacity search, if there is one.
    pub fn find(&self) -> Option<&CapacitySearch> {
        match &self.question {
            Question::Find(find) => Some(find),
            Question::Compare(compare) => compare.at_capacity.as_ref().map(|at| &at.find),
            Question::Sweep => None,
        }
    }

    /// Number of given loads of each contender in an experiment that grows: the steps
    /// directly after the pattern.
    pub fn given_loads(&self) -> usize {
        match &self.question {
            Question::Compare(compare) => compare.at_capacity.as_ref().map_or(0, |at| at.given),
            Question::Sweep | Question::Find(_) => 0,
        }
    }

    /// True if a search chose the trial.
    pub fn is_search_trial(&self, place: TrialIndex) -> bool {
        self.has_search() && place.step >= self.known_steps()
    }

    fn known_steps(&self) -> usize {
        // The pattern is the step before the given loads.
        usize::from(self.has_search()) + self.given_loads()
    }
}

impl LoadStep {
    /// Creates a step that was not chosen by a search.
    pub fn new(load: f64, plan: Plan) -> Self {
        Self { load, plan, purpose: None }
    }
}

impl Experiment {
    /// True if the experiment may end early, with fewer trials than planned.
    pub fn may_end_early(&self) -> bool {
        // A comparison ends as soon as its test decides.
        matches!(self.question, Question::Compare(_))
    }
}

impl Contender {
    /// Creates a contender without server, hooks and probes.
    pub fn bare(name: String, steps: Vec<LoadStep>) -> Self {
        Self {
            name,
            factors: Vec::new(),
            steps,
            server: None,
            hooks: ContenderHooks::default(),
            probes: Vec::new(),
        }
    }

    /// Returns the measured steps of an experiment that grows: all but the pattern.
    pub fn measured_steps(&self) -> &[LoadStep] {
        self.steps.get(1..).unwrap_or_default()
    }

    /// Returns the unit of the loads, which is that of the first step.
    pub fn unit(&self) -> LoadUnit {
        self.steps
            .first()
            .map_or(LoadUnit::PerSecond, |step| LoadUnit::from(&step.plan.main().load))
    }
}

impl LoadUnit {
    /// Name of the unit: `/s` or `users`.
    pub fn name(self) -> Text {
        match self {
            Self::PerSecond => self.suffix().into(),
            Self::Users { .. } => text!("load-unit.users"),
        }
    }

    /// Suffix of a load: `/s` or ` users`.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::PerSecond => "/s",
            Self::Users { .. } => " users",
        }
    }
}

impl From<&Load> for LoadUnit {
    fn from(load: &Load) -> Self {
        match load {
            Load::Open { .. } => Self::PerSecond,
            Load::Closed { think, .. } => Self::Users { think: Some(think.mean()) },
        }
    }
}
