//! CSS selectors.

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
/// * `*`, `name`, `prefix|name`, `#id`, `.class`, `[name]`, `[name=value]`, also with `~=`, `|=`, `^=`, `$=`, `*=` and `!=`,
///   the value quoted or not, and `i` for upper and lower case alike
/// * descendants, `>`, `+`, `~`, lists with `,`
/// * `:first-child`, `:last-child`, `:only-child`, `:nth-child(an+b)`, `:nth-last-child()`, the same with `of-type`,
///   `:empty`, `:root`, `:not()`, `:is()`, `:where()`, `:has()`, `:checked`, `:disabled`, `:enabled` (by their own attributes)
/// * as in jQuery: `:contains(text)`, in which letters A to Z match in upper and lower case; `:first`, `:last`, `:eq(n)`,
///   `:lt(n)`, `:gt(n)` among the elements found so far, from 0, and with negative numbers from the end
///
/// Names of elements and attributes match in upper and lower case in HTML; values, ids and classes match as written.
#[derive(Clone, Debug)]
pub struct Selector(Vec<ast::Complex>);

impl Selector {
    /// Parses a list of selectors.
    ///
    /// # Errors
    ///
    /// With the column, if it is not a selector, uses another pseudo-class, is nested more than 8 deep, or has more than
    /// 256 parts or 16 KiB.
    pub fn parse(selector: &str) -> Result<Self, ExpressionError> {
        Ok(Self(parser::parse(selector)?))
    }
}

impl Document {
    /// Of each element that the selector finds, in document order, the value of the attribute, or without an attribute the
    /// text of the element and all below it, scripts and styles included. The text is trimmed; white space within is as in
    /// the source. An element without the attribute gives an empty text, so that the numbers of the elements are those of
    /// the values.
    ///
    /// # Errors
    ///
    /// If the values have more than 64 MiB.
    pub fn css(&self, selector: &Selector, attribute: Option<&str>) -> Result<Vec<String>, WorkLimit> {
        let mut size = 0;
        let found = Search::new(self).list(&selector.0);
        let value = |node: u32| match attribute {
            Some(name) => self.attribute(node, name).unwrap_or(""),
            None => self.text(node).trim(),
        };
        let values = found.into_iter().map(|node| {
            size += value(node).len();
            if size > MAX_RESULT { Err(WorkLimit::Size(MAX_RESULT)) } else { Ok(value(node).to_owned()) }
        });
        values.collect()
    }
}
