//! Compiles regular expressions of a plan: with `regex`, or with `fancy_regex` if they have
//! look-around or back references.

use crate::texts::exceeded::{self, SearchLimit};
use crate::texts::limits::{self, MAX_TEXT};
use brunt_java::deadline::run_within;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An expression, compiled once for many searches.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Searched in linear time.
    Plain(regex::Regex),
    /// With look-around or back references; searched with a limit on its steps and its time.
    Backtracking(Arc<Backtracking>),
}

/// An expression that is searched by backtracking.
#[derive(Debug)]
pub struct Backtracking {
    regex: fancy_regex::Regex,
    /// True if a search took too long: no further search is begun.
    is_abandoned: AtomicBool,
}

/// Maximum number of steps of a search. Each position of the text is at least one step.
const MAX_STEPS: usize = 20_000_000;

/// Maximum length in bytes of a text that is searched on the calling thread: one step may
/// read all of it.
const SHORT_TEXT: usize = 4096;

/// Time limit of a search.
const BASE_TIME_LIMIT: Duration = Duration::from_secs(2);
/// Additional time limit per byte of the text.
const TIME_PER_BYTE: Duration = Duration::from_micros(1);

/// Limits the length of all matches in a text.
struct MatchLimit {
    room: usize,
    is_exceeded: bool,
}

impl MatchLimit {
    fn new() -> Self {
        Self { room: MAX_TEXT, is_exceeded: false }
    }

    /// True if there is room for a match with groups of these lengths.
    fn admits(&mut self, lengths: impl Iterator<Item = usize>) -> bool {
        match self.room.checked_sub(lengths.sum()) {
            Some(room) => self.room = room,
            None => self.is_exceeded = true,
        }
        !self.is_exceeded
    }

    /// Notes the expression if some of its matches had no room.
    fn note(&self, pattern: &str) {
        if self.is_exceeded {
            exceeded::note(SearchLimit::Matches, pattern);
        }
    }
}

impl Backtracking {
    /// Returns the result of a search. None: it took too many steps or too long.
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
            let limit =
                BASE_TIME_LIMIT + TIME_PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
            let expression = Arc::clone(self);
            let text = text.to_owned();
            run_within(limit, move || search(&expression.regex, &text).ok()).flatten()
        };
        if result.is_none() {
            self.is_abandoned.store(true, Ordering::Relaxed);
            exceeded::note(SearchLimit::Time, self.regex.as_str());
        }
        result
    }
}

/// Groups of a match; the first one is the whole match.
pub type Groups = Vec<Option<String>>;

impl Pattern {
    /// Compiles the text of an expression.
    pub fn new(pattern: &str) -> Result<Self, String> {
        // `regex` searches in linear time, but has no look-around and no back references.
        if let Ok(plain) = regex::Regex::new(pattern) {
            return Ok(Self::Plain(plain));
        }
        let regex = fancy_regex::RegexBuilder::new(pattern).backtrack_limit(MAX_STEPS).build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(Self::Backtracking(Arc::new(Backtracking {
            regex,
            is_abandoned: AtomicBool::new(false),
        })))
    }

    /// Compiles an expression that must match the whole text.
    pub fn whole(pattern: &str) -> Result<Self, String> {
        Self::new(&format!(r"\A(?:{pattern})\z"))
    }

    /// Number of groups, including the whole match.
    pub fn groups(&self) -> usize {
        match self {
            Self::Plain(regex) => regex.captures_len(),
            Self::Backtracking(expression) => expression.regex.captures_len(),
        }
    }

    /// True if it matches in a text.
    pub fn is_found(&self, text: &str) -> bool {
        match self {
            Self::Plain(regex) => regex.is_match(text),
            Self::Backtracking(expression) => {
                expression.search(text, fancy_regex::Regex::is_match).unwrap_or(false)
            }
        }
    }

    /// Replaces all matches in a text, or the first one. In `by`, `$1` is the first group, and `\`
    /// escapes, as in Java.
    ///
    /// A result that is too long is not made: the text stays, and the expression is noted.
    pub fn replace(&self, text: &str, by: &str, all: bool) -> String {
        let by = replacement(by);
        let limit = usize::from(!all);
        let replaced = match self {
            Self::Plain(regex) => limits::replace_regex(regex, text, limit, &by),
            Self::Backtracking(expression) => {
                let result = expression
                    .search(text, move |regex, text| replace_backtracking(regex, text, limit, &by));
                result.unwrap_or_else(|| Some(text.to_owned()))
            }
        };
        replaced.unwrap_or_else(|| {
            MatchLimit { room: 0, is_exceeded: true }.note(self.as_str());
            text.to_owned()
        })
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Plain(regex) => regex.as_str(),
            Self::Backtracking(expression) => expression.regex.as_str(),
        }
    }

    /// Returns the groups of each match, in order, for at most `most` matches. Further matches without
    /// room are omitted, and the expression is noted.
    pub fn find_all(&self, text: &str, most: usize) -> Vec<Groups> {
        match self {
            Self::Plain(regex) => {
                let mut limit = MatchLimit::new();
                let matches = regex.captures_iter(text).take(most).take_while(|captures| {
                    limit.admits(captures.iter().flatten().map(|group| group.len()))
                });
                let groups = matches.map(|captures| {
                    captures
                        .iter()
                        .map(|group| group.map(|group| group.as_str().to_owned()))
                        .collect()
                });
                let groups = groups.collect();
                limit.note(regex.as_str());
                groups
            }
            Self::Backtracking(expression) => {
                let result = expression.search(text, move |regex, text| {
                    let mut limit = MatchLimit::new();
                    let mut groups = Vec::new();
                    for captures in regex.captures_iter(text).take(most) {
                        let captures = captures?;
                        let lengths = captures.iter().flatten().map(|group| group.as_str().len());
                        if !limit.admits(lengths) {
                            break;
                        }
                        groups.push(fancy_groups(&captures));
                    }
                    limit.note(regex.as_str());
                    Ok(groups)
                });
                result.unwrap_or_default()
            }
        }
    }
}

/// Replaces matches. None: the result is too long.
fn replace_backtracking(
    regex: &fancy_regex::Regex,
    text: &str,
    limit: usize,
    by: &str,
) -> Result<Option<String>, fancy_regex::Error> {
    let matches = regex.captures_iter(text).filter_map(|captures| {
        captures.map(|captures| Some((captures.get(0)?.range(), captures))).transpose()
    });
    limits::replace_matches(text, limit, matches, |captures, out| captures.expand(by, out))
}

fn fancy_groups(captures: &fancy_regex::Captures<'_>) -> Groups {
    captures.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect()
}

/// A text with groups in it, such as `$1$-$2$`.
#[derive(Debug)]
pub struct GroupTemplate(Vec<Piece>);

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl GroupTemplate {
    /// Parses a template. A `$` that belongs to no group is literal.
    pub fn new(template: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some(dollar) = rest.find('$') {
            let remainder = &rest[dollar + 1..];
            let group = remainder
                .split_once('$')
                .and_then(|(number, after)| Some((number.parse().ok()?, after)));
            let Some((group, after)) = group else {
                pieces.push(Piece::Text(rest[..=dollar].to_owned()));
                rest = remainder;
                continue;
            };
            pieces.extend([Piece::Text(rest[..dollar].to_owned()), Piece::Group(group)]);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Self(pieces)
    }

    /// Creates a template of one group.
    pub fn group(number: usize) -> Self {
        Self(vec![Piece::Group(number)])
    }

    /// Fills in the groups of a match; missing groups are empty.
    pub fn text(&self, groups: &Groups) -> String {
        let texts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Group(number) => {
                groups.get(*number).and_then(Option::as_deref).unwrap_or_default()
            }
        });
        let mut all = String::new();
        for text in texts {
            all.push_str(text);
            // A longer text fails where it is used; see `TextLimit`.
            if all.len() > MAX_TEXT {
                break;
            }
        }
        all
    }
}

/// Converts a replacement in Java's syntax to that of `regex`.
fn replacement(java: &str) -> String {
    let mut text = String::new();
    let mut characters = java.chars().peekable();
    while let Some(next) = characters.next() {
        match next {
            '\\' => match characters.next() {
                // `$$` is a literal `$` in the syntax of `regex`.
                Some('$') => text.push_str("$$"),
                plain => text.extend(plain),
            },
            '$' => {
                let Some(digit) = characters.next_if(char::is_ascii_digit) else {
                    text.push_str("$$");
                    continue;
                };
                // Without braces, `regex` would read `$1x` as the group `1x`.
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
    fn both_kinds_of_patterns_find_the_same() {
        for pattern in [r"(\w)(\d)?;", r"(?=\w)(\w)(\d)?;"] {
            let pattern = Pattern::new(pattern).unwrap();
            assert_eq!(pattern.groups(), 3);
            let found = pattern.find_all("a1; b; c3;", 2);
            let group = |text: &str| Some(text.to_owned());
            assert_eq!(
                found,
                [vec![group("a1;"), group("a"), group("1")], vec![group("b;"), group("b"), None]]
            );
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
    fn a_search_that_takes_too_long_is_aborted_with_an_error() {
        // The search reads the rest of the text at each of its positions: 2e10 steps in all.
        let slow = Pattern::new(r"(?>\w+)(?=!)").unwrap();
        let text = "a".repeat(200_000);
        assert!(!slow.is_found(&text));
        assert!(slow.find_all("aa!", 9).is_empty(), "it is not tried again");
        assert!(
            exceeded::remarks()
                .iter()
                .any(|remark| remark.contains(r"`(?>\w+)(?=!)` took too long")),
            "{:?}",
            exceeded::remarks()
        );
        // One that is merely long is found.
        let matches = Pattern::new(r"(?<=a)!")
            .unwrap()
            .find_all(&format!("{}{text}!", "b".repeat(2_000_000)), 1);
        assert_eq!(matches, [vec![Some("!".to_owned())]]);
    }

    #[test]
    fn templates_are_made_of_texts_and_groups() {
        let text = |text: &str| Piece::Text(text.into());
        assert_eq!(GroupTemplate::new("$1$").0, [Piece::Group(1)]);
        assert_eq!(
            GroupTemplate::new("a$1$b$2$").0,
            [text("a"), Piece::Group(1), text("b"), Piece::Group(2)]
        );
        assert_eq!(
            GroupTemplate::new("$5 $x$1$").0,
            [text("$"), text("5 $"), text("x"), Piece::Group(1)]
        );
        let groups = vec![Some("all".to_owned()), None, Some("b".to_owned())];
        assert_eq!(GroupTemplate::new("$0$-$1$$2$ $9$").text(&groups), "all-b ");
    }
}
