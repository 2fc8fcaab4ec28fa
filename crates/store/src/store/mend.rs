//! Completes rows without an end: finds out whether a process still writes, and reads the
//! file if none does.

use super::Store;
use super::open::{IndexWork, ProgressSteps, ROWS_PER_TRANSACTION};
use crate::entry::{self, IndexEntry, ItemKind, ItemState, KeyFigures};
use crate::experiment::{self, ExperimentEnd, ExperimentHead};
use crate::run_log::StartRow;
use crate::{EntryFilter, StoreError};
use brunt_files::open_regular;
use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::path::Path;

impl Store {
    /// Completes the rows without an end from their files. Returns the states of the
    /// ones that stay open.
    pub(super) fn mend(&self) -> Result<BTreeMap<String, ItemState>, StoreError> {
        let mut open = BTreeMap::new();
        let unfinished = self.index().entries(&EntryFilter::Unfinished)?;
        let shown = ProgressSteps::new(self.progress, IndexWork::Figures, unfinished.len());
        for entries in unfinished.chunks(ROWS_PER_TRANSACTION) {
            // Logs are read before the transaction, because other processes wait for it.
            let mended: Vec<(&str, Mended)> =
                entries.iter().map(|entry| (entry.id.as_str(), self.mended(entry))).collect();
            let written = self.index().in_transaction(|| {
                mended.iter().try_for_each(|(id, mended)| self.write_mended(id, mended))
            });
            let is_full = match written {
                // Reading must still work on a full disk, so the rows stay open.
                Err(error) if error.is_of_the_disk() => true,
                written => written.map(|()| false)?,
            };
            for (id, mended) in mended {
                let state = match mended {
                    Mended::Open { state, .. } => Some(state),
                    Mended::Ended { state, .. } => is_full.then_some(state),
                };
                open.extend(state.map(|state| (id.to_owned(), state)));
            }
            shown.count(entries.len());
        }
        Ok(open)
    }

    fn mended(&self, entry: &IndexEntry) -> Mended {
        match entry.kind {
            _ if self.active_experiments.borrow().contains_key(&entry.id) => {
                Mended::Open { state: ItemState::Running, head: None }
            }
            ItemKind::Run => self.mended_run(&entry.id),
            ItemKind::Experiment => self.mended_experiment(entry),
        }
    }

    fn mended_run(&self, id: &str) -> Mended {
        if is_locked(&self.directory.run(id)) {
            return Mended::Open { state: ItemState::Running, head: None };
        }
        // A brunt that was killed leaves its socket.
        let _ = std::fs::remove_file(self.control_socket(id));
        // A log without a plan has nothing to store, and its process may be about to write one.
        let Some(run) = self.run(id).ok().filter(|run| run.plan.is_some()) else {
            return Mended::Open { state: ItemState::Torn, head: None };
        };
        let judgement = brunt_judge::judge(&run);
        let row = run.plan.as_ref().map(|plan| StartRow::of_run(plan, run.unix_seconds));
        Mended::Ended {
            state: entry::progress_of(&run),
            row,
            figures: Some(KeyFigures::of(&run, &judgement)),
            head: None,
        }
    }

    fn mended_experiment(&self, entry: &IndexEntry) -> Mended {
        let path = self.directory.experiment(&entry.id);
        let is_running = is_locked(&path);
        let Ok(contents) = experiment::read(&path) else {
            let state = if is_running { ItemState::Running } else { ItemState::Torn };
            return Mended::Open { state, head: None };
        };
        let head = entry.started_unix_seconds.is_none().then(|| Box::new(contents.head));
        if is_running {
            return Mended::Open { state: ItemState::Running, head };
        }
        let state = progress_of(contents.end.as_ref());
        Mended::Ended { state, row: None, figures: None, head }
    }

    fn write_mended(&self, id: &str, mended: &Mended) -> Result<(), StoreError> {
        let (Mended::Open { head, .. } | Mended::Ended { head, .. }) = mended;
        if let Some(head) = head {
            self.describe(id, head)?;
        }
        let Mended::Ended { state, row, figures, .. } = mended else { return Ok(()) };
        if let Some(row) = row {
            row.write(&self.index(), id)?;
        }
        self.index().set_end(id, *state, figures.as_ref())
    }
}

/// Changes of a row without an end.
enum Mended {
    /// The row stays open.
    Open { state: ItemState, head: Option<Box<ExperimentHead>> },
    /// The row gets its end.
    Ended {
        state: ItemState,
        row: Option<StartRow>,
        figures: Option<KeyFigures>,
        head: Option<Box<ExperimentHead>>,
    },
}

/// Returns the state of an experiment with this end record.
pub(super) fn progress_of(end: Option<&ExperimentEnd>) -> ItemState {
    match end {
        None => ItemState::Torn,
        Some(end) if end.interrupted => ItemState::Interrupted,
        Some(_) => ItemState::Whole,
    }
}

/// True if a process writes to this file.
pub(super) fn is_locked(path: &Path) -> bool {
    open_regular(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
