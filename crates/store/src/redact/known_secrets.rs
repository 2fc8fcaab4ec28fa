//! The secrets that a redactor knows, and the search for them in free text.

use aho_corasick::{AhoCorasick, Input, MatchKind};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::{BTreeMap, HashSet};

/// Maximum number of values that are searched for in free text: a list of URLs may hold a million tokens.
const MOST_SEARCHED: usize = 4096;

/// Values that are searched for one by one before the searcher is built again.
const MOST_RECENT: usize = 64;

/// Shorter values are too common to be searched for in free text.
const SHORTEST_SEARCHED: usize = 4;

/// Shorter numbers are too common.
const SHORTEST_NUMBER: usize = 6;

/// Longer values are searched for within words, too.
const LONG: usize = 12;

/// Words that are values of secret fields in examples, and words of messages too.
const COMMON: [&str; 22] = [
    "true",
    "false",
    "null",
    "none",
    "localhost",
    "basic",
    "bearer",
    "http",
    "https",
    "brunt",
    "admin",
    "user",
    "test",
    "guest",
    "root",
    "demo",
    "password",
    "secret",
    "token",
    "login",
    "default",
    "example",
];

/// Secrets by what stands in their place, and those to search for.
#[derive(Default)]
pub(super) struct KnownSecrets {
    exact: BTreeMap<String, String>,
    patterns: Vec<Pattern>,
    texts: HashSet<String>,
    /// Finds the first patterns.
    searcher: Option<AhoCorasick>,
}

/// A text to search for.
struct Pattern {
    value: String,
    token: String,
}

impl KnownSecrets {
    /// Adds a secret and the token that stands in its place.
    pub fn add(&mut self, value: &str, token: &str, is_searched: bool) {
        self.exact.entry(token.to_owned()).or_insert_with(|| value.to_owned());
        if is_searched && !self.texts.contains(value) {
            self.search_for(value.to_owned(), token);
            self.search_for(percent_decode_str(value).decode_utf8_lossy().into_owned(), token);
            self.search_for(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(), token);
        }
    }

    /// The value that a token stands for.
    pub fn exact(&self, token: &str) -> Option<String> {
        self.exact.get(token).cloned()
    }

    /// The values that are searched for.
    pub fn values(&self) -> Vec<String> {
        self.patterns.iter().map(|pattern| pattern.value.clone()).collect()
    }

    /// The text with tokens in place of secrets.
    pub fn replaced(&mut self, text: &str) -> String {
        self.rebuild();
        let Some(searcher) = &self.searcher else { return self.without_recent(text.to_owned()) };
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut from = 0;
        while let Some(found) = searcher.find(Input::new(text).range(from..)) {
            if is_whole(text, found.start(), found.end()) {
                out.push_str(&text[done..found.start()]);
                out.push_str(&self.patterns[found.pattern().as_usize()].token);
                done = found.end();
                from = done;
            } else {
                from = found.start() + text[found.start()..].chars().next().map_or(1, char::len_utf8);
            }
        }
        out.push_str(&text[done..]);
        self.without_recent(out)
    }

    fn search_for(&mut self, value: String, token: &str) {
        let is_short_number = value.len() < SHORTEST_NUMBER && value.bytes().all(|b| b.is_ascii_digit());
        let is_common = COMMON.contains(&&*value.to_ascii_lowercase());
        let is_searched = value.len() >= SHORTEST_SEARCHED && !is_short_number && !is_common;
        if is_searched && self.patterns.len() < MOST_SEARCHED && self.texts.insert(value.clone()) {
            self.patterns.push(Pattern { value, token: token.to_owned() });
        }
    }

    /// Number of patterns that the searcher finds.
    fn built(&self) -> usize {
        self.searcher.as_ref().map_or(0, AhoCorasick::patterns_len)
    }

    /// Builds the searcher again after enough additions; each build costs milliseconds with thousands of values.
    fn rebuild(&mut self) {
        let recent = self.patterns.len() - self.built();
        if recent > MOST_RECENT {
            let values = self.patterns.iter().map(|pattern| &pattern.value);
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values);
            self.searcher = built.ok();
        }
    }

    fn without_recent(&self, mut text: String) -> String {
        let mut recent: Vec<&Pattern> = self.patterns[self.built()..].iter().collect();
        recent.retain(|pattern| text.contains(&pattern.value));
        recent.sort_by_key(|pattern| std::cmp::Reverse(pattern.value.len()));
        for pattern in recent {
            text = replace_one(&text, pattern);
        }
        text
    }
}

fn replace_one(text: &str, pattern: &Pattern) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (start, _) in text.match_indices(&pattern.value) {
        let end = start + pattern.value.len();
        if is_whole(text, start, end) {
            out.push_str(&text[done..start]);
            out.push_str(&pattern.token);
            done = end;
        }
    }
    out + &text[done..]
}

/// True if the value at this place counts: a short one only as a word of its own, and none within a token.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_inside = is_joined(text[..start].chars().next_back()) || is_joined(text[end..].chars().next());
    let is_token = text[..start].ends_with(brunt_model::secret::REDACTED);
    !is_token && (end - start >= LONG || !is_inside)
}
