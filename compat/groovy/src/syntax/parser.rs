//! Converts tokens to a tree: functions that all parts of the parser share.

use super::ast::{ClassDef, Code, Function, Import, Method, Name, Type};
use super::lexer::tokens;
use super::scope::{Scopes, Visibility};
use super::token::{Kind, Token};
use crate::error::SyntaxError;
use crate::script::Dialect;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum nesting of brackets, blocks and operators.
const DEPTH: u32 = 120;

/// Maximum stack that parsing may use, in bytes.
const STACK: usize = 600 << 10;

/// Result of a parser step.
pub(super) type Parse<T> = Result<T, SyntaxError>;

pub(super) struct Parser {
    pub tokens: Vec<Token>,
    pub position: usize,
    pub scopes: Scopes,
    pub dialect: Dialect,
    /// True if line ends are ignored: between parentheses and brackets.
    pub ignores_line_ends: bool,
    pub globals: Vec<Name>,
    global_index: HashMap<Name, u32>,
    pub methods: Vec<Method>,
    pub classes: Vec<Arc<ClassDef>>,
    pub imports: Vec<Import>,
    pub class_uses: Vec<(u32, Name)>,
    depth: u32,
    /// Stack address at the start.
    stack: usize,
}

/// Parses a whole script.
pub(crate) fn parse(source: &str, dialect: Dialect) -> Parse<Code> {
    let mut parser = Parser {
        tokens: tokens(source, dialect)?,
        position: 0,
        scopes: Scopes::default(),
        dialect,
        ignores_line_ends: false,
        globals: Vec::new(),
        global_index: HashMap::new(),
        methods: Vec::new(),
        classes: Vec::new(),
        imports: Vec::new(),
        class_uses: Vec::new(),
        depth: 0,
        stack: crate::vm::stack_address(),
    };
    parser.scopes.enter_function(Visibility::Enclosing);
    let body = parser.statements_until(&Kind::End)?;
    let slots = parser.scopes.leave_function();
    let main = Function {
        name: "script".into(),
        parameters: Vec::new(),
        implicit_it: false,
        body,
        slots,
        returns: Type::Any,
    };
    Ok(Code {
        main: Arc::new(main),
        globals: parser.globals,
        methods: parser.methods,
        classes: parser.classes,
        imports: parser.imports,
        class_uses: parser.class_uses,
        dialect,
    })
}

impl Parser {
    pub fn kind(&self) -> &Kind {
        self.kind_at(0)
    }

    pub fn kind_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.position + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    pub fn line(&self) -> u32 {
        self.tokens.get(self.position).or(self.tokens.last()).map_or(0, |token| token.line)
    }

    pub fn advance(&mut self) {
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    /// True if the next token is on a new line, and line ends are significant.
    pub fn on_new_line(&self) -> bool {
        !self.ignores_line_ends && self.starts_line(0)
    }

    pub fn starts_line(&self, ahead: usize) -> bool {
        self.tokens.get(self.position + ahead).is_some_and(|token| token.is_first_of_line)
    }

    pub fn has_space_before(&self, ahead: usize) -> bool {
        self.tokens.get(self.position + ahead).is_some_and(|token| token.has_space_before)
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        self.is_mark_at(0, mark)
    }

    pub fn is_mark_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.kind_at(ahead), Kind::Mark(next_mark) if *next_mark == mark)
    }

    pub fn word(&self) -> &str {
        self.word_at(0)
    }

    /// The next name; empty if the token is not a name.
    pub fn word_at(&self, ahead: usize) -> &str {
        match self.kind_at(ahead) {
            Kind::Name(name) => name,
            _ => "",
        }
    }

    pub fn accept(&mut self, mark: &str) -> bool {
        let is_next = self.is_mark(mark);
        if is_next {
            self.advance();
        }
        is_next
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let is_next = self.word() == word;
        if is_next {
            self.advance();
        }
        is_next
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

    /// Syntax error for an unexpected token.
    pub fn unexpected(&self, expected: &str) -> SyntaxError {
        self.error(format!("{} stands where {expected} is expected", self.token_text()))
    }

    fn token_text(&self) -> String {
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
        let place = self.tokens.get(self.position).or(self.tokens.last());
        let (line, column) = place.map_or((1, 1), |token| (token.line, token.column));
        SyntaxError { line, column, message: message.into() }
    }

    /// Parses one level deeper, up to the maximum nesting.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        // The depth alone is no limit, because frames of debug builds are much larger.
        let stack = self.stack.abs_diff(crate::vm::stack_address());
        if self.depth >= DEPTH || stack > STACK {
            return Err(self
                .error(format!("brackets and blocks nest deeper than {DEPTH}; split the script")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Parses with significant or ignored line ends.
    pub fn with_lines<T>(
        &mut self,
        line_ends: LineEnds,
        read: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        let before = std::mem::replace(&mut self.ignores_line_ends, line_ends == LineEnds::Ignored);
        let result = read(self);
        self.ignores_line_ends = before;
        result
    }

    /// Tries to parse; restores the position on failure.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.position;
        let result = read(self);
        if result.is_none() {
            self.position = before;
        }
        result
    }

    /// Index of a global name; adds it if necessary.
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
        self.scopes
            .declare(name, ty)
            .ok_or_else(|| self.error("too many variables in one function (limit: 65535)"))
    }

    /// Parses a block in a new scope.
    pub fn in_block<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.enter_block();
        let result = read(self);
        self.scopes.leave_block();
        result
    }
}

/// Treatment of line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    Significant,
    Ignored,
}
