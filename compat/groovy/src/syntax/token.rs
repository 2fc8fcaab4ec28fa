//! Tokens of a script.

use std::sync::Arc;

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub line: u32,
    pub column: u32,
    /// True if a line ends between the previous token and this one.
    pub is_first_of_line: bool,
    /// True if white space precedes it.
    pub has_space_before: bool,
}

/// Kind and content of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Name(Arc<str>),
    Text(Arc<str>),
    /// Text with embedded expressions.
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
    ">>>=", ">>>", "...", "<=>", "==~", "===", "!==", "<<=", ">>=", "**=", "?:=", "..<", "*.@",
    "->", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "<<", "**", "..", "?.", "*.", "?:", "?=", "=~", "::", ".&", ".@", "+", "-", "*", "/",
    "%", "=", "<", ">", "!", "~", "?", ":", ".", ",", ";", "(", ")", "[", "]", "{", "}",
];

/// Single-character marks that are not in [`MARKS`].
pub(super) const OTHER_MARKS: [&str; 4] = ["&", "|", "^", "@"];
