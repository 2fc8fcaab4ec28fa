//! Parses the statements of a block.

use super::ast::{Case, Catch, Expr, ForParts, Name, Stmt, StmtKind, TryParts, Type};
use super::parser::{LineEnds, Parse, Parser};
use super::token::Kind;

impl Parser {
    /// Parses statements up to a token, without consuming it.
    pub fn statements_until(&mut self, end: &Kind) -> Parse<Vec<Stmt>> {
        let mut statements = Vec::new();
        loop {
            while self.accept(";") {}
            if self.kind() == end {
                return Ok(statements);
            }
            if *self.kind() == Kind::End {
                return Err(self.unexpected("`}`"));
            }
            let statement = self.statement()?;
            if !matches!(statement.kind, StmtKind::Nothing) {
                statements.push(statement);
            }
            self.end_statement(end)?;
        }
    }

    /// Requires the end of a statement: `;`, a line end, or the end of its block.
    fn end_statement(&mut self, end: &Kind) -> Parse<()> {
        // Neither Java nor Groovy needs a separator after a block.
        let after_block = self.position > 0
            && matches!(self.tokens[self.position - 1].kind, Kind::Mark("}" | ";"));
        if self.accept(";")
            || self.kind() == end
            || self.starts_line(0)
            || after_block
            || *self.kind() == Kind::End
        {
            return Ok(());
        }
        Err(self.unexpected("the end of the statement"))
    }

    /// Parses `{ … }`.
    pub fn block(&mut self) -> Parse<Vec<Stmt>> {
        self.expect("{")?;
        let body = self.nested(|parser| {
            parser.with_lines(LineEnds::Significant, |parser| {
                parser.in_block(|parser| parser.statements_until(&Kind::Mark("}")))
            })
        })?;
        self.expect("}")?;
        Ok(body)
    }

    pub fn statement(&mut self) -> Parse<Stmt> {
        let line = self.line();
        let kind =
            self.nested(|parser| parser.with_lines(LineEnds::Significant, Self::statement_kind))?;
        Ok(Stmt { line, kind })
    }

    fn statement_kind(&mut self) -> Parse<StmtKind> {
        if self.is_mark("{") {
            // A closure that is called at once or returned begins like a block.
            return if self.is_closure_here() {
                self.expression_statement()
            } else {
                Ok(StmtKind::Block(self.block()?))
            };
        }
        if matches!(self.kind(), Kind::Name(_))
            && self.is_mark_at(1, ":")
            && !self.is_mark_at(2, ":")
        {
            return self.labelled();
        }
        match self.word() {
            "if" => self.if_statement(),
            "while" | "do" | "for" => self.loop_statement(None),
            "switch" => self.switch_statement(),
            "try" => self.try_statement(),
            "return" => self.return_statement(),
            "throw" => {
                self.advance();
                Ok(StmtKind::Throw(self.expression()?))
            }
            "break" => Ok(StmtKind::Break(self.label_after())),
            "continue" => Ok(StmtKind::Continue(self.label_after())),
            "assert" => self.assert_statement(),
            // A script runs in one thread, so the lock has no effect.
            "synchronized" if self.is_mark_at(1, "(") => {
                self.advance();
                self.head()?;
                Ok(StmtKind::Block(self.block()?))
            }
            "import" | "package" => self.import(),
            "class" | "interface" | "enum" | "trait"
                if matches!(self.kind_at(1), Kind::Name(_)) =>
            {
                self.class_statement()
            }
            _ => self.declaration_or_expression(),
        }
    }

    fn labelled(&mut self) -> Parse<StmtKind> {
        let label = self.name()?;
        self.expect(":")?;
        match self.word() {
            "while" | "do" | "for" => self.loop_statement(Some(label)),
            _ => self.nested(Self::statement_kind),
        }
    }

    fn label_after(&mut self) -> Option<Name> {
        self.advance();
        if self.starts_line(0) || !matches!(self.kind(), Kind::Name(_)) {
            None
        } else {
            self.name().ok()
        }
    }

    pub fn expression_statement(&mut self) -> Parse<StmtKind> {
        let expression = self.expression()?;
        Ok(StmtKind::Expr(self.command(expression)?))
    }

    /// Parses the condition of a statement in parentheses.
    fn head(&mut self) -> Parse<Expr> {
        self.expect("(")?;
        let condition = self.with_lines(LineEnds::Ignored, Self::expression)?;
        self.expect(")")?;
        Ok(condition)
    }

    /// Parses the statement of a branch or loop in a new scope.
    fn branch(&mut self) -> Parse<Box<Stmt>> {
        if self.is_mark(";") {
            let line = self.line();
            return Ok(Box::new(Stmt { line, kind: StmtKind::Nothing }));
        }
        if self.is_mark("{") {
            let line = self.line();
            return Ok(Box::new(Stmt { line, kind: StmtKind::Block(self.block()?) }));
        }
        Ok(Box::new(self.in_block(Self::statement)?))
    }

    fn if_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        let condition = self.head()?;
        let then = self.branch()?;
        let before = self.position;
        while self.accept(";") {}
        // Without `else`, the semicolons end the statement.
        if !self.accept_word("else") {
            self.position = before;
            return Ok(StmtKind::If(condition, then, None));
        }
        let other = self.branch()?;
        Ok(StmtKind::If(condition, then, Some(other)))
    }

    fn loop_statement(&mut self, label: Option<Name>) -> Parse<StmtKind> {
        match self.word() {
            "while" => {
                self.advance();
                let condition = self.head()?;
                Ok(StmtKind::While(label, condition, self.branch()?))
            }
            "do" => {
                self.advance();
                let body = self.branch()?;
                self.accept(";");
                if !self.accept_word("while") {
                    return Err(self.unexpected("`while`"));
                }
                Ok(StmtKind::DoWhile(label, body, self.head()?))
            }
            _ => self.in_block(|parser| parser.for_statement(label)),
        }
    }

    fn for_statement(&mut self, label: Option<Name>) -> Parse<StmtKind> {
        self.advance();
        self.expect("(")?;
        if let Some((ty, name)) = self.attempt(Self::try_for_each) {
            let values = self.with_lines(LineEnds::Ignored, Self::expression)?;
            self.expect(")")?;
            let slot = self.declare(&name, ty.clone())?;
            return Ok(StmtKind::ForIn(label, slot, ty, values, self.branch()?));
        }
        self.counting_for(label)
    }

    /// Parses `Type name in` or `name :`.
    fn try_for_each(&mut self) -> Option<(Type, Name)> {
        self.modifiers().ok()?;
        let is_untyped = matches!(self.kind(), Kind::Name(_))
            && (self.is_mark_at(1, ":") || self.word_at(1) == "in");
        let ty = if is_untyped { Type::Any } else { self.try_type()?.0 };
        let name = self.name().ok()?;
        let is_separated = self.is_mark(":") || self.word() == "in";
        if !is_separated {
            return None;
        }
        self.advance();
        Some((ty, name))
    }

    fn counting_for(&mut self, label: Option<Name>) -> Parse<StmtKind> {
        let mut before = Vec::new();
        while !self.is_mark(";") {
            let line = self.line();
            let kind = self.with_lines(LineEnds::Ignored, Self::declaration_or_expression)?;
            before.push(Stmt { line, kind });
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")?;
        let condition = if self.is_mark(";") {
            None
        } else {
            Some(self.with_lines(LineEnds::Ignored, Self::expression)?)
        };
        self.expect(";")?;
        let mut after = Vec::new();
        while !self.is_mark(")") {
            after.push(self.with_lines(LineEnds::Ignored, Self::expression)?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        let body = *self.branch()?;
        Ok(StmtKind::For(label, Box::new(ForParts { before, condition, after, body })))
    }

    pub fn switch_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        let value = self.head()?;
        self.expect("{")?;
        let cases = self.nested(|parser| {
            parser.with_lines(LineEnds::Significant, |parser| parser.in_block(Self::cases))
        })?;
        self.expect("}")?;
        Ok(StmtKind::Switch(value, cases))
    }

    fn cases(&mut self) -> Parse<Vec<Case>> {
        let mut cases: Vec<Case> = Vec::new();
        while !self.is_mark("}") {
            if self.accept(";") {
                continue;
            }
            let mut labels = vec![None];
            if self.accept_word("case") {
                labels = vec![Some(self.ternary()?)];
                while self.accept(",") {
                    labels.push(Some(self.ternary()?));
                }
            } else if !self.accept_word("default") {
                return Err(self.unexpected("`case` or `default`"));
            }
            let closed = self.accept("->");
            if !closed {
                self.expect(":")?;
            }
            let last = labels.pop().unwrap_or(None);
            // Each empty case falls through to the case of the last label.
            cases.extend(labels.into_iter().map(|label| Case {
                label,
                body: Vec::new(),
                closed: false,
            }));
            cases.push(Case { label: last, body: self.case_body()?, closed });
        }
        Ok(cases)
    }

    fn case_body(&mut self) -> Parse<Vec<Stmt>> {
        let mut body = Vec::new();
        loop {
            while self.accept(";") {}
            let ends = self.word() == "case"
                || (self.word() == "default"
                    && (self.is_mark_at(1, ":") || self.is_mark_at(1, "->")));
            if ends || self.is_mark("}") || *self.kind() == Kind::End {
                return Ok(body);
            }
            body.push(self.statement()?);
            let case_next = Kind::Mark("}");
            self.end_statement(&case_next)?;
        }
    }

    fn try_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        self.scopes.enter_block();
        let parts = self.try_parts();
        self.scopes.leave_block();
        Ok(StmtKind::Try(Box::new(parts?)))
    }

    fn try_parts(&mut self) -> Parse<TryParts> {
        let (resources, resource_slots) =
            if self.is_mark("(") { self.resources()? } else { (Vec::new(), Vec::new()) };
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.word() == "catch" {
            catches.push(self.in_block(Self::catch)?);
        }
        let finally = if self.accept_word("finally") { Some(self.block()?) } else { None };
        if catches.is_empty() && finally.is_none() && resources.is_empty() {
            return Err(self.unexpected("`catch` or `finally`"));
        }
        Ok(TryParts { resources, resource_slots, body, catches, finally })
    }

    fn resources(&mut self) -> Parse<(Vec<Stmt>, Vec<u16>)> {
        self.expect("(")?;
        let mut resources = Vec::new();
        let mut slots = Vec::new();
        while !self.is_mark(")") {
            let line = self.line();
            let kind = self.with_lines(LineEnds::Ignored, Self::declaration_or_expression)?;
            if let StmtKind::Let(variables) = &kind {
                slots.extend(variables.iter().map(|(slot, ..)| *slot));
            }
            resources.push(Stmt { line, kind });
            if !self.accept(";") {
                break;
            }
        }
        self.expect(")")?;
        Ok((resources, slots))
    }

    fn catch(&mut self) -> Parse<Catch> {
        self.advance();
        self.expect("(")?;
        self.modifiers()?;
        let mut classes = Vec::new();
        // `catch (e)` has only the variable, without a class.
        if !(matches!(self.kind(), Kind::Name(_)) && self.is_mark_at(1, ")")) {
            loop {
                let line = self.line();
                let Some((_, name)) = self.attempt(Self::try_type) else {
                    return Err(self.unexpected("a class"));
                };
                self.note_class(line, &name);
                classes.push(name);
                if !self.accept("|") {
                    break;
                }
            }
        }
        let name = self.name()?;
        self.expect(")")?;
        let slot = self.declare(&name, Type::Any)?;
        // `catch (def e)` has no class.
        classes.retain(|class| &**class != "def");
        Ok(Catch { classes, slot, body: self.block()? })
    }

    fn return_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        if self.starts_line(0)
            || self.is_mark(";")
            || self.is_mark("}")
            || *self.kind() == Kind::End
        {
            return Ok(StmtKind::Return(None));
        }
        let value = self.expression()?;
        Ok(StmtKind::Return(Some(self.command(value)?)))
    }

    fn assert_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        let begin = self.position;
        let condition = self.expression()?;
        let text = self.source_text(begin);
        let message =
            if self.accept(":") || self.accept(",") { Some(self.expression()?) } else { None };
        Ok(StmtKind::Assert(condition, message, text))
    }

    /// Approximate source of the tokens from a position up to the current one.
    fn source_text(&self, begin: usize) -> Name {
        let mut text = String::new();
        for (index, token) in self.tokens[begin..self.position].iter().enumerate() {
            if index > 0 && token.has_space_before {
                text.push(' ');
            }
            match &token.kind {
                Kind::Name(word) | Kind::Number(word) => text.push_str(word),
                Kind::Text(word) => {
                    text.push('\'');
                    text.push_str(word);
                    text.push('\'');
                }
                Kind::Template(_) => text.push_str("\"…\""),
                Kind::Char(letter) => text.push(*letter),
                Kind::Mark(mark) => text.push_str(mark),
                Kind::End => {}
            }
        }
        text.into()
    }
}
