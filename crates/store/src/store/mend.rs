//! Rows that nobody completed: whether somebody still writes, or went away; and what the files say then.

use super::Store;
use crate::entry::{self, Entry, Kind, Progress};
use crate::experiment::{self, ExperimentEnd};
use crate::{EntryFilter, StoreError, run_log};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

impl Store {
    /// Completes the rows that nobody completed, from their files. How far those came that stay open.
    pub(super) fn mend(&self) -> Result<BTreeMap<String, Progress>, StoreError> {
        let mut open = BTreeMap::new();
        for entry in self.index().entries(&EntryFilter::Unended)? {
            let stays = match entry.kind {
                _ if self.carried_out.borrow().contains_key(&entry.id) => Some(Progress::Running),
                Kind::Run => self.mend_run(&entry.id)?,
                Kind::Experiment => self.mend_experiment(&entry)?,
            };
            open.extend(stays.map(|progress| (entry.id, progress)));
        }
        Ok(open)
    }

    fn mend_run(&self, id: &str) -> Result<Option<Progress>, StoreError> {
        if is_locked(&self.directory.run(id)) {
            return Ok(Some(Progress::Running));
        }
        // Without a plan there is nothing to keep, and its process may be just about to write it.
        let Some(run) = self.run(id).ok().filter(|run| run.plan.is_some()) else { return Ok(Some(Progress::Torn)) };
        let judgement = brunt_judge::judge(&run);
        let progress = entry::progress_of(&run);
        unless_full(run_log::complete(&self.index(), id, progress, (&run, &judgement)), progress)
    }

    fn mend_experiment(&self, entry: &Entry) -> Result<Option<Progress>, StoreError> {
        let path = self.directory.experiment(&entry.id);
        let locked = is_locked(&path).then_some(Progress::Running);
        let Ok(kept) = experiment::read(&path) else { return Ok(locked.or(Some(Progress::Torn))) };
        if entry.started_unix_seconds.is_none() {
            unless_full(self.describe(&entry.id, &kept.asked), Progress::Torn)?;
        }
        if locked.is_none() {
            let progress = progress_of(kept.ended.as_ref());
            return unless_full(self.index().ended(&entry.id, progress, None), progress);
        }
        Ok(locked)
    }
}

/// A full disk does not keep anybody from reading: the row stays as it is, and how far it came is told all the same.
fn unless_full(written: Result<(), StoreError>, progress: Progress) -> Result<Option<Progress>, StoreError> {
    match written {
        Err(error) if error.is_of_the_disk() => Ok(Some(progress)),
        written => written.map(|()| None),
    }
}

/// How far an experiment came.
pub(super) fn progress_of(ended: Option<&ExperimentEnd>) -> Progress {
    match ended {
        None => Progress::Torn,
        Some(ended) if ended.interrupted => Progress::Interrupted,
        Some(_) => Progress::Whole,
    }
}

/// Whether a process writes to this file.
pub(super) fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
