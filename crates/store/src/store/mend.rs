//! Completes rows without an end: finds out whether a process still writes, and reads the
//! file if none does.

use super::Store;
use crate::entry::{self, IndexEntry, ItemKind, ItemState};
use crate::experiment::{self, ExperimentEnd};
use crate::{EntryFilter, StoreError, run_log};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

impl Store {
    /// Completes the rows without an end from their files. Returns the states of the
    /// ones that stay open.
    pub(super) fn mend(&self) -> Result<BTreeMap<String, ItemState>, StoreError> {
        let mut open = BTreeMap::new();
        for entry in self.index().entries(&EntryFilter::Unfinished)? {
            let stays = match entry.kind {
                _ if self.active_experiments.borrow().contains_key(&entry.id) => {
                    Some(ItemState::Running)
                }
                ItemKind::Run => self.mend_run(&entry.id)?,
                ItemKind::Experiment => self.mend_experiment(&entry)?,
            };
            open.extend(stays.map(|progress| (entry.id, progress)));
        }
        Ok(open)
    }

    fn mend_run(&self, id: &str) -> Result<Option<ItemState>, StoreError> {
        if is_locked(&self.directory.run(id)) {
            return Ok(Some(ItemState::Running));
        }
        // A brunt that was killed leaves its socket.
        let _ = std::fs::remove_file(self.control_socket(id));
        // A log without a plan has nothing to store, and its process may be about to write one.
        let Some(run) = self.run(id).ok().filter(|run| run.plan.is_some()) else {
            return Ok(Some(ItemState::Torn));
        };
        let judgement = brunt_judge::judge(&run);
        let progress = entry::progress_of(&run);
        unless_full(run_log::complete(&self.index(), id, progress, &run, &judgement), progress)
    }

    fn mend_experiment(&self, entry: &IndexEntry) -> Result<Option<ItemState>, StoreError> {
        let path = self.directory.experiment(&entry.id);
        let running = is_locked(&path).then_some(ItemState::Running);
        let Ok(contents) = experiment::read(&path) else {
            return Ok(running.or(Some(ItemState::Torn)));
        };
        if entry.started_unix_seconds.is_none() {
            unless_full(self.describe(&entry.id, &contents.head), ItemState::Torn)?;
        }
        if running.is_none() {
            let progress = progress_of(contents.end.as_ref());
            return unless_full(self.index().set_end(&entry.id, progress, None), progress);
        }
        Ok(running)
    }
}

/// Handles a full disk: reading must still work, so the row stays open and the state is returned.
fn unless_full(
    written: Result<(), StoreError>,
    progress: ItemState,
) -> Result<Option<ItemState>, StoreError> {
    match written {
        Err(error) if error.is_of_the_disk() => Ok(Some(progress)),
        written => written.map(|()| None),
    }
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
    File::open(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
