//! Regular expressions of a plan: in the syntax of `regex`, or with look-around and back references where one needs them.

use brunt_java::deadline::run_within;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A compiled expression.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Searched in linear time.
    Plain(regex::Regex),
    /// With look-around or back references; searched with a bound on its steps and its time.
    Backtracking(Arc<Backtracking>),
}

/// An expression that is searched by trying one way after the other.
#[derive(Debug)]
pub struct Backtracking {
    regex: fancy_regex::Regex,
    /// A search took too long, so that no further one is begun.
    is_abandoned: AtomicBool,
}

/// Ways that a search may try. Each position of the text is one at least.
const MOST_STEPS: usize = 20_000_000;

/// Longest text that is searched on the calling thread, in bytes: one step may read all of it.
const SHORT_TEXT: usize = 4096;

/// Time of a search, and for each byte of its text.
const LONGEST_SEARCH: Duration = Duration::from_secs(2);
const TIME_PER_BYTE: Duration = Duration::from_micros(1);

/// Expressions that this process has given up.
static ABANDONED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remarks on expressions that took too long, for the reader of the report.
pub fn remarks() -> Vec<String> {
    let remark = |pattern: &String| {
        format!(
            "the regular expression `{pattern}` took too long and was given up; make it simpler: from then on it matched nothing"
        )
    };
    ABANDONED.lock().unwrap_or_else(PoisonError::into_inner).iter().map(remark).collect()
}

impl Backtracking {
    /// The result of a search; None: it took too many steps or too long.
    fn search<T: Send + 'static>(
        self: &Arc<Self>,
        text: &str,
        search: impl FnOnce(&fancy_regex::Regex, &str) -> Result<T, fancy_regex::Error> + Send + 'static,
    ) -> Option<T> {
        if self.is_abandoned.load(Ordering::Relaxed) {
            return None;
        }
        let result = if text.len() <= SHORT_TEXT {
            search(&self.regex, text).ok()
        } else {
            let limit = LONGEST_SEARCH + TIME_PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
            let expression = Arc::clone(self);
            let text = text.to_owned();
            run_within(limit, move || search(&expression.regex, &text).ok()).flatten()
        };
        if result.is_none() {
            self.is_abandoned.store(true, Ordering::Relaxed);
            ABANDONED.lock().unwrap_or_else(PoisonError::into_inner).insert(self.regex.as_str().to_owned());
        }
        result
    }
}

/// The groups of a match: the whole match first.
pub type Groups = Vec<Option<String>>;

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if let Ok(plain) = regex::Regex::new(pattern) {
            return Ok(Self::Plain(plain));
        }
        let bounded = fancy_regex::RegexBuilder::new(pattern).backtrack_limit(MOST_STEPS).build();
        let expression =
            |regex| Self::Backtracking(Arc::new(Backtracking { regex, is_abandoned: AtomicBool::new(false) }));
        bounded.map(expression).map_err(|error| error.to_string())
    }

    /// Compiles an expression that is to match the whole of a text.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub fn whole(pattern: &str) -> Result<Self, String> {
        Self::new(&format!(r"\A(?:{pattern})\z"))
    }

    /// How many groups it has, the whole match among them.
    pub fn groups(&self) -> usize {
        match self {
            Self::Plain(regex) => regex.captures_len(),
            Self::Backtracking(expression) => expression.regex.captures_len(),
        }
    }

    /// Whether it is found in a text.
    pub fn is_found(&self, text: &str) -> bool {
        match self {
            Self::Plain(regex) => regex.is_match(text),
            Self::Backtracking(expression) => expression.search(text, fancy_regex::Regex::is_match).unwrap_or(false),
        }
    }

    /// A text with its matches replaced, all or the first one; in `by`, `$1` is the first group, and `\` makes plain, as in Java.
    pub fn replace(&self, text: &str, by: &str, all: bool) -> String {
        let (by, limit) = (replacement(by), usize::from(!all));
        match self {
            Self::Plain(regex) => regex.replacen(text, limit, by.as_str()).into_owned(),
            Self::Backtracking(expression) => {
                let replaced = expression.search(text, move |regex, text| {
                    regex.try_replacen(text, limit, by.as_str()).map(std::borrow::Cow::into_owned)
                });
                replaced.unwrap_or_else(|| text.to_owned())
            }
        }
    }

    /// The groups of each match, in order, at most so many.
    pub fn find_all(&self, text: &str, most: usize) -> Vec<Groups> {
        match self {
            Self::Plain(regex) => {
                let groups = |found: regex::Captures| {
                    found.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect()
                };
                regex.captures_iter(text).take(most).map(groups).collect()
            }
            Self::Backtracking(expression) => {
                let groups = |found: fancy_regex::Captures| {
                    found.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect()
                };
                let search = move |regex: &fancy_regex::Regex, text: &str| {
                    regex.captures_iter(text).take(most).map(|found| found.map(groups)).collect()
                };
                expression.search(text, search).unwrap_or_default()
            }
        }
    }
}

/// A text made of groups, written such as `$1$-$2$`.
#[derive(Debug)]
pub struct GroupTemplate(Vec<Piece>);

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl GroupTemplate {
    /// Reads a template; a `$` that belongs to no group stays.
    pub fn new(template: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            let behind = &rest[at + 1..];
            let group = behind.split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
            let Some((group, after)) = group else {
                pieces.push(Piece::Text(rest[..=at].to_owned()));
                rest = behind;
                continue;
            };
            pieces.extend([Piece::Text(rest[..at].to_owned()), Piece::Group(group)]);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Self(pieces)
    }

    /// One group alone.
    pub fn group(number: usize) -> Self {
        Self(vec![Piece::Group(number)])
    }

    /// The text of a match; groups that it does not have are empty.
    pub fn text(&self, groups: &Groups) -> String {
        let one = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Group(number) => groups.get(*number).cloned().flatten().unwrap_or_default(),
        };
        self.0.iter().map(one).collect()
    }
}

/// A replacement as Java writes it, in the syntax of `regex`.
fn replacement(java: &str) -> String {
    let mut text = String::new();
    let mut characters = java.chars().peekable();
    while let Some(next) = characters.next() {
        match next {
            '\\' => match characters.next() {
                Some('$') => text.push_str("$$"),
                plain => text.extend(plain),
            },
            '$' => {
                let Some(digit) = characters.next_if(char::is_ascii_digit) else {
                    text.push_str("$$");
                    continue;
                };
                text.extend(["${", digit.encode_utf8(&mut [0; 4]), "}"]);
            }
            plain => text.push(plain),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_find_the_same() {
        for pattern in [r"(\w)(\d)?;", r"(?=\w)(\w)(\d)?;"] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.groups(), 3);
            let found = pattern.find_all("a1; b; c3;", 2);
            let group = |text: &str| Some(text.to_owned());
            assert_eq!(found, [vec![group("a1;"), group("a"), group("1")], vec![group("b;"), group("b"), None]]);
            assert!(pattern.is_found("x; y") && !pattern.is_found("x"));
        }
        let whole = Pattern::whole("a|ab").unwrap();
        assert!(whole.is_found("ab") && !whole.is_found("abc"));
        assert!(Pattern::new("(").is_err());
        for pattern in [r"(\w)-", r"(?=\w)(\w)-"] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.replace("a-b-", r"<$1x\$$>", true), "<ax$$><bx$$>");
            assert_eq!(pattern.replace("a-b-", "", false), "b-");
        }
    }

    #[test]
    fn a_search_that_takes_too_long_is_given_up_and_told() {
        // The search reads the rest of the text at each of its positions: 2e10 steps in all.
        let slow = Pattern::new(r"(?>\w+)(?=!)").unwrap();
        let text = "a".repeat(200_000);
        assert!(!slow.is_found(&text));
        assert!(slow.find_all("aa!", 9).is_empty(), "it is not tried again");
        assert!(remarks().iter().any(|remark| remark.contains(r"`(?>\w+)(?=!)` took too long")), "{:?}", remarks());
        // One that is merely long is found.
        let found = Pattern::new(r"(?<=a)!").unwrap().find_all(&format!("{}{text}!", "b".repeat(2_000_000)), 1);
        assert_eq!(found, [vec![Some("!".to_owned())]]);
    }

    #[test]
    fn templates_are_made_of_texts_and_groups() {
        let text = |text: &str| Piece::Text(text.into());
        assert_eq!(GroupTemplate::new("$1$").0, [Piece::Group(1)]);
        assert_eq!(GroupTemplate::new("a$1$b$2$").0, [text("a"), Piece::Group(1), text("b"), Piece::Group(2)]);
        assert_eq!(GroupTemplate::new("$5 $x$1$").0, [text("$"), text("5 $"), text("x"), Piece::Group(1)]);
        let groups = vec![Some("all".to_owned()), None, Some("b".to_owned())];
        assert_eq!(GroupTemplate::new("$0$-$1$$2$ $9$").text(&groups), "all-b ");
    }
}
