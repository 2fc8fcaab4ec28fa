//! Rows that nobody completed: whether somebody still writes, or went away; and what the files say then.

use super::Store;
use crate::entry::{self, Entry, Kind, Progress};
use crate::experiment::{self, Ended};
use crate::{Listed, StoreError, run_log};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

impl Store {
    /// Completes the rows that nobody completed, from their files. How far those came that stay open.
    pub(super) fn mend(&self) -> Result<BTreeMap<String, Progress>, StoreError> {
        let mut open = BTreeMap::new();
        for entry in self.index.entries(&Listed::Unended)? {
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
        run_log::complete(&self.index, id, entry::progress_of(&run), (&run, &judgement))?;
        Ok(None)
    }

    fn mend_experiment(&self, entry: &Entry) -> Result<Option<Progress>, StoreError> {
        let path = self.directory.experiment(&entry.id);
        let locked = is_locked(&path).then_some(Progress::Running);
        let Ok(kept) = experiment::read(&path) else { return Ok(locked.or(Some(Progress::Torn))) };
        if entry.started_unix_seconds.is_none() {
            self.describe(&entry.id, &kept.asked)?;
        }
        if locked.is_none() {
            self.index.ended(&entry.id, progress_of(kept.ended.as_ref()), None)?;
        }
        Ok(locked)
    }
}

/// How far an experiment came.
pub(super) fn progress_of(ended: Option<&Ended>) -> Progress {
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
