//! What is said about a plan file that cannot be read.

use super::node::Position;
use serde::de::{Expected, Unexpected};
use std::fmt;

/// What is wrong in a plan file, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// Where it stands, as far as that is known.
    pub at: Option<Position>,
    /// The key, such as `load.rate`; empty where it is of the whole.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub wrong: String,
}

impl PlanError {
    /// An error at a place.
    pub fn new(at: &Position, path: impl Into<String>, wrong: impl Into<String>) -> Self {
        Self { at: Some(at.clone()), path: path.into(), wrong: wrong.into() }
    }

    /// The same error, in what stands at `at` under `key`. A place that is known already is the better one.
    pub(super) fn within(mut self, key: &str, at: &Position) -> Self {
        self.at.get_or_insert_with(|| at.clone());
        self.path = match self.path.as_str() {
            "" => key.to_owned(),
            path if path.starts_with('[') => format!("{key}{path}"),
            path => format!("{key}.{path}"),
        };
        self
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.wrong)
    }
}

impl std::error::Error for PlanError {}

impl serde::de::Error for PlanError {
    fn custom<T: fmt::Display>(wrong: T) -> Self {
        Self { at: None, path: String::new(), wrong: wrong.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { at: None, path: field.into(), wrong: "is missing; write it here".into() }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self { at: None, path: field.into(), wrong: unknown(field, known) }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Unit => "nothing",
            Unexpected::Seq => "a list",
            Unexpected::Map => "a map",
            _ => "a single value",
        };
        Self::custom(format!("{found} stands where {expected} belongs; write {expected}"))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let instead = nearest(word, known.iter().copied()).map_or_else(|| one_of(known), str::to_owned);
        Self::custom(format!("invalid value `{word}`; write {instead}"))
    }
}

/// What is said of a key that nobody knows.
pub(super) fn unknown<T: AsRef<str>>(key: &str, known: &[T]) -> String {
    match nearest(key, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("there is no such key; write {near}"),
        None => format!("there is no such key; write one of {}", one_of(known)),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn one_of<T: AsRef<str>>(words: &[T]) -> String {
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
