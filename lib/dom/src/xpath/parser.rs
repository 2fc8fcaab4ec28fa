//! Parses tokens into an expression, by recursive descent of bounded depth.

use super::ast::{AXES, Axis, Expr, FUNCTIONS, Function, Operator, Path, Start, Step, Test};
use super::lexer::{Token, tokens};
use crate::error::ExpressionError;
use regex::RegexBuilder;

/// Maximum nesting depth of brackets.
const MAX_DEPTH: usize = 32;

/// Maximum size of an expression in bytes.
const MAX_BYTES: usize = 1 << 16;

/// Operators by precedence, the lowest first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::AtMost),
        (">", Operator::Greater),
        (">=", Operator::AtLeast),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("×", Operator::Multiply), ("div", Operator::Divide), ("mod", Operator::Modulo)],
];

type Parsed<T> = Result<T, ExpressionError>;

/// Parses an expression. With `namespaces` (prefixes and their URIs), names are qualified;
/// otherwise they match exactly.
pub(super) fn parse(source: &str, namespaces: Option<&[(String, String)]>) -> Parsed<Expr> {
    if source.len() > MAX_BYTES {
        return Err(ExpressionError::at(
            source,
            MAX_BYTES,
            format!("the expression has more than {MAX_BYTES} bytes"),
        ));
    }
    let mut parser = Parser { source, namespaces, tokens: tokens(source)?, position: 0, depth: 0 };
    let expression = parser.expression()?;
    if *parser.peek() != Token::End {
        return Err(parser.fault("expected an operator or the end"));
    }
    Ok(expression)
}

struct Parser<'s> {
    source: &'s str,
    namespaces: Option<&'s [(String, String)]>,
    tokens: Vec<(Token, usize)>,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.position + ahead).map_or(&Token::End, |(token, _)| token)
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(next) if *next == symbol)
    }

    /// Consumes a symbol if it is next.
    fn take(&mut self, symbol: &str) -> bool {
        let is_next = self.is_symbol(symbol);
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.fault(&format!("expected `{symbol}`"))) }
    }

    /// Creates an error at the next token.
    fn fault(&self, message: &str) -> ExpressionError {
        let (token, offset) = self
            .tokens
            .get(self.position)
            .map_or((&Token::End, self.source.len()), |(a, b)| (a, *b));
        let actual = match token {
            Token::Name(name) => format!("`{name}`"),
            Token::Text(text) => format!("'{text}'"),
            Token::Number(number) => format!("`{number}`"),
            Token::Symbol("×") => "`*`".to_owned(),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the expression".to_owned(),
        };
        ExpressionError::at(self.source, offset, format!("{message}, found {actual}"))
    }

    fn expression(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault(&format!("brackets are nested more than {MAX_DEPTH} deep")));
        }
        let expression = self.level(0)?;
        self.depth -= 1;
        Ok(expression)
    }

    fn level(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let first = self.level(level + 1)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.is_symbol(symbol))
        {
            self.position += 1;
            rest.push((*operator, self.level(level + 1)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let mut signs = 0;
        // A loop and no recursion, so that many signs do not exhaust the stack.
        while self.take("-") {
            signs += 1;
        }
        let operand = self.union()?;
        Ok(match signs {
            0 => operand,
            odd if odd % 2 == 1 => Expr::Negate(Box::new(operand)),
            // An even number of signs still converts to a number.
            _ => Expr::Call(Function::Number, vec![operand]),
        })
    }

    fn union(&mut self) -> Parsed<Expr> {
        let first = self.path()?;
        if !self.is_symbol("|") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take("|") {
            all.push(self.path()?);
        }
        if all.iter().all(Expr::is_nodes) {
            Ok(Expr::Union(all))
        } else {
            Err(self.fault("`|` joins only nodes"))
        }
    }

    fn path(&mut self) -> Parsed<Expr> {
        let mut steps = Vec::new();
        let start = if self.is_primary() {
            let primary = self.primary()?;
            let predicates = self.predicates()?;
            let has_steps = self.is_symbol("/") || self.is_symbol("//");
            // A primary expression without predicates and steps need not give nodes.
            if predicates.is_empty() && !has_steps {
                return Ok(primary);
            }
            if !primary.is_nodes() {
                return Err(
                    self.fault("a predicate or path must follow an expression that gives nodes")
                );
            }
            Start::Filter(Box::new(primary), predicates)
        } else if self.is_symbol("/") || self.is_symbol("//") {
            Start::Root
        } else {
            steps.push(self.step()?);
            Start::Context
        };
        self.steps(&start, &mut steps)?;
        Ok(Expr::Path(Path { start, steps: joined(steps) }))
    }

    fn steps(&mut self, start: &Start, steps: &mut Vec<Step>) -> Parsed<()> {
        loop {
            if self.take("//") {
                steps.push(any_below());
            } else if !self.take("/")
                || (matches!(start, Start::Root) && steps.is_empty() && !self.is_step())
            {
                return Ok(());
            }
            steps.push(self.step()?);
        }
    }

    /// True if a step may begin here. This distinguishes `/` alone from a path.
    fn is_step(&self) -> bool {
        matches!(self.peek(), Token::Name(_) | Token::Symbol("." | ".." | "@"))
    }

    fn is_primary(&self) -> bool {
        match (self.peek(), self.peek_at(1)) {
            (Token::Text(_) | Token::Number(_) | Token::Symbol("("), _) => true,
            (Token::Name(name), Token::Symbol("(")) => !is_node_type(name),
            _ => false,
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        if let Token::Name(name) = &token {
            return self.call(name);
        }
        self.position += 1;
        match token {
            Token::Text(text) => Ok(Expr::Text(text)),
            Token::Number(number) => Ok(Expr::Number(number)),
            _ => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
        }
    }

    fn call(&mut self, name: &str) -> Parsed<Expr> {
        // XPath 2.0 writes `fn:` before its functions.
        let plain = name.strip_prefix("fn:").unwrap_or(name);
        let Some((_, function, fewest, most)) =
            FUNCTIONS.iter().find(|(known, ..)| *known == plain)
        else {
            return Err(
                self.fault(&format!("expected a function of XPath 1.0 instead of {name}()"))
            );
        };
        let offset = self.tokens[self.position].1;
        self.position += 2;
        let mut arguments = Vec::new();
        while !self.is_symbol(")") {
            arguments.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        let count = arguments.len();
        if count < *fewest {
            let message = format!("{name}() takes at least {fewest} arguments, {count} given");
            return Err(ExpressionError::at(self.source, offset, message));
        }
        if count > *most {
            let message = format!("{name}() takes at most {most} arguments, {count} given");
            return Err(ExpressionError::at(self.source, offset, message));
        }
        // Checked here, so that the evaluation cannot fail for the kind of a value.
        let wants_nodes = match function {
            Function::Count | Function::Sum => true,
            Function::Name | Function::LocalName | Function::NamespaceUri => count == 1,
            _ => false,
        };
        if wants_nodes && !arguments[0].is_nodes() {
            let message = format!("{name}() takes nodes, for example {name}(//a)");
            return Err(ExpressionError::at(self.source, offset, message));
        }
        match function {
            Function::Matches | Function::Replace => pattern(*function, arguments)
                .map_err(|message| ExpressionError::at(self.source, offset, message)),
            _ => Ok(Expr::Call(*function, arguments)),
        }
    }

    fn predicates(&mut self) -> Parsed<Vec<Expr>> {
        let mut all = Vec::new();
        while self.take("[") {
            all.push(self.expression()?);
            self.expect("]")?;
        }
        Ok(all)
    }

    fn step(&mut self) -> Parsed<Step> {
        if self.take(".") {
            return Ok(plain(Axis::Itself, Test::Node));
        }
        if self.take("..") {
            return Ok(plain(Axis::Parent, Test::Node));
        }
        let axis = self.axis()?;
        let test = self.test()?;
        let predicates = self.predicates()?;
        let is_positional = predicates.iter().any(Expr::is_positional);
        Ok(Step { axis, test, predicates, is_positional })
    }

    fn axis(&mut self) -> Parsed<Axis> {
        if self.take("@") {
            return Ok(Axis::Attribute);
        }
        let (Token::Name(name), Token::Symbol("::")) = (self.peek(), self.peek_at(1)) else {
            return Ok(Axis::Child);
        };
        let Some((_, axis)) = AXES.iter().find(|(known, _)| **known == **name) else {
            return Err(self.fault("expected an axis such as child, descendant or ancestor"));
        };
        self.position += 2;
        Ok(*axis)
    }

    fn test(&mut self) -> Parsed<Test> {
        let Token::Name(name) = self.peek().clone() else {
            return Err(self.fault("expected a step such as a name, `*`, `@name` or text()"));
        };
        if !matches!(self.peek_at(1), Token::Symbol("(")) {
            self.position += 1;
            return Ok(match &*name {
                "*" => Test::Any,
                qualified if self.namespaces.is_some() => self.qualified(qualified)?,
                any if any.ends_with(":*") => Test::Prefix(any.trim_end_matches('*').into()),
                _ => Test::Name(name),
            });
        }
        if !is_node_type(&name) {
            return Err(self.fault("expected a node test, not a function"));
        }
        self.position += 2;
        let target = match self.peek() {
            Token::Text(text) if &*name == "processing-instruction" => Some(text.clone()),
            _ => None,
        };
        self.position += usize::from(target.is_some());
        self.expect(")")?;
        Ok(match &*name {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            _ => Test::Instruction(target),
        })
    }
}

impl Parser<'_> {
    /// Returns the test of `name`, `prefix:name` or `prefix:*` by namespace.
    fn qualified(&self, name: &str) -> Parsed<Test> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let mut namespaces = self.namespaces.unwrap_or_default().iter();
        let uri = namespaces.find(|(known, _)| known == prefix).map(|(_, uri)| uri.as_str());
        let Some(uri) = uri.or(prefix.is_empty().then_some("")) else {
            return Err(self.fault(&format!(
                "no namespace is given for the prefix `{prefix}`; expected `{prefix}=URI`"
            )));
        };
        Ok(Test::Qualified { uri: uri.into(), local: (local != "*").then(|| local.into()) })
    }
}

fn is_node_type(name: &str) -> bool {
    ["node", "text", "comment", "processing-instruction"].contains(&name)
}

fn plain(axis: Axis, test: Test) -> Step {
    Step { axis, test, predicates: Vec::new(), is_positional: false }
}

/// Returns the step that `//` abbreviates.
fn any_below() -> Step {
    plain(Axis::DescendantOrSelf, Test::Node)
}

/// Makes one step of `//name`, which then need not list all nodes. Not possible if a predicate
/// depends on the position among children.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for mut step in steps {
        let after_any = all.last().is_some_and(|last| {
            last.axis == Axis::DescendantOrSelf
                && matches!(last.test, Test::Node)
                && last.predicates.is_empty()
        });
        if after_any && step.axis == Axis::Child && !step.is_positional {
            step.axis = Axis::Descendant;
            all.pop();
        }
        all.push(step);
    }
    all
}

/// Builds a call of `matches` or `replace`; its pattern is compiled once.
fn pattern(function: Function, arguments: Vec<Expr>) -> Result<Expr, String> {
    let mut arguments = arguments.into_iter();
    let subject = Box::new(arguments.next().unwrap_or(Expr::Text("".into())));
    let mut texts = Vec::new();
    for argument in arguments {
        let Expr::Text(text) = argument else {
            return Err("pattern, replacement and flags must be literal texts".to_owned());
        };
        texts.push(text);
    }
    let flags =
        texts.get(if function == Function::Matches { 1 } else { 2 }).map_or("", |flags| &**flags);
    if let Some(unknown) = flags.chars().find(|flag| !"imsx".contains(*flag)) {
        return Err(format!("unknown flag `{unknown}`; expected some of `i`, `m`, `s`, `x`"));
    }
    let regex = RegexBuilder::new(texts.first().map_or("", |pattern| &**pattern))
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .ignore_whitespace(flags.contains('x'))
        .build()
        .map_err(|error| error.to_string())?;
    if function == Function::Matches {
        return Ok(Expr::Matches(subject, Box::new(regex)));
    }
    let replacement = braced(texts.get(1).map_or("", |text| &**text));
    Ok(Expr::Replace(subject, Box::new(regex), replacement.into()))
}

/// Converts `$1` of XPath to `${1}` of the regex crate, which would read a letter after it as
/// part of a name.
fn braced(replacement: &str) -> String {
    let mut out = String::new();
    let mut letters = replacement.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' if letters.peek().is_some_and(char::is_ascii_digit) => {
                out.push_str("${");
                while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                    out.push(digit);
                }
                out.push('}');
            }
            '\\' => out.push_str(
                &letters
                    .next()
                    .map_or_else(String::new, |next| next.to_string().replace('$', "$$")),
            ),
            '$' => out.push_str("$$"),
            other => out.push(other),
        }
    }
    out
}
