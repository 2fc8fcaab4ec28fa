//! Results of the judgement of a run. `judge` computes them, reports show them.

use crate::text;
use crate::text::{Language, Text};
use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Judgement of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Conclusion of the run, a sentence: "p99 is 46.0 ms at 600/s: objective p99 < 50ms met.";
    /// null if no reply was received.
    #[serde(default)]
    pub conclusion: Option<Text>,
    /// Verdict on the generator and on the validity of the figures.
    pub verdict: Verdict,
    /// Consistency checks; those that were not possible are left out.
    pub checks: Vec<ConsistencyCheck>,
    /// Findings about the run, most serious first.
    pub findings: Vec<Finding>,
    /// Steady state of the run; null if there are too few points.
    pub steady: Option<Steady>,
    /// Percentiles of the response time, each with its interval.
    pub intervals: Vec<PercentileInterval>,
    /// Throughput per second, with its interval; null if there are too few data.
    pub throughput: Option<FigureEstimate>,
    /// Server bottleneck; null without readings of the server.
    #[serde(default)]
    pub bottleneck: Option<crate::Bottleneck>,
    /// Comparisons of the groups of agents; empty without groups, or if the run is too short for them.
    #[serde(default)]
    pub group_comparisons: Vec<GroupComparison>,
}

/// Comparison of two groups of agents at a quantile of the response time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupComparison {
    /// Quantile of all requests, 0 to 1.
    pub quantile: f64,
    /// Response time at this quantile, in seconds: slower requests are counted.
    pub threshold_seconds: f64,
    /// Name of the group with the larger share of slower requests.
    pub slower: String,
    /// Name of the other group.
    pub faster: String,
    /// Share of slower requests in the first group, 0 to 1.
    pub slower_share: f64,
    /// Share of slower requests in the other group, 0 to 1.
    pub faster_share: f64,
    /// Probability of such a difference between equal groups, corrected for the number of comparisons (Holm).
    pub p: f64,
    /// True if the difference is significant at 5 %.
    pub is_significant: bool,
    /// How the probability was computed.
    pub method: Text,
}

impl Judgement {
    /// Replaces all texts by their forms in a language.
    pub fn translate(&mut self, language: Language) {
        self.conclusion.iter_mut().for_each(|conclusion| conclusion.translate(language));
        for cause in &mut self.verdict.causes {
            cause.sentence.translate(language);
            cause.remedy.translate(language);
        }
        self.verdict.unseen.iter_mut().for_each(|sentence| sentence.translate(language));
        for check in &mut self.checks {
            check.name.translate(language);
            check.arithmetic.translate(language);
        }
        self.steady.iter_mut().for_each(|steady| steady.method.translate(language));
        for interval in &mut self.intervals {
            interval.method.translate(language);
            interval.too_short.iter_mut().for_each(|reason| reason.translate(language));
        }
        self.group_comparisons.iter_mut().for_each(|groups| groups.method.translate(language));
        self.findings.iter_mut().for_each(|finding| finding.translate(language));
        self.bottleneck.iter_mut().for_each(|bottleneck| bottleneck.translate(language));
    }

    /// True if a run is invalid because lost agents had most of its load: all checks passed.
    pub fn is_load_missing(&self) -> bool {
        let first = self.verdict.causes.first();
        self.verdict.state == State::Invalid
            && self.checks.iter().all(|check| check.holds)
            && first.is_some_and(|cause| cause.limit == LimitingResource::Agent)
    }
}

/// Verdict: the generator was the bottleneck, or not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Verdict in one word.
    pub state: State,
    /// Causes that changed figures, those that decided the state first.
    pub causes: Vec<OtherCause>,
    /// Processes of the machine that are neither the generator nor the server, by CPU use. Empty if
    /// they cannot be distinguished from the server.
    #[serde(default)]
    pub other_processes: Vec<ProcessUse>,
    /// Evidence: each figure with its threshold.
    pub evidence: Vec<FigureEvidence>,
    /// Readings that this system does not provide, each a sentence.
    pub unseen: Vec<Text>,
    /// State of each agent, in the order of the environment's agents; left out without agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<State>,
}

/// The verdict in one word.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The generator was not the limit: the figures are the server's.
    #[default]
    // The order of the variants is that of `ALL`: later ones are more serious.
    Ok,
    /// No good reply was received, so neither the server nor the generator can be judged.
    Unjudged,
    /// Other processes or machines used the CPU, and that changed figures.
    BusyMachine,
    /// Requests were late, but neither the generator nor other processes are known to be the cause.
    Unexplained,
    /// The generator was the limit for some of the time.
    Limited,
    /// A consistency check failed, or agents with most of the load were lost: discard the figures.
    Invalid,
}

impl State {
    /// All states, in ascending order.
    pub const ALL: [Self; 6] = [
        Self::Ok,
        Self::Unjudged,
        Self::BusyMachine,
        Self::Unexplained,
        Self::Limited,
        Self::Invalid,
    ];

    /// True if something else than the server changed the figures, though
    /// they were counted correctly.
    pub fn is_disturbed(self) -> bool {
        match self {
            Self::BusyMachine | Self::Unexplained | Self::Limited => true,
            // Invalid figures were not counted correctly, so no disturbance explains them.
            Self::Ok | Self::Unjudged | Self::Invalid => false,
        }
    }

    /// Subject and verb for trials in this state: `the generator was the limit`.
    pub fn words(self) -> Text {
        match self {
            Self::Ok => text!("verdict.ok"),
            Self::Unjudged => text!("state.unjudged"),
            Self::BusyMachine => text!("state.busy-machine"),
            Self::Unexplained => text!("state.unexplained"),
            Self::Limited => text!("state.limited"),
            Self::Invalid => text!("state.invalid"),
        }
    }

    /// Name of the state in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unjudged => "unjudged",
            Self::BusyMachine => "busy_machine",
            Self::Unexplained => "unexplained",
            Self::Limited => "limited",
            Self::Invalid => "invalid",
        }
    }

    /// Returns the state with this name.
    pub fn from_key(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.key() == word)
    }
}

/// A cause other than the server that changed figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherCause {
    /// Resource that was the limit.
    pub limit: LimitingResource,
    /// Origin of the resource use.
    #[serde(default)]
    pub origin: UseOrigin,
    /// Duration of the cause, in seconds.
    #[serde(with = "seconds", rename = "seconds")]
    #[schemars(with = "f64")]
    pub lasted: Duration,
    /// Observation with its figures; a sentence.
    pub sentence: Text,
    /// Action that solves the problem.
    pub remedy: Text,
}

/// Origin of a resource use.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UseOrigin {
    /// The generator, or limits that were set for it.
    #[default]
    Generator,
    /// Other processes on its machine, or other machines on the same hypervisor.
    Machine,
    /// The origin is unknown.
    Unknown,
}

/// CPU use of the processes of one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessUse {
    /// Name of the processes.
    pub name: String,
    /// Busiest process; null if it differed between readings.
    pub pid: Option<u32>,
    /// Cores that they used on average over the measured time.
    pub cores: f64,
}

impl std::fmt::Display for ProcessUse {
    /// `sh (pid 123) 1.90`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pid = self.pid.map_or(String::new(), |pid| format!(" (pid {pid})"));
        write!(f, "{}{pid} {:.2}", self.name, self.cores)
    }
}

/// Resource that can limit a generator.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitingResource {
    /// A worker thread at 100 % of a core.
    Worker,
    /// No idle core on a machine that the generator shares with the server.
    Cores,
    /// Threads had to wait for a core.
    RunQueue,
    /// A control group's CPU quota.
    Throttled,
    /// The hypervisor gave the machine's CPU to others.
    Steal,
    /// Processes that belong neither to the generator nor to the server used the machine's CPU.
    OtherProcesses,
    /// A worker thread did not run for a while: it was suspended or not scheduled.
    Stopped,
    /// Open file descriptors of the process.
    Descriptors,
    /// Local ports, or addresses.
    Ports,
    /// Bandwidth of a network interface.
    Nic,
    /// Packets per second: the kernel's receive queue dropped some.
    Packets,
    /// The firewall's table of connections.
    Conntrack,
    /// Memory of the machine.
    Memory,
    /// Requests begun late, whatever the reason.
    Lag,
    /// An agent that ended before the end of the load, so that its share is missing.
    Agent,
}

impl LimitingResource {
    /// Name of the limit, for sentences with "limited by".
    pub fn words(self) -> Text {
        match self {
            Self::Worker => text!("limiting-resource.worker"),
            Self::Cores => text!("limiting-resource.cores"),
            Self::RunQueue => text!("limiting-resource.run-queue"),
            Self::Throttled => text!("limiting-resource.throttled"),
            Self::Steal => text!("limiting-resource.steal"),
            Self::OtherProcesses => text!("limiting-resource.other-processes"),
            Self::Stopped => text!("limiting-resource.stopped"),
            Self::Descriptors => text!("limiting-resource.descriptors"),
            Self::Ports => text!("limiting-resource.ports"),
            Self::Nic => text!("limiting-resource.nic"),
            Self::Packets => text!("limiting-resource.packets"),
            Self::Conntrack => text!("limiting-resource.conntrack"),
            Self::Memory => text!("limiting-resource.memory"),
            Self::Lag => text!("limiting-resource.lag"),
            Self::Agent => text!("limiting-resource.agent"),
        }
    }
}

/// A figure with its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureEvidence {
    /// Resource that the figure describes.
    pub limit: LimitingResource,
    /// Name of the figure, with its unit.
    pub name: String,
    /// Worst value of the measured time.
    pub value: f64,
    /// Value from which the figure counts as a cause.
    pub threshold: f64,
    /// Side of the threshold on which the figure counts.
    pub side: ThresholdSide,
}

/// Side of a threshold on which a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdSide {
    /// At the threshold and above.
    AtLeast,
    /// Below the threshold.
    Below,
}

/// A consistency check: two ways to count the same must agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsistencyCheck {
    /// Name of the check.
    pub name: Text,
    /// True if the check passed.
    pub holds: bool,
    /// The arithmetic, with its figures.
    pub arithmetic: Text,
}

/// A sentence with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Name of the rule; it never changes.
    pub rule: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Finding with its figures; a sentence.
    pub sentence: Text,
    /// Action to take; null if none is needed.
    pub remedy: Option<Text>,
}

impl Finding {
    /// Creates a note of a rule.
    pub fn note(rule: &str, sentence: impl Into<Text>) -> Self {
        Self {
            rule: rule.into(),
            severity: Severity::Note,
            sentence: sentence.into(),
            remedy: None,
        }
    }

    /// Replaces the texts by their forms in a language.
    pub fn translate(&mut self, language: Language) {
        self.sentence.translate(language);
        self.remedy.iter_mut().for_each(|remedy| remedy.translate(language));
    }
}

/// Severity of a finding, ascending.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Information without consequences for the figures.
    Note,
    /// The figures can be misread.
    Warning,
}

/// Start of the steady state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Measured time before the steady state, in seconds.
    #[serde(with = "seconds", rename = "cut_seconds")]
    #[schemars(with = "f64")]
    pub cut: Duration,
    /// True if the steady state began within the first half.
    pub reached: bool,
    /// Method that detected the steady state.
    pub method: Text,
}

/// A percentile of the response time, with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfidenceInterval")]
pub struct PercentileInterval {
    /// Quantile as a fraction: 0.99 is p99.
    pub quantile: f64,
    /// Percentile and its interval, in seconds; null if the run was too short.
    pub estimate: Option<FigureEstimate>,
    /// Effective sample size at this percentile.
    pub effective_samples: f64,
    /// Reason why there is no interval; null if there is one.
    pub too_short: Option<Text>,
    /// Method of the interval.
    pub method: Text,
}

/// A figure with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureEstimate {
    /// Estimate of the figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval; null if unknown (too few samples above).
    pub high: Option<f64>,
}
