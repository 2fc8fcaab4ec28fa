//! Manages notes and pins: what users write about a stored item, and that they want to keep it. Each is a
//! separate file, named after the item's id, so that it outlives the index.

use super::{Store, StoredItem, ignore_missing};
use crate::{StoreError, directory, id};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Maximum number of bytes in a note.
const MAX_BYTES: usize = 4096;

/// Checks the length of a note.
///
/// # Errors
///
/// [`StoreError`] if the text is too long.
pub(crate) fn check_note(text: &str) -> Result<(), StoreError> {
    let given = text.trim().len();
    if given > MAX_BYTES {
        return Err(StoreError::Note { most: MAX_BYTES, given });
    }
    Ok(())
}

impl Store {
    /// Gives an item a note, in place of the one that it has. An empty text removes it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the text is too long, or the note cannot be written.
    pub fn set_note(&self, item: &StoredItem, text: &str) -> Result<(), StoreError> {
        check_note(text)?;
        let text = text.trim();
        if text.is_empty() {
            return self.remove_note(item.id());
        }
        let path = self.directory.notes().join(item.id());
        let new = self.directory.incoming().join(id::draw());
        // A rename is atomic: a full disk does not cut the note that exists.
        directory::write(&new, text.as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StoreError::io(&path))
    }

    /// Pins an item: it is not removed until it is unpinned.
    pub fn pin(&self, item: &StoredItem) -> Result<(), StoreError> {
        let path = self.directory.pins().join(item.id());
        directory::write(&path, b"").map_err(StoreError::io(&path))
    }

    /// Unpins an item. Has no effect if it is not pinned.
    pub fn unpin(&self, item: &StoredItem) -> Result<(), StoreError> {
        let path = self.directory.pins().join(item.id());
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    /// Returns the ids of all pinned items.
    pub fn pinned(&self) -> Result<BTreeSet<String>, StoreError> {
        ids_in(&self.directory.pins())
    }

    /// Returns the ids of all items with a note.
    pub(super) fn noted(&self) -> Result<BTreeSet<String>, StoreError> {
        ids_in(&self.directory.notes())
    }

    /// Returns the note of an item; None if it has none.
    pub(crate) fn note(&self, id: &str) -> Option<String> {
        fs::read_to_string(self.directory.notes().join(id)).ok().filter(|text| !text.is_empty())
    }

    /// Removes the note of an item, if it has one.
    pub(super) fn remove_note(&self, id: &str) -> Result<(), StoreError> {
        let path = self.directory.notes().join(id);
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }
}

/// Returns the ids that are names of files in a folder.
fn ids_in(folder: &Path) -> Result<BTreeSet<String>, StoreError> {
    Ok(directory::ids_in(folder, &[""])?.into_iter().collect())
}
