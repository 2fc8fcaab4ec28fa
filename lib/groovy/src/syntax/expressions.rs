//! Operators and what they stand between.

use super::ast::{Argument, Assignment, Call, Expr, Name, Operator, Post, Reach, Type};
use super::parser::{Lines, Parse, Parser};
use super::token::Kind;

/// Ranks of operators from the loosest up, below `&&`.
const RANKS: [&[(&str, Operator)]; 9] = [
    &[("|", Operator::Or)],
    &[("^", Operator::Xor)],
    &[("&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=>", Operator::Compare),
        ("===", Operator::Identical),
        ("!==", Operator::NotIdentical),
        ("=~", Operator::Find),
        ("==~", Operator::Match),
    ],
    &[("<", Operator::Less), ("<=", Operator::LessEqual), (">", Operator::Greater), (">=", Operator::GreaterEqual)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight), (">>>", Operator::ShiftRightUnsigned)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
    &[("**", Operator::Power)],
];

/// The most `as`, `in` and `instanceof` in a row.
const TYPE_TESTS: usize = 20;

const COMPARISONS: usize = 4;
const SHIFTS: usize = 5;

const ASSIGNMENTS: [(&str, Operator); 12] = [
    ("+=", Operator::Add),
    ("-=", Operator::Subtract),
    ("*=", Operator::Multiply),
    ("/=", Operator::Divide),
    ("%=", Operator::Remainder),
    ("**=", Operator::Power),
    ("<<=", Operator::ShiftLeft),
    (">>=", Operator::ShiftRight),
    (">>>=", Operator::ShiftRightUnsigned),
    ("&=", Operator::And),
    ("|=", Operator::Or),
    ("^=", Operator::Xor),
];

impl Parser {
    pub fn expression(&mut self) -> Parse<Expr> {
        self.nested(Self::assignment)
    }

    fn assignment(&mut self) -> Parse<Expr> {
        if self.is("(")
            && let Some(many) = self.attempt(Self::try_many_targets)
        {
            let value = self.expression()?;
            let assignment =
                Assignment { target: Expr::Null, ty: Type::Any, operator: None, value, elvis: false, many };
            return Ok(Expr::Assign(Box::new(assignment)));
        }
        let target = self.ternary()?;
        if self.on_new_line() {
            return Ok(target);
        }
        let (operator, elvis) = match self.kind() {
            Kind::Mark("=") => (None, false),
            Kind::Mark("?=") => (None, true),
            Kind::Mark(mark) => match ASSIGNMENTS.iter().find(|(own, _)| own == mark) {
                Some((_, operator)) => (Some(*operator), false),
                None => return Ok(target),
            },
            _ => return Ok(target),
        };
        if !is_target(&target) {
            return Err(self.error("only a variable, a property or an element can be assigned to"));
        }
        self.advance();
        let value = if self.is("{") && self.dialect == crate::Dialect::BeanShell {
            self.array_initial()?
        } else {
            let value = self.expression()?;
            self.command(value)?
        };
        let ty = self.type_of(&target);
        Ok(Expr::Assign(Box::new(Assignment { target, ty, operator, value, elvis, many: Vec::new() })))
    }

    /// The declared type of a local variable.
    fn type_of(&self, target: &Expr) -> Type {
        match target {
            Expr::Local(depth, slot) => self.scopes.type_at(*depth, *slot),
            _ => Type::Any,
        }
    }

    /// `(a, b) =`
    fn try_many_targets(&mut self) -> Option<Vec<Expr>> {
        self.advance();
        let mut targets = Vec::new();
        loop {
            if !matches!(self.kind(), Kind::Name(_)) || !(self.is_at(1, ",") || self.is_at(1, ")")) {
                return None;
            }
            let name = self.name().ok()?;
            targets.push(self.variable(&name));
            if !self.accept(",") {
                break;
            }
        }
        if self.is(")") && self.is_at(1, "=") && !targets.is_empty() {
            self.advance();
            self.advance();
            return Some(targets);
        }
        None
    }

    pub fn ternary(&mut self) -> Parse<Expr> {
        let condition = self.or()?;
        if self.is("?:") {
            self.advance();
            let other = self.nested(Self::ternary)?;
            return Ok(Expr::Elvis(Box::new((condition, other))));
        }
        if !self.is("?") {
            return Ok(condition);
        }
        self.advance();
        let (then, other) = self.nested(|parser| {
            let then = parser.with_lines(Lines::Free, Self::assignment)?;
            parser.expect(":")?;
            Ok((then, parser.assignment()?))
        })?;
        Ok(Expr::Ternary(Box::new((condition, then, other))))
    }

    fn or(&mut self) -> Parse<Expr> {
        let mut all = vec![self.and()?];
        while self.accept("||") {
            all.push(self.and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::Or(all) })
    }

    fn and(&mut self) -> Parse<Expr> {
        let mut all = vec![self.ranked(0)?];
        while self.accept("&&") {
            all.push(self.ranked(0)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }

    /// Operators of a rank and those that bind closer.
    fn ranked(&mut self, rank: usize) -> Parse<Expr> {
        if rank >= RANKS.len() {
            return self.unary();
        }
        let first = self.ranked(rank + 1)?;
        if rank == SHIFTS && self.is_range() {
            return self.range(first);
        }
        let mut rest = Vec::new();
        let mut result = first;
        let mut tests = 0;
        loop {
            if rank == COMPARISONS
                && let Some(next) = self.type_test(&mut result, &mut rest)?
            {
                result = next;
                tests += 1;
                if tests > TYPE_TESTS {
                    return Err(self.error(format!("more than {TYPE_TESTS} casts and type tests in a row")));
                }
                continue;
            }
            let Some(operator) = self.operator(rank) else { break };
            let line = self.line();
            let right =
                if rank == SHIFTS + 3 { self.nested(|parser| parser.ranked(rank))? } else { self.ranked(rank + 1)? };
            rest.push((operator, line, right));
        }
        Ok(chain(result, rest))
    }

    fn is_range(&self) -> bool {
        (self.is("..") || self.is("..<")) && !self.on_new_line()
    }

    fn range(&mut self, from: Expr) -> Parse<Expr> {
        let exclusive = self.is("..<");
        self.advance();
        let to = self.ranked(SHIFTS + 1)?;
        Ok(Expr::Range(Box::new((from, to)), exclusive))
    }

    /// `instanceof`, `in`, `!in`, `as` behind what was read so far.
    fn type_test(&mut self, result: &mut Expr, rest: &mut Vec<(Operator, u32, Expr)>) -> Parse<Option<Expr>> {
        let negated = self.is("!") && matches!(self.word_at(1), "in" | "instanceof") && !self.spaced(1);
        let word = self.word_at(usize::from(negated)).to_owned();
        let mut left = || chain(std::mem::replace(result, Expr::Null), std::mem::take(rest));
        match &*word {
            "instanceof" => {
                let left = left();
                self.at += 1 + usize::from(negated);
                let ty = self.ty()?;
                Ok(Some(Expr::InstanceOf(Box::new(left), ty, negated)))
            }
            "in" => {
                let left = left();
                let line = self.line();
                self.at += 1 + usize::from(negated);
                let right = self.ranked(COMPARISONS + 1)?;
                let operator = if negated { Operator::NotIn } else { Operator::In };
                Ok(Some(Expr::Chain(Box::new(left), vec![(operator, line, right)])))
            }
            "as" if !self.on_new_line() => {
                let left = left();
                self.advance();
                let ty = self.ty()?;
                Ok(Some(Expr::As(Box::new(left), ty)))
            }
            _ => Ok(None),
        }
    }

    /// The operator of this rank that stands here, taken.
    fn operator(&mut self, rank: usize) -> Option<Operator> {
        let Kind::Mark(mark) = self.kind() else { return None };
        // Two marks, since `>>` may also end two lists of type arguments.
        if rank == SHIFTS && *mark == ">" && self.is_at(1, ">") && !self.spaced(1) {
            self.at += 2;
            return Some(Operator::ShiftRight);
        }
        let (_, operator) = RANKS[rank].iter().find(|(own, _)| own == mark)?;
        // A line that begins with a sign is a statement of its own in Groovy.
        let sign = matches!(*mark, "+" | "-");
        if self.on_new_line() && sign && self.dialect == crate::Dialect::Groovy && !self.spaced(1) {
            return None;
        }
        self.advance();
        Some(*operator)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let Kind::Mark(mark) = *self.kind() else { return self.power_operand() };
        match mark {
            "!" | "-" | "+" | "~" => {
                self.advance();
                let negative_number = mark == "-" && matches!(self.kind(), Kind::Number(_));
                if negative_number && let Some(number) = self.negative_number()? {
                    return self.casts(number);
                }
                let value = self.nested(Self::unary)?;
                Ok(match mark {
                    "!" => Expr::Not(Box::new(value)),
                    "-" => Expr::Negate(Box::new(value)),
                    "+" => Expr::Plus(Box::new(value)),
                    _ => Expr::Invert(Box::new(value)),
                })
            }
            "++" | "--" => {
                let step = if mark == "++" { 1 } else { -1 };
                self.advance();
                let target = self.nested(Self::unary)?;
                self.step(target, step, false)
            }
            "(" => self.cast_or_parentheses(),
            _ => self.power_operand(),
        }
    }

    fn step(&mut self, target: Expr, step: i32, before: bool) -> Parse<Expr> {
        if is_target(&target) {
            return Ok(Expr::Step(Box::new(target), step, before));
        }
        Err(self.error("`++` and `--` need a variable, a property or an element"))
    }

    /// A value with what follows it, and casts behind it.
    fn power_operand(&mut self) -> Parse<Expr> {
        let value = self.postfix()?;
        self.casts(value)
    }

    /// `x++` behind a value.
    pub fn casts(&mut self, mut value: Expr) -> Parse<Expr> {
        if (self.is("++") || self.is("--")) && !self.on_new_line() && is_target(&value) {
            let step = if self.is("++") { 1 } else { -1 };
            self.advance();
            value = self.step(value, step, true)?;
        }
        Ok(value)
    }

    /// `(int) x`, `(x)`, `(x).y`
    fn cast_or_parentheses(&mut self) -> Parse<Expr> {
        let line = self.line();
        if let Some((ty, name)) = self.attempt(Self::try_cast) {
            self.note_class(line, &name);
            let value = self.nested(Self::unary)?;
            return Ok(Expr::Cast(ty, Box::new(value)));
        }
        self.power_operand()
    }

    fn try_cast(&mut self) -> Option<(Type, Name)> {
        self.advance();
        let (ty, name) = self.try_type()?;
        if !self.is(")") {
            return None;
        }
        self.advance();
        if self.on_new_line() {
            return None;
        }
        let primitive = super::types::PRIMITIVES.contains(&&*name) || matches!(ty, Type::Array(_));
        let class = name.rsplit('.').next().is_some_and(|name| name.starts_with(char::is_uppercase));
        let operand = match self.kind() {
            Kind::Name(word) => !matches!(&**word, "in" | "as" | "instanceof"),
            Kind::Text(_) | Kind::Template(_) | Kind::Number(_) | Kind::Char(_) => true,
            Kind::Mark(mark) => {
                matches!(*mark, "(" | "!" | "~") || (primitive && matches!(*mark, "-" | "+")) || *mark == "[" && class
            }
            Kind::End => false,
        };
        if operand && (primitive || class) { Some((ty, name)) } else { None }
    }

    /// A local variable or a global name.
    pub fn variable(&mut self, name: &Name) -> Expr {
        match self.scopes.find(name) {
            Some((depth, slot, _)) => Expr::Local(depth, slot),
            None => Expr::Global(self.global(name)),
        }
    }

    /// A statement like `println x` or `log.info "x"`: a call without parentheses.
    pub fn command(&mut self, expression: Expr) -> Parse<Expr> {
        if self.starts_line(0) || !self.starts_argument() || !is_callee(&expression) {
            return Ok(expression);
        }
        let line = self.line();
        let before = self.at;
        if before == 0 || matches!(self.tokens[before - 1].kind, Kind::Mark(_)) {
            return Ok(expression);
        }
        let mut arguments = vec![self.argument()?];
        while self.accept(",") {
            arguments.push(self.argument()?);
        }
        Ok(match expression {
            Expr::Postfix(base, mut posts) => {
                if let Some(Post::Property(reach, name, _)) = posts.pop() {
                    posts.push(Post::Method(reach, name, arguments, line));
                }
                Expr::Postfix(base, posts)
            }
            Expr::Local(depth, slot) => {
                let name = "call".into();
                Expr::Postfix(
                    Box::new(Expr::Local(depth, slot)),
                    vec![Post::Method(Reach::Plain, name, arguments, line)],
                )
            }
            Expr::Global(global) => {
                let name = self.globals[global as usize].clone();
                Expr::Call(Box::new(Call { name, local: None, global, arguments, line }))
            }
            other => other,
        })
    }

    /// Whether a token stands here that begins the argument of a call without parentheses.
    fn starts_argument(&self) -> bool {
        match self.kind() {
            Kind::Text(_) | Kind::Template(_) | Kind::Number(_) | Kind::Char(_) => true,
            Kind::Name(word) => !matches!(
                &**word,
                "in" | "as" | "instanceof" | "else" | "catch" | "finally" | "while" | "case" | "default"
            ),
            Kind::Mark("!" | "[") => self.spaced(0) && self.is("!") && !self.spaced(1),
            _ => false,
        }
    }

    /// Arguments up to this mark, which is taken.
    pub fn arguments(&mut self, end: &str) -> Parse<Vec<Argument>> {
        let arguments = self.with_lines(Lines::Free, |parser| {
            let mut arguments = Vec::new();
            while !parser.is(end) {
                arguments.push(parser.argument()?);
                if !parser.accept(",") {
                    break;
                }
            }
            Ok(arguments)
        })?;
        self.expect(end)?;
        Ok(arguments)
    }

    fn argument(&mut self) -> Parse<Argument> {
        if self.accept("*") {
            return Ok(Argument::Spread(self.expression()?));
        }
        if let Some(key) = self.attempt(Self::try_key) {
            return Ok(Argument::Named(key, self.expression()?));
        }
        Ok(Argument::Plain(self.expression()?))
    }

    /// `name:`, `'text':`
    pub fn try_key(&mut self) -> Option<Expr> {
        if !self.is_at(1, ":") {
            return None;
        }
        let key = match self.kind().clone() {
            Kind::Name(name) | Kind::Text(name) => Expr::Text(name),
            Kind::Number(_) => {
                let key = self.number().ok()?;
                self.advance();
                return Some(key);
            }
            Kind::Char(letter) => Expr::Text(letter.to_string().into()),
            Kind::Template(_) => {
                let key = self.literal().ok()?;
                self.advance();
                return Some(key);
            }
            _ => return None,
        };
        self.advance();
        self.advance();
        Some(key)
    }
}

/// The first value with what follows.
fn chain(first: Expr, rest: Vec<(Operator, u32, Expr)>) -> Expr {
    if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) }
}

/// Whether something can be assigned to the expression.
pub(super) fn is_target(expression: &Expr) -> bool {
    match expression {
        Expr::Local(..) | Expr::Global(_) => true,
        Expr::Postfix(_, posts) => {
            matches!(posts.last(), Some(Post::Property(..) | Post::DynamicProperty(..) | Post::Index(..)))
        }
        _ => false,
    }
}

/// Whether an argument may follow without parentheses.
fn is_callee(expression: &Expr) -> bool {
    match expression {
        Expr::Local(..) | Expr::Global(_) => true,
        Expr::Postfix(_, posts) => matches!(posts.last(), Some(Post::Property(..))),
        _ => false,
    }
}
