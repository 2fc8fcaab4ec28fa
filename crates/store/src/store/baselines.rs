//! Manages baselines: references for later runs. Each is a separate file, so that
//! it outlives the index.
//!
//! Out of scope: tags. A tag is removed together with its item; the item of a
//! baseline cannot be removed.

use super::tags::is_tag;
use super::{Store, StoredItem, ignore_missing};
use crate::{StoreError, directory, id};
use std::fs;

impl Store {
    /// Saves an item as the baseline of this name. Returns the id of the previous baseline, if
    /// it was another one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the name is invalid, or the index cannot be written.
    pub fn save_baseline(
        &self,
        name: &str,
        item: &StoredItem,
    ) -> Result<Option<String>, StoreError> {
        if !is_tag(name) {
            let what = "cannot be: write letters, digits, - _ and . (no . first), such as `main`; not `last`";
            return Err(refusal(name, what.into()));
        }
        let before =
            self.baselines()?.into_iter().find(|(known, _)| known == name).map(|(_, id)| id);
        let path = self.directory.baseline(name);
        let new = self.directory.incoming().join(id::draw());
        // A rename is atomic: another process reads the old baseline or the new one, never none.
        directory::write(&new, item.id().as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StoreError::io(&path))?;
        Ok(before.filter(|before| before != item.id()))
    }

    /// Returns the baseline of this name.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such baseline, or the index cannot be read.
    pub fn baseline(&self, name: &str) -> Result<StoredItem, StoreError> {
        self.reconcile()?;
        match self.baselines()?.into_iter().find(|(known, _)| known == name) {
            Some((_, id)) => self.named(id),
            None => Err(refusal(
                name,
                "is not among the saved ones; list them with `brunt baseline list`".into(),
            )),
        }
    }

    /// Removes a baseline. Its runs stay in the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such baseline, or the index cannot be written.
    // A baseline can be removed even if its runs were deleted by hand.
    pub fn forget_baseline(&self, name: &str) -> Result<(), StoreError> {
        self.baseline(name).map(drop).or_else(|error| match error {
            StoreError::Unknown(_) => Ok(()),
            error => Err(error),
        })?;
        let path = self.directory.baseline(name);
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    /// Returns the names and ids of all baselines, sorted by name.
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
}

fn refusal(name: &str, what: String) -> StoreError {
    StoreError::Baseline { name: name.into(), what }
}
