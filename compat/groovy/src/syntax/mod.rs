//! Parses scripts: text → tokens ([`lexer`]) → tree ([`ast`]).

pub(crate) mod ast;
mod declarations;
mod expressions;
mod lexer;
mod literals;
mod parser;
mod postfix;
mod scope;
mod statements;
mod token;
mod types;

pub(crate) use parser::parse;
