//! Remembers secrets, and finds them in free text.

use aho_corasick::{AhoCorasick, Input, MatchKind};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::{BTreeMap, HashSet};

/// Maximum number of values that are searched for in free text: a list of URLs may
/// hold a million tokens.
const MOST_SEARCHED: usize = 4096;

/// Number of values that are searched for one by one before the searcher is rebuilt.
const MOST_RECENT: usize = 64;

/// Minimum length of a value to search for. Shorter ones are too common in free text; they are replaced only at
/// their own places.
const SHORTEST_SEARCHED: usize = 8;

/// Minimum length of a value that is also searched for within words.
const LONG: usize = 12;

/// Maps tokens to secrets, and finds the secrets in texts.
#[derive(Default)]
pub(super) struct KnownSecrets {
    exact: BTreeMap<String, String>,
    patterns: Vec<Pattern>,
    texts: HashSet<String>,
    /// Finds the first patterns; the later ones are searched for one by one.
    searcher: Option<AhoCorasick>,
}

/// A text to search for, and its replacement.
struct Pattern {
    value: String,
    token: String,
}

impl KnownSecrets {
    /// Adds a secret and its token.
    pub fn add(&mut self, value: &str, token: &str, is_searched: bool) {
        self.exact.entry(token.to_owned()).or_insert_with(|| value.to_owned());
        // A secret may also occur with or without percent-encoding.
        if is_searched && !self.texts.contains(value) {
            self.search_for(value.to_owned(), token);
            self.search_for(percent_decode_str(value).decode_utf8_lossy().into_owned(), token);
            self.search_for(utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(), token);
        }
    }

    /// Returns the secret of a token.
    pub fn exact(&self, token: &str) -> Option<String> {
        self.exact.get(token).cloned()
    }

    /// Returns the values that are searched for.
    pub fn values(&self) -> Vec<String> {
        self.patterns.iter().map(|pattern| pattern.value.clone()).collect()
    }

    /// Returns the text with tokens in place of secrets.
    pub fn replaced(&mut self, text: &str) -> String {
        self.rebuild();
        let Some(searcher) = &self.searcher else { return self.without_recent(text.to_owned()) };
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut from = 0;
        while let Some(hit) = searcher.find(Input::new(text).range(from..)) {
            if is_whole(text, hit.start(), hit.end()) {
                out.push_str(&text[done..hit.start()]);
                out.push_str(&self.patterns[hit.pattern().as_usize()].token);
                done = hit.end();
                from = done;
            } else {
                // Another secret may begin within this hit.
                from = hit.start() + text[hit.start()..].chars().next().map_or(1, char::len_utf8);
            }
        }
        out.push_str(&text[done..]);
        self.without_recent(out)
    }

    fn search_for(&mut self, value: String, token: &str) {
        let is_searched = value.len() >= SHORTEST_SEARCHED && !is_word(&value);
        if is_searched && self.patterns.len() < MOST_SEARCHED && self.texts.insert(value.clone()) {
            self.patterns.push(Pattern { value, token: token.to_owned() });
        }
    }

    /// Number of patterns that the searcher finds.
    fn built_patterns(&self) -> usize {
        // A searcher is built over a prefix of `patterns`, which only grows.
        self.searcher.as_ref().map_or(0, AhoCorasick::patterns_len)
    }

    /// Rebuilds the searcher after enough additions. Each build costs milliseconds
    /// with thousands of values.
    fn rebuild(&mut self) {
        let recent = self.patterns.len() - self.built_patterns();
        if recent > MOST_RECENT {
            let values = self.patterns.iter().map(|pattern| &pattern.value);
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values);
            self.searcher = built.ok();
        }
    }

    fn without_recent(&self, mut text: String) -> String {
        let mut recent: Vec<&Pattern> = self.patterns[self.built_patterns()..].iter().collect();
        recent.retain(|pattern| text.contains(&pattern.value));
        // The longest first: a shorter secret may be part of it.
        recent.sort_by_key(|pattern| std::cmp::Reverse(pattern.value.len()));
        for pattern in recent {
            text = replace_one(&text, pattern);
        }
        text
    }
}

/// True for words of a language, such as `measured`, `Password` and `set-up`: letters without capitals inside.
fn is_word(value: &str) -> bool {
    value.split(['-', '_', ' ', '.']).all(|word| {
        let is_capital = word.chars().all(char::is_uppercase);
        word.chars().all(char::is_alphabetic)
            && (is_capital || !word.chars().skip(1).any(char::is_uppercase))
    })
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

/// True if the value at this position counts. A short one must be a separate word, and none may
/// be within a token.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let is_inside =
        before.is_some_and(char::is_alphanumeric) || after.is_some_and(char::is_alphanumeric);
    let is_token = text[..start].ends_with(brunt_model::secret::REDACTED);
    !is_token && (end - start >= LONG || !is_inside)
}
