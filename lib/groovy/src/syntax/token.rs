//! Tokens of a script.

use std::sync::Arc;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub line: u32,
    pub column: u32,
    /// Whether a line ends between the token before and this one.
    pub first_of_line: bool,
    /// Whether blanks stand before it.
    pub spaced: bool,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Name(Arc<str>),
    Text(Arc<str>),
    /// Text with expressions in it.
    Template(Vec<Part>),
    /// A character literal of `BeanShell`.
    Char(char),
    Number(Arc<str>),
    /// An operator, a bracket, or other punctuation.
    Mark(&'static str),
    End,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(Arc<str>),
    Code(Vec<Token>),
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// All marks, longest first.
pub(super) const MARKS: [&str; 62] = [
    ">>>=", ">>>", "...", "<=>", "==~", "===", "!==", "<<=", ">>=", "**=", "?:=", "..<", "*.@", "->", "++", "--", "&&",
    "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", "**", "..", "?.", "*.", "?:",
    "?=", "=~", "::", ".&", ".@", "+", "-", "*", "/", "%", "=", "<", ">", "!", "~", "?", ":", ".", ",", ";", "(", ")",
    "[", "]", "{", "}",
];

/// Marks of one letter that are no part of [`MARKS`].
pub(super) const OTHER_MARKS: [&str; 4] = ["&", "|", "^", "@"];
