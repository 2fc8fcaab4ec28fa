//! What is wrong with settings or a plan file, where, and what to write instead.

use brunt_script::{ScriptError, WordError};
use serde::de::{Expected, Unexpected};
use std::fmt;
use std::io;
use std::sync::Arc;

/// The source of a value: line and column in a plan file, or a `--set` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    source: Arc<str>,
    /// From 1; 0: not in a file.
    line: u32,
    column: u32,
}

impl Position {
    /// A place in a file; lines and columns count from 1.
    pub(crate) fn within(file: &Arc<str>, line: u32, column: u32) -> Self {
        Self { source: Arc::clone(file), line, column }
    }

    /// To sort by.
    pub(crate) fn line_and_column(&self) -> (u32, u32) {
        (self.line, self.column)
    }

    /// Of no line: a whole file, or a word of the command line.
    pub fn whole(source: &str) -> Self {
        Self { source: source.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if self.line == 0 { Ok(()) } else { write!(f, ":{}:{}", self.line, self.column) }
    }
}

/// What is wrong, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// Where it stands, as far as that is known.
    pub at: Option<Position>,
    /// The key, such as `load.rate`; empty where it is of the whole.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub wrong: String,
    /// Further errors of the same file.
    pub others: Vec<SpecError>,
}

impl SpecError {
    /// An error at a place.
    pub fn new(at: &Position, path: impl Into<String>, wrong: impl Into<String>) -> Self {
        Self { at: Some(at.clone()), path: path.into(), wrong: wrong.into(), others: Vec::new() }
    }

    /// An error without a place, as on a command line.
    pub fn told(wrong: impl Into<String>) -> Self {
        Self { at: None, path: String::new(), wrong: wrong.into(), others: Vec::new() }
    }

    /// The same error, of `what`. Its place stays.
    #[must_use]
    pub fn of(self, what: &str) -> Self {
        Self::told(format!("{what}: {self}"))
    }

    /// The same error, in what stands at `at` under `key`. A place that is known already is the better one.
    pub(crate) fn within(mut self, key: &str, at: &Position) -> Self {
        self.at.get_or_insert_with(|| at.clone());
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
        if let Some(at) = &self.at {
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
        Self::told(error.to_string())
    }
}

impl From<ScriptError> for SpecError {
    fn from(error: ScriptError) -> Self {
        Self::told(error.to_string())
    }
}

impl From<io::Error> for SpecError {
    fn from(error: io::Error) -> Self {
        Self::told(error.to_string())
    }
}

/// What becomes of settings, or what is wrong with them.
pub type Result<T, E = SpecError> = std::result::Result<T, E>;

/// Ends with an error where a condition does not hold. The message names settings by `names.of("rate")`.
macro_rules! require {
    ($said:expr, $holds:expr, |$names:ident| $text:expr) => {
        let holds: bool = $holds;
        if !holds {
            return Err($said.refuse(|$names| $text));
        }
    };
}

/// Ends with an error that has no place and names no setting.
macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::error::SpecError::told(format!($($text)*)))
    };
}

/// The same where a condition does not hold.
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
        Self::told(wrong.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self { path: field.into(), ..Self::told("is missing; write it here") }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self { path: field.into(), ..Self::told(unknown(field, known)) }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Unit => "nothing",
            Unexpected::Seq => "a list",
            Unexpected::Map => "a map",
            _ => "a single value",
        };
        Self::custom(format!("{found} instead of {expected}; write {expected}"))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let instead = nearest(word, known.iter().copied()).map_or_else(|| one_of(known), str::to_owned);
        Self::custom(format!("invalid value `{word}`; write {instead}"))
    }
}

/// What is said of a key that nobody knows.
pub(crate) fn unknown<T: AsRef<str>>(key: &str, known: &[T]) -> String {
    match nearest(key, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("unknown key; write {near}"),
        None => format!("unknown key; write one of {}", one_of(known)),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// The known word that is most like `word`, where one is like it.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &str| {
        strsim::jaro_winkler(word, other.rsplit('.').next().unwrap_or(other)).max(strsim::jaro_winkler(word, other))
    };
    let scored = known.into_iter().map(|other| (likeness(other), other)).filter(|(score, _)| *score > 0.78);
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
}
