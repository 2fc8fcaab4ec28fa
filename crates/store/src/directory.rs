//! Where what lies in a store's directory.

use crate::StoreError;
use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What lies in the directory of a store, besides the index.
const OURS: [&str; 7] = ["runs", "experiments", "tags", "baselines", "incoming", "lock", "key"];

/// The directory of a store.
#[derive(Debug, Clone)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Makes what is missing of it.
    pub fn make(path: &Path) -> Result<Self, StoreError> {
        let directory = Self(path.to_owned());
        for folder in
            [directory.runs(), directory.experiments(), directory.tags(), directory.baselines(), directory.incoming()]
        {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(StoreError::io(&folder))?;
            make_private(&folder);
        }
        if directory.is_only_a_store() {
            make_private(&directory.0);
        }
        make_private(&directory.index());
        Ok(directory)
    }

    /// Whether nothing but a store lies there: somebody may have named a directory that others need.
    fn is_only_a_store(&self) -> bool {
        let ours = |name: &str| OURS.contains(&name) || name.starts_with("index.");
        fs::read_dir(&self.0).is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(ours)))
        })
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn index(&self) -> PathBuf {
        self.0.join("index.sqlite")
    }

    /// The key of its redaction.
    pub fn key(&self) -> PathBuf {
        self.0.join("key")
    }

    /// Whoever makes or mends the index holds this.
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

    pub fn baselines(&self) -> PathBuf {
        self.0.join("baselines")
    }

    pub fn baseline(&self, name: &str) -> PathBuf {
        self.baselines().join(name)
    }

    /// Files that are not whole yet.
    pub fn incoming(&self) -> PathBuf {
        self.0.join("incoming")
    }

    pub fn run(&self, id: &str) -> PathBuf {
        self.runs().join(format!("{id}.events"))
    }

    pub fn experiment(&self, id: &str) -> PathBuf {
        self.experiments().join(format!("{id}.experiment"))
    }

    pub fn tag(&self, tag: &str) -> PathBuf {
        self.tags().join(tag)
    }
}

/// Makes a file that its owner alone can read.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file that its owner alone can read.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    make_private(path);
    io::Write::write_all(&mut file, bytes)
}

/// Takes a file or directory from everybody but its owner. Where that is somebody else, it stays as it is.
pub(crate) fn make_private(path: &Path) {
    let Ok(found) = fs::metadata(path) else { return };
    let mode = found.permissions().mode();
    // Directories with a sticky bit are for all.
    if mode & 0o077 != 0 && mode & 0o1000 == 0 {
        let _ = fs::set_permissions(path, Permissions::from_mode(mode & 0o700));
    }
}

/// The ids of the files with this ending in a folder; others are not ours.
pub(crate) fn ids_in(folder: &Path, ending: &str) -> Result<HashSet<String>, StoreError> {
    let mut ids = HashSet::new();
    for entry in fs::read_dir(folder).map_err(StoreError::io(folder))? {
        let name = entry.map_err(StoreError::io(folder))?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(ending)).filter(|id| crate::id::is_id(id));
        ids.extend(id.map(str::to_owned));
    }
    Ok(ids)
}
