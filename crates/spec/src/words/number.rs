//! Plain numbers such as `500` and `0.5`, which other values consist of.

use brunt_script::WordError;

/// Parses a finite number of digits with at most one point: no sign, no exponent,
/// no `inf` or `NaN`.
pub(crate) fn number(word: &str) -> Option<f64> {
    // `f64::from_str` also accepts `inf`, `NaN`, signs and exponents.
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| word.parse().ok())?.filter(|n: &f64| n.is_finite())
}

/// The digits of a whole number with thousands separators (`1,000`, `1_000`), an exponent (`1e3`) or a
/// unit (`10k`, `2M`). Messages propose them.
pub(crate) fn without_signs(word: &str) -> Option<String> {
    let groups: Vec<&str> = word.split([',', '_']).collect();
    if let [first, others @ ..] = &groups[..]
        && (1..=3).contains(&first.len())
        && !others.is_empty()
        && others.iter().all(|group| group.len() == 3)
    {
        let digits = groups.concat();
        return number(&digits).is_some().then_some(digits);
    }
    let factors = [("k", 1e3), ("K", 1e3), ("M", 1e6)];
    let unit = factors.iter().find_map(|(unit, factor)| Some((word.strip_suffix(unit)?, factor)));
    let value = match unit {
        Some((digits, factor)) => number(digits)? * factor,
        None => word.parse().ok().filter(|_| word.contains(['e', 'E']))?,
    };
    let is_whole = (0.0..1e15).contains(&value) && value.fract() == 0.0;
    is_whole.then(|| format!("{value:.0}"))
}

/// Parses a whole number from 1. `noun` names the number in errors.
pub(crate) fn count(word: &str, noun: &str, example: &str) -> Result<u32, WordError> {
    let instead = format!("a whole number from 1, such as {example}");
    match word.parse() {
        Ok(0) => Err(WordError::new(word, format!("{noun} is not zero"), instead)),
        Ok(count) => Ok(count),
        Err(_) => {
            let instead = without_signs(word).unwrap_or(instead);
            Err(WordError::new(word, format!("{noun} is a whole number"), instead))
        }
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
    fn numbers_with_signs_are_written_out() {
        for (word, digits) in [
            ("1,000", "1000"),
            ("1_000_000", "1000000"),
            ("1e3", "1000"),
            ("10k", "10000"),
            ("2M", "2000000"),
        ] {
            assert_eq!(without_signs(word).as_deref(), Some(digits), "{word}");
        }
        for bad in ["", "k", "1,00", "10", "e", "1e-3", "inf", "1,a00", "-1e3"] {
            assert_eq!(without_signs(bad), None, "{bad}");
        }
    }

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
