//! What the index says of a run or an experiment.
//!
//! Out of scope: the run. All here can be read off its log again.

use brunt_model::finding::State;
use brunt_model::time::seconds_of;
use brunt_model::{Contender, Experiment, Judgement, LoadUnit, Plan, Run, TrialIndex};
use serde::Serialize;

/// What the index says of a run or an experiment. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its short id.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// How far it came.
    pub progress: Progress,
    /// Of which experiment a run is; null where it stands alone.
    pub experiment: Option<String>,
    /// Which trial of that experiment.
    pub place: Option<TrialIndex>,
    /// When it began, in seconds since 1970-01-01 UTC; null where it never did.
    pub started_unix_seconds: Option<f64>,
    /// What was asked: a run's first URL, an experiment's name.
    pub what: String,
    /// The contenders: of a run that belongs to an experiment, its own.
    pub contenders: Vec<String>,
    /// The least and the greatest load; the same where there is one.
    pub load: Option<LoadRange>,
    /// How many trials an experiment has; null for a run.
    pub trials: Option<u64>,
    /// How many of them were made to their end; null for a run.
    pub trials_made: Option<u64>,
    /// What a run came to; null for an experiment, and while a run goes on.
    pub figures: Option<Figures>,
    /// Names that people gave it.
    pub tags: Vec<String>,
}

/// What something kept is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One run.
    Run,
    /// An experiment, with its runs.
    Experiment,
}

/// How far something kept came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It goes on: a process writes to it.
    Running,
    /// To its end.
    Whole,
    /// It was stopped before its time.
    Interrupted,
    /// Whoever wrote it went away; it can be read up to its last whole event.
    Torn,
}

/// The least and the greatest load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadRange {
    /// The least.
    pub from: f64,
    /// The greatest.
    pub to: f64,
    /// Counted in virtual users (closed loop); else in arrivals per second.
    pub users: bool,
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Whole replies per second of measured time.
    pub throughput_per_second: f64,
    /// The 99th percentile of the response time; null where nothing was counted.
    pub p99_seconds: Option<f64>,
    /// It is known from below only.
    pub p99_at_least: bool,
    /// The share of errors, 0 to 1.
    pub errors_share: f64,
    /// The verdict on the generator.
    pub verdict: State,
    /// How long it took from its beginning to its end.
    pub seconds: f64,
}

impl Figures {
    /// Those of a run.
    pub fn of(run: &Run, judgement: &Judgement) -> Self {
        let p99 = run.total.response_quantile(0.99);
        let counted = !run.total.is_empty();
        let end = run.finish.as_ref().map_or(run.seen_to, |finish| finish.at);
        Self {
            throughput_per_second: run.throughput(),
            p99_seconds: counted.then_some(seconds_of(p99.value)),
            p99_at_least: counted && p99.at_least,
            errors_share: run.total.error_share(),
            verdict: judgement.verdict.state,
            seconds: end.seconds(),
        }
    }
}

impl LoadRange {
    /// That of a plan.
    pub fn of_plan(plan: &Plan) -> Self {
        use brunt_model::Load;
        let (shape, users) = match &plan.main().load {
            Load::Closed { users, .. } => (users, true),
            Load::Open { rate, .. } => (rate, false),
        };
        Self { from: shape.peak(), to: shape.peak(), users }
    }

    /// That of all steps of an experiment.
    pub fn of_experiment(experiment: &Experiment) -> Option<Self> {
        let unit = experiment.contenders.first().map(Contender::unit)?;
        let loads = || experiment.contenders.iter().flat_map(|contender| &contender.steps).map(|step| step.load);
        let from = loads().reduce(f64::min)?;
        let to = loads().reduce(f64::max)?;
        Some(Self { from, to, users: matches!(unit, LoadUnit::Users { .. }) })
    }
}

/// How a run ended, as its fold says.
pub(crate) fn progress_of(run: &Run) -> Progress {
    match &run.finish {
        None => Progress::Torn,
        Some(finish) if finish.interrupted => Progress::Interrupted,
        Some(_) => Progress::Whole,
    }
}
