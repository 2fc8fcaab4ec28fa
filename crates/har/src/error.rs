//! The error type of imports: place, problem and advice.

use crate::text::for_display;

/// An input that cannot be converted to a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {wrong}; {instead}")]
pub struct ImportError {
    /// Place: `FILE:LINE`, or `FILE: $.json.path`.
    pub place: String,
    /// Description of the problem.
    pub wrong: String,
    /// Advice on the expected input.
    pub instead: String,
}

impl ImportError {
    /// Creates an error for a file, or for a place given as text.
    pub fn new(
        place: impl Into<String>,
        wrong: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        let [wrong, instead] = [for_display(&wrong.into()), for_display(&instead.into())];
        Self { place: place.into(), wrong, instead }
    }

    /// Creates an error for a line, counted from 1.
    pub fn at_line(
        file: &str,
        line: usize,
        wrong: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self::new(format!("{file}:{line}"), wrong, instead)
    }
}
