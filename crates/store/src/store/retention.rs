//! Retention: removes old event logs and old items of a store, by age and by size.
//!
//! A [`Pruning`] is planned first, and carried out later. Logs are removed first, the oldest first;
//! their digests stay, so reports still work. Whole items follow, if they are too old, or the store
//! is still too large. An experiment is one item. The store has no clock; the caller passes the
//! time.

use super::{Store, StoredItem};
use crate::digest::SHORT_LOG_BYTES;
use crate::entry::{IndexEntry, ItemKind, ItemState};
use crate::{EntryFilter, StoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Expected size of a digest that does not exist yet: this part of its log. Measured: a hundredth
/// to a third.
const LOG_BYTES_PER_DIGEST_BYTE: u64 = 3;

/// Limits on the age and the size of stored items. None: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Maximum age of event logs that have or can have a digest.
    pub logs_older_than: Option<Duration>,
    /// Maximum age of items.
    pub older_than: Option<Duration>,
    /// Maximum size of all items, in bytes.
    pub max_bytes: Option<u64>,
}

/// Steps that bring a store within limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Pruning {
    /// Steps in their order.
    pub steps: Vec<PruningStep>,
    /// Items that exceed a limit, or are a part of a store that is too large, but are exempt.
    pub exempt: Vec<ExemptItem>,
    /// Size of all items before the steps, in bytes.
    pub bytes_before: u64,
    /// Size of all items after the steps, in bytes. It is an estimate if digests do not exist yet.
    pub bytes_after: u64,
}

/// Removal of an item, or of its logs.
#[derive(Debug, Clone, PartialEq)]
pub struct PruningStep {
    /// The run or experiment.
    pub item: StoredItem,
    /// Time since its start, in seconds; None if it never started.
    pub age_seconds: Option<f64>,
    /// Number of bytes that the step frees.
    pub bytes: u64,
    /// Kind of the removal.
    pub action: PruningAction,
    /// The limit that the item exceeds.
    pub reason: PruningReason,
}

/// Kind of removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PruningAction {
    /// Long event logs; their digests stay.
    RemoveLogs,
    /// The item with all its files.
    RemoveItem,
}

/// Limit that an item exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruningReason {
    /// Its logs are older than this.
    LogsOlderThan(Duration),
    /// It is older than this.
    OlderThan(Duration),
    /// The store has more bytes than this.
    MaxBytes(u64),
}

/// An item that is never pruned.
#[derive(Debug, Clone, PartialEq)]
pub struct ExemptItem {
    /// The run or experiment.
    pub item: StoredItem,
    /// Time since its start, in seconds; None if it never started.
    pub age_seconds: Option<f64>,
    /// Size of its files, in bytes.
    pub bytes: u64,
    /// Why it is exempt.
    pub exemption: Exemption,
}

/// Why an item is never pruned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exemption {
    /// It is the baseline of this name, or has a run that is one.
    Baseline(String),
    /// It is pinned, or has a run that is.
    Pinned,
    /// A process writes to it.
    Active,
}

impl fmt::Display for Exemption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baseline(name) => write!(out, "baseline `{name}`"),
            Self::Pinned => out.write_str("pinned"),
            Self::Active => out.write_str("still being written"),
        }
    }
}

/// Result of a pruning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruningResult {
    /// Number of bytes that were freed.
    pub bytes_freed: u64,
    /// Ids of items that were skipped, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// An item with its files.
struct RetainedItem {
    item: StoredItem,
    age_seconds: Option<f64>,
    /// Size of its files.
    bytes: u64,
    /// Number of bytes that are freed if digests replace its long logs.
    log_bytes: u64,
    exemption: Option<Exemption>,
}

impl Store {
    /// Plans a pruning at this time, in seconds since 1970-01-01 UTC. It changes nothing.
    pub fn plan_pruning(
        &self,
        limits: &RetentionLimits,
        now_unix_seconds: f64,
    ) -> Result<Pruning, StoreError> {
        Ok(planned(&self.retained_items(now_unix_seconds)?, limits))
    }

    /// Carries out a pruning. Items that became exempt after its planning are skipped.
    pub fn prune(&self, pruning: &Pruning) -> Result<PruningResult, StoreError> {
        let exempt = self.exempt()?;
        let mut result = PruningResult::default();
        for step in &pruning.steps {
            let id = step.item.id();
            let runs = self.runs_of(&step.item)?;
            let bytes_before = self.bytes_of(&step.item, &runs);
            let exemption = exemption_of(&exempt, id, &runs);
            let skipped = match exemption {
                Some(exemption) => Some(exemption.to_string()),
                None => self.carry_out(step, &runs)?.map(|error| error.to_string()),
            };
            result.skipped.extend(skipped.map(|reason| (id.to_owned(), reason)));
            let bytes_after = self.bytes_of(&step.item, &runs);
            result.bytes_freed += bytes_before.saturating_sub(bytes_after);
        }
        Ok(result)
    }

    /// Returns the items that are never pruned, by id.
    pub fn exempt(&self) -> Result<BTreeMap<String, Exemption>, StoreError> {
        let mut exempt: BTreeMap<String, Exemption> =
            self.pinned()?.into_iter().map(|id| (id, Exemption::Pinned)).collect();
        exempt.extend(
            self.baselines()?.into_iter().map(|(name, id)| (id, Exemption::Baseline(name))),
        );
        Ok(exempt)
    }

    /// Returns an error if one of these items is exempt, or a run of an exempt experiment.
    pub(super) fn ensure_not_exempt(&self, ids: &[String]) -> Result<(), StoreError> {
        let mut exempt = self.exempt()?;
        for id in ids {
            // A run of an experiment that is kept is a part of it.
            let experiment = self.indexed(id).ok().and_then(|entry| entry.experiment);
            for id in [Some(id.clone()), experiment].into_iter().flatten() {
                match exempt.remove(&id) {
                    Some(Exemption::Baseline(name)) => {
                        return Err(StoreError::IsBaseline { id, name });
                    }
                    Some(Exemption::Pinned) => return Err(StoreError::IsPinned(id)),
                    Some(Exemption::Active) => return Err(StoreError::Busy(id)),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Carries out one step. Returns the reason if it was not possible for this item.
    fn carry_out(
        &self,
        step: &PruningStep,
        runs: &[IndexEntry],
    ) -> Result<Option<StoreError>, StoreError> {
        let done = match step.action {
            PruningAction::RemoveItem => self.remove(&step.item).map(drop),
            PruningAction::RemoveLogs => runs
                .iter()
                .filter(|run| self.replaceable_log(run).is_some())
                .try_for_each(|run| self.replace_log_by_digest(&run.id)),
        };
        match done {
            Err(
                error @ (StoreError::Busy(_)
                | StoreError::IsBaseline { .. }
                | StoreError::IsPinned(_)
                | StoreError::NoEnd(_)),
            ) => Ok(Some(error)),
            done => done.map(|()| None),
        }
    }

    /// Returns all items, the oldest first.
    fn retained_items(&self, now_unix_seconds: f64) -> Result<Vec<RetainedItem>, StoreError> {
        let exempt = self.exempt()?;
        let items = self.list_items()?.into_iter().map(|(entry, runs)| {
            let runs = match entry.kind {
                ItemKind::Run => vec![entry.clone()],
                ItemKind::Experiment => runs,
            };
            self.retained_item(&entry, &runs, &exempt, now_unix_seconds)
        });
        Ok(items.collect())
    }

    fn retained_item(
        &self,
        entry: &IndexEntry,
        runs: &[IndexEntry],
        exempt: &BTreeMap<String, Exemption>,
        now_unix_seconds: f64,
    ) -> RetainedItem {
        let item = match entry.kind {
            ItemKind::Run => StoredItem::Run(entry.id.clone()),
            ItemKind::Experiment => StoredItem::Experiment(entry.id.clone()),
        };
        let bytes = self.bytes_of(&item, runs);
        let is_active =
            std::iter::once(entry).chain(runs).any(|entry| entry.progress == ItemState::Running);
        let exemption = exemption_of(exempt, &entry.id, runs).cloned();
        RetainedItem {
            item,
            age_seconds: entry.started_unix_seconds.map(|started| now_unix_seconds - started),
            bytes,
            log_bytes: runs.iter().filter_map(|run| self.replaceable_log(run)).sum(),
            exemption: exemption.or(is_active.then_some(Exemption::Active)),
        }
    }

    /// Size of the files of an item, in bytes.
    fn bytes_of(&self, item: &StoredItem, runs: &[IndexEntry]) -> u64 {
        let of_experiment = match item {
            StoredItem::Run(_) => 0,
            StoredItem::Experiment(id) => file_bytes(&self.directory.experiment(id)),
        };
        let of_runs = runs
            .iter()
            .flat_map(|run| [self.directory.run(&run.id), self.directory.digest(&run.id)]);
        of_experiment + of_runs.map(|path| file_bytes(&path)).sum::<u64>()
    }

    fn runs_of(&self, item: &StoredItem) -> Result<Vec<IndexEntry>, StoreError> {
        self.index().entries(&match item {
            StoredItem::Run(id) => EntryFilter::One(id.clone()),
            StoredItem::Experiment(id) => EntryFilter::RunsOf(id.clone()),
        })
    }

    /// Number of bytes that are freed if a digest replaces the log of a run. None if its log is
    /// short or removed, or has no end.
    fn replaceable_log(&self, run: &IndexEntry) -> Option<u64> {
        let has_end = matches!(run.progress, ItemState::Whole | ItemState::Interrupted);
        let bytes = file_bytes(&self.directory.run(&run.id));
        let has_digest = self.directory.digest(&run.id).exists();
        let new_digest = if has_digest { 0 } else { bytes / LOG_BYTES_PER_DIGEST_BYTE };
        (has_end && bytes > SHORT_LOG_BYTES).then_some(bytes - new_digest)
    }
}

/// Plans the steps for these items, which are sorted by age, the oldest first.
fn planned(items: &[RetainedItem], limits: &RetentionLimits) -> Pruning {
    let bytes_before = items.iter().map(|item| item.bytes).sum();
    let mut steps: Vec<Option<PruningStep>> =
        items.iter().map(|item| step_by_age(item, limits)).collect();
    let mut bytes = bytes_before - freed(&steps);
    if let Some(max_bytes) = limits.max_bytes {
        for action in [PruningAction::RemoveLogs, PruningAction::RemoveItem] {
            for (item, step) in items.iter().zip(&mut steps) {
                let already_freed = step.as_ref().map_or(0, |step| step.bytes);
                let is_excess = bytes > max_bytes && item.exemption.is_none();
                if is_excess && item.freed_by(action) > already_freed {
                    bytes -= item.freed_by(action) - already_freed;
                    *step = Some(item.step(action, PruningReason::MaxBytes(max_bytes)));
                }
            }
        }
    }
    let is_too_large = limits.max_bytes.is_some_and(|max_bytes| bytes > max_bytes);
    let exempt = items.iter().filter(|item| is_too_large || item.reason_by_age(limits).is_some());
    let exempt = exempt.filter_map(|item| {
        Some(ExemptItem {
            item: item.item.clone(),
            age_seconds: item.age_seconds,
            bytes: item.bytes,
            exemption: item.exemption.clone()?,
        })
    });
    let exempt = exempt.collect();
    let mut steps: Vec<PruningStep> = steps.into_iter().flatten().collect();
    // The sort is stable, so the oldest stays first.
    steps.sort_by_key(|step| step.action);
    Pruning { steps, exempt, bytes_before, bytes_after: bytes }
}

fn step_by_age(item: &RetainedItem, limits: &RetentionLimits) -> Option<PruningStep> {
    let (action, reason) = item.reason_by_age(limits)?;
    item.exemption.is_none().then(|| item.step(action, reason))
}

fn freed(steps: &[Option<PruningStep>]) -> u64 {
    steps.iter().flatten().map(|step| step.bytes).sum()
}

impl RetainedItem {
    /// Returns the limit of age that it exceeds.
    fn reason_by_age(&self, limits: &RetentionLimits) -> Option<(PruningAction, PruningReason)> {
        if let Some(limit) = limits.older_than.filter(|limit| self.is_older_than(*limit)) {
            return Some((PruningAction::RemoveItem, PruningReason::OlderThan(limit)));
        }
        let limit = limits.logs_older_than.filter(|limit| self.is_older_than(*limit))?;
        let has_logs = self.log_bytes > 0;
        has_logs.then_some((PruningAction::RemoveLogs, PruningReason::LogsOlderThan(limit)))
    }

    fn is_older_than(&self, limit: Duration) -> bool {
        self.age_seconds.is_some_and(|age| age > limit.as_secs_f64())
    }

    fn freed_by(&self, action: PruningAction) -> u64 {
        match action {
            PruningAction::RemoveLogs => self.log_bytes,
            PruningAction::RemoveItem => self.bytes,
        }
    }

    fn step(&self, action: PruningAction, reason: PruningReason) -> PruningStep {
        PruningStep {
            item: self.item.clone(),
            age_seconds: self.age_seconds,
            bytes: self.freed_by(action),
            action,
            reason,
        }
    }
}

/// Returns the exemption of an item: its own, or that of one of its runs.
fn exemption_of<'e>(
    exempt: &'e BTreeMap<String, Exemption>,
    id: &str,
    runs: &[IndexEntry],
) -> Option<&'e Exemption> {
    exempt.get(id).or_else(|| runs.iter().find_map(|run| exempt.get(&run.id)))
}

/// Size of a file; 0 if it does not exist.
fn file_bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}
