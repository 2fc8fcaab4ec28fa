//! Manages notes and pins: what users write about a stored item, and that they want to keep it. Each is a
//! separate file, named after the item's id, so that it outlives the index.

use super::{Store, StoredItem, ignore_missing};
use crate::{StoreError, directory, id};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Maximum number of bytes in a note.
const MAX_BYTES: usize = 4096;

impl Store {
    /// Gives an item a note, in place of the one that it has. An empty text removes it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the text is too long, or the note cannot be written.
    pub fn set_note(&self, item: &StoredItem, text: &str) -> Result<(), StoreError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(StoreError::Note { most: MAX_BYTES, given: text.len() });
        }
        let path = self.directory.notes().join(item.id());
        if text.is_empty() {
            return fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path));
        }
        let new = self.directory.incoming().join(id::draw());
        // A rename is atomic: a full disk does not cut the note that exists.
        directory::write(&new, text.as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StoreError::io(&path))
    }

    /// Pins an item: it is not removed until it is unpinned.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the pin cannot be written.
    pub fn pin(&self, item: &StoredItem) -> Result<(), StoreError> {
        let path = self.directory.pins().join(item.id());
        directory::write(&path, b"").map_err(StoreError::io(&path))
    }

    /// Unpins an item. Has no effect if it is not pinned.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the pin cannot be removed.
    pub fn unpin(&self, item: &StoredItem) -> Result<(), StoreError> {
        let path = self.directory.pins().join(item.id());
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    /// Returns the ids of all pinned items.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the pins cannot be read.
    pub fn pinned(&self) -> Result<BTreeSet<String>, StoreError> {
        ids_in(&self.directory.pins())
    }

    /// Returns the notes by the ids of their items.
    pub(super) fn notes(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let folder = self.directory.notes();
        let notes = ids_in(&folder)?.into_iter().map(|id| {
            // Another process may remove it in the meantime.
            let text = fs::read_to_string(folder.join(&id)).unwrap_or_default();
            (id, text)
        });
        Ok(notes.filter(|(_, text)| !text.is_empty()).collect())
    }

    /// Removes the note of an item that is removed.
    pub(super) fn remove_note(&self, id: &str) -> Result<(), StoreError> {
        let path = self.directory.notes().join(id);
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    /// Returns an error if one of these items is pinned, or a run of a pinned experiment.
    pub(super) fn ensure_not_pinned(&self, ids: &[String]) -> Result<(), StoreError> {
        let pinned = self.pinned()?;
        for id in ids {
            let experiment = self.indexed(id).ok().and_then(|entry| entry.experiment);
            if let Some(id) =
                [Some(id.clone()), experiment].into_iter().flatten().find(|id| pinned.contains(id))
            {
                return Err(StoreError::IsPinned(id));
            }
        }
        Ok(())
    }
}

/// Returns the ids that are names of files in a folder.
fn ids_in(folder: &Path) -> Result<BTreeSet<String>, StoreError> {
    Ok(directory::ids_in(folder, "")?.into_iter().collect())
}
