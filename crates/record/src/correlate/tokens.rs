//! Splits values into words, so that a dynamic part of a value can be replaced.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A part of a text, as byte positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Size of the parts of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenLevel {
    /// The whole value.
    Whole,
    /// Letters, digits, and signs of Base64 and of tokens.
    Token,
    /// Letters, digits, `-` and `_`.
    Word,
    /// Letters and digits.
    Letters,
}

impl TokenLevel {
    /// All levels, from the longest parts.
    pub(super) const ALL: [Self; 4] = [Self::Whole, Self::Token, Self::Word, Self::Letters];

    fn includes(self, c: char) -> bool {
        match self {
            Self::Whole => true,
            Self::Token => c.is_alphanumeric() || "-_.~+/=".contains(c),
            Self::Word => c.is_alphanumeric() || "-_".contains(c),
            Self::Letters => c.is_alphanumeric(),
        }
    }
}

/// Returns the parts of a text.
pub(super) fn tokens(text: &str, level: TokenLevel) -> Vec<Token> {
    let mut all = Vec::new();
    let mut start = None;
    for (position, character) in text.char_indices() {
        match (level.includes(character), start) {
            (true, None) => start = Some(position),
            (false, Some(begin)) => {
                all.push(Token { start: begin, end: position });
                start = None;
            }
            _ => {}
        }
    }
    all.extend(start.map(|start| Token { start, end: text.len() }));
    all
}

/// Returns the parts that differ, with their texts. None if the texts around the parts differ.
pub(super) fn differences(
    first: &str,
    second: &str,
    level: TokenLevel,
) -> Option<Vec<(Token, String, String)>> {
    let tokens_of_first = tokens(first, level);
    let tokens_of_second = tokens(second, level);
    // Otherwise the parts could not be paired.
    if separators(first, &tokens_of_first) != separators(second, &tokens_of_second) {
        return None;
    }
    let pairs = tokens_of_first.into_iter().zip(tokens_of_second);
    let texts = pairs
        .map(|(a, b)| (a, first[a.start..a.end].to_owned(), second[b.start..b.end].to_owned()));
    Some(texts.filter(|(_, a, b)| a != b).collect())
}

/// The words of a reply, as hashes in order. It excludes most replies without a search in their text.
pub(super) struct WordIndex(Vec<u64>);

impl WordIndex {
    /// Creates the index of some texts.
    pub(super) fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let words = texts.flat_map(|text| {
            let tokens = tokens(text, TokenLevel::Letters).into_iter();
            tokens.map(|token| hash(&text[token.start..token.end]))
        });
        let mut hashes: Vec<u64> = words.collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// False if no text can have this value, apart from longer words.
    pub(super) fn may_contain(&self, value: &str) -> bool {
        // Other characters may be escaped, and the escapes of URLs and JSON have letters.
        if !value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c)) {
            return true;
        }
        let words = tokens(value, TokenLevel::Letters);
        words.iter().all(|word| self.0.binary_search(&hash(&value[word.start..word.end])).is_ok())
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The texts before, between and after parts.
fn separators<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let mut all = Vec::new();
    let mut position = 0;
    for token in tokens {
        all.push(&text[position..token.start]);
        position = token.end;
    }
    all.push(&text[position..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_excludes_texts_without_a_value() {
        let index = WordIndex::new(["<a href='/x/ab12-cd?t=q%26r'>", "k: v9"].into_iter());
        for value in ["ab12-cd", "ab12", "v9", "q&r", "href"] {
            assert!(index.may_contain(value), "{value}");
        }
        for value in ["ab1", "cd34-ab12", "k9"] {
            assert!(!index.may_contain(value), "{value}");
        }
    }

    #[test]
    fn parts_that_differ_are_found_if_the_rest_is_equal() {
        let parts = |first: &str, second: &str, level| {
            differences(first, second, level)
                .map(|all| all.into_iter().map(|(_, a, b)| format!("{a}|{b}")).collect::<Vec<_>>())
        };
        let found = parts("Bearer a1, id=7", "Bearer b2, id=7", TokenLevel::Word);
        assert_eq!(found, Some(vec!["a1|b2".to_owned()]));
        assert_eq!(parts("a b", "a", TokenLevel::Word), None);
        assert_eq!(parts("x-1.html", "x-2.html", TokenLevel::Letters).unwrap(), ["1|2"]);
        assert_eq!(parts("", "", TokenLevel::Letters).unwrap().len(), 0);
    }
}
