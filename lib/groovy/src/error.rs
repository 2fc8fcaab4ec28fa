//! What can go wrong with a script: before it runs, and while it runs.

use crate::value::Value;
use std::rc::Rc;

/// A script that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Line of the script, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// A run that did not end normally.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The script, or a library method in it, threw an exception that nothing caught.
    #[error("{class}: {message} (line {line} of the script)")]
    Thrown {
        /// Full name of the Java class, such as `java.lang.NullPointerException`.
        class: String,
        /// The exception's message; empty if it has none.
        message: String,
        /// Line of the script, from 1; 0 if unknown.
        line: u32,
    },
    /// The budget of the run was used up.
    #[error("{message} (line {line} of the script)")]
    Budget {
        /// Which limit, and what to do.
        message: String,
        /// Line of the script, from 1; 0 if unknown.
        line: u32,
    },
}

/// Why an evaluation does not go on.
pub(crate) enum Fault {
    /// An exception: a `Throwable`, or an instance of a class of the script.
    Thrown(Value),
    /// A limit of the run; no script can catch it.
    Budget(String),
}

/// The result of an evaluation. The fault is boxed, so that results stay small.
pub(crate) type Eval<T> = Result<T, Box<Fault>>;

/// An exception of the Java library.
pub(crate) struct Throwable {
    /// Full name of its class.
    pub class: Rc<str>,
    /// Its message.
    pub message: Option<Rc<str>>,
    /// What caused it.
    pub cause: Value,
    /// Line of the script at which it was made.
    pub line: u32,
}

/// A fault that throws an exception of this class.
pub(crate) fn throw(class: &str, message: impl AsRef<str>) -> Box<Fault> {
    let throwable =
        Throwable { class: class.into(), message: Some(message.as_ref().into()), cause: Value::Null, line: 0 };
    Box::new(Fault::Thrown(Value::Native(Rc::new(throwable))))
}

/// A fault for an argument that a method cannot take.
pub(crate) fn illegal(message: impl AsRef<str>) -> Box<Fault> {
    throw("java.lang.IllegalArgumentException", message)
}

/// A fault for text that is no number.
pub(crate) fn no_number(text: &str) -> Box<Fault> {
    throw("java.lang.NumberFormatException", format!("For input string: \"{}\"", clip(text)))
}

/// A fault for an index that is out of range.
pub(crate) fn no_index(index: i64, length: usize) -> Box<Fault> {
    throw("java.lang.IndexOutOfBoundsException", format!("Index {index} out of bounds for length {length}"))
}

/// A fault for text whose indices are out of range.
pub(crate) fn no_text_index(begin: i64, end: i64, length: usize) -> Box<Fault> {
    let message = format!("begin {begin}, end {end}, length {length}");
    throw("java.lang.StringIndexOutOfBoundsException", message)
}

/// The first 200 characters, for messages.
pub(crate) fn clip(text: &str) -> &str {
    text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end])
}
