//! What can be wrong with an XML document, an expression, or the work that an expression takes.

use thiserror::Error;

/// A place in an XML document where it is not well-formed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct DomError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The fault, and where possible what to write instead.
    pub message: String,
}

/// A fault in an XPath expression or a CSS selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {message}")]
pub struct ExpressionError {
    /// Column in characters, from 1.
    pub column: usize,
    /// The fault, and where possible what to write instead.
    pub message: String,
}

impl ExpressionError {
    /// A fault at a byte offset of the expression.
    pub(crate) fn at(expression: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = expression.as_bytes().get(..offset).unwrap_or(expression.as_bytes());
        // A byte that continues a character has the form 10xxxxxx.
        let column = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        Self { column, message: message.into() }
    }
}

/// An evaluation that was ended, since it takes too many steps or gives too much text for the size of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WorkLimit {
    /// More steps than the document's budget.
    #[error("the expression takes more than {0} steps on this document; narrow it, for example with a path from an id")]
    Steps(u64),
    /// More text than a result may have.
    #[error("the result has more than {0} bytes; narrow the expression to fewer elements")]
    Size(usize),
}
