//! Tags: names that users give to stored runs, one file for each, so that they outlive the index.

use super::{Store, not_there};
use crate::{StoreError, StoredItem, directory, id};
use std::fs;
use std::io::{ErrorKind, Write};

/// A tag is no longer.
const LONGEST: usize = 64;

impl Store {
    /// Gives it a name. One name stands for one thing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the tag cannot be one, or stands for something else, or the index cannot be written.
    pub fn tag(&self, what: &StoredItem, tag: &str) -> Result<(), StoreError> {
        self.may_be_tag(tag)?;
        let path = self.directory.tag(tag);
        match directory::create_new(&path) {
            Ok(mut file) => file.write_all(what.id().as_bytes()).map_err(StoreError::io(&path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match self.tagged(tag)? {
                Some(id) if id == what.id() => Ok(()),
                Some(id) => Err(refused(tag, format!("is that of {id}; first `brunt runs untag {tag}`"))),
                // Its run was removed by hand, or it was written when the disk was full.
                None => directory::write(&path, what.id().as_bytes()).map_err(StoreError::io(&path)),
            },
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Takes a tag away.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such tag, or the index cannot be written.
    pub fn untag(&self, tag: &str) -> Result<(), StoreError> {
        if !is_tag(tag) || !self.directory.tag(tag).exists() {
            return Err(refused(tag, "is on nothing; `brunt runs list` shows those there are".into()));
        }
        let path = self.directory.tag(tag);
        fs::remove_file(&path).or_else(not_there).map_err(StoreError::io(&path))
    }

    /// What has this tag.
    pub(super) fn tagged(&self, tag: &str) -> Result<Option<String>, StoreError> {
        if !is_tag(tag) {
            return Ok(None);
        }
        let id = fs::read_to_string(self.directory.tag(tag)).unwrap_or_default();
        Ok(self.index().kind(&id)?.map(|_| id))
    }

    /// All tags and their ids, by name.
    pub(super) fn all_tags(&self) -> Result<Vec<(String, String)>, StoreError> {
        let folder = self.directory.tags();
        let mut tags = Vec::new();
        for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let name = entry.map_err(StoreError::io(&folder))?.file_name();
            if let Some(tag) = name.to_str().filter(|name| is_tag(name)) {
                tags.push((tag.to_owned(), fs::read_to_string(self.directory.tag(tag)).unwrap_or_default()));
            }
        }
        tags.sort();
        Ok(tags)
    }

    pub(super) fn untag_all(&self, id: &str) -> Result<(), StoreError> {
        let tags = self.all_tags()?;
        tags.iter().filter(|(_, of)| of == id).try_for_each(|(tag, _)| self.untag(tag))
    }

    fn may_be_tag(&self, tag: &str) -> Result<(), StoreError> {
        if !is_tag(tag) {
            let what = "cannot be: write letters, digits, - _ and . (no . first), such as `baseline`; not `last`";
            return Err(refused(tag, what.into()));
        }
        if id::is_id(tag) && self.index().kind(tag)?.is_some() {
            return Err(refused(tag, "is an id: write another".into()));
        }
        Ok(())
    }
}

pub(super) fn is_tag(word: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    !word.is_empty() && word.len() <= LONGEST && word != "last" && !word.starts_with('.') && word.chars().all(fits)
}

fn refused(tag: &str, what: String) -> StoreError {
    StoreError::Tag { tag: tag.into(), what }
}
