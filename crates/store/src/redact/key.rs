//! The key of a store's redaction, in a file that its owner alone can read. It never leaves the store.

use super::Redactor;
use crate::StoreError;
use crate::directory::{self, Directory};
use std::fs;
use std::io::{ErrorKind, Write};

/// Bytes of the key.
const BYTES: usize = 32;

/// The redactor of a store, whose key is drawn at its first use.
pub(crate) fn redactor(directory: &Directory) -> Result<Redactor, StoreError> {
    let path = directory.key();
    loop {
        match fs::read(&path) {
            Ok(key) if key.len() == BYTES => return Ok(Redactor::new(&key)),
            Ok(_) => return Err(StoreError::Damaged(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => draw(directory)?,
            Err(error) => return Err(StoreError::io(&path)(error)),
        }
    }
}

/// Another process may draw one at the same time: the first that is there counts.
fn draw(directory: &Directory) -> Result<(), StoreError> {
    let (path, new) = (directory.key(), directory.incoming().join(crate::id::draw()));
    let written = directory::create_new(&new).and_then(|mut file| {
        file.write_all(&rand::random::<[u8; BYTES]>())?;
        file.sync_all()
    });
    let linked = written.and_then(|()| match fs::hard_link(&new, &path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no links.
        Err(_) if !path.exists() => fs::copy(&new, &path).map(drop),
        other => other,
    });
    let _ = fs::remove_file(&new);
    linked.map_err(StoreError::io(&path))
}
