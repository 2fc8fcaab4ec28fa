//! Baselines: references for later runs, one file for each, so that they outlive the index.
//!
//! Out of scope: tags. A tag goes away with what it names; what is a baseline cannot be removed.

use super::tags::is_tag;
use super::{Store, StoredItem, not_there};
use crate::{StoreError, directory, id};
use std::fs;

impl Store {
    /// Keeps it as the baseline of that name; the id of what was it before, where there was one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the name cannot be one, or the index cannot be written.
    pub fn save_baseline(&self, name: &str, what: &StoredItem) -> Result<Option<String>, StoreError> {
        if !is_tag(name) {
            let what = "cannot be: write letters, digits, - _ and . (no . first), such as `main`; not `last`";
            return Err(refused(name, what.into()));
        }
        let before = self.baselines()?.into_iter().find(|(known, _)| known == name).map(|(_, id)| id);
        let (path, new) = (self.directory.baseline(name), self.directory.incoming().join(id::draw()));
        // Somebody may read it meanwhile: it is the old one or the new one, and never none.
        directory::write(&new, what.id().as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StoreError::io(&path))?;
        Ok(before.filter(|before| before != what.id()))
    }

    /// The baseline of that name.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is none of that name, or the index cannot be read.
    pub fn baseline(&self, name: &str) -> Result<StoredItem, StoreError> {
        self.reconcile()?;
        let found = self.baselines()?.into_iter().find(|(known, _)| known == name);
        match found {
            Some((_, id)) => self.named(id),
            None => Err(refused(name, "is not among the saved ones; list them with `brunt baseline list`".into())),
        }
    }

    /// Forgets it; its runs stay in the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is none of that name, or the index cannot be written.
    pub fn forget_baseline(&self, name: &str) -> Result<(), StoreError> {
        self.baseline(name).map(drop).or_else(|error| match error {
            StoreError::Unknown(_) => Ok(()),
            error => Err(error),
        })?;
        let path = self.directory.baseline(name);
        fs::remove_file(&path).or_else(not_there).map_err(StoreError::io(&path))
    }

    /// All baselines and their ids, by name.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the index cannot be read.
    pub fn baselines(&self) -> Result<Vec<(String, String)>, StoreError> {
        let folder = self.directory.baselines();
        let mut baselines = Vec::new();
        for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let name = entry.map_err(StoreError::io(&folder))?.file_name();
            if let Some(name) = name.to_str().filter(|name| is_tag(name)) {
                let id = fs::read_to_string(self.directory.baseline(name)).unwrap_or_default();
                baselines.push((name.to_owned(), id));
            }
        }
        baselines.sort();
        Ok(baselines)
    }

    /// Refuses what is to be removed where a baseline is made of it.
    pub(super) fn ensure_no_baseline(&self, ids: &[String]) -> Result<(), StoreError> {
        let baselines = self.baselines()?;
        for id in ids {
            // A run of an experiment that is a baseline is a part of it.
            let of = self.indexed(id).ok().and_then(|entry| entry.experiment);
            let is = |(_, kept): &&(String, String)| kept == id || Some(kept) == of.as_ref();
            if let Some((name, kept)) = baselines.iter().find(is) {
                return Err(StoreError::IsBaseline { id: kept.clone(), name: name.clone() });
            }
        }
        Ok(())
    }
}

fn refused(name: &str, what: String) -> StoreError {
    StoreError::Baseline { name: name.into(), what }
}
