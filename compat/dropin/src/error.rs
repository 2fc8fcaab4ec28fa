//! The error of a tool that could not run, as one line.

use std::error::Error;
use std::fmt;

/// Why a tool could not run, as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(String);

/// Result of a tool's step.
pub type ToolResult<T, E = ToolError> = std::result::Result<T, E>;

impl ToolError {
    /// Creates an error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Joins the error and its causes, each once: many libraries repeat the cause in their own message.
impl<E: Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut line = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !line.ends_with(&text) {
                line = format!("{line}: {text}");
            }
            cause = error.source();
        }
        Self(line)
    }
}
