//! Plain numbers such as `500` and `0.5`, which other values consist of.

use brunt_script::WordError;

/// Parses a finite number of digits with at most one point: no sign, no exponent,
/// no `inf` or `NaN`.
pub(crate) fn number(word: &str) -> Option<f64> {
    // `f64::from_str` also accepts `inf`, `NaN`, signs and exponents.
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| word.parse().ok())?.filter(|n: &f64| n.is_finite())
}

/// Parses a whole number from 1. `noun` names the number in errors.
pub(crate) fn count(word: &str, noun: &str, example: &str) -> Result<u32, WordError> {
    let instead = format!("a whole number from 1, such as {example}");
    match word.parse() {
        Ok(0) => Err(WordError::new(word, format!("{noun} is not zero"), instead)),
        Ok(count) => Ok(count),
        Err(_) => Err(WordError::new(word, format!("{noun} is a whole number"), instead)),
    }
}

/// Splits after the digits: `1.5s` into `1.5` and `s`.
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
        for bad in
            ["", ".", "-1", "+1", "1e5", "inf", "NaN", "1_000", "1.2.3", " 1", &"9".repeat(400)]
        {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
