//! Results of the analysis of a sweep. `judge` computes them, reports show them.
//!
//! An analysis is based on [`Observation`]s, from the trials of a study or from a
//! table of another tool.

use crate::comparison::Pair;
use crate::finding::{Finding, ProcessUse, State, ThresholdSide};
use crate::objective::Metric;
use crate::text::{Language, Text};
use crate::{CapacityResult, Comparison, LoadUnit, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data of an analysis: the steps of one or more contenders, each measured once or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observations {
    /// The names of the contenders.
    pub contenders: Vec<String>,
    /// Factors of each contender with its levels, in the order of the
    /// contenders; empty without factors.
    #[serde(default)]
    pub factors: Vec<Vec<(String, String)>>,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// Results of the trials.
    pub observations: Vec<Observation>,
    /// Objectives that each contender is tested against.
    pub objectives: Vec<Objective>,
    /// Limitations of the file or study, each a sentence, such as "one value a step".
    pub notes: Vec<Text>,
}

/// Results of one trial. Times in seconds; unknown figures are null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Contender, as an index from 0.
    pub contender: usize,
    /// Repetition of the trial, from 0.
    pub repetition: u32,
    /// Requested load: arrivals per second or users.
    pub load: f64,
    /// Arrivals per second that became due in the measured time; null in a closed loop.
    pub offered: Option<f64>,
    /// Completed requests per second of measured time.
    pub achieved: f64,
    /// Good requests per second of measured time; null if unknown.
    #[serde(default)]
    pub good: Option<f64>,
    /// Mean number of users that waited for a connection or a reply; null in an open loop, and if unknown.
    #[serde(default)]
    pub waiting_users: Option<f64>,
    /// Mean response time of completed requests.
    pub mean: Option<f64>,
    /// Quantiles of the response time.
    pub quantiles: Vec<ObservedQuantile>,
    /// Minimum response time, in seconds.
    pub min: Option<f64>,
    /// Maximum response time, in seconds.
    pub max: Option<f64>,
    /// The share of errors, 0 to 1.
    pub errors: Option<f64>,
    /// True for each objective that the trial met, in the order of [`Observations::objectives`];
    /// null if the figure is unknown.
    pub objectives: Vec<Option<bool>>,
    /// The verdict on the generator.
    pub verdict: Option<State>,
    /// Other processes that used the machine's CPU, if they changed figures.
    #[serde(default)]
    pub other_processes: Vec<ProcessUse>,
    /// True if the trial was stopped early: its figures are those of the first part.
    pub cut_short: bool,
    /// Blocks of one second each, in order; empty if only sums are known.
    pub blocks: Vec<SecondOfTrial>,
}

impl Observation {
    /// Returns a figure of the trial, and whether it is known only from below; None if it is unknown.
    pub fn figure(&self, metric: Metric) -> Option<(f64, bool)> {
        let exact = match metric {
            Metric::Quantile(_) => {
                let mut quantiles = self.quantiles.iter();
                let known = quantiles.find(|q| metric.is_same(Metric::Quantile(q.quantile)))?;
                return Some((known.seconds, known.at_least));
            }
            Metric::Mean => self.mean,
            Metric::Max => self.max,
            Metric::Errors => self.errors,
            Metric::Throughput => Some(self.achieved),
            Metric::Goodput => self.good,
        };
        exact.map(|value| (value, false))
    }
}

/// A quantile of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedQuantile {
    /// Quantile as a fraction: 0.99 is p99.
    pub quantile: f64,
    /// Value of the quantile, in seconds.
    pub seconds: f64,
    /// True if the figure is a lower bound.
    pub at_least: bool,
}

/// One second of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondOfTrial {
    /// Length of the block, in seconds.
    pub seconds: f64,
    /// Arrivals that became due in the block.
    pub planned: u64,
    /// Complete replies in the block.
    pub completed: u64,
    /// Mean response time of the requests that ended in the block; null if there were none.
    pub mean: Option<f64>,
    /// 99th percentile of their response time.
    pub p99: Option<f64>,
}

/// Analysis of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// Answers to the question of the study, each a sentence, the most important first.
    #[serde(default)]
    pub conclusions: Vec<Finding>,
    /// The contenders, in order.
    pub contenders: Vec<ContenderAnalysis>,
    /// Findings, most serious first.
    pub findings: Vec<Finding>,
    /// Pairs of contenders of a sweep that differ in one factor, compared at each load by their
    /// median response time; empty for one contender, and if a comparison was asked for.
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// Capacity of each contender; empty unless it was searched for.
    #[serde(default)]
    pub answers: Vec<CapacityResult>,
    /// Comparison of the contenders; null unless one was asked for.
    #[serde(default)]
    pub comparison: Option<Comparison>,
}

impl Analysis {
    /// Replaces all texts by their forms in a language.
    pub fn translate(&mut self, language: Language) {
        let findings = self.conclusions.iter_mut().chain(&mut self.findings);
        findings.for_each(|finding| finding.translate(language));
        self.contenders.iter_mut().for_each(|contender| contender.translate(language));
        self.pairs.iter_mut().for_each(|pair| pair.translate(language));
        self.answers.iter_mut().for_each(|answer| answer.translate(language));
        self.comparison.iter_mut().for_each(|comparison| comparison.translate(language));
    }

    /// True if a comparison excludes invalid trials with their blocks, and contains others.
    pub fn excludes_invalid_trials(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.blocks > 0)
    }
}

/// Analysis of one contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderAnalysis {
    /// Name of the contender.
    pub contender: String,
    /// Points of the curve, by ascending load.
    pub curve: Vec<CurvePoint>,
    /// Limits by several definitions; those that do not apply are left out.
    pub limits: Vec<LoadLimit>,
    /// Fit of the Universal Scalability Law; null if the sweep is not suitable.
    pub scalability: Option<Scalability>,
    /// Trials and steps that deviate from the others.
    pub outliers: Vec<Outlier>,
    /// Server bottleneck at its highest loads; null without readings of the server.
    pub bottleneck: Option<Bottleneck>,
}

impl ContenderAnalysis {
    fn translate(&mut self, language: Language) {
        for limit in &mut self.limits {
            let LoadLimit { name, unit, how, .. } = limit;
            for text in [name, unit, how] {
                text.translate(language);
            }
        }
        self.scalability.iter_mut().for_each(|fit| fit.caution.translate(language));
        self.outliers.iter_mut().for_each(|outlier| outlier.sentence.translate(language));
        self.bottleneck.iter_mut().for_each(|bottleneck| bottleneck.translate(language));
    }
}

/// All repetitions of one load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Load of all these trials.
    pub load: f64,
    /// Number of trials of the point; trials stopped early and invalid ones are excluded.
    pub trials: u32,
    /// Offered load, per second.
    pub offered: Option<BandedFigure>,
    /// Achieved throughput, per second.
    pub achieved: BandedFigure,
    /// Mean response time, in seconds.
    pub mean: Option<BandedFigure>,
    /// The median response time, in seconds.
    pub p50: Option<BandedFigure>,
    /// 95th percentile of the response time, in seconds.
    pub p95: Option<BandedFigure>,
    /// 99th percentile of the response time, in seconds.
    pub p99: Option<BandedFigure>,
    /// The share of errors.
    pub errors: Option<BandedFigure>,
    /// Further figures: goodput, the longest response time, and other percentiles.
    #[serde(default)]
    pub others: Vec<MetricFigure>,
}

impl CurvePoint {
    /// Returns a figure of the trials; None if it is unknown.
    pub fn figure(&self, metric: Metric) -> Option<BandedFigure> {
        match metric {
            Metric::Throughput => Some(self.achieved),
            Metric::Mean => self.mean,
            Metric::Errors => self.errors,
            _ if metric.is_same(Metric::Quantile(0.5)) => self.p50,
            _ if metric.is_same(Metric::Quantile(0.95)) => self.p95,
            _ if metric.is_same(Metric::Quantile(0.99)) => self.p99,
            Metric::Quantile(_) | Metric::Max | Metric::Goodput => self
                .others
                .iter()
                .find(|other| other.metric.is_same(metric))
                .map(|other| other.figure),
        }
    }
}

/// A figure of the trials of a point that most points do not show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricFigure {
    /// Which figure.
    pub metric: Metric,
    /// Its median and interval.
    pub figure: BandedFigure,
}

/// A figure over several trials: median and interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BandedFigure {
    /// The median of the trials.
    pub value: f64,
    /// Lower end of the interval; `band` is its meaning.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Meaning of `low` and `high`.
    pub band: Band,
}

/// Meaning of the interval `low` to `high` of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// No interval, since there is only one value.
    #[default]
    One,
    /// Minimum and maximum of the trials: fewer than six give no 95 % interval.
    // The range of n trials covers the median with 1 − 2^(1−n): 93.8 % for 5 trials, 96.9 % for 6.
    Range,
    /// A 95 % interval from one-second blocks within one run, without the variation between runs.
    WithinRun,
    /// A 95 % interval over repetitions.
    Repetitions,
    /// A 95 % interval by a model of all trials of a search.
    Model,
}

/// One definition of a limit, with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadLimit {
    /// Definition of the limit.
    pub kind: LimitKind,
    /// Name in a table: `knee`, `saturation point`, `p99 < 3s`.
    pub name: Text,
    /// Load (for the saturation point: throughput) with its interval; null if the
    /// range contains no limit.
    pub at: Option<BandedFigure>,
    /// Unit of the figure: `/s` or `users`.
    pub unit: Text,
    /// Method, and the reason if there is no figure; a sentence.
    pub how: Text,
    /// True if the limit stays in place when the range of loads is cut; null if not tested.
    pub robust: Option<bool>,
    /// Loads at which the condition holds, if that is no range up to a load; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldLoads>,
}

/// Loads of a sweep at which the condition of a limit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldLoads {
    /// It does not hold at the lowest load.
    None,
    /// It holds at all loads.
    All,
}

/// The definitions of a limit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Load at which the response time starts to bend: Kneedle on the smoothed curve.
    // Satopää et al. 2011, applied to the logarithm of the response time.
    Knee,
    /// Maximum throughput.
    Saturation,
    /// Closed loop: the number of users at which the asymptotes cross, `X_max · (R_min + think)`.
    // Lazowska et al., Quantitative System Performance, 1984, chapter 5.
    Asymptotes,
    /// Highest load with at least 99 % achieved.
    Kept,
    /// The highest load up to which an objective holds.
    Objective,
    /// Nielsen's limits of patience: the highest loads with a p99 below 1, 3 and 10 s.
    Patience,
}

/// The Universal Scalability Law, X(N) = λN / (1 + σ(N−1) + κN(N−1)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// Gunther 2007.
pub struct Scalability {
    /// λ: throughput of one, per second.
    pub lambda: BandedFigure,
    /// σ: the share of the work that is serial (contention).
    pub sigma: BandedFigure,
    /// κ: cost of coherence between workers (crosstalk).
    pub kappa: BandedFigure,
    /// Concurrency with the highest throughput; null if κ may be 0.
    pub peak: Option<BandedFigure>,
    /// The coefficient of determination of the fit.
    pub r_squared: f64,
    /// Caveat to state with the fit.
    pub caution: Text,
}

/// A trial or step that deviates from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// Load of the trial or step.
    pub load: f64,
    /// Repetition; null if the whole step deviates.
    pub repetition: Option<u32>,
    /// Observation with its figures and the action to take; a sentence.
    pub sentence: Text,
}

/// Resource that limits a server, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// Resource at its limit.
    pub culprit: Culprit,
    /// As a sentence with its figures, such as "all 20 php-fpm children busy, 35 requests queued".
    pub sentence: Text,
    /// Evidence: each figure with its threshold.
    pub evidence: Vec<Reason>,
    /// Other resources at their limits, each a sentence.
    pub others: Vec<Text>,
}

impl Bottleneck {
    /// Replaces all texts by their forms in a language.
    pub(crate) fn translate(&mut self, language: Language) {
        self.sentence.translate(language);
        self.evidence.iter_mut().for_each(|reason| reason.name.translate(language));
        self.others.iter_mut().for_each(|other| other.translate(language));
    }
}

/// Resource that can limit a server.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// All workers of a pool busy: php-fpm children, Apache workers, Tomcat threads.
    Workers,
    /// All cores of the machine.
    Cpu,
    /// One core, by a process with one busy thread.
    Core,
    /// Memory, including swapping to disk.
    Memory,
    /// Connections at the server's own limit.
    Connections,
    /// The accept queue: connections arrived faster than they were accepted.
    AcceptQueue,
    /// A disk of the server's machine.
    Disk,
    /// The network interface or link.
    Network,
    /// The limit on open files.
    Files,
    /// Not the server: the generator.
    Generator,
    /// No resource with readings was at its limit.
    NotFound,
}

/// A reading with its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Resource that the reading describes.
    pub culprit: Culprit,
    /// Source of the reading: `process:nginx`.
    pub source: String,
    /// Name of the reading, with its unit.
    pub name: Text,
    /// Worst value of the reading.
    pub value: f64,
    /// Value from which the reading counts as a cause.
    pub threshold: f64,
    /// Side of the threshold on which the reading counts.
    pub side: ThresholdSide,
}
