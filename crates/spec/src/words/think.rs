//! Think time: fixed, such as `1s`, or from a range, such as `0.5s..2s`.

use super::duration;
use brunt_model::ThinkTime;
use brunt_script::WordError;

/// Parses the time that a user waits between a reply and its next request;
/// bare numbers are seconds.
pub fn parse(word: &str) -> Result<ThinkTime, WordError> {
    let (least, most) = word.split_once("..").unwrap_or((word, word));
    let least = duration::parse(least)?;
    let most = duration::parse(most)?;
    if least > most {
        return Err(WordError::new(
            word,
            "the shorter time comes first",
            "it the other way round, such as 0.5s..2s",
        ));
    }
    Ok(ThinkTime { least, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn valid_values_are_parsed() {
        let think = |least, most| {
            Ok(ThinkTime { least: Duration::from_millis(least), most: Duration::from_millis(most) })
        };
        for (word, least, most) in [
            ("1s", 1000, 1000),
            ("0.5s..2s", 500, 2000),
            ("0..2", 0, 2000),
            ("0", 0, 0),
            ("10ms .. 20ms", 10, 20),
        ] {
            assert_eq!(parse(word), think(least, most), "{word}");
        }
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, remedy) in [
            ("2s..1s", "write it the other way round, such as 0.5s..2s"),
            ("", "such as 500ms"),
            ("1s..", "such as 500ms"),
            ("-1s", "not negative"),
            ("1..2..3", "such as 500ms"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = parse(&word);
        }
    }
}
