//! Evaluates an expression on a document, within a budget of steps.

use super::ast::{Expr, Operator, Path, Start};
use super::value::{NodeRef, Value};
use crate::document::{Document, ROOT};
use crate::error::WorkLimit;
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashSet;

/// Number of steps for any evaluation, plus some for each node and each byte of text.
const STEPS: u64 = 64_000_000;
const STEPS_PER_NODE: u64 = 64;
const STEPS_PER_BYTE: u64 = 16;

/// Number of bytes that are searched or read as a number in about the time of a step.
const BYTES_PER_STEP: usize = 16;

pub(super) type Outcome<T> = Result<T, WorkLimit>;

/// Context node of an expression, with its position among the nodes of its step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub node_ref: NodeRef,
    pub position: usize,
    pub size: usize,
}

impl Context {
    /// Returns the context of the document node.
    pub fn root() -> Self {
        Self { node_ref: NodeRef::node(ROOT), position: 1, size: 1 }
    }
}

#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    pub document: &'a Document,
    budget: u64,
    remaining: Cell<u64>,
}

impl<'a> Evaluator<'a> {
    pub fn new(document: &'a Document) -> Self {
        let nodes = document.nodes.len() as u64;
        let bytes = document.all_text().len() as u64;
        let budget = STEPS + STEPS_PER_NODE * nodes + STEPS_PER_BYTE * bytes;
        Self { document, budget, remaining: Cell::new(budget) }
    }

    /// Number of steps taken so far.
    pub fn steps(&self) -> u64 {
        self.budget - self.remaining.get()
    }

    pub fn charge(&self, steps: u64) -> Outcome<()> {
        let remaining =
            self.remaining.get().checked_sub(steps).ok_or(WorkLimit::Steps(self.budget))?;
        self.remaining.set(remaining);
        Ok(())
    }

    /// Charges for reading text.
    pub fn charge_text(&self, text: &str) -> Outcome<()> {
        self.charge((1 + text.len() / BYTES_PER_STEP) as u64)
    }

    /// Charges for new text.
    pub fn new_text(&self, text: String) -> Outcome<Value<'a>> {
        self.charge(1 + text.len() as u64)?;
        Ok(Value::Text(Cow::Owned(text)))
    }

    pub fn value(&self, expression: &'a Expr, context: Context) -> Outcome<Value<'a>> {
        self.charge(1)?;
        Ok(match expression {
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(Cow::Borrowed(text)),
            Expr::Chain(first, rest) => self.chain(first, rest, context)?,
            Expr::Negate(operand) => Value::Number(-self.number(operand, context)?),
            Expr::Union(all) => {
                let mut nodes = Vec::new();
                for one in all {
                    nodes.append(&mut self.nodes(one, context)?);
                }
                Value::Nodes(self.sorted(nodes)?)
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, context)?,
            Expr::Matches(subject, regex) => {
                let text = self.text(subject, context)?;
                self.charge(text.len() as u64)?;
                Value::Boolean(regex.is_match(&text))
            }
            Expr::Replace(subject, regex, replacement) => {
                let text = self.text(subject, context)?;
                // Each position between two characters may be replaced.
                self.charge((text.len() as u64 + 1) * (replacement.len() as u64 + 1))?;
                self.new_text(regex.replace_all(&text, &**replacement).into_owned())?
            }
            Expr::Path(path) => Value::Nodes(self.path(path, context)?),
        })
    }

    pub fn text(&self, expression: &'a Expr, context: Context) -> Outcome<Cow<'a, str>> {
        Ok(self.value(expression, context)?.text(self.document))
    }

    pub fn number(&self, expression: &'a Expr, context: Context) -> Outcome<f64> {
        let value = self.value(expression, context)?;
        if let Value::Nodes(nodes) = &value {
            // XPath 1.0, section 4.2: the value of a set is that of its first node.
            self.charge_text(nodes.first().map_or("", |first| first.text(self.document)))?;
        }
        Ok(value.number(self.document))
    }

    /// Returns the nodes of an expression that gives nodes, by the parser's check.
    pub fn nodes(&self, expression: &'a Expr, context: Context) -> Outcome<Vec<NodeRef>> {
        match self.value(expression, context)? {
            Value::Nodes(nodes) => Ok(nodes),
            _ => Ok(Vec::new()),
        }
    }

    fn path(&self, path: &'a Path, context: Context) -> Outcome<Vec<NodeRef>> {
        let mut nodes = match &path.start {
            Start::Root => vec![NodeRef::node(ROOT)],
            Start::Context => vec![context.node_ref],
            Start::Filter(primary, predicates) => {
                let mut nodes = self.nodes(primary, context)?;
                for predicate in predicates {
                    nodes = self.filter(nodes, predicate)?;
                }
                nodes
            }
        };
        for step in &path.steps {
            nodes = self.step(&nodes, step)?;
        }
        Ok(nodes)
    }

    /// Returns the nodes for which a predicate holds. A number is compared with the position.
    pub fn filter(&self, nodes: Vec<NodeRef>, predicate: &'a Expr) -> Outcome<Vec<NodeRef>> {
        let size = nodes.len();
        let mut passing = Vec::new();
        for (index, node_ref) in nodes.into_iter().enumerate() {
            let position = index + 1;
            let holds = match self.value(predicate, Context { node_ref, position, size })? {
                Value::Number(number) => number == position as f64,
                other => other.is_true(),
            };
            if holds {
                passing.push(node_ref);
            }
        }
        Ok(passing)
    }

    fn chain(
        &self,
        first: &'a Expr,
        rest: &'a [(Operator, Expr)],
        context: Context,
    ) -> Outcome<Value<'a>> {
        let mut result = self.value(first, context)?;
        for (operator, right) in rest {
            // If the left side decides the result, the right side is not evaluated.
            result = match operator {
                Operator::Or if result.is_true() => Value::Boolean(true),
                Operator::And if !result.is_true() => Value::Boolean(false),
                Operator::Or | Operator::And => {
                    Value::Boolean(self.value(right, context)?.is_true())
                }
                _ => self.operate(result, *operator, self.value(right, context)?)?,
            };
        }
        Ok(result)
    }

    fn operate(&self, left: Value<'a>, operator: Operator, right: Value<'a>) -> Outcome<Value<'a>> {
        if !operator.is_arithmetic() {
            return Ok(Value::Boolean(self.compares(left, operator, right)?));
        }
        let a = left.number(self.document);
        let b = right.number(self.document);
        Ok(Value::Number(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => a % b,
        }))
    }

    /// True if a comparison holds; for nodes, if it holds for any of them (XPath 1.0, section 3.4).
    fn compares(&self, left: Value<'a>, operator: Operator, right: Value<'a>) -> Outcome<bool> {
        let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        match (left, right) {
            (Value::Nodes(left), Value::Nodes(right)) if operator == Operator::Equal => {
                self.share(&left, &right)
            }
            (Value::Nodes(left), Value::Nodes(right)) => {
                for one in right {
                    let right = Value::Text(Cow::Borrowed(one.text(self.document)));
                    // A comparison by size converts both sides to numbers (XPath 1.0, section 3.4).
                    let right = if is_equality {
                        right
                    } else {
                        Value::Number(right.number(self.document))
                    };
                    if self.any(&left, operator, &right)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Boolean(left), right) if is_equality => {
                Ok((left == right.is_true()) == (operator == Operator::Equal))
            }
            (left, Value::Boolean(right)) if is_equality => {
                Ok((left.is_true() == right) == (operator == Operator::Equal))
            }
            (Value::Nodes(left), right) => self.any(&left, operator, &right),
            (left, Value::Nodes(right)) => self.any(&right, operator.mirrored(), &left),
            (left, right) => self.holds(&left, operator, &right),
        }
    }

    /// True if a comparison with a single value holds for any of the nodes.
    fn any(&self, nodes: &[NodeRef], operator: Operator, right: &Value<'a>) -> Outcome<bool> {
        // A set of nodes is compared with a boolean as a whole.
        if let Value::Boolean(_) = right {
            return self.holds(&Value::Boolean(!nodes.is_empty()), operator, right);
        }
        for node_ref in nodes {
            if self.holds(
                &Value::Text(Cow::Borrowed(node_ref.text(self.document))),
                operator,
                right,
            )? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Compares two values, neither of which is a set of nodes.
    fn holds(&self, left: &Value<'a>, operator: Operator, right: &Value<'a>) -> Outcome<bool> {
        let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        if let (Value::Text(left), Value::Text(right), true) = (left, right, is_equality) {
            self.charge(1)?;
            return Ok((left == right) == (operator == Operator::Equal));
        }
        if let Value::Text(text) = left {
            self.charge_text(text)?;
        }
        // NaN has no order, so only `!=` holds for it.
        let order = left.number(self.document).partial_cmp(&right.number(self.document));
        Ok(match operator {
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        })
    }

    /// True if two sets have nodes with the same text.
    fn share(&self, left: &[NodeRef], right: &[NodeRef]) -> Outcome<bool> {
        // With a set of texts, the comparison takes linear time.
        let mut texts = HashSet::new();
        for node_ref in left {
            self.charge_text(node_ref.text(self.document))?;
            texts.insert(node_ref.text(self.document));
        }
        for node_ref in right {
            self.charge_text(node_ref.text(self.document))?;
            if texts.contains(node_ref.text(self.document)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Operator {
    /// Returns the operator with exchanged sides.
    fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }
}
