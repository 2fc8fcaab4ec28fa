//! Reads the history of a figure from the store: the runs that are comparable with one of them.
//!
//! Runs are comparable if their plans are equal in all that decides the figures: load, requests,
//! connections, times. The index groups runs by servers, labels and load, so that only the runs of one
//! series are read. A single run is one value of a history: repetitions within an experiment share their
//! conditions, and are not independent values. For the capacity, a search is one value.

mod plan_key;

use crate::texts::message;
use brunt_judge::compare::ContenderFacts;
use brunt_judge::history::{HistoryRun, capacity_of, exclusion, figure_of, history};
use brunt_judge::judge;
use brunt_model::finding::State;
use brunt_model::numbers::plain;
use brunt_model::run_history::{
    Exclusion, HistoryEntry, HistoryMeasure, HistorySeries, MeasuredFigure, SeriesHistory,
};
use brunt_model::sync::IgnorePoison;
use brunt_model::{Analysis, Question, Run, Study, Text, text};
use brunt_store::entry::LoadRange;
use brunt_store::selection::EntrySelection;
use brunt_store::{IndexEntry, ItemKind, ItemState, Store, StoreError};
use plan_key::{plan_key, search_key};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Number of runs of a history unless another one is requested.
pub const DEFAULT_RUNS: usize = 200;
/// Maximum number of runs of a history: each is read once.
pub const MAX_RUNS: usize = 1000;

/// Maximum number of runs whose figures are retained in memory.
const MAX_RETAINED: usize = 5000;

/// The wanted history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRequest {
    /// The figure.
    pub measure: HistoryMeasure,
    /// The runs of which the series is chosen.
    pub selection: EntrySelection,
    /// A run of the series: an id, a tag, or `last`. None: the latest of the selection.
    pub like: Option<String>,
    /// Maximum number of runs, the latest.
    pub most_runs: usize,
}

/// Reason why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The selection has no run that has ended.
    #[error("no ended {0} matches; list all runs with `brunt runs`, or leave out a filter")]
    Nothing(&'static str),
    /// The item has no such figure.
    #[error("{id} is {kind}, which has no {measure}; write {remedy}")]
    OtherKind {
        /// Id of the item.
        id: String,
        /// Kind of the item.
        kind: &'static str,
        /// Name of the measure.
        measure: &'static str,
        /// A measure that it has, or another item.
        remedy: &'static str,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs that are comparable by what the index knows.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSummary {
    /// Id of its latest run.
    pub latest_id: String,
    /// First URL of the runs, or name of the searches.
    pub what: String,
    /// Their load as text.
    pub load: Text,
    /// Number of runs.
    pub runs: usize,
    /// Start of its first run, in seconds since 1970-01-01 UTC.
    pub first_unix_seconds: f64,
    /// Start of its latest run.
    pub last_unix_seconds: f64,
}

/// What a history needs of one stored item. A complete item never changes.
#[derive(Debug, Clone)]
struct ItemFigures {
    /// Hash of its plan; None if only the index knows the item.
    plan: Option<u64>,
    figures: BTreeMap<HistoryMeasure, MeasuredFigure>,
    /// None for a search: each of its trials has a verdict.
    verdict: Option<State>,
    facts: ContenderFacts,
}

/// Figures of items that were read, by id.
#[derive(Default)]
pub struct HistoryCache(Mutex<BTreeMap<String, Arc<ItemFigures>>>);

impl HistoryCache {
    fn figures(&self, store: &Store, entry: &IndexEntry) -> Arc<ItemFigures> {
        let known = self.lock().get(&entry.id).cloned();
        known.unwrap_or_else(|| {
            // The lock is not held while files are read: other pages need it.
            let figures = Arc::new(ItemFigures::read(store, entry));
            // An interrupted search may be resumed, and a log that cannot be read now may be readable later.
            if entry.progress != ItemState::Whole || figures.plan.is_none() {
                return figures;
            }
            let mut retained = self.lock();
            if retained.len() >= MAX_RETAINED {
                retained.clear();
            }
            retained.insert(entry.id.clone(), Arc::clone(&figures));
            figures
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<ItemFigures>>> {
        self.0.lock().ignore_poison()
    }
}

/// Reads a history of the selected items.
///
/// # Errors
///
/// The selection is empty, the item has no such figure, or the store cannot be read.
pub fn read(
    store: &Store,
    items: &[IndexEntry],
    request: &HistoryRequest,
    cache: &HistoryCache,
) -> Result<SeriesHistory, HistoryError> {
    let like = match &request.like {
        Some(word) => liked(store, word, request.measure)?,
        None => items.last().cloned().ok_or(HistoryError::Nothing(name_of(request.measure)))?,
    };
    let further_series = grouped(items).iter().filter(|group| !is_alike(group[0], &like)).count();
    let mut alike: Vec<&IndexEntry> = items.iter().filter(|entry| is_alike(entry, &like)).collect();
    // A run is a part of its own history, also if the filter leaves it out.
    if alike.is_empty() {
        alike.push(&like);
    }
    let plan = cache.figures(store, &like).plan;
    let mut runs = Vec::new();
    let mut other_plans = 0;
    // The latest first. The number of logs that are read is bounded, too.
    for entry in alike.iter().rev().take(MAX_RUNS) {
        if runs.len() == request.most_runs {
            break;
        }
        let figures = cache.figures(store, entry);
        let has_plan = figures.plan.zip(plan).map(|(one, other)| one == other);
        if has_plan == Some(false) {
            other_plans += 1;
        } else {
            let mut run = history_run(entry, &figures, request.measure);
            let unknown = has_plan.is_none().then_some(Exclusion::UnknownPlan);
            run.entry.exclusion = run.entry.exclusion.or(unknown);
            runs.push(run);
        }
    }
    runs.reverse();
    let older_runs = alike.len() - runs.len() - other_plans;
    let series = HistorySeries {
        like_id: like.id.clone(),
        what: like.what.clone(),
        load: load_of(&like),
        other_plans,
        older_runs,
        most_runs: request.most_runs,
        further_series,
    };
    Ok(SeriesHistory { series, history: history(request.measure, &runs) })
}

/// Lists the series of the selected items, the latest first.
pub fn series(items: &[IndexEntry]) -> Vec<SeriesSummary> {
    let mut all: Vec<SeriesSummary> = grouped(items).iter().filter_map(|g| summary(g)).collect();
    all.sort_by(|a, b| b.last_unix_seconds.total_cmp(&a.last_unix_seconds));
    all
}

fn summary(group: &[&IndexEntry]) -> Option<SeriesSummary> {
    let first = group.first()?;
    let last = group.last()?;
    Some(SeriesSummary {
        latest_id: last.id.clone(),
        what: last.what.clone(),
        load: load_of(last),
        runs: group.len(),
        first_unix_seconds: first.started_unix_seconds?,
        last_unix_seconds: last.started_unix_seconds?,
    })
}

/// Returns the ended items of the kind that has the measure, the oldest first.
pub fn select(store: &Store, request: &HistoryRequest) -> Result<Vec<IndexEntry>, HistoryError> {
    let kind = kind_of(request.measure);
    let items = store.list_items()?.into_iter();
    let items = items.filter(|(entry, runs)| {
        entry.kind == kind && has_ended(entry) && request.selection.contains(entry, runs)
    });
    Ok(items.map(|(entry, _)| entry).collect())
}

fn has_ended(entry: &IndexEntry) -> bool {
    entry.progress != ItemState::Running && entry.started_unix_seconds.is_some()
}

fn kind_of(measure: HistoryMeasure) -> ItemKind {
    if measure == HistoryMeasure::Capacity { ItemKind::Experiment } else { ItemKind::Run }
}

fn name_of(measure: HistoryMeasure) -> &'static str {
    if measure == HistoryMeasure::Capacity { "experiment" } else { "run without an experiment" }
}

/// Returns the item with which the others are compared.
fn liked(store: &Store, word: &str, measure: HistoryMeasure) -> Result<IndexEntry, HistoryError> {
    let item = store.find(word)?;
    let entry = store.entry(item.id())?;
    let id = entry.id.clone();
    let wrong =
        |kind, remedy| Err(HistoryError::OtherKind { id, kind, measure: measure.key(), remedy });
    match (entry.kind, kind_of(measure)) {
        (ItemKind::Experiment, ItemKind::Run) => {
            wrong("an experiment", "`capacity`, or the id of a run")
        }
        (ItemKind::Run, ItemKind::Experiment) => {
            wrong("a single run", "`p99`, or the id of a search")
        }
        _ if !has_ended(&entry) => Err(HistoryError::Nothing(name_of(measure))),
        _ => Ok(entry),
    }
}

/// Groups items that are comparable by what the index knows, in the order of their first ones.
fn grouped(items: &[IndexEntry]) -> Vec<Vec<&IndexEntry>> {
    let mut groups: Vec<Vec<&IndexEntry>> = Vec::new();
    for entry in items {
        match groups.iter_mut().find(|group| is_alike(group[0], entry)) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

fn is_alike(a: &IndexEntry, b: &IndexEntry) -> bool {
    // The loads of a search are its results; those of a run are its plan.
    let has_same_load = a.kind == ItemKind::Experiment || a.load == b.load;
    let has_same_name = a.kind == ItemKind::Run || a.what == b.what;
    a.kind == b.kind
        && a.hosts == b.hosts
        && a.labels == b.labels
        && has_same_load
        && has_same_name
        && a.contenders == b.contenders
}

fn load_of(entry: &IndexEntry) -> Text {
    match &entry.load {
        Some(LoadRange { to, users: true, .. }) if entry.kind == ItemKind::Run => {
            text!("number-of-users", number = plain(*to))
        }
        Some(LoadRange { to, users: false, .. }) if entry.kind == ItemKind::Run => {
            format!("{}/s", plain(*to)).into()
        }
        _ => message!("history-load.search"),
    }
}

fn history_run(entry: &IndexEntry, figures: &ItemFigures, measure: HistoryMeasure) -> HistoryRun {
    let mut shown = HistoryEntry {
        id: entry.id.clone(),
        started_unix_seconds: entry.started_unix_seconds.unwrap_or_default(),
        figure: figures.figures.get(&measure).copied(),
        verdict: figures.verdict,
        is_interrupted: entry.progress == ItemState::Interrupted,
        is_from_index: figures.plan.is_none(),
        exclusion: None,
        tags: entry.tags.clone(),
    };
    let has_no_end = entry.progress == ItemState::Torn;
    shown.exclusion = has_no_end.then_some(Exclusion::NoEnd).or_else(|| exclusion(&shown));
    HistoryRun { entry: shown, facts: figures.facts.clone() }
}

impl ItemFigures {
    /// Reads an item from its digest or log. If neither can be read, the index has three figures of a run.
    fn read(store: &Store, entry: &IndexEntry) -> Self {
        let read = match entry.kind {
            ItemKind::Run => store.run(&entry.id).map(|run| Self::of_run(&run)),
            ItemKind::Experiment => store.study(&entry.id).map(|study| Self::of_study(&study)),
        };
        read.unwrap_or_else(|_| Self::of_index(entry))
    }

    fn of_run(run: &Run) -> Self {
        let judgement = judge(run);
        let figures = HistoryMeasure::ALL
            .into_iter()
            .filter_map(|measure| Some((measure, figure_of(run, &judgement, measure)?)));
        Self {
            plan: Some(run.plan.as_ref().map_or(0, plan_key)),
            figures: figures.collect(),
            verdict: Some(judgement.verdict.state),
            facts: ContenderFacts::of_run("", run),
        }
    }

    fn of_study(study: &Study) -> Self {
        let is_search = matches!(study.experiment.question, Question::Find(_));
        let analysis = if is_search { crate::decide::analysis(study) } else { Analysis::default() };
        let capacity = analysis.answers.first().and_then(capacity_of);
        Self {
            plan: Some(search_key(&study.experiment)),
            figures: capacity
                .map(|figure| (HistoryMeasure::Capacity, figure))
                .into_iter()
                .collect(),
            verdict: None,
            facts: ContenderFacts::new("").with_environment(&study.environment),
        }
    }

    fn of_index(entry: &IndexEntry) -> Self {
        let mut figures = BTreeMap::new();
        if let Some(known) = &entry.figures {
            let figure = |value| MeasuredFigure { value, ..MeasuredFigure::default() };
            figures.insert(HistoryMeasure::Throughput, figure(known.throughput_per_second));
            figures.insert(HistoryMeasure::Errors, figure(known.errors_share));
            figures.extend(known.p99_seconds.map(|value| {
                let is_lower_bound = known.p99_at_least;
                (HistoryMeasure::P99, MeasuredFigure { is_lower_bound, ..figure(value) })
            }));
        }
        let verdict = entry.figures.as_ref().map(|known| known.verdict);
        Self { plan: None, figures, verdict, facts: ContenderFacts::new("") }
    }
}
