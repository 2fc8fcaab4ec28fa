//! A figure of comparable runs over weeks and months, with its change points.
//!
//! `runner` reads the runs, `judge` finds the changes, reports show them.

use crate::finding::State;
use crate::text;
use crate::text::Text;
use serde::Serialize;

/// A figure that a history shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMeasure {
    /// Capacity of a search.
    Capacity,
    /// Completed replies per second.
    Throughput,
    /// Median of the response time.
    P50,
    /// 95th percentile of the response time.
    P95,
    /// 99th percentile of the response time.
    P99,
    /// Median of the service time.
    ServiceP50,
    /// 99th percentile of the service time.
    ServiceP99,
    /// Share of the requests that are not good.
    Errors,
}

/// The direction in which a figure becomes better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetterDirection {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
}

impl HistoryMeasure {
    /// All measures, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::P50,
        Self::P95,
        Self::P99,
        Self::ServiceP50,
        Self::ServiceP99,
        Self::Throughput,
        Self::Errors,
        Self::Capacity,
    ];

    /// Name on the command line, in URLs and in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::ServiceP50 => "service-p50",
            Self::ServiceP99 => "service-p99",
            Self::Errors => "errors",
        }
    }

    /// Returns the measure with this name.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.key() == key)
    }

    /// Name in texts for people.
    pub fn title(self) -> Text {
        match self {
            Self::Capacity => text!("history-measure.capacity"),
            Self::Throughput => text!("history-measure.throughput"),
            Self::P50 => text!("history-measure.p50"),
            Self::P95 => text!("history-measure.p95"),
            Self::P99 => text!("history-measure.p99"),
            Self::ServiceP50 => text!("history-measure.service-p50"),
            Self::ServiceP99 => text!("history-measure.service-p99"),
            Self::Errors => text!("history-measure.errors"),
        }
    }

    /// The direction in which it becomes better.
    pub fn better(self) -> BetterDirection {
        match self {
            Self::Capacity | Self::Throughput => BetterDirection::Higher,
            _ => BetterDirection::Lower,
        }
    }
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MeasuredFigure {
    /// The figure.
    pub value: f64,
    /// Lower end of its 95 % interval; null if unknown.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; null if unknown.
    pub high: Option<f64>,
    /// True if the figure is only a lower bound.
    pub is_lower_bound: bool,
}

/// Reason why a run is shown, but not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// A consistency check failed, so the figures are wrong.
    Invalid,
    /// The run has no end record.
    NoEnd,
    /// The run has no such figure.
    NoFigure,
    /// Its plan is unknown, so it may be another one than that of the series.
    UnknownPlan,
}

impl Exclusion {
    /// Description for people.
    pub fn words(self) -> Text {
        match self {
            Self::Invalid => text!("history-remark.invalid"),
            Self::NoEnd => text!("history-remark.no-end"),
            Self::NoFigure => text!("history-remark.no-figure"),
            Self::UnknownPlan => text!("history-remark.unknown-plan"),
        }
    }
}

/// A run, or a capacity search, of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Id in the store.
    pub id: String,
    /// Start, in seconds since 1970-01-01 UTC.
    pub started_unix_seconds: f64,
    /// The figure; null if there is none.
    pub figure: Option<MeasuredFigure>,
    /// Verdict on the load generator; null for a search: each of its trials has one.
    pub verdict: Option<State>,
    /// True if it was stopped early.
    pub is_interrupted: bool,
    /// True if its log and digest cannot be read, so that the figure is from the index.
    pub is_from_index: bool,
    /// Reason why it is not counted; null if it is.
    pub exclusion: Option<Exclusion>,
    /// Tags that users gave it.
    pub tags: Vec<String>,
}

impl HistoryEntry {
    /// Returns its figure if it is counted.
    pub fn counted(&self) -> Option<MeasuredFigure> {
        self.figure.filter(|_| self.exclusion.is_none())
    }
}

/// Runs between two change points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistorySegment {
    /// Id of its first counted run.
    pub first_id: String,
    /// Id of its last counted run.
    pub last_id: String,
    /// Number of counted runs.
    pub runs: usize,
    /// Number of counted runs with another verdict than OK.
    pub doubtful_runs: usize,
    /// Median of its runs, and the 95 % interval of this median; no interval below six runs. A lower bound
    /// unless it is below the lower bounds of all its runs.
    pub level: MeasuredFigure,
}

/// A change point: after it, the figure has another level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryChange {
    /// Id of the last counted run before the change.
    pub before_id: String,
    /// Id of the first counted run after it.
    pub after_id: String,
    /// Start of the first counted run after it, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// Level before the change.
    pub before: MeasuredFigure,
    /// Level after the change.
    pub after: MeasuredFigure,
    /// Relative change of the level; null if the value of a run is 0 or a lower bound.
    pub relative: Option<RelativeSize>,
    /// Probability of such a change in a series without one, corrected for all tests of the history.
    pub p: f64,
    /// Facts about the runs that changed near the change point.
    pub facts: Vec<ChangedFact>,
}

/// Relative size of a change: 0.1 is 10 % more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RelativeSize {
    /// The estimate.
    pub value: f64,
    /// Lower end of its 95 % interval; null if unbounded.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; null if unbounded.
    pub high: Option<f64>,
}

/// A fact that differs between two successive runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedFact {
    /// Id of the run before.
    pub before_id: String,
    /// Id of the run after.
    pub after_id: String,
    /// Subject of the fact, such as `environment`.
    pub subject: String,
    /// Name of the fact, such as `kernel`.
    pub name: Text,
    /// Value before.
    pub before: Text,
    /// Value after.
    pub after: Text,
}

/// Whether a history has enough runs for change points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSearch {
    /// The history was searched for changes.
    Searched,
    /// There are too few counted runs.
    TooFewRuns,
}

/// A figure of comparable runs, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunHistory {
    /// The figure.
    pub measure: HistoryMeasure,
    /// The runs.
    pub entries: Vec<HistoryEntry>,
    /// Whether changes were searched for.
    pub search: ChangeSearch,
    /// Number of counted runs that a search needs.
    pub runs_needed: usize,
    /// Probability of any change point in a history without a change.
    pub level: f64,
    /// Segments between changes; one without changes, none without counted runs.
    pub segments: Vec<HistorySegment>,
    /// Change points, oldest first.
    pub changes: Vec<HistoryChange>,
    /// Autocorrelation of successive runs that the search allowed for; null if there are too few runs
    /// for an estimate.
    pub autocorrelation: Option<f64>,
}

/// The runs of a history: those that are comparable with one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistorySeries {
    /// Id of the run with which all of them are comparable; the latest unless the user chose one.
    pub like_id: String,
    /// First URL of the runs, or name of the searches.
    pub what: String,
    /// Their load as text, such as `500/s`.
    pub load: Text,
    /// Number of runs with the same servers, labels and load, but another plan. They are left out.
    pub other_plans: usize,
    /// Number of older runs that are left out, because a history has a maximum number of runs.
    pub older_runs: usize,
    /// Maximum number of runs.
    pub most_runs: usize,
    /// Number of further series that the selection contains.
    pub further_series: usize,
}

/// A history with its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesHistory {
    /// The runs.
    pub series: HistorySeries,
    /// The figure and its changes.
    pub history: RunHistory,
}
