//! Values of expressions, and conversions between their kinds (XPath 1.0, sections 3.4 and 4).

use crate::document::Document;
use std::borrow::Cow;

/// A node, or one of its attributes. Their order is document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeRef {
    pub node: u32,
    /// Index of the attribute plus 1, or 0 for the node itself.
    attribute: u32,
}

impl NodeRef {
    pub fn node(node: u32) -> Self {
        Self { node, attribute: 0 }
    }

    pub fn attribute_of(node: u32, attribute: u32) -> Self {
        Self { node, attribute: attribute + 1 }
    }

    /// Index of the attribute, if this is one.
    pub fn attribute(self) -> Option<u32> {
        self.attribute.checked_sub(1)
    }

    pub fn text(self, document: &Document) -> &str {
        match self.attribute() {
            Some(attribute) => document.attribute_value(attribute),
            None => document.text(self.node),
        }
    }

    pub fn name(self, document: &Document) -> &str {
        match self.attribute() {
            Some(attribute) => document.attribute_name(attribute),
            None => document.name(self.node),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    /// Nodes in document order, without duplicates.
    Nodes(Vec<NodeRef>),
    Text(Cow<'a, str>),
    Number(f64),
    Boolean(bool),
}

impl<'a> Value<'a> {
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Boolean(boolean) => *boolean,
        }
    }

    /// Returns the text of the value; for nodes, that of the first.
    pub fn text(self, document: &'a Document) -> Cow<'a, str> {
        match self {
            Self::Nodes(nodes) => {
                Cow::Borrowed(nodes.first().map_or("", |first| first.text(document)))
            }
            Self::Text(text) => text,
            Self::Number(number) => Cow::Owned(number_text(number)),
            Self::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
        }
    }

    pub fn number(&self, document: &Document) -> f64 {
        match self {
            Self::Nodes(nodes) => {
                nodes.first().map_or(f64::NAN, |first| number(first.text(document)))
            }
            Self::Text(text) => number(text),
            Self::Number(number) => *number,
            Self::Boolean(boolean) => f64::from(u8::from(*boolean)),
        }
    }
}

/// Parses a number: digits with an optional minus sign and decimal point. NaN for other texts.
pub(super) fn number(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Rust would parse `inf`, `nan` and exponents, too.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Writes a number as XPath does: without exponent, and an integer without decimal point.
pub(super) fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Negative zero is written without its sign.
    if number == 0.0 { "0".to_owned() } else { number.to_string() }
}

/// True for white space of XML.
pub(super) fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}
