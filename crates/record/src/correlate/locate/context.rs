//! Finds regular expressions of a value by the text around it, which is the same in both recordings.

use super::{Located, ValuePair, located, occurrences, verified};
use brunt_model::extract::{ExtractFrom, ReplyPart};
use std::ops::RangeInclusive;

/// Maximum length of the text before a value, in bytes.
const MAX_BEFORE: usize = 64;

/// Maximum length of the text after a value, in bytes.
const MAX_AFTER: usize = 4;

/// Minimum number of letters and digits in the text before a value.
const MIN_WORD: usize = 2;

/// Maximum number of places of a value in a text.
const MAX_PLACES: usize = 12;

/// Maximum number of expressions that are tried for a place.
const MAX_EXPRESSIONS: usize = 12;

/// Returns an expression that yields the value in both texts. Unique ones are preferred, then those with a short text
/// before the value.
pub(super) fn expression(
    first: &str,
    second: &str,
    value: &ValuePair,
    part: &ReplyPart,
) -> Option<Located> {
    let mut ambiguous: Option<Located> = None;
    let others: Vec<usize> = occurrences(second, &value.second).take(MAX_PLACES).collect();
    for place in occurrences(first, &value.first).take(MAX_PLACES) {
        // The place in the second text with the longest common text before it.
        let best = others.iter().max_by_key(|other| {
            (common_before(&first[..place], &second[..**other]).len(), std::cmp::Reverse(**other))
        });
        let Some(other) = best.copied() else { continue };
        let before = common_before(&first[..place], &second[..other]);
        let after = common_after(
            &first[place + value.first.len()..],
            &second[other + value.second.len()..],
        );
        let class = class(value, after);
        let words = left_contexts(before, MIN_WORD..=usize::MAX).take(MAX_EXPRESSIONS);
        for left in words.chain(left_contexts(before, 1..=MIN_WORD - 1)) {
            let pattern = format!("{}({class}){}", regex::escape(left), regex::escape(after));
            let from = ExtractFrom::Regex { pattern, group: 1, template: None };
            let Some(extractor) = verified(from, part.clone(), [first, second], value) else {
                continue;
            };
            let extractor = Located { name: name_in(left), ..extractor.rank(6) };
            if extractor.matches == 1 {
                return Some(extractor);
            }
            // The longest text before the value has the fewest matches.
            if ambiguous.as_ref().is_none_or(|known| extractor.matches < known.matches) {
                ambiguous = Some(extractor);
            }
        }
    }
    ambiguous
}

/// Returns an expression that yields the value from a header field in both recordings.
pub(super) fn in_header(
    name: &str,
    first: &str,
    second: &str,
    value: &ValuePair,
) -> Option<Located> {
    let place = occurrences(first, &value.first).next()?;
    let other = occurrences(second, &value.second).next()?;
    // The text before it is part of the expression.
    if first[..place] != second[..other] {
        return None;
    }
    let after =
        common_after(&first[place + value.first.len()..], &second[other + value.second.len()..]);
    let pattern = format!(
        "(?im)^{}: {}({}){}",
        regex::escape(name),
        regex::escape(&first[..place]),
        class(value, after),
        regex::escape(after)
    );
    let from = ExtractFrom::Regex { pattern, group: 1, template: None };
    let [first, second] = [first, second].map(|text| format!("{name}: {text}\r\n"));
    let extractor = verified(from.clone(), ReplyPart::Headers, [&first, &second], value)?;
    (extractor.matches == 1).then(|| located(from, ReplyPart::Headers))
}

/// The common end of two texts, within a line.
fn common_before<'t>(first: &'t str, second: &str) -> &'t str {
    let pairs = first.char_indices().rev().zip(second.chars().rev());
    let mut start = first.len();
    for ((position, a), b) in pairs {
        if a != b || a == '\n' || first.len() - position > MAX_BEFORE {
            break;
        }
        start = position;
    }
    &first[start..]
}

/// The common begin of two texts, within a line, up to the first sign that is no letter or digit.
fn common_after<'t>(first: &'t str, second: &str) -> &'t str {
    let mut end = 0;
    for ((position, a), b) in first.char_indices().zip(second.chars()) {
        if a != b || matches!(a, '\r' | '\n') || position >= MAX_AFTER {
            break;
        }
        end = position + a.len_utf8();
        if !a.is_alphanumeric() {
            break;
        }
    }
    &first[..end]
}

/// Ends of a text that begin between two words and have this number of letters and digits, the shortest first.
fn left_contexts(before: &str, letters: RangeInclusive<usize>) -> impl Iterator<Item = &str> {
    let starts = before.char_indices().rev().map(|(start, _)| start);
    starts.filter_map(move |start| {
        let text = &before[start..];
        let words = text.chars().filter(|c| c.is_alphanumeric()).count();
        // Without the sign before a word, the expression would also match longer words.
        let is_border = start == 0 || text.starts_with(|c: char| !c.is_alphanumeric());
        (is_border && letters.contains(&words)).then_some(text)
    })
}

/// A regular expression for texts like both values.
fn class(value: &ValuePair, after: &str) -> String {
    if has_only(value, |c| c.is_ascii_digit()) {
        return r"\d+".to_owned();
    }
    if has_only(value, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return r"[\w-]+".to_owned();
    }
    match after.chars().next() {
        Some(sign) if !value.first.contains(sign) && !value.second.contains(sign) => {
            format!("[^{}]+", regex::escape(&sign.to_string()))
        }
        Some(_) => ".+?".to_owned(),
        None => r"[^\s]+".to_owned(),
    }
}

/// True if both values have only such characters.
fn has_only(value: &ValuePair, test: fn(char) -> bool) -> bool {
    value.first.chars().all(test) && value.second.chars().all(test)
}

/// The last word before a value, such as `csrf` of `csrf: "`.
fn name_in(left: &str) -> String {
    let mut words = left.split(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
    words.rfind(|word| word.len() >= MIN_WORD).unwrap_or_default().to_owned()
}
