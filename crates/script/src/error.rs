//! Errors about words and files that cannot be read.

use std::io;
use std::path::{Path, PathBuf};

/// A word that cannot be read, with the reason and a correction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`: {wrong}; write {instead}")]
pub struct WordError {
    /// The word, or the wrong part of it.
    pub word: String,
    /// Reason why the word cannot be read.
    pub wrong: String,
    /// A correction, with an example.
    pub instead: String,
}

impl WordError {
    /// Creates an error about a word or a part of it.
    pub fn new(word: &str, wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { word: word.to_owned(), wrong: wrong.into(), instead: instead.into() }
    }

    /// Adds the place in a file; lines count from 1.
    pub fn at_line(self, file: &Path, line: u64) -> ScriptError {
        ScriptError::Line { file: file.to_owned(), line, wrong: self }
    }
}

/// An error in a plan's scripts, texts or files.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// An error about a word, without a place.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The steps of a scenario are inconsistent: the reason, and a correction.
    #[error("{0}")]
    Scenario(String),
    /// A word in a file is wrong.
    #[error("{}:{line}: {wrong}", file.display())]
    Line {
        /// File with the wrong word.
        file: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Error about the word.
        wrong: WordError,
    },
    /// A file cannot be read at all.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The unreadable file.
        file: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}
