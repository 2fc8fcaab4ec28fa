//! What was decided about a sweep: words that the room `judge` fills in and reports show.
//!
//! Out of scope: the mathematics. An analysis is made of [`Observation`]s, whoever measured them: a study's trials,
//! or a table that another tool wrote.

use crate::finding::{Finding, Side, State};
use crate::{Answer, Comparison, LoadUnit, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data of an analysis: the steps of one or more contenders, each measured once or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observations {
    /// The names of the contenders.
    pub contenders: Vec<String>,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// One for each trial.
    pub observations: Vec<Observation>,
    /// Bounds that each contender is held against.
    pub objectives: Vec<Objective>,
    /// What the file or study cannot tell, each a sentence, such as "one value a step".
    pub notes: Vec<String>,
}

/// What one trial came to. Times in seconds; what is not known is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Whose, by index.
    pub contender: usize,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// The load that was asked for: arrivals per second or users.
    pub load: f64,
    /// Arrivals per second that became due in the measured time; null in a closed loop.
    pub offered: Option<f64>,
    /// Completed per second within the measured time.
    pub achieved: f64,
    /// Mean response time of completed requests.
    pub mean: Option<f64>,
    /// Its quantiles, each with whether it is known from below only.
    pub quantiles: Vec<ObservedQuantile>,
    /// The least response time.
    pub min: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// The share of errors, 0 to 1.
    pub errors: Option<f64>,
    /// Bounds held against this trial, in the order of [`Observations::objectives`]; null where its figure is not known.
    pub objectives: Vec<Option<bool>>,
    /// The verdict on the generator.
    pub verdict: Option<State>,
    /// It was cut short: its figures are those of a part.
    pub cut_short: bool,
    /// Its blocks of a second each, in order; empty where only sums are known.
    pub blocks: Vec<Block>,
}

/// A quantile of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedQuantile {
    /// Which: 0.99 is p99.
    pub quantile: f64,
    /// In seconds.
    pub seconds: f64,
    /// It is known from below only.
    pub at_least: bool,
}

/// A second of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// How long it was.
    pub seconds: f64,
    /// Arrivals that became due in it.
    pub planned: u64,
    /// Whole replies in it.
    pub completed: u64,
    /// Mean response time of the requests that ended in it; null where none did.
    pub mean: Option<f64>,
    /// Their p99.
    pub p99: Option<f64>,
}

/// All that was decided about a sweep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// The contenders, in order.
    pub contenders: Vec<ContenderAnalysis>,
    /// What a reader should be told first, the gravest first.
    pub findings: Vec<Finding>,
    /// How much each contender carries, where that was asked.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// Which is better, where that was asked.
    #[serde(default)]
    pub comparison: Option<Comparison>,
}

/// What was decided about one contender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderAnalysis {
    /// Its name.
    pub contender: String,
    /// Its loads, ascending.
    pub curve: Vec<CurvePoint>,
    /// The definitions of its limit, side by side; those that do not apply are left out.
    pub limits: Vec<LoadLimit>,
    /// The fit of the Universal Scalability Law; null where the sweep allows none.
    pub scalability: Option<Scalability>,
    /// Trials and steps that do not fit to the others.
    pub outliers: Vec<Outlier>,
    /// What limited the server at its highest loads; null where nothing was read of it.
    pub bottleneck: Option<Bottleneck>,
}

/// All repetitions of one load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// The load.
    pub load: f64,
    /// How many trials it is made of; cut-short and invalid ones are not among them.
    pub trials: u32,
    /// Offered, per second.
    pub offered: Option<BandedFigure>,
    /// Achieved, per second.
    pub achieved: BandedFigure,
    /// Mean response time, in seconds.
    pub mean: Option<BandedFigure>,
    /// The median response time, in seconds.
    pub p50: Option<BandedFigure>,
    /// Its 95th percentile.
    pub p95: Option<BandedFigure>,
    /// Its 99th percentile.
    pub p99: Option<BandedFigure>,
    /// The share of errors.
    pub errors: Option<BandedFigure>,
}

/// A figure over several trials: their median, and how far it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BandedFigure {
    /// The median of the trials.
    pub value: f64,
    /// The lower end of what `band` names.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// What `low` and `high` are.
    pub band: Band,
}

/// What the two ends beside a figure are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Nothing: there is one value only.
    #[default]
    One,
    /// The lowest and the highest trial: fewer than six of them carry no 95 % interval.
    Range,
    /// A 95 % interval from blocks of a second within the one run: it knows nothing of how runs differ.
    WithinRun,
    /// A 95 % interval over repetitions.
    Repetitions,
    /// A 95 % interval by a model of all trials of a search.
    Model,
}

/// One definition of a limit, and what it gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadLimit {
    /// Which definition.
    pub kind: LimitKind,
    /// Its name in a table: `knee`, `saturation point`, `p99 < 3s`.
    pub name: String,
    /// The load (or, of the saturation point, the throughput) with its band; null where the range shows none.
    pub at: Option<BandedFigure>,
    /// What the figure is counted in: `/s` or `users`.
    pub unit: String,
    /// How it was found, and why there is none, as a sentence.
    pub how: String,
    /// Whether it stays where it is when the range is cut; null where that was not looked at.
    pub robust: Option<bool>,
}

/// The definitions of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Where the response time starts to bend: Kneedle on the smoothed curve.
    Knee,
    /// The throughput that does not grow any more.
    Saturation,
    /// Closed loop: the number of users at which the asymptotes cross, `X_max · (R_min + think)`.
    Asymptotes,
    /// The last load of which at least 99 % is achieved.
    Kept,
    /// The highest load up to which an objective holds.
    Objective,
    /// Nielsen's limits of patience: the highest loads whose p99 stays below 1, 3 and 10 s.
    Patience,
}

/// The Universal Scalability Law, X(N) = λN / (1 + σ(N−1) + κN(N−1)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scalability {
    /// λ: throughput of one, per second.
    pub lambda: BandedFigure,
    /// σ: the share of the work that is serial (contention).
    pub sigma: BandedFigure,
    /// κ: what keeping all coherent costs.
    pub kappa: BandedFigure,
    /// The number at which throughput is greatest; null where κ may be 0.
    pub peak: Option<BandedFigure>,
    /// The coefficient of determination of the fit.
    pub r_squared: f64,
    /// What must be said with it.
    pub caution: String,
}

/// A trial or step that does not fit to the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The load.
    pub load: f64,
    /// The repetition; null where the whole step stands apart.
    pub repetition: Option<u32>,
    /// What was seen, as a sentence with its figures and what to do.
    pub sentence: String,
}

/// What limited a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// What it was.
    pub culprit: Culprit,
    /// As a sentence with its figures, such as "all 20 php-fpm children busy, 35 requests queued".
    pub sentence: String,
    /// What was looked at: each figure beside its threshold.
    pub evidence: Vec<Reason>,
    /// Other resources at their limits, each a sentence.
    pub others: Vec<String>,
}

/// What a server may be limited by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// All workers of a pool busy: php-fpm children, Apache workers, Tomcat threads.
    Workers,
    /// The machine's cores.
    Cpu,
    /// One core, by a process with one busy thread.
    Core,
    /// Memory, or swapping.
    Memory,
    /// Connections at the server's own limit.
    Connections,
    /// The accept queue: connections came faster than they were accepted.
    AcceptQueue,
    /// A disk.
    Disk,
    /// The network interface or link.
    Network,
    /// The limit on open files.
    Files,
    /// Not the server: the generator.
    Generator,
    /// Nothing that was looked at was at its limit.
    NotFound,
}

/// A reading beside what it was held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What it bears on.
    pub culprit: Culprit,
    /// Whose reading: `process:nginx`.
    pub source: String,
    /// Its name, with its unit.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// From where on it counts.
    pub threshold: f64,
    /// On which side of it.
    pub side: Side,
}
