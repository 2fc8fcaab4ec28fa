//! What is wrong with an input, where, and what is expected instead.

use crate::text::shown;

/// An input that cannot become a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {wrong}; {instead}")]
pub struct ImportError {
    /// `FILE:LINE`, or `FILE: $.json.path`.
    pub place: String,
    /// What is wrong there.
    pub wrong: String,
    /// What is expected, as an advice.
    pub instead: String,
}

impl ImportError {
    /// An error of a whole file, or of a place that is written out.
    pub fn new(place: impl Into<String>, wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        let [wrong, instead] = [shown(&wrong.into()), shown(&instead.into())];
        Self { place: place.into(), wrong, instead }
    }

    /// An error in a line, from 1.
    pub fn at_line(file: &str, line: usize, wrong: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::new(format!("{file}:{line}"), wrong, instead)
    }
}
