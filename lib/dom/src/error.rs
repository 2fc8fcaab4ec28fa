//! Errors of XML documents and expressions, and limits of their evaluation.

use thiserror::Error;

/// An error in an XML document that is not well-formed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct DomError {
    /// Line of the document, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the error, with a correction if possible.
    pub message: String,
}

/// An error in an XPath expression or a CSS selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {message}")]
pub struct ExpressionError {
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the error, with a correction if possible.
    pub message: String,
}

impl ExpressionError {
    /// Creates an error at a byte offset of the expression.
    pub(crate) fn at(expression: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = expression.as_bytes().get(..offset).unwrap_or(expression.as_bytes());
        // A continuation byte of a character has the form 10xxxxxx.
        let column = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        Self { column, message: message.into() }
    }
}

/// Reason why an evaluation was aborted: too many steps, or too much text, for the
/// size of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WorkLimit {
    /// The evaluation took more steps than the document's budget.
    #[error(
        "the expression takes more than {0} steps on this document; narrow it, for example with a path from an id"
    )]
    Steps(u64),
    /// The result has more text than allowed, in bytes.
    #[error("the result has more than {0} bytes; narrow the expression to fewer elements")]
    Size(usize),
}
