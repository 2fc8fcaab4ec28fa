//! Sizes and rates in bytes: `10k`, `1M`, `64KiB`, `10k/s`.

use super::number::{number, split_unit};
use brunt_script::WordError;

const INSTEAD: &str =
    "whole bytes, or k, M, G (thousands) or Ki, Mi, Gi (1024), such as 124k, 1M or 64KiB";

/// Parses a number of bytes from 1. k, M and G are powers of 1000; Ki, Mi and Gi are powers of
/// 1024. A `B` at the end has no effect.
pub fn parse(word: &str) -> Result<u64, WordError> {
    let bytes = size(word)?;
    if bytes == 0 {
        return Err(WordError::new(word, "that is less than one byte", INSTEAD));
    }
    Ok(bytes)
}

/// Parses a number of bytes from 0.
pub fn size(word: &str) -> Result<u64, WordError> {
    let word = word.trim();
    if word.starts_with('-') {
        return Err(size_error(word, "a number of bytes is not negative"));
    }
    let (digits, unit) = split_unit(word);
    let value = number(digits).ok_or_else(|| size_error(word, "not a number of bytes"))?;
    let scale =
        scale(unit).ok_or_else(|| size_error(word, &format!("`{unit}` is not a unit of bytes")))?;
    // 1.001 · 1000 is 1000.9999999999999 in binary fractions.
    let bytes = (value * scale).round();
    if bytes > 1e15 {
        return Err(size_error(word, "that is more than a million gigabytes"));
    }
    Ok(bytes as u64)
}

fn size_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, INSTEAD)
}

/// Parses bytes per second: a number of bytes, with or without `/s`.
pub fn rate(word: &str) -> Result<u64, WordError> {
    parse(word.trim().strip_suffix("/s").unwrap_or(word))
}

fn scale(unit: &str) -> Option<f64> {
    Some(match unit.strip_suffix('B').unwrap_or(unit) {
        "" => 1.0,
        // SI writes `k`, but many tools write `K`.
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        for (word, bytes) in [
            ("1", 1),
            ("10B", 10),
            ("10k", 10_000),
            ("124K", 124_000),
            ("1.5kB", 1_500),
            ("1M", 1_000_000),
            ("1G", 1_000_000_000),
            ("64Ki", 65_536),
            ("64KiB", 65_536),
            ("1MiB", 1 << 20),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(parse(word), Ok(bytes), "{word}");
            assert_eq!(rate(&format!("{word}/s")), Ok(bytes), "{word}/s");
        }
    }

    #[test]
    fn errors_show_valid_values() {
        for word in ["", "-1k", "many", "1m", "1 k", "0", "0.1", "9999999G", "1k/m", "1KB/s/s"] {
            let message = rate(word).unwrap_err().to_string();
            assert!(message.contains("such as 124k, 1M or 64KiB"), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = rate(&word);
        }
    }
}
