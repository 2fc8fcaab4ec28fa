//! Writes the text of a plan file.

use std::io::{self, Write};
use std::path::Path;

/// Replaces the text of a file atomically, or creates it. If it fails, for example because the disk
/// is full, the file is unchanged.
///
/// # Errors
///
/// The file, or another one in its folder, cannot be written.
pub fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    // A symbolic link stays one; its target is replaced.
    let target = match file.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => file.to_owned(),
        target => target?,
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(text.as_bytes())?;
    // A temporary file is readable by its owner only.
    if let Ok(metadata) = target.metadata() {
        new.as_file().set_permissions(metadata.permissions())?;
    }
    // Without this, a power cut after the rename could leave an empty file.
    new.as_file().sync_all()?;
    new.persist(target)?;
    Ok(())
}
