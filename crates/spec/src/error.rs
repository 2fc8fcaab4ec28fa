//! Errors of settings and plan files: the cause, the place, and the remedy.

use crate::peer_words;
use brunt_script::{ScriptError, WordError};
use serde::de::{Expected, Unexpected};
use std::fmt;
use std::io;
use std::sync::Arc;

/// The source of a value: line and column in a plan file, or a `--set` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    source: Arc<str>,
    /// Counts from 1; 0 if the position is not a line of a file.
    line: u32,
    column: u32,
}

impl SourcePosition {
    /// Creates a position in a file; lines and columns count from 1.
    pub(crate) fn within(file: &Arc<str>, line: u32, column: u32) -> Self {
        Self { source: Arc::clone(file), line, column }
    }

    /// Line and column; both are 0 if the position is not a line of a file.
    pub fn line_and_column(&self) -> (u32, u32) {
        (self.line, self.column)
    }

    /// Creates a position without a line: a whole file, or an argument of the command line.
    pub fn whole(source: &str) -> Self {
        Self { source: source.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if self.line == 0 { Ok(()) } else { write!(f, ":{}:{}", self.line, self.column) }
    }
}

/// An error with its cause, place and remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// Place of the error; None if unknown.
    pub position: Option<SourcePosition>,
    /// Key, such as `load.rate`; empty if the error concerns the whole file.
    pub path: String,
    /// Cause of the error, and its remedy.
    pub wrong: String,
    /// Further errors of the same file.
    pub others: Vec<SpecError>,
}

impl SpecError {
    /// Creates an error at a place.
    pub fn new(at: &SourcePosition, path: impl Into<String>, wrong: impl Into<String>) -> Self {
        Self {
            position: Some(at.clone()),
            path: path.into(),
            wrong: wrong.into(),
            others: Vec::new(),
        }
    }

    /// Creates an error without a place, as on a command line.
    pub fn unplaced(wrong: impl Into<String>) -> Self {
        Self { position: None, path: String::new(), wrong: wrong.into(), others: Vec::new() }
    }

    /// Returns the error with `subject` before its message. Its place becomes part of the message.
    #[must_use]
    pub fn about(self, subject: &str) -> Self {
        Self::unplaced(format!("{subject}: {self}"))
    }

    /// Adds a key before the path of the error, and its place if the error has none: an inner
    /// place is more precise.
    pub(crate) fn within(mut self, key: &str, at: &SourcePosition) -> Self {
        self.position.get_or_insert_with(|| at.clone());
        self.path = match self.path.as_str() {
            "" => key.to_owned(),
            path if path.starts_with('[') => format!("{key}{path}"),
            path => format!("{key}.{path}"),
        };
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.position {
            write!(f, "{at}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.wrong)?;
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

impl std::error::Error for SpecError {}

impl From<WordError> for SpecError {
    fn from(error: WordError) -> Self {
        Self::unplaced(error.to_string())
    }
}

impl From<ScriptError> for SpecError {
    fn from(error: ScriptError) -> Self {
        Self::unplaced(error.to_string())
    }
}

impl From<io::Error> for SpecError {
    fn from(error: io::Error) -> Self {
        Self::unplaced(error.to_string())
    }
}

/// A result with [`SpecError`] as its error type.
pub type Result<T, E = SpecError> = std::result::Result<T, E>;

/// Returns an error if a condition does not hold. The message names settings by `names.of("rate")`.
macro_rules! require {
    ($sources:expr, $holds:expr, |$names:ident| $text:expr) => {
        let holds: bool = $holds;
        if !holds {
            return Err($sources.refuse(|$names| $text));
        }
    };
}

/// Returns an error that has no place and names no setting.
macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::error::SpecError::unplaced(format!($($text)*)))
    };
}

/// Returns such an error if a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            $crate::error::bail!($($text)*);
        }
    };
}
pub(crate) use {bail, ensure, require};

impl serde::de::Error for SpecError {
    fn custom<T: fmt::Display>(wrong: T) -> Self {
        Self::unplaced(wrong.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self { path: field.into(), ..Self::unplaced("is missing; write it here") }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self { path: field.into(), ..Self::unplaced(unknown(field, known)) }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let kind = match unexpected {
            Unexpected::Unit => "nothing",
            Unexpected::Seq => "a list",
            Unexpected::Map => "a map",
            _ => "a single value",
        };
        Self::custom(format!("{kind} instead of {expected}; write {expected}"))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let instead =
            nearest(word, known.iter().copied()).map_or_else(|| one_of(known), str::to_owned);
        Self::custom(format!("invalid value `{word}`; write {instead}"))
    }
}

/// Message for an unknown key: the key for another tool's word, the most similar known key, or all
/// known keys.
pub(crate) fn unknown<T: AsRef<str>>(key: &str, known: &[T]) -> String {
    if let Some(instead) = peer_words::key(key, known) {
        return format!("unknown key; write {instead}");
    }
    match nearest(key, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("unknown key; write {near}"),
        None => format!("unknown key; write one of {}", one_of(known)),
    }
}

/// Joins words to a list: `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// The known word most similar to `word`; None if each differs in more than a third of its letters.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.chars().count() / 3).max(1);
    let similar = known
        .into_iter()
        .map(|other| (different_letters(word, other), other))
        .filter(|(letters, other)| *letters <= most && *letters < other.chars().count());
    similar.min_by_key(|(letters, _)| *letters).map(|(_, other)| other)
}

/// Number of letters to change, insert, remove or swap between a word and a known key, or the last part
/// of the key; the smaller of the two.
fn different_letters(word: &str, key: &str) -> usize {
    let last_part = key.rsplit('.').next().unwrap_or(key);
    strsim::osa_distance(word, last_part).min(strsim::osa_distance(word, key))
}
