//! Parses tokens into a tree.

use super::operators::Operator;
use super::tokens::{self, JexlToken};
use super::{Object, Value, methods_of, texts};

/// A node of the tree.
#[derive(Debug)]
pub enum JexlNode {
    Literal(Value),
    /// `[a, b]`
    List(Vec<JexlNode>),
    /// `threadName`
    ThreadName,
    /// `!a`
    Not(Box<JexlNode>),
    /// `-a`
    Negative(Box<JexlNode>),
    /// `empty(a)`
    Empty(Box<JexlNode>),
    /// `size(a)`
    Size(Box<JexlNode>),
    /// `a && b`
    And(Box<JexlNode>, Box<JexlNode>),
    /// `a || b`
    Or(Box<JexlNode>, Box<JexlNode>),
    /// `a ? b : c`
    Choice(Box<JexlNode>, Box<JexlNode>, Box<JexlNode>),
    /// `a ?: b`
    Otherwise(Box<JexlNode>, Box<JexlNode>),
    /// An operator that evaluates both of its operands.
    Binary(Operator, Box<JexlNode>, Box<JexlNode>),
    /// A method call of a value.
    Method(Box<JexlNode>, String, Vec<JexlNode>),
    /// A method call of one of JMeter's objects.
    Object(Object, String, Vec<JexlNode>),
}

/// Maximum depth of an expression.
const MAX_DEPTH: usize = 64;

/// Parses the text of an expression.
///
/// # Errors
///
/// Describes the unreadable or unsupported part.
pub fn parse(source: &str) -> Result<JexlNode, String> {
    let mut parser = Parser { tokens: tokens::read(source)?, position: 0, depth: 0 };
    let root = parser.expression()?;
    parser.take(";");
    match parser.peek() {
        None => Ok(root),
        Some(JexlToken::Sign("=" | ";" | "{" | "+=" | "-=")) => {
            Err("assignments and statements of JEXL are not supported; write the script in Groovy"
                .into())
        }
        Some(other) => Err(format!("{} is not expected here", token_text(other))),
    }
}

struct Parser {
    tokens: Vec<JexlToken>,
    position: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&JexlToken> {
        self.tokens.get(self.position)
    }

    fn take(&mut self, sign: &str) -> bool {
        let matches = matches!(self.peek(), Some(JexlToken::Sign(next)) if *next == sign);
        self.position += usize::from(matches);
        matches
    }

    fn take_word(&mut self, word: &str) -> bool {
        let matches = matches!(self.peek(), Some(JexlToken::Name(next)) if next == word);
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

    fn expression(&mut self) -> Result<JexlNode, String> {
        if self.depth == MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        self.depth += 1;
        let node = self.choice();
        self.depth -= 1;
        node
    }

    fn choice(&mut self) -> Result<JexlNode, String> {
        let first = self.or()?;
        if self.take("?:") || self.take("??") {
            return Ok(JexlNode::Otherwise(first.into(), self.expression()?.into()));
        }
        if !self.take("?") {
            return Ok(first);
        }
        let yes = self.expression()?;
        self.expect(":")?;
        Ok(JexlNode::Choice(first.into(), yes.into(), self.expression()?.into()))
    }

    fn or(&mut self) -> Result<JexlNode, String> {
        let mut node = self.and()?;
        while self.take("||") || self.take_word("or") {
            node = JexlNode::Or(node.into(), self.and()?.into());
        }
        Ok(node)
    }

    fn and(&mut self) -> Result<JexlNode, String> {
        let mut node = self.binary(0)?;
        while self.take("&&") || self.take_word("and") {
            node = JexlNode::And(node.into(), self.binary(0)?.into());
        }
        Ok(node)
    }

    /// Parses operators of this level of precedence and above.
    fn binary(&mut self, level: usize) -> Result<JexlNode, String> {
        if level == Operator::LEVELS {
            return self.unary();
        }
        let mut node = self.binary(level + 1)?;
        while let Some(operator) =
            self.peek().and_then(Operator::from_token).filter(|operator| operator.level() == level)
        {
            self.position += 1;
            node = JexlNode::Binary(operator, node.into(), self.binary(level + 1)?.into());
        }
        Ok(node)
    }

    fn unary(&mut self) -> Result<JexlNode, String> {
        // Unary operators nest without parentheses, so they are counted separately.
        if self.depth == MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        self.depth += 1;
        let node = if self.take("!") || self.take_word("not") {
            self.unary().map(|operand| JexlNode::Not(operand.into()))
        } else if self.take("-") {
            self.unary().map(|operand| JexlNode::Negative(operand.into()))
        } else if self.take("+") {
            self.unary()
        } else if self.take_word("empty") {
            self.unary().map(|operand| JexlNode::Empty(operand.into()))
        } else if self.take_word("size") {
            self.unary().map(|operand| JexlNode::Size(operand.into()))
        } else {
            self.with_methods()
        };
        self.depth -= 1;
        node
    }

    fn with_methods(&mut self) -> Result<JexlNode, String> {
        let mut node = self.primary()?;
        while self.take(".") {
            let Some(JexlToken::Name(name)) = self.peek().cloned() else {
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
            node = JexlNode::Method(node.into(), name, arguments);
        }
        Ok(node)
    }

    fn list(&mut self, end: &str) -> Result<Vec<JexlNode>, String> {
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

    fn primary(&mut self) -> Result<JexlNode, String> {
        let Some(token) = self.peek().cloned() else {
            return Err("the expression ends where a value is expected".into());
        };
        self.position += 1;
        Ok(match token {
            JexlToken::Text(text) => JexlNode::Literal(Value::Text(text)),
            JexlToken::Int(number) => JexlNode::Literal(Value::Int(number)),
            JexlToken::Real(number) => JexlNode::Literal(Value::Real(number)),
            JexlToken::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                inner
            }
            JexlToken::Sign("[") => JexlNode::List(self.list("]")?),
            JexlToken::Name(name) => self.name_or_object(&name)?,
            JexlToken::Sign(_) => {
                return Err(format!("{} found, but a value is expected", token_text(&token)));
            }
        })
    }

    fn name_or_object(&mut self, name: &str) -> Result<JexlNode, String> {
        let object = match name {
            "true" | "false" => return Ok(JexlNode::Literal(Value::Bool(name == "true"))),
            "null" => return Ok(JexlNode::Literal(Value::Null)),
            "threadName" => return Ok(JexlNode::ThreadName),
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
            return Ok(JexlNode::Object(object, "get".into(), vec![key]));
        }
        self.expect(".")?;
        let Some(JexlToken::Name(method)) = self.peek().cloned() else {
            return Err(format!("the name of a method is missing after `{name}.`"));
        };
        self.position += 1;
        if !methods_of(object).contains(&method.as_str()) {
            return Err(format!(
                "`{name}.{method}` is not supported in JEXL; write the script in Groovy"
            ));
        }
        self.expect("(")?;
        Ok(JexlNode::Object(object, method, self.list(")")?))
    }
}

fn token_text(token: &JexlToken) -> String {
    match token {
        JexlToken::Name(name) => format!("`{name}`"),
        JexlToken::Text(text) => format!("\"{text}\""),
        JexlToken::Int(number) => format!("`{number}`"),
        JexlToken::Real(number) => format!("`{number}`"),
        JexlToken::Sign(sign) => format!("`{sign}`"),
    }
}
