//! Durations: `500ms`, `1.5s`, `2m`, `1h30m`; a bare number is seconds if an option is a time.

use super::number::{number, split_unit};
use brunt_script::WordError;
use std::time::Duration;

/// The units and their nanoseconds.
const UNITS: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    // Unicode has two letters of the same look, and keyboards produce either.
    ("µs", 1e3), // U+00B5
    ("μs", 1e3), // U+03BC
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

/// Maximum duration, in nanoseconds: a year.
const MAX_NANOS: f64 = 365.0 * 86_400e9;

const INSTEAD: &str = "a number and a unit (ns us ms s m h d), such as 500ms, 1.5s, 2m or 1h30m";

/// Parses a duration; a bare number is seconds.
pub fn parse(word: &str) -> Result<Duration, WordError> {
    let word = word.trim();
    // curl and ab also take bare numbers of seconds.
    number(word).map_or_else(|| with_unit(word), |seconds| duration(word, seconds * 1e9))
}

/// Returns the given duration, or the parsed default.
///
/// # Errors
///
/// [`WordError`] if the default is not a duration.
pub fn or_default(duration: Option<Duration>, default: &str) -> Result<Duration, WordError> {
    duration.map_or_else(|| parse(default), Ok)
}

/// Parses a duration above zero; a bare number is seconds.
pub fn positive(word: &str) -> Result<Duration, WordError> {
    check_positive(word, parse(word)?)
}

/// Parses a duration that needs a unit, because a bare number could have another meaning.
pub fn with_unit(word: &str) -> Result<Duration, WordError> {
    let word = word.trim();
    if word.is_empty() {
        return Err(WordError::new(word, "a duration is missing", INSTEAD));
    }
    if word.starts_with('-') {
        let positive = word.trim_start_matches('-');
        return Err(WordError::new(word, "a duration is not negative", positive));
    }
    let mut rest = word;
    let mut sum = 0.0;
    let mut last_unit = f64::INFINITY;
    while !rest.is_empty() {
        let (nanos, unit, rest_after) = part(rest)?;
        // `30m1h` and `1h2h` are more likely mistakes than sums.
        if unit >= last_unit {
            return Err(WordError::new(
                word,
                "units go from long to short, each once",
                "them so, such as 1h30m",
            ));
        }
        rest = rest_after;
        sum += nanos;
        last_unit = unit;
    }
    duration(word, sum)
}

/// Parses a duration above zero that needs a unit.
pub fn positive_with_unit(word: &str) -> Result<Duration, WordError> {
    check_positive(word, with_unit(word)?)
}

/// Nanoseconds of the first number with its unit, nanoseconds of the unit, and the rest.
fn part(word: &str) -> Result<(f64, f64, &str), WordError> {
    let (digits, rest) = split_unit(word);
    let (name, rest_after) =
        rest.split_at(rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len()));
    let value = number(digits).ok_or_else(|| WordError::new(word, "not a duration", INSTEAD))?;
    if name.is_empty() {
        return Err(WordError::new(
            word,
            "a unit is missing",
            format!("{word}s, {word}ms or {word}m"),
        ));
    }
    let unit = UNITS.iter().find(|u| u.0 == name);
    let unit = unit
        .ok_or_else(|| WordError::new(word, format!("`{name}` is not a unit of time"), INSTEAD))?
        .1;
    Ok((value * unit, unit, rest_after))
}

fn duration(word: &str, nanos: f64) -> Result<Duration, WordError> {
    if nanos > MAX_NANOS {
        return Err(WordError::new(word, "that is longer than a year", "365d at most"));
    }
    Ok(Duration::from_nanos(nanos.round() as u64))
}

fn check_positive(word: &str, duration: Duration) -> Result<Duration, WordError> {
    if duration.is_zero() {
        return Err(WordError::new(
            word,
            "the duration must be above zero",
            "one such as 500ms, 1.5s or 2m",
        ));
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        for (word, nanos) in [
            ("500ms", 500_000_000),
            ("1.5s", 1_500_000_000),
            ("30s", 30_000_000_000),
            ("2m", 120_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1m1s1ms1us1ns", 61_001_001_001),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("10μs", 10_000),
            ("5", 5_000_000_000),
            ("0.25", 250_000_000),
            ("0", 0),
            (" 1s ", 1_000_000_000),
            ("365d", 31_536_000_000_000_000),
        ] {
            assert_eq!(parse(word), Ok(Duration::from_nanos(nanos)), "{word}");
        }
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, remedy) in [
            ("", "missing; write a number and a unit"),
            ("-1s", "not negative; write"),
            ("ten", "such as 500ms"),
            ("10x", "`x` is not a unit of time; write a number and a unit"),
            ("10 s", "is not a unit"),
            ("1h30", "`30`: a unit is missing; write 30s, 30ms or 30m"),
            ("30m1h", "from long to short, each once; write them so, such as 1h30m"),
            ("1s1s", "each once"),
            ("366d", "longer than a year; write 365d at most"),
            ("NaN", "such as 500ms"),
            ("inf", "such as 500ms"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
        assert!(with_unit("5").unwrap_err().to_string().contains("write 5s, 5ms or 5m"));
        assert!(positive("0s").unwrap_err().to_string().contains("write one such as"));
        assert!(positive_with_unit("0s").is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = parse(&word);
        }

        #[test]
        fn whole_nanoseconds_survive(nanos in 0..1_000_000_000_000_000_u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse(&format!("{}s", duration.as_secs_f64())), Ok(duration));
        }
    }
}
