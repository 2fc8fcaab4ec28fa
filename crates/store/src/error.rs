//! Errors of the store.

use crate::id::IdError;
use brunt_model::codec::LogError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Its message includes the remedy where there is one.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A system call failed.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The index database reported an error.
    #[error("the index of the store: {0}")]
    Index(#[from] rusqlite::Error),
    /// A later version of brunt created the store.
    #[error(
        "{path} belongs to a later version of brunt (index version {found}; supported: {known}): use that version, or --store with another directory"
    )]
    Newer {
        /// Path of the index.
        path: PathBuf,
        /// Version of the index.
        found: u32,
        /// Latest version that this brunt supports.
        known: u32,
    },
    /// No item has this id, tag or name.
    #[error("no stored run or experiment matches `{0}`; list them with `brunt runs list --all`")]
    Unknown(String),
    /// More than one id begins with the given prefix.
    #[error("`{word}` may be {}: write more of the id", ids.join(", "))]
    Ambiguous {
        /// The given prefix.
        word: String,
        /// The ids that begin with it.
        ids: Vec<String>,
    },
    /// The item is a run, but an experiment is required.
    #[error("{0} is a run, and an experiment is needed here")]
    NoExperiment(String),
    /// Another process is writing to the item.
    #[error("{0} is still being written; wait for its end, or stop it")]
    Busy(String),
    /// A log could not be read.
    #[error("{path}: {source}")]
    Log {
        /// Path of the log.
        path: PathBuf,
        /// Reason.
        source: LogError,
    },
    /// The events of a run are needed, but only its digest is left.
    #[error(
        "the event log of {0} was removed by `brunt runs prune`; only its digest is left, which has no single events"
    )]
    LogRemoved(String),
    /// A digest is needed, but the log is not complete.
    #[error(
        "the event log of {0} has no end, or is damaged before it, so no digest can replace it"
    )]
    NoEnd(String),
    /// A digest is damaged, and the log that it was made from was removed.
    #[error(
        "{0}: the digest is damaged or of an unknown version, and its event log was removed by `brunt runs prune`; remove the run with `brunt runs rm`"
    )]
    DigestDamaged(PathBuf),
    /// The file of an experiment is damaged.
    #[error("{0}: not an experiment of brunt, or its beginning is damaged")]
    Damaged(PathBuf),
    /// The file is no valid archive.
    #[error("{path}: {what}")]
    Archive {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        what: &'static str,
    },
    /// Received data are no valid archive, or exceed a limit.
    #[error("the received archive {0}; nothing was stored")]
    Received(String),
    /// Another item has the id of a received one.
    #[error("another run or experiment here has the id {0}; nothing was stored")]
    OtherContent(String),
    /// A tag cannot be set or removed.
    #[error("the tag `{tag}` {what}")]
    Tag {
        /// Name of the tag.
        tag: String,
        /// Reason and remedy.
        what: String,
    },
    /// A baseline cannot be set or removed.
    #[error("the baseline `{name}` {what}")]
    Baseline {
        /// Name of the baseline.
        name: String,
        /// Reason and remedy.
        what: String,
    },
    /// The item is a baseline, so it cannot be removed.
    #[error("{id} is the baseline `{name}`; remove the baseline first: `brunt baseline rm {name}`")]
    IsBaseline {
        /// Id of the item.
        id: String,
        /// Name of the baseline.
        name: String,
    },
    /// The item is pinned, so it cannot be removed.
    #[error("{0} is pinned; unpin it first: `brunt runs unpin {0}`")]
    IsPinned(String),
    /// A note is too long.
    #[error("a note has at most {most} bytes, and this one has {given}")]
    Note {
        /// Maximum length.
        most: usize,
        /// Length of the note.
        given: usize,
    },
    /// No free id was found.
    #[error(transparent)]
    Id(#[from] IdError),
}

impl StoreError {
    /// True if the request itself is wrong, and false if an operation failed.
    pub fn is_usage_error(&self) -> bool {
        use StoreError::{
            Ambiguous, Archive, Baseline, Busy, IsBaseline, IsPinned, LogRemoved, NoExperiment,
            Note, OtherContent, Received, Tag, Unknown,
        };
        matches!(
            self,
            Unknown(_)
                | Ambiguous { .. }
                | NoExperiment(_)
                | LogRemoved(_)
                | Busy(_)
                | Archive { .. }
                | Received(_)
                | OtherContent(_)
                | Tag { .. }
                | Baseline { .. }
                | IsBaseline { .. }
                | IsPinned(_)
                | Note { .. }
        )
    }

    /// True if the location is not writable: a full disk, missing permissions,
    /// a read-only file system.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            Self::Index(error) => crate::index::is_of_the_disk(error),
            Self::Io { source, .. } => {
                matches!(
                    source.kind(),
                    PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull
                )
            }
            _ => false,
        }
    }

    /// True if the index is damaged, so that it must be rebuilt from the files.
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
