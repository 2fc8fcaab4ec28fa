//! Reads and creates the key of a store's redaction. Only the owner can read its file, and it
//! never leaves the store.

use super::Redactor;
use crate::StoreError;
use crate::directory::{self, Directory};
use std::fs;
use std::io::{ErrorKind, Write};

/// Length of the key, in bytes.
const BYTES: usize = 32;

/// Returns the redactor of a store. The first use draws its key.
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

/// Draws a key. If another process draws one at the same time, the first that is stored wins.
fn draw(directory: &Directory) -> Result<(), StoreError> {
    let path = directory.key();
    let new = directory.incoming().join(crate::id::draw());
    let written = directory::create_new(&new).and_then(|mut file| {
        file.write_all(&rand::random::<[u8; BYTES]>())?;
        file.sync_all()
    });
    // A hard link fails if the name exists, so that no process replaces the key of another.
    let linked = written.and_then(|()| match fs::hard_link(&new, &path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no links.
        Err(_) if !path.exists() => fs::copy(&new, &path).map(drop),
        other => other,
    });
    let _ = fs::remove_file(&new);
    linked.map_err(StoreError::io(&path))
}
