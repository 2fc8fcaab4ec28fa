//! Why something could not be kept or read.

use crate::id::IdError;
use brunt_model::codec::LogError;
use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be kept or read; each says what to do instead where there is something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system would not.
    #[error("{path}: {source}")]
    Io {
        /// With which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The database would not.
    #[error("the index of the store: {0}")]
    Index(#[from] rusqlite::Error),
    /// A later brunt made it.
    #[error(
        "{path} belongs to a later version of brunt (index version {found}; supported: {known}): use that version, or --store with another directory"
    )]
    Newer {
        /// The index.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// Nothing goes by that name.
    #[error("no stored run or experiment matches `{0}`; list them with `brunt runs list --all`")]
    Unknown(String),
    /// More than one thing does.
    #[error("`{word}` may be {}: write more of the id", ids.join(", "))]
    Ambiguous {
        /// What was asked for.
        word: String,
        /// The accepted values.
        ids: Vec<String>,
    },
    /// It is a run.
    #[error("{0} is a run, and an experiment is needed here")]
    NoExperiment(String),
    /// Somebody writes to it.
    #[error("{0} is still being written; wait for its end, or stop it")]
    Busy(String),
    /// A log could not be read.
    #[error("{path}: {source}")]
    Log {
        /// Which.
        path: PathBuf,
        /// Why.
        source: LogError,
    },
    /// A file of an experiment is damaged.
    #[error("{0}: not an experiment of brunt, or its beginning is damaged")]
    Damaged(PathBuf),
    /// A file is no archive.
    #[error("{path}: {what}")]
    Archive {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A tag cannot be had.
    #[error("the tag `{tag}` {what}")]
    Tag {
        /// The tag.
        tag: String,
        /// Why, and what to do.
        what: String,
    },
    /// A baseline cannot be had.
    #[error("the baseline `{name}` {what}")]
    Baseline {
        /// Its name.
        name: String,
        /// Why, and what to do.
        what: String,
    },
    /// It is a baseline.
    #[error("{id} is the baseline `{name}`; remove the baseline first: `brunt baseline rm {name}`")]
    IsBaseline {
        /// What was to be removed.
        id: String,
        /// Which baseline.
        name: String,
    },
    /// No id could be drawn.
    #[error(transparent)]
    Id(#[from] IdError),
}

impl StoreError {
    /// Whether what was asked for makes no sense, rather than that something failed.
    pub fn is_asked_wrongly(&self) -> bool {
        use StoreError::{Ambiguous, Archive, Baseline, Busy, IsBaseline, NoExperiment, Tag, Unknown};
        matches!(
            self,
            Unknown(_)
                | Ambiguous { .. }
                | NoExperiment(_)
                | Busy(_)
                | Archive { .. }
                | Tag { .. }
                | Baseline { .. }
                | IsBaseline { .. }
        )
    }

    /// Whether nothing can be written there: a full disk, missing rights, a file system that is read-only.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            Self::Index(error) => crate::index::is_of_the_disk(error),
            Self::Io { source, .. } => {
                matches!(source.kind(), PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
            }
            _ => false,
        }
    }

    /// True if the index is damaged, so that it must be made again from the files.
    pub(crate) fn is_of_the_index(&self) -> bool {
        matches!(self, Self::Index(error) if crate::index::is_damage(error))
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn log(path: &Path) -> impl FnOnce(LogError) -> Self + '_ {
        move |source| Self::Log { path: path.to_owned(), source }
    }
}
