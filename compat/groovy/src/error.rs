//! Errors of a script: syntax errors, and failures at run time.

use crate::value::Value;
use std::rc::Rc;

/// A syntax error in a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Line of the script, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Description of the error.
    pub message: String,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The script or a library method threw an exception that the script did not catch.
    #[error("{class}: {message} (line {line} of the script)")]
    Thrown {
        /// Full name of the Java class, such as `java.lang.NullPointerException`.
        class: String,
        /// The exception's message; empty if it has none.
        message: String,
        /// Line of the script, from 1; 0 if unknown.
        line: u32,
    },
    /// The run exceeded its budget.
    #[error("{message} (line {line} of the script)")]
    Budget {
        /// The exceeded limit, and the fix.
        message: String,
        /// Line of the script, from 1; 0 if unknown.
        line: u32,
    },
}

/// Reason why an evaluation stops.
pub(crate) enum Fault {
    /// An exception: a `Throwable`, or an instance of a class of the script.
    Thrown(Value),
    /// An exceeded limit, which a script cannot catch.
    Budget(String),
}

/// Result of an evaluation. The fault is boxed to keep results small.
pub(crate) type Eval<T> = Result<T, Box<Fault>>;

/// An exception of the Java library.
pub(crate) struct Throwable {
    /// Full name of the exception's class.
    pub class: Rc<str>,
    pub message: Option<Rc<str>>,
    pub cause: Value,
    /// Line of the script that created it.
    pub line: u32,
}

/// Creates a fault that throws an exception of the class.
pub(crate) fn throw(class: &str, message: impl AsRef<str>) -> Box<Fault> {
    let throwable = Throwable {
        class: class.into(),
        message: Some(message.as_ref().into()),
        cause: Value::Null,
        line: 0,
    };
    Box::new(Fault::Thrown(Value::Native(Rc::new(throwable))))
}

/// Creates a fault for an invalid argument.
pub(crate) fn illegal(message: impl AsRef<str>) -> Box<Fault> {
    throw("java.lang.IllegalArgumentException", message)
}

/// Creates a fault for text that is not a number.
pub(crate) fn number_format_error(text: &str) -> Box<Fault> {
    throw("java.lang.NumberFormatException", format!("For input string: \"{}\"", clip(text)))
}

/// Creates a fault for an index out of range.
pub(crate) fn no_index(index: i64, length: usize) -> Box<Fault> {
    throw(
        "java.lang.IndexOutOfBoundsException",
        format!("Index {index} out of bounds for length {length}"),
    )
}

/// Creates a fault for a text index out of range.
pub(crate) fn no_text_index(begin: i64, end: i64, length: usize) -> Box<Fault> {
    let message = format!("begin {begin}, end {end}, length {length}");
    throw("java.lang.StringIndexOutOfBoundsException", message)
}

/// First 200 characters of a text, for messages.
pub(crate) fn clip(text: &str) -> &str {
    text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end])
}
