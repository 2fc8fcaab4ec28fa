//! The error type of plans, result files and command lines.

use std::error::Error;
use std::fmt;

/// A line and a column of a file, both from 1. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// Line number, counted from 1.
    pub line: u32,
    /// Column in characters, from 1; 0 if only the line is known.
    pub column: u32,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "line {}", self.line),
            column => write!(f, "line {}, column {column}", self.line),
        }
    }
}

/// An error in a file or option: `line 3, column 7: …`. The message includes the fix.
///
/// The file name is not included because the caller knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JmxError {
    /// Place of the error; None if it concerns the whole file or command line.
    pub at: Option<FilePosition>,
    /// The problem and the fix.
    pub message: String,
}

impl JmxError {
    /// An error of the whole file or command line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into() }
    }

    /// An error at a place.
    pub fn at(position: FilePosition, message: impl Into<String>) -> Self {
        Self { at: Some(position), message: message.into() }
    }

    /// An error on a line, from 1.
    pub fn on_line(line: u32, message: impl Into<String>) -> Self {
        Self::at(FilePosition { line, column: 0 }, message)
    }
}

impl fmt::Display for JmxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.at {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for JmxError {}
