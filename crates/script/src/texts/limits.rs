//! Limits the length of texts that are made of values, so that no scenario fills the memory.

use regex::Regex;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;

/// Maximum length of all values in a text, in bytes.
pub const MAX_TEXT: usize = 64 << 20;

/// Notes if a text of the current step was too long.
#[derive(Debug, Default)]
pub struct TextLimit(Cell<bool>);

impl TextLimit {
    /// Returns the text, or an empty one if it is too long.
    pub fn limited(&self, text: Option<String>) -> String {
        text.filter(|text| text.len() <= MAX_TEXT).unwrap_or_else(|| {
            self.note_overlong();
            String::new()
        })
    }

    /// Notes that a text is too long.
    pub fn note_overlong(&self) {
        self.0.set(true);
    }

    /// Returns the reason if a text was too long since the last call.
    pub fn take(&self) -> Option<String> {
        self.0.replace(false).then(|| {
            format!(
                "the values in a text are longer than {} MiB; make it shorter, or set it to a constant at the begin of each iteration",
                MAX_TEXT >> 20
            )
        })
    }
}

/// Replaces each part of a text. None: the result is too long.
pub fn replace(text: &str, part: &str, by: &str) -> Option<String> {
    let growth = text.matches(part).count().checked_mul(by.len())?;
    (growth.saturating_add(text.len()) <= MAX_TEXT * 2).then(|| text.replace(part, by))
}

/// Replaces the first `limit` matches of a regular expression, all if it is 0. None: the result is too long.
pub fn replace_regex(regex: &Regex, text: &str, limit: usize, by: &str) -> Option<String> {
    let matches = regex
        .captures_iter(text)
        .filter_map(|captures| Some(Ok::<_, Infallible>((captures.get(0)?.range(), captures))));
    let replaced = replace_matches(text, limit, matches, |captures, out| captures.expand(by, out));
    replaced.unwrap_or_else(|never| match never {})
}

/// Replaces the first `limit` matches, all if it is 0. `expand` appends the text that replaces a match.
/// None: the result is too long.
pub fn replace_matches<M, E>(
    text: &str,
    limit: usize,
    matches: impl Iterator<Item = Result<(Range<usize>, M), E>>,
    expand: impl Fn(&M, &mut String),
) -> Result<Option<String>, E> {
    let most = if limit == 0 { usize::MAX } else { limit };
    let mut out = String::new();
    let mut done = 0;
    for one in matches.take(most) {
        let (range, groups) = one?;
        out.push_str(&text[done..range.start]);
        expand(&groups, &mut out);
        done = range.end;
        if out.len() > MAX_TEXT {
            return Ok(None);
        }
    }
    out.push_str(&text[done..]);
    Ok(Some(out))
}

/// Joins texts. None: the result is too long.
pub fn join(texts: impl Iterator<Item = String>, separator: &str) -> Option<String> {
    let mut out = String::new();
    for (number, text) in texts.enumerate() {
        if number > 0 {
            out.push_str(separator);
        }
        out.push_str(&text);
        if out.len() > MAX_TEXT {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_and_joined_texts_are_limited() {
        assert_eq!(replace("a-b-", "-", "+").as_deref(), Some("a+b+"));
        let regex = Regex::new("(.)-").unwrap();
        assert_eq!(replace_regex(&regex, "a-b-c", 0, "<$1>").as_deref(), Some("<a><b>c"));
        assert_eq!(replace_regex(&regex, "a-b-c", 1, "").as_deref(), Some("b-c"));
        let long = "a".repeat(1 << 20);
        assert_eq!(replace(&long, "a", &long), None);
        assert_eq!(replace_regex(&Regex::new("a").unwrap(), &long, 0, &long), None);
        assert_eq!(join(std::iter::repeat_n(long.clone(), 1000), ","), None);
        assert_eq!(join(["a".into(), "b".into()].into_iter(), ",").as_deref(), Some("a,b"));
    }

    #[test]
    fn a_long_text_is_noted_once() {
        let limit = TextLimit::default();
        assert_eq!(limit.limited(Some("a".into())), "a");
        assert_eq!(limit.take(), None);
        assert_eq!(limit.limited(None), "");
        assert!(limit.take().is_some_and(|why| why.contains("64 MiB")));
        assert_eq!(limit.take(), None);
    }
}
