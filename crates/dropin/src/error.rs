//! Why a tool measured nothing, as one line.

use std::error::Error;
use std::fmt;

/// Why a tool measured nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(String);

/// What a tool comes to, or why it does not.
pub type Result<T, E = ToolError> = std::result::Result<T, E>;

impl ToolError {
    /// An error with this text.
    pub fn told(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error and its causes, each once: many libraries repeat the cause in their own message.
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
