//! Parses operators and assignments.

use super::ast::{Argument, Assignment, Call, Expr, Name, Operator, Post, Reach, Type};
use super::parser::{LineEnds, Parse, Parser};
use super::token::Kind;

/// Operators below `&&` by precedence, lowest first.
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
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterEqual),
    ],
    &[
        ("<<", Operator::ShiftLeft),
        (">>", Operator::ShiftRight),
        (">>>", Operator::ShiftRightUnsigned),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
    &[("**", Operator::Power)],
];

/// Maximum number of successive `as`, `in` and `instanceof`.
// Each test contains the previous one, and evaluation is recursive.
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
        if self.is_mark("(")
            && let Some(many) = self.attempt(Self::try_many_targets)
        {
            let value = self.expression()?;
            let assignment = Assignment {
                target: Expr::Null,
                ty: Type::Any,
                operator: None,
                value,
                elvis: false,
                many,
            };
            return Ok(Expr::Assign(Box::new(assignment)));
        }
        let target = self.ternary()?;
        if self.on_new_line() {
            return Ok(target);
        }
        let (operator, elvis) = match self.kind() {
            Kind::Mark("=") => (None, false),
            Kind::Mark("?=") => (None, true),
            Kind::Mark(mark) => {
                match ASSIGNMENTS.iter().find(|(operator_mark, _)| operator_mark == mark) {
                    Some((_, operator)) => (Some(*operator), false),
                    None => return Ok(target),
                }
            }
            _ => return Ok(target),
        };
        if !is_target(&target) {
            return Err(self.error("only a variable, a property or an element can be assigned to"));
        }
        self.advance();
        // In Java, `{` begins an array here; in Groovy, it begins a closure.
        let value = if self.is_mark("{") && self.dialect == crate::Dialect::BeanShell {
            self.array_initial()?
        } else {
            let value = self.expression()?;
            self.command(value)?
        };
        let ty = self.type_of(&target);
        Ok(Expr::Assign(Box::new(Assignment {
            target,
            ty,
            operator,
            value,
            elvis,
            many: Vec::new(),
        })))
    }

    /// Declared type of a local variable.
    fn type_of(&self, target: &Expr) -> Type {
        match target {
            Expr::Local(depth, slot) => self.scopes.type_at(*depth, *slot),
            _ => Type::Any,
        }
    }

    /// Parses the targets of `(a, b) =`.
    fn try_many_targets(&mut self) -> Option<Vec<Expr>> {
        self.advance();
        let mut targets = Vec::new();
        loop {
            if !matches!(self.kind(), Kind::Name(_))
                || !(self.is_mark_at(1, ",") || self.is_mark_at(1, ")"))
            {
                return None;
            }
            let name = self.name().ok()?;
            targets.push(self.variable(&name));
            if !self.accept(",") {
                break;
            }
        }
        if self.is_mark(")") && self.is_mark_at(1, "=") && !targets.is_empty() {
            self.advance();
            self.advance();
            return Some(targets);
        }
        None
    }

    pub fn ternary(&mut self) -> Parse<Expr> {
        let condition = self.or()?;
        if self.is_mark("?:") {
            self.advance();
            let other = self.nested(Self::ternary)?;
            return Ok(Expr::Elvis(Box::new((condition, other))));
        }
        if !self.is_mark("?") {
            return Ok(condition);
        }
        self.advance();
        let (then, other) = self.nested(|parser| {
            let then = parser.with_lines(LineEnds::Ignored, Self::assignment)?;
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

    /// Parses operators of one precedence and higher.
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
                    return Err(
                        self.error(format!("more than {TYPE_TESTS} casts and type tests in a row"))
                    );
                }
                continue;
            }
            let Some(operator) = self.operator(rank) else { break };
            let line = self.line();
            let right =
                // `**` associates to the right.
                if rank == SHIFTS + 3 { self.nested(|parser| parser.ranked(rank))? } else { self.ranked(rank + 1)? };
            rest.push((operator, line, right));
        }
        Ok(chain(result, rest))
    }

    fn is_range(&self) -> bool {
        (self.is_mark("..") || self.is_mark("..<")) && !self.on_new_line()
    }

    fn range(&mut self, from: Expr) -> Parse<Expr> {
        let exclusive = self.is_mark("..<");
        self.advance();
        let to = self.ranked(SHIFTS + 1)?;
        Ok(Expr::Range(Box::new((from, to)), exclusive))
    }

    /// Parses `instanceof`, `in`, `!in` or `as` after an expression.
    fn type_test(
        &mut self,
        result: &mut Expr,
        rest: &mut Vec<(Operator, u32, Expr)>,
    ) -> Parse<Option<Expr>> {
        let negated = self.is_mark("!")
            && matches!(self.word_at(1), "in" | "instanceof")
            && !self.has_space_before(1);
        let word = self.word_at(usize::from(negated)).to_owned();
        match &*word {
            "instanceof" => {
                let operand = take_chain(result, rest);
                self.position += 1 + usize::from(negated);
                let ty = self.ty()?;
                Ok(Some(Expr::InstanceOf(Box::new(operand), ty, negated)))
            }
            "in" => {
                let operand = take_chain(result, rest);
                let line = self.line();
                self.position += 1 + usize::from(negated);
                let right = self.ranked(COMPARISONS + 1)?;
                let operator = if negated { Operator::NotIn } else { Operator::In };
                Ok(Some(Expr::Chain(Box::new(operand), vec![(operator, line, right)])))
            }
            "as" if !self.on_new_line() => {
                let operand = take_chain(result, rest);
                self.advance();
                let ty = self.ty()?;
                Ok(Some(Expr::As(Box::new(operand), ty)))
            }
            _ => Ok(None),
        }
    }

    /// Consumes an operator of this precedence, if it is next.
    fn operator(&mut self, rank: usize) -> Option<Operator> {
        let Kind::Mark(mark) = self.kind() else { return None };
        // `>>` is two marks, because it may also end two lists of type arguments.
        if rank == SHIFTS && *mark == ">" && self.is_mark_at(1, ">") && !self.has_space_before(1) {
            self.position += 2;
            return Some(Operator::ShiftRight);
        }
        let (_, operator) = RANKS[rank].iter().find(|(operator_mark, _)| operator_mark == mark)?;
        // In Groovy, a line that begins with a sign is a separate statement.
        let is_sign = matches!(*mark, "+" | "-");
        if self.on_new_line()
            && is_sign
            && self.dialect == crate::Dialect::Groovy
            && !self.has_space_before(1)
        {
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
                // `-2147483648` is one literal, because its digits alone exceed an int.
                let negative_number = mark == "-" && matches!(self.kind(), Kind::Number(_));
                if negative_number && let Some(number) = self.negative_number()? {
                    return self.postfix_step(number);
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

    /// Parses a value with suffixes and an increment.
    fn power_operand(&mut self) -> Parse<Expr> {
        let value = self.postfix()?;
        self.postfix_step(value)
    }

    /// Parses `x++` or `x--` after a value.
    pub fn postfix_step(&mut self, mut value: Expr) -> Parse<Expr> {
        if (self.is_mark("++") || self.is_mark("--")) && !self.on_new_line() && is_target(&value) {
            let step = if self.is_mark("++") { 1 } else { -1 };
            self.advance();
            value = self.step(value, step, true)?;
        }
        Ok(value)
    }

    /// Parses `(int) x`, `(x)` or `(x).y`.
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
        if !self.is_mark(")") {
            return None;
        }
        self.advance();
        if self.on_new_line() {
            return None;
        }
        let is_primitive =
            super::types::PRIMITIVES.contains(&&*name) || matches!(ty, Type::Array(_));
        let is_class =
            name.rsplit('.').next().is_some_and(|name| name.starts_with(char::is_uppercase));
        let is_operand_next = match self.kind() {
            Kind::Name(word) => !matches!(&**word, "in" | "as" | "instanceof"),
            Kind::Text(_) | Kind::Template(_) | Kind::Number(_) | Kind::Char(_) => true,
            Kind::Mark(mark) => {
                // `(int) -x` is a cast, but `(x) -y` subtracts. `(List) [1]` is a cast, but `(x)
                // [1]` an index.
                matches!(*mark, "(" | "!" | "~")
                    || (is_primitive && matches!(*mark, "-" | "+"))
                    || *mark == "[" && is_class
            }
            Kind::End => false,
        };
        if is_operand_next && (is_primitive || is_class) { Some((ty, name)) } else { None }
    }

    /// Resolves a name to a local variable or a global.
    pub fn variable(&mut self, name: &Name) -> Expr {
        match self.scopes.find(name) {
            Some((depth, slot, _)) => Expr::Local(depth, slot),
            None => Expr::Global(self.global(name)),
        }
    }

    /// Parses a call without parentheses such as `println x` or `log.info "x"`.
    pub fn command(&mut self, expression: Expr) -> Parse<Expr> {
        if self.starts_line(0) || !self.starts_argument() || !is_callee(&expression) {
            return Ok(expression);
        }
        let line = self.line();
        let before = self.position;
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

    /// True if the next token can begin an argument of a call without parentheses.
    fn starts_argument(&self) -> bool {
        match self.kind() {
            Kind::Text(_) | Kind::Template(_) | Kind::Number(_) | Kind::Char(_) => true,
            Kind::Name(word) => !matches!(
                &**word,
                "in" | "as"
                    | "instanceof"
                    | "else"
                    | "catch"
                    | "finally"
                    | "while"
                    | "case"
                    | "default"
            ),
            Kind::Mark("!" | "[") => {
                self.has_space_before(0) && self.is_mark("!") && !self.has_space_before(1)
            }
            _ => false,
        }
    }

    /// Parses arguments up to a mark, and consumes it.
    pub fn arguments(&mut self, end: &str) -> Parse<Vec<Argument>> {
        let arguments = self.with_lines(LineEnds::Ignored, |parser| {
            let mut arguments = Vec::new();
            while !parser.is_mark(end) {
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

    /// Parses a key: `name:` or `'text':`.
    pub fn try_key(&mut self) -> Option<Expr> {
        if !self.is_mark_at(1, ":") {
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

/// Combines a value with the operators that follow it.
fn chain(first: Expr, rest: Vec<(Operator, u32, Expr)>) -> Expr {
    if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) }
}

/// Moves the parsed operators into one expression.
fn take_chain(first: &mut Expr, rest: &mut Vec<(Operator, u32, Expr)>) -> Expr {
    chain(std::mem::replace(first, Expr::Null), std::mem::take(rest))
}

/// True if the expression can be assigned to.
pub(super) fn is_target(expression: &Expr) -> bool {
    match expression {
        Expr::Local(..) | Expr::Global(_) => true,
        Expr::Postfix(_, posts) => {
            matches!(
                posts.last(),
                Some(Post::Property(..) | Post::DynamicProperty(..) | Post::Index(..))
            )
        }
        _ => false,
    }
}

/// True if an argument without parentheses may follow.
fn is_callee(expression: &Expr) -> bool {
    match expression {
        Expr::Local(..) | Expr::Global(_) => true,
        Expr::Postfix(_, posts) => matches!(posts.last(), Some(Post::Property(..))),
        _ => false,
    }
}
