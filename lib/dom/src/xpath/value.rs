//! Values of expressions, and how one kind becomes another (XPath 1.0, sections 3.4 and 4).

use crate::document::Document;
use std::borrow::Cow;

/// A node, or an attribute of it. Their order is document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub node: u32,
    /// The index of the attribute and 1, or 0 for the node itself.
    attribute: u32,
}

impl At {
    pub fn node(node: u32) -> Self {
        Self { node, attribute: 0 }
    }

    pub fn attribute_of(node: u32, attribute: u32) -> Self {
        Self { node, attribute: attribute + 1 }
    }

    /// The index of the attribute, if this is one.
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
    /// In document order, none twice.
    Nodes(Vec<At>),
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

    /// The text of the value; of nodes, that of the first.
    pub fn text(self, document: &'a Document) -> Cow<'a, str> {
        match self {
            Self::Nodes(nodes) => Cow::Borrowed(nodes.first().map_or("", |first| first.text(document))),
            Self::Text(text) => text,
            Self::Number(number) => Cow::Owned(number_text(number)),
            Self::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
        }
    }

    pub fn number(&self, document: &Document) -> f64 {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or(f64::NAN, |first| number(first.text(document))),
            Self::Text(text) => number(text),
            Self::Number(number) => *number,
            Self::Boolean(boolean) => f64::from(u8::from(*boolean)),
        }
    }
}

/// The number that a text writes, or NaN: digits with an optional minus sign and decimal point.
pub(super) fn number(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// A number as XPath writes it: without exponent, and an integer without decimal point.
pub(super) fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 { "0".to_owned() } else { number.to_string() }
}

/// White space of XML.
pub(super) fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}
