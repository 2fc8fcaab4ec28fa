//! Parses and evaluates XPath 1.0 expressions.

mod ast;
mod axes;
mod evaluate;
mod functions;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;
mod value;

use crate::document::Document;
use crate::error::{ExpressionError, WorkLimit};
use crate::{MAX_RESULT, markup};
use evaluate::{Context, Evaluator};
use value::{NodeRef, Value};

/// A parsed XPath 1.0 expression: all axes, operators and core functions, without variables.
///
/// Names of HTML elements and attributes ignore case. In XML, a name matches exactly, prefix
/// included, or by its part after the prefix. Beyond 1.0, there are `matches`, `replace`,
/// `lower-case`, `upper-case` and `ends-with`. The regular expressions of the first two are
/// literals, in the syntax of the crate `regex`.
#[derive(Clone, Debug)]
pub struct XPath(ast::Expr);

impl XPath {
    /// Parses an expression without namespaces.
    ///
    /// # Errors
    ///
    /// Returns an error with the column if the text is not XPath 1.0, or has a variable. The limits
    /// are a nesting depth of 32, and 64 KiB.
    pub fn parse(expression: &str) -> Result<Self, ExpressionError> {
        Ok(Self(parser::parse(expression, None)?))
    }

    /// Parses an expression with the URIs of its prefixes. A name without a prefix matches names
    /// outside all namespaces, unless the empty prefix has a URI.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`XPath::parse`], and an error if a prefix has no URI.
    pub fn with_namespaces(
        expression: &str,
        namespaces: &[(String, String)],
    ) -> Result<Self, ExpressionError> {
        Ok(Self(parser::parse(expression, Some(namespaces))?))
    }
}

/// Result of an [`XPath`] expression on a document.
#[derive(Clone, Debug)]
pub struct XPathResult<'d> {
    document: &'d Document,
    value: Value<'d>,
}

/// Kind of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XPathKind {
    /// A set of nodes, which may be empty.
    Nodes,
    /// A text, which may be empty.
    Text,
    /// A number, which may be NaN.
    Number,
    /// A truth value: true or false.
    Boolean,
}

impl Document {
    /// Evaluates an expression from the document node.
    ///
    /// # Errors
    ///
    /// Returns an error if the expression takes too many steps for the size of the document, or its
    /// nodes have more than 64 MiB of text.
    pub fn xpath<'d>(&'d self, expression: &XPath) -> Result<XPathResult<'d>, WorkLimit> {
        Ok(self.xpath_with_steps(expression)?.0)
    }

    /// Returns the result, and the number of steps that it took.
    fn xpath_with_steps<'d>(
        &'d self,
        expression: &XPath,
    ) -> Result<(XPathResult<'d>, u64), WorkLimit> {
        let evaluator = Evaluator::new(self);
        let value = match evaluator.value(&expression.0, Context::root())? {
            Value::Nodes(nodes) => Value::Nodes(nodes),
            // The text may be a part of the expression, which need not live as long as the result.
            Value::Text(text) => Value::Text(text.into_owned().into()),
            Value::Number(number) => Value::Number(number),
            Value::Boolean(boolean) => Value::Boolean(boolean),
        };
        if let Value::Nodes(nodes) = &value
            && nodes.iter().map(|at| at.text(self).len()).sum::<usize>() > MAX_RESULT
        {
            return Err(WorkLimit::Size(MAX_RESULT));
        }
        Ok((XPathResult { document: self, value }, evaluator.steps()))
    }
}

impl XPathResult<'_> {
    /// Kind of the result.
    pub fn kind(&self) -> XPathKind {
        match self.value {
            Value::Nodes(_) => XPathKind::Nodes,
            Value::Text(_) => XPathKind::Text,
            Value::Number(_) => XPathKind::Number,
            Value::Boolean(_) => XPathKind::Boolean,
        }
    }

    /// Number of nodes; 1 for a text, a number or a boolean.
    pub fn len(&self) -> usize {
        if let Value::Nodes(nodes) = &self.value { nodes.len() } else { 1 }
    }

    /// True if the result is an empty set of nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text of each node in document order. The text of an element is that of all its
    /// descendants; the text of an attribute is its value. A text, number or boolean is one
    /// value, in XPath's notation.
    pub fn values(&self) -> Vec<String> {
        match &self.value {
            Value::Nodes(nodes) => {
                nodes.iter().map(|at| at.text(self.document).to_owned()).collect()
            }
            other => vec![other.clone().text(self.document).into_owned()],
        }
    }

    /// Returns true for a set with nodes, a text with characters, a number other than 0
    /// and NaN, and true.
    pub fn as_bool(&self) -> bool {
        self.value.is_true()
    }

    /// Returns the markup of each node, including its own tags; for an attribute, its value. Other
    /// results are as by [`XPathResult::values`].
    ///
    /// # Errors
    ///
    /// Returns an error if the markup has more than 64 MiB.
    pub fn fragment(&self) -> Result<Vec<String>, WorkLimit> {
        let Value::Nodes(nodes) = &self.value else {
            return Ok(self.values());
        };
        // All nodes together share the limit, because nested nodes repeat their content.
        let mut remaining = MAX_RESULT;
        nodes.iter().map(|at| self.markup(*at, &mut remaining)).collect()
    }

    fn markup(&self, at: NodeRef, remaining: &mut usize) -> Result<String, WorkLimit> {
        if at.attribute().is_some() {
            return Ok(at.text(self.document).to_owned());
        }
        let mut out = String::new();
        markup::write(self.document, at.node, *remaining, &mut out);
        *remaining = remaining.checked_sub(out.len()).ok_or(WorkLimit::Size(MAX_RESULT))?;
        Ok(out)
    }
}
