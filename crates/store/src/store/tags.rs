//! Manages tags: names that users give to stored runs. Each is a separate file, so that
//! it outlives the index.

use super::{Store, ignore_missing};
use crate::{StoreError, StoredItem, directory, id};
use std::fs;
use std::io::{ErrorKind, Write};

/// Maximum number of bytes in a tag.
const MAX_BYTES: usize = 64;

impl Store {
    /// Gives an item a tag. A tag names one item only.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the tag is invalid or names another item, or the index cannot be written.
    pub fn tag(&self, item: &StoredItem, tag: &str) -> Result<(), StoreError> {
        self.check_tag(tag)?;
        let path = self.directory.tag(tag);
        match directory::create_new(&path) {
            Ok(mut file) => file.write_all(item.id().as_bytes()).map_err(StoreError::io(&path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match self.tagged(tag)? {
                Some(id) if id == item.id() => Ok(()),
                Some(id) => {
                    Err(refusal(tag, format!("is that of {id}; first `brunt runs untag {tag}`")))
                }
                // The item was removed by hand, or the tag was written when the disk was full.
                None => {
                    directory::write(&path, item.id().as_bytes()).map_err(StoreError::io(&path))
                }
            },
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Removes a tag.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such tag, or the index cannot be written.
    pub fn untag(&self, tag: &str) -> Result<(), StoreError> {
        if !is_tag(tag) || !self.directory.tag(tag).exists() {
            return Err(refusal(
                tag,
                "is on nothing; `brunt runs list` shows those there are".into(),
            ));
        }
        let path = self.directory.tag(tag);
        fs::remove_file(&path).or_else(ignore_missing).map_err(StoreError::io(&path))
    }

    /// Returns the id of the item with this tag.
    pub(super) fn tagged(&self, tag: &str) -> Result<Option<String>, StoreError> {
        if !is_tag(tag) {
            return Ok(None);
        }
        let id = fs::read_to_string(self.directory.tag(tag)).unwrap_or_default();
        Ok(self.index().kind(&id)?.map(|_| id))
    }

    /// Returns all tags with the ids of their items, sorted by tag.
    pub(super) fn all_tags(&self) -> Result<Vec<(String, String)>, StoreError> {
        let folder = self.directory.tags();
        let mut tags = Vec::new();
        for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let name = entry.map_err(StoreError::io(&folder))?.file_name();
            if let Some(tag) = name.to_str().filter(|name| is_tag(name)) {
                tags.push((
                    tag.to_owned(),
                    fs::read_to_string(self.directory.tag(tag)).unwrap_or_default(),
                ));
            }
        }
        tags.sort();
        Ok(tags)
    }

    pub(super) fn untag_all(&self, id: &str) -> Result<(), StoreError> {
        let tags = self.all_tags()?;
        tags.iter().filter(|(_, target)| target == id).try_for_each(|(tag, _)| self.untag(tag))
    }

    fn check_tag(&self, tag: &str) -> Result<(), StoreError> {
        if !is_tag(tag) {
            let what = "cannot be: write letters, digits, - _ and . (no . first), such as `baseline`; not `last`";
            return Err(refusal(tag, what.into()));
        }
        if id::is_id(tag) && self.index().kind(tag)?.is_some() {
            return Err(refusal(tag, "is an id: write another".into()));
        }
        Ok(())
    }
}

/// True if `word` can be the name of a tag or a baseline, and hence of a file.
pub(super) fn is_tag(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= MAX_BYTES
        && word != "last"
        && !word.starts_with('.')
        && word.chars().all(is_allowed_in_tags)
}

fn is_allowed_in_tags(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.".contains(letter)
}

fn refusal(tag: &str, what: String) -> StoreError {
    StoreError::Tag { tag: tag.into(), what }
}
