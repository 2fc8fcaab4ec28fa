//! Where what lies in a store's directory.

use crate::StoreError;
use std::fs;
use std::path::{Path, PathBuf};

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
            fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        }
        Ok(directory)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn index(&self) -> PathBuf {
        self.0.join("index.sqlite")
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

/// The ids of the files with this ending in a folder; others are not ours.
pub(crate) fn ids_in(folder: &Path, ending: &str) -> Result<Vec<String>, StoreError> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(folder).map_err(StoreError::io(folder))? {
        let name = entry.map_err(StoreError::io(folder))?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(ending)).filter(|id| crate::id::is_id(id));
        ids.extend(id.map(str::to_owned));
    }
    Ok(ids)
}
