//! Tokens → tree: what all parts of the parser share.

use super::ast::{ClassDef, Code, Function, Import, Method, Name, Type};
use super::lexer::tokens;
use super::scope::{Scopes, Visibility};
use super::token::{Kind, Token};
use crate::error::SyntaxError;
use crate::script::Dialect;
use std::collections::HashMap;
use std::sync::Arc;

/// How deep brackets, blocks and operators may nest.
const DEPTH: u32 = 120;

/// Bytes of stack that reading may use.
const STACK: usize = 600 << 10;

/// What a parser step gives.
pub(super) type Parse<T> = Result<T, SyntaxError>;

pub(super) struct Parser {
    pub tokens: Vec<Token>,
    pub at: usize,
    pub scopes: Scopes,
    pub dialect: Dialect,
    /// Whether line ends mean nothing here: between parentheses and brackets.
    pub free_lines: bool,
    pub globals: Vec<Name>,
    global_index: HashMap<Name, u32>,
    pub methods: Vec<Method>,
    pub classes: Vec<Arc<ClassDef>>,
    pub imports: Vec<Import>,
    pub named: Vec<(u32, Name)>,
    depth: u32,
    /// Where the stack stood at the beginning.
    stack: usize,
}

/// Reads a whole script.
pub(crate) fn parse(source: &str, dialect: Dialect) -> Parse<Code> {
    let mut parser = Parser {
        tokens: tokens(source, dialect)?,
        at: 0,
        scopes: Scopes::default(),
        dialect,
        free_lines: false,
        globals: Vec::new(),
        global_index: HashMap::new(),
        methods: Vec::new(),
        classes: Vec::new(),
        imports: Vec::new(),
        named: Vec::new(),
        depth: 0,
        stack: crate::vm::stack_address(),
    };
    parser.scopes.enter_function(Visibility::Around);
    let body = parser.statements_until(&Kind::End)?;
    let slots = parser.scopes.leave_function();
    let main =
        Function { name: "script".into(), parameters: Vec::new(), implicit_it: false, body, slots, returns: Type::Any };
    Ok(Code {
        main: Arc::new(main),
        globals: parser.globals,
        methods: parser.methods,
        classes: parser.classes,
        imports: parser.imports,
        named: parser.named,
        dialect,
    })
}

impl Parser {
    pub fn kind(&self) -> &Kind {
        self.kind_at(0)
    }

    pub fn kind_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    pub fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |token| token.line)
    }

    pub fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Whether the token stands on a new line, and that matters here.
    pub fn on_new_line(&self) -> bool {
        !self.free_lines && self.starts_line(0)
    }

    pub fn starts_line(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.first_of_line)
    }

    pub fn spaced(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.spaced)
    }

    pub fn is(&self, mark: &str) -> bool {
        self.is_at(0, mark)
    }

    pub fn is_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.kind_at(ahead), Kind::Mark(own) if *own == mark)
    }

    pub fn word(&self) -> &str {
        self.word_at(0)
    }

    /// The name there; empty if there is none.
    pub fn word_at(&self, ahead: usize) -> &str {
        match self.kind_at(ahead) {
            Kind::Name(name) => name,
            _ => "",
        }
    }

    pub fn accept(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, mark: &str) -> Parse<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    pub fn name(&mut self) -> Parse<Name> {
        match self.kind() {
            Kind::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// The error that something else stands here.
    pub fn unexpected(&self, wanted: &str) -> SyntaxError {
        self.error(format!("{} stands where {wanted} is expected", self.shown()))
    }

    fn shown(&self) -> String {
        match self.kind() {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Text(_) | Kind::Template(_) => "a string".to_owned(),
            Kind::Char(_) => "a character".to_owned(),
            Kind::Number(digits) => format!("`{digits}`"),
            Kind::Mark(mark) => format!("`{mark}`"),
            Kind::End => "the end".to_owned(),
        }
    }

    pub fn error(&self, message: impl Into<String>) -> SyntaxError {
        let place = self.tokens.get(self.at).or(self.tokens.last());
        let (line, column) = place.map_or((1, 1), |token| (token.line, token.column));
        SyntaxError { line, column, message: message.into() }
    }

    /// Goes one level deeper, if that is allowed.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let stack = self.stack.abs_diff(crate::vm::stack_address());
        if self.depth >= DEPTH || stack > STACK {
            return Err(self.error(format!("brackets and blocks nest deeper than {DEPTH}; split the script")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads with line ends that count or not.
    pub fn with_lines<T>(&mut self, free: Lines, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let before = std::mem::replace(&mut self.free_lines, free == Lines::Free);
        let result = read(self);
        self.free_lines = before;
        result
    }

    /// Tries to read; stands where it stood if that fails.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.at;
        let result = read(self);
        if result.is_none() {
            self.at = before;
        }
        result
    }

    /// The number of a global name.
    pub fn global(&mut self, name: &Name) -> u32 {
        if let Some(index) = self.global_index.get(name) {
            return *index;
        }
        let index = self.globals.len() as u32;
        self.globals.push(name.clone());
        self.global_index.insert(name.clone(), index);
        index
    }

    pub fn declare(&mut self, name: &Name, ty: Type) -> Parse<u16> {
        self.scopes.declare(name, ty).ok_or_else(|| self.error("too many variables in one function (limit: 65535)"))
    }

    /// Reads a block's variables in a scope of their own.
    pub fn in_block<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.enter_block();
        let result = read(self);
        self.scopes.leave_block();
        result
    }
}

/// Whether line ends count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Count,
    Free,
}
