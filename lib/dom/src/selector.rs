//! Parses CSS selectors and finds their elements.

mod ast;
mod parser;
mod search;
#[cfg(test)]
mod tests;

use crate::MAX_RESULT;
use crate::document::Document;
use crate::error::{ExpressionError, WorkLimit};
use search::Search;

/// A parsed list of CSS selectors.
///
/// * `*`, `name`, `prefix|name`, `#id`, `.class`, `[name]`, `[name=value]`, also with `~=`, `|=`,
///   `^=`, `$=`, `*=` and `!=`. The value may be quoted, and `i` ignores case.
/// * Descendants, `>`, `+`, `~`, lists with `,`.
/// * `:first-child`, `:last-child`, `:only-child`, `:nth-child(an+b)`, `:nth-last-child()`, the
///   same with `of-type`, `:empty`, `:root`, `:not()`, `:is()`, `:where()`, `:has()`, `:checked`,
///   `:disabled`, `:enabled` (by the elements' own attributes).
/// * As in jQuery: `:contains(text)`, in which letters A to Z match in upper and lower case.
///   `:first`, `:last`, `:eq(n)`, `:lt(n)`, `:gt(n)` select among the elements found so far, from
///   0; negative numbers count from the end.
///
/// Names of elements and attributes ignore case in HTML; values, ids and classes match exactly.
#[derive(Clone, Debug)]
pub struct Selector(Vec<ast::Complex>);

impl Selector {
    /// Parses a list of selectors.
    ///
    /// # Errors
    ///
    /// Returns an error with the column if the text is no selector or uses another pseudo-class.
    /// The limits are a nesting depth of 8, 256 parts, and 16 KiB.
    pub fn parse(selector: &str) -> Result<Self, ExpressionError> {
        Ok(Self(parser::parse(selector)?))
    }
}

impl Document {
    /// Returns a value for each element that the selector finds, in document order. The value is
    /// the attribute's, or without an attribute the text of the element and all its descendants,
    /// scripts and styles included. The text is trimmed; inner white space is as in the source.
    /// An element without the attribute gives an empty text, so that the values have the same
    /// indices as the elements.
    ///
    /// # Errors
    ///
    /// Returns an error if the values have more than 64 MiB.
    pub fn css(
        &self,
        selector: &Selector,
        attribute: Option<&str>,
    ) -> Result<Vec<String>, WorkLimit> {
        let mut size = 0;
        let mut values = Vec::new();
        for node in Search::new(self).list(&selector.0) {
            let value = match attribute {
                Some(name) => self.attribute(node, name).unwrap_or(""),
                None => self.text(node).trim(),
            };
            size += value.len();
            if size > MAX_RESULT {
                return Err(WorkLimit::Size(MAX_RESULT));
            }
            values.push(value.to_owned());
        }
        Ok(values)
    }
}
