//! Many runs, fully resolved: which servers, which loads, how often, in which order, and what is done around them.
//!
//! Out of scope: the plan file as people write it (that is `script`'s), and its doing (that is `rig`'s).

use crate::question::TrialPurpose;
use crate::time::{optional_seconds, seconds};
use crate::{Find, Load, Plan, ProbeSpec, Question};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A fully resolved experiment of many runs: every setting has its value, and nothing else is needed to execute it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// A description by its author; may be empty.
    pub about: String,
    /// What is compared: one contender at least.
    pub contenders: Vec<Contender>,
    /// How often each step of each contender is measured.
    pub repetitions: u32,
    /// In which order.
    pub order: TrialOrder,
    /// Pause before each trial but the first, in seconds.
    #[serde(with = "seconds", rename = "cooldown_seconds")]
    #[schemars(with = "f64")]
    pub cooldown: Duration,
    /// What is run before and after the whole.
    pub hooks: HookCommands,
    /// From which the random order is drawn.
    pub seed: u64,
    /// The working directory of commands, and the base of relative paths.
    pub directory: PathBuf,
    /// A folder for its files, made before and removed after it; None where it needs none.
    #[serde(default)]
    pub scratch: Option<PathBuf>,
    /// The question that it answers.
    #[serde(default)]
    pub question: Question,
    /// The text that it was made from: a plan file, or a command line.
    pub source: String,
}

/// Order of the trials. Steps ascend unless the order is random; one contender's server runs at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOrder {
    /// Each repetition goes through all contenders, every other one backwards (A B, B A, A B), so that a drift of the
    /// machine falls on all alike.
    #[default]
    Interleaved,
    /// All repetitions of a contender, then those of the next.
    Blocks,
    /// Contenders within a repetition, and steps within a contender, in random order.
    Random,
}

/// One of the servers, builds or settings compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Its name; no two have the same.
    pub name: String,
    /// The factors whose product it is, and its level of each, such as `("server", "nginx")`; may be empty.
    pub factors: Vec<(String, String)>,
    /// Its loads, in the order in which they were written; one at least.
    pub steps: Vec<Step>,
    /// The server that is started for it, where brunt does that.
    pub server: Option<ManagedServer>,
    /// What is run before and after all its trials of a repetition (`HookCommands` of the contender's own level), each
    /// repetition and each step.
    pub hooks: ContenderHooks,
    /// What is read of its server meanwhile.
    pub probes: Vec<ProbeSpec>,
}

/// One load of a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The load: arrivals per second or virtual users, as the plan's [`Load`] says; the peak where it changes.
    pub load: f64,
    /// The run.
    pub plan: Plan,
    /// What the search that chose it uses it for; null where no search chose it.
    #[serde(default)]
    pub purpose: Option<TrialPurpose>,
}

/// Commands before and after something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookCommands {
    /// Commands before it, in order.
    pub before: Vec<Hook>,
    /// Commands after it, in order; they also run if it was stopped.
    pub after: Vec<Hook>,
}

/// The hooks of a contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderHooks {
    /// Around all trials of the contender that follow one another.
    pub contender: HookCommands,
    /// Around each repetition: before its server is started, and after it was stopped.
    pub repetition: HookCommands,
    /// Around each step.
    pub step: HookCommands,
}

/// A shell command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hook {
    /// Command line passed to `sh -c`.
    pub run: String,
    /// Time limit in seconds; then the command is killed and counts as failed.
    #[serde(with = "seconds", rename = "timeout_seconds")]
    #[schemars(with = "f64")]
    pub timeout: Duration,
}

/// A server that brunt starts as a process group of its own, and stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagedServer {
    /// Command line passed to `sh -c`; it stays in the foreground.
    pub start: String,
    /// Condition for the server to be ready.
    pub ready: Ready,
    /// Command that stops the server; null: SIGTERM to its process group. Processes left after `stop_timeout` are
    /// killed.
    pub stop: Option<String>,
    /// Trials between which it is restarted.
    pub restart: Restart,
    /// Variables of its environment.
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
pub enum Ready {
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
    /// For each step.
    Step,
    /// Only after trials of another contender.
    Never,
}

/// Which trial of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TrialIndex {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The contender, by its index.
    pub contender: usize,
    /// The step, by its index.
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
        /// The mean think time of each, in seconds; null where it is not known.
        #[serde(with = "optional_seconds", rename = "think_seconds")]
        #[schemars(with = "Option<f64>")]
        think: Option<Duration>,
    },
}

impl Experiment {
    /// The step at a place; None where there is no such one.
    pub fn step(&self, place: TrialIndex) -> Option<&Step> {
        self.contenders.get(place.contender)?.steps.get(place.step)
    }

    /// How many trials it has in all; where it grows, those whose loads were known before and those that were begun so far.
    pub fn trials(&self) -> usize {
        let repetitions = self.repetitions as usize;
        if !self.grows() {
            return self.contenders.iter().map(|c| c.steps.len()).sum::<usize>() * repetitions;
        }
        let of = |c: &Contender| c.steps.len().saturating_sub(self.known_steps()) + self.given() * repetitions;
        self.contenders.iter().map(of).sum()
    }

    /// Whether its steps are chosen on the way. The first step of each contender is the pattern of the others then.
    pub fn grows(&self) -> bool {
        self.find().is_some()
    }

    /// How capacities are looked for, where they are.
    pub fn find(&self) -> Option<&Find> {
        match &self.question {
            Question::Find(find) => Some(find),
            Question::Compare(compare) => compare.at_capacity.as_ref().map(|at| &at.find),
            Question::Sweep => None,
        }
    }

    /// Where it grows, how many loads of each contender are known before: the steps right behind the pattern.
    pub fn given(&self) -> usize {
        match &self.question {
            Question::Compare(compare) => compare.at_capacity.as_ref().map_or(0, |at| at.given),
            Question::Sweep | Question::Find(_) => 0,
        }
    }

    /// Whether a trial was chosen on the way by a search.
    pub fn was_chosen(&self, place: TrialIndex) -> bool {
        self.grows() && place.step >= self.known_steps()
    }

    fn known_steps(&self) -> usize {
        usize::from(self.grows()) + self.given()
    }
}

impl Step {
    /// One that no search chose.
    pub fn new(load: f64, plan: Plan) -> Self {
        Self { load, plan, purpose: None }
    }
}

impl Experiment {
    /// Whether it ends as soon as enough is known: then fewer trials than there may be are no lack.
    pub fn may_end_early(&self) -> bool {
        matches!(self.question, Question::Compare(_))
    }
}

impl Contender {
    /// One with nothing around it: no server of ours, no hooks, no probes.
    pub fn bare(name: String, steps: Vec<Step>) -> Self {
        let (factors, hooks) = (Vec::new(), ContenderHooks::default());
        Self { name, factors, steps, server: None, hooks, probes: Vec::new() }
    }

    /// The steps that are measured, of an experiment that grows: all but the pattern.
    pub fn grown(&self) -> &[Step] {
        self.steps.get(1..).unwrap_or_default()
    }

    /// What its loads are counted in: as in its first step.
    pub fn unit(&self) -> LoadUnit {
        self.steps.first().map_or(LoadUnit::PerSecond, |step| LoadUnit::from(&step.plan.main().load))
    }
}

impl LoadUnit {
    /// What stands behind a load: `/s` or ` users`.
    pub fn behind(self) -> &'static str {
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
