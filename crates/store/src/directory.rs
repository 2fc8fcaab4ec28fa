//! Paths of the files and folders of a store.

use crate::StoreError;
use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names in the directory of a store, except for the files of the index.
const STORE_ENTRIES: [&str; 12] = [
    "runs",
    "experiments",
    "tags",
    "notes",
    "pins",
    "baselines",
    "incoming",
    "fleets",
    "control",
    "lock",
    "key",
    "studio.html",
];

/// Age from which an incomplete file is that of a process that was killed: others write to their files all the time.
const LEFTOVER_AGE: Duration = Duration::from_hours(24);

/// The directory of a store.
#[derive(Debug, Clone)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Creates the directory and its folders where they are missing.
    pub fn make(path: &Path) -> Result<Self, StoreError> {
        let directory = Self(path.to_owned());
        for folder in [
            directory.runs(),
            directory.experiments(),
            directory.tags(),
            directory.notes(),
            directory.pins(),
            directory.baselines(),
            directory.incoming(),
            directory.fleets(),
            directory.control(),
        ] {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)
                .map_err(StoreError::io(&folder))?;
            make_private(&folder);
        }
        // Only a directory that belongs to the store alone is made private: the user may have named
        // one that others need.
        if directory.is_only_a_store() {
            make_private(&directory.0);
        }
        make_private(&directory.index());
        directory.remove_leftovers();
        Ok(directory)
    }

    /// Removes incomplete files of processes that were killed.
    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(self.incoming()) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|file| file.modified()).map(|at| at.elapsed());
            if matches!(age, Ok(Ok(age)) if age > LEFTOVER_AGE) {
                // The next process tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// True if the directory holds only files of a store.
    fn is_only_a_store(&self) -> bool {
        let Ok(mut entries) = fs::read_dir(&self.0) else { return false };
        entries.all(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_store_entry))
        })
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn index(&self) -> PathBuf {
        self.0.join("index.sqlite")
    }

    /// Path of the redaction key.
    pub fn key(&self) -> PathBuf {
        self.0.join("key")
    }

    /// Path of the lock that a process holds while it makes or repairs the index.
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    pub fn experiments(&self) -> PathBuf {
        self.0.join("experiments")
    }

    pub fn tags(&self) -> PathBuf {
        self.0.join("tags")
    }

    /// Folder of notes: a file for each item that has one.
    pub fn notes(&self) -> PathBuf {
        self.0.join("notes")
    }

    /// Folder of pins: an empty file for each pinned item.
    pub fn pins(&self) -> PathBuf {
        self.0.join("pins")
    }

    pub fn baselines(&self) -> PathBuf {
        self.0.join("baselines")
    }

    pub fn baseline(&self, name: &str) -> PathBuf {
        self.baselines().join(name)
    }

    /// Folder of files that are not completely written yet.
    pub fn incoming(&self) -> PathBuf {
        self.0.join("incoming")
    }

    /// Folder of fleets in progress, with a folder for each.
    pub fn fleets(&self) -> PathBuf {
        self.0.join("fleets")
    }

    /// Folder of the sockets of active runs.
    pub fn control(&self) -> PathBuf {
        self.0.join("control")
    }

    pub fn run(&self, id: &str) -> PathBuf {
        self.runs().join(format!("{id}.events"))
    }

    /// Path of the digest of a run.
    pub fn digest(&self, id: &str) -> PathBuf {
        self.runs().join(format!("{id}.digest"))
    }

    pub fn experiment(&self, id: &str) -> PathBuf {
        self.experiments().join(format!("{id}.experiment"))
    }

    pub fn tag(&self, tag: &str) -> PathBuf {
        self.tags().join(tag)
    }
}

/// True for the name of a file or folder that a store creates.
fn is_store_entry(name: &str) -> bool {
    STORE_ENTRIES.contains(&name) || name.starts_with("index.")
}

/// Creates a file that only its owner can read. Fails if the file exists.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file that only its owner can read.
///
/// # Errors
///
/// It cannot be created or written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    make_private(path);
    io::Write::write_all(&mut file, bytes)
}

/// Removes the permissions of group and others. Has no effect if the file belongs to another user.
pub(crate) fn make_private(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let mode = metadata.permissions().mode();
    // The sticky bit marks a directory that all users share, such as `/tmp`.
    if mode & 0o077 != 0 && mode & 0o1000 == 0 {
        let _ = fs::set_permissions(path, Permissions::from_mode(mode & 0o700));
    }
}

/// Returns the ids of the files with one of these suffixes in a folder. Files with other names are skipped.
pub(crate) fn ids_in(folder: &Path, suffixes: &[&str]) -> Result<HashSet<String>, StoreError> {
    let mut ids = HashSet::new();
    for entry in fs::read_dir(folder).map_err(StoreError::io(folder))? {
        let name = entry.map_err(StoreError::io(folder))?.file_name();
        let name = name.to_str().unwrap_or_default();
        let id = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
        ids.extend(id.filter(|id| crate::id::is_id(id)).map(str::to_owned));
    }
    Ok(ids)
}
