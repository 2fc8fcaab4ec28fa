//! What is said about a word or a file that cannot be read.

use std::io;
use std::path::{Path, PathBuf};

/// A word that cannot be read: what is wrong with it, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`: {wrong}; write {instead}")]
pub struct WordError {
    /// The word, or the part of it that is wrong.
    pub word: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What to write instead, with an example.
    pub instead: String,
}

impl WordError {
    /// An error about `word`.
    pub fn new(word: &str, wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { word: word.to_owned(), wrong: wrong.into(), instead: instead.into() }
    }

    /// The error at its place in a file; lines count from 1.
    pub fn at(self, file: &Path, line: u64) -> ScriptError {
        ScriptError::Line { file: file.to_owned(), line, wrong: self }
    }
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A word is wrong.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The steps of a scenario do not fit together: how, and what to do.
    #[error("{0}")]
    Scenario(String),
    /// A word in a file is wrong.
    #[error("{}:{line}: {wrong}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        wrong: WordError,
    },
    /// A file cannot be read at all.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
