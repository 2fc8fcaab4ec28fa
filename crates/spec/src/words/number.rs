//! Plain numbers, the smallest words: `500`, `0.5`.

use brunt_script::WordError;

/// A finite number of digits with at most one point. No sign, no exponent, no `inf` or `NaN`.
pub(crate) fn number(word: &str) -> Option<f64> {
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| word.parse().ok())?.filter(|n: &f64| n.is_finite())
}

/// A whole number from 1.
pub(crate) fn count(word: &str, what: &str, example: &str) -> Result<u32, WordError> {
    let instead = || format!("a whole number from 1, such as {example}");
    let count = word.parse().map_err(|_| WordError::new(word, format!("{what} is a whole number"), instead()))?;
    if count == 0 { Err(WordError::new(word, format!("{what} is not zero"), instead())) } else { Ok(count) }
}

/// Splits where the digits end: `1.5s` is `1.5` and `s`.
pub(crate) fn split_unit(word: &str) -> (&str, &str) {
    word.split_at(word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        assert_eq!(number("0.5"), Some(0.5));
        assert_eq!(number("20000"), Some(20000.0));
        for bad in ["", ".", "-1", "+1", "1e5", "inf", "NaN", "1_000", "1.2.3", " 1", &"9".repeat(400)] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
