//! Parses tokens into a tree.

use super::operators::Operator;
use super::tokens::{self, Token};
use super::{Object, Value, methods_of, texts};

/// A node of the tree.
#[derive(Debug)]
pub enum Node {
    Literal(Value),
    /// `[a, b]`
    List(Vec<Node>),
    /// `threadName`
    ThreadName,
    /// `!a`
    Not(Box<Node>),
    /// `-a`
    Negative(Box<Node>),
    /// `empty(a)`
    Empty(Box<Node>),
    /// `size(a)`
    Size(Box<Node>),
    /// `a && b`
    And(Box<Node>, Box<Node>),
    /// `a || b`
    Or(Box<Node>, Box<Node>),
    /// `a ? b : c`
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// `a ?: b`
    Otherwise(Box<Node>, Box<Node>),
    /// An operator that evaluates both of its operands.
    Binary(Operator, Box<Node>, Box<Node>),
    /// A method call of a value.
    Method(Box<Node>, String, Vec<Node>),
    /// A method call of one of JMeter's objects.
    Object(Object, String, Vec<Node>),
}

/// Maximum depth of an expression.
const MAX_DEPTH: usize = 64;

/// Parses the text of an expression.
///
/// # Errors
///
/// Describes the unreadable or unsupported part.
pub fn parse(source: &str) -> Result<Node, String> {
    let mut parser = Parser { tokens: tokens::read(source)?, position: 0, depth: 0 };
    let root = parser.expression()?;
    parser.take(";");
    match parser.peek() {
        None => Ok(root),
        Some(Token::Sign("=" | ";" | "{" | "+=" | "-=")) => {
            Err("assignments and statements of JEXL are not supported; write the script in Groovy"
                .into())
        }
        Some(other) => Err(format!("{} is not expected here", token_text(other))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    fn take(&mut self, sign: &str) -> bool {
        let matches = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.position += usize::from(matches);
        matches
    }

    fn take_word(&mut self, word: &str) -> bool {
        let matches = matches!(self.peek(), Some(Token::Name(next)) if next == word);
        self.position += usize::from(matches);
        matches
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            return Ok(());
        }
        let actual = self.peek().map_or_else(
            || "the expression ends".into(),
            |token| format!("{} stands", token_text(token)),
        );
        Err(format!("{actual} where `{sign}` is expected"))
    }

    fn expression(&mut self) -> Result<Node, String> {
        if self.depth == MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        self.depth += 1;
        let node = self.choice();
        self.depth -= 1;
        node
    }

    fn choice(&mut self) -> Result<Node, String> {
        let first = self.or()?;
        if self.take("?:") || self.take("??") {
            return Ok(Node::Otherwise(first.into(), self.expression()?.into()));
        }
        if !self.take("?") {
            return Ok(first);
        }
        let yes = self.expression()?;
        self.expect(":")?;
        Ok(Node::Choice(first.into(), yes.into(), self.expression()?.into()))
    }

    fn or(&mut self) -> Result<Node, String> {
        let mut node = self.and()?;
        while self.take("||") || self.take_word("or") {
            node = Node::Or(node.into(), self.and()?.into());
        }
        Ok(node)
    }

    fn and(&mut self) -> Result<Node, String> {
        let mut node = self.binary(0)?;
        while self.take("&&") || self.take_word("and") {
            node = Node::And(node.into(), self.binary(0)?.into());
        }
        Ok(node)
    }

    /// Parses operators of this level of precedence and above.
    fn binary(&mut self, level: usize) -> Result<Node, String> {
        if level == Operator::LEVELS {
            return self.unary();
        }
        let mut node = self.binary(level + 1)?;
        while let Some(operator) =
            self.peek().and_then(Operator::from_token).filter(|operator| operator.level() == level)
        {
            self.position += 1;
            node = Node::Binary(operator, node.into(), self.binary(level + 1)?.into());
        }
        Ok(node)
    }

    fn unary(&mut self) -> Result<Node, String> {
        // Unary operators nest without parentheses, so they are counted separately.
        if self.depth == MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        self.depth += 1;
        let node = if self.take("!") || self.take_word("not") {
            self.unary().map(|operand| Node::Not(operand.into()))
        } else if self.take("-") {
            self.unary().map(|operand| Node::Negative(operand.into()))
        } else if self.take("+") {
            self.unary()
        } else if self.take_word("empty") {
            self.unary().map(|operand| Node::Empty(operand.into()))
        } else if self.take_word("size") {
            self.unary().map(|operand| Node::Size(operand.into()))
        } else {
            self.with_methods()
        };
        self.depth -= 1;
        node
    }

    fn with_methods(&mut self) -> Result<Node, String> {
        let mut node = self.primary()?;
        while self.take(".") {
            let Some(Token::Name(name)) = self.peek().cloned() else {
                return Err("the name of a method is missing after `.`".into());
            };
            self.position += 1;
            self.expect("(")?;
            let arguments = self.list(")")?;
            if !texts::METHODS.contains(&name.as_str()) {
                return Err(format!(
                    "the method `{name}` is not supported in JEXL; write the script in Groovy"
                ));
            }
            node = Node::Method(node.into(), name, arguments);
        }
        Ok(node)
    }

    fn list(&mut self, end: &str) -> Result<Vec<Node>, String> {
        let mut items = Vec::new();
        if self.take(end) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(end)?;
        Ok(items)
    }

    fn primary(&mut self) -> Result<Node, String> {
        let Some(token) = self.peek().cloned() else {
            return Err("the expression ends where a value is expected".into());
        };
        self.position += 1;
        Ok(match token {
            Token::Text(text) => Node::Literal(Value::Text(text)),
            Token::Int(number) => Node::Literal(Value::Int(number)),
            Token::Real(number) => Node::Literal(Value::Real(number)),
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                inner
            }
            Token::Sign("[") => Node::List(self.list("]")?),
            Token::Name(name) => self.name_or_object(&name)?,
            Token::Sign(_) => {
                return Err(format!("{} found, but a value is expected", token_text(&token)));
            }
        })
    }

    fn name_or_object(&mut self, name: &str) -> Result<Node, String> {
        let object = match name {
            "true" | "false" => return Ok(Node::Literal(Value::Bool(name == "true"))),
            "null" => return Ok(Node::Literal(Value::Null)),
            "threadName" => return Ok(Node::ThreadName),
            "vars" => Object::Vars,
            "props" => Object::Props,
            "ctx" => Object::Context,
            "log" => Object::Log,
            "sampleResult" => Object::Sample,
            // JMeter does not define it in JEXL: the expression then has no value, and
            // no error is reported.
            "prev" => Object::Undefined,
            _ => {
                return Err(format!(
                    "`{name}` is not known in a JEXL expression; write a text as \"{name}\", a variable as vars.get(\"{name}\")"
                ));
            }
        };
        if self.take("[") {
            let key = self.expression()?;
            self.expect("]")?;
            return Ok(Node::Object(object, "get".into(), vec![key]));
        }
        self.expect(".")?;
        let Some(Token::Name(method)) = self.peek().cloned() else {
            return Err(format!("the name of a method is missing after `{name}.`"));
        };
        self.position += 1;
        if !methods_of(object).contains(&method.as_str()) {
            return Err(format!(
                "`{name}.{method}` is not supported in JEXL; write the script in Groovy"
            ));
        }
        self.expect("(")?;
        Ok(Node::Object(object, method, self.list(")")?))
    }
}

fn token_text(token: &Token) -> String {
    match token {
        Token::Name(name) => format!("`{name}`"),
        Token::Text(text) => format!("\"{text}\""),
        Token::Int(number) => format!("`{number}`"),
        Token::Real(number) => format!("`{number}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}
