//! Notes expressions with a search that exceeded a limit in this process. Such a search has no
//! matches, so the report warns that the reply may have had some.

use brunt_model::sync::IgnorePoison;
use brunt_model::{Text, text};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A limit of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchLimit {
    /// Time of a regular expression.
    Time,
    /// Length of all matches of a regular expression.
    Matches,
    /// Steps of a CSS selector or an XPath expression in a document, or length of its result.
    Document,
}

static EXCEEDED: Mutex<BTreeSet<(SearchLimit, String)>> = Mutex::new(BTreeSet::new());

/// Notes that a search for an expression exceeded a limit.
pub fn note(limit: SearchLimit, expression: &str) {
    let mut exceeded = EXCEEDED.lock().ignore_poison();
    exceeded.insert((limit, expression.to_owned()));
}

/// Returns a warning about each noted expression, for the reader of the report.
pub fn remarks() -> Vec<Text> {
    let exceeded = EXCEEDED.lock().ignore_poison();
    let remarks = exceeded.iter().map(|(limit, expression)| {
        let expression = &**expression;
        match limit {
            SearchLimit::Time => text!("warning-pattern-stopped", pattern = expression),
            SearchLimit::Matches => text!("warning-pattern-overlong", pattern = expression),
            SearchLimit::Document => text!("warning-document-search", expression),
        }
    });
    remarks.collect()
}
