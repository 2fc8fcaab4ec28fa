//! Durations as Go writes them: `1h30m`, `1.5s`, `300ms`.

use brunt_spec::words::duration::with_unit;
use std::time::Duration;

/// Parses a duration; a bare number is milliseconds, as in k6.
///
/// # Errors
///
/// The text is no duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    let time = match text.trim().parse::<f64>() {
        Ok(milliseconds) => Duration::try_from_secs_f64(milliseconds / 1e3).ok(),
        Err(_) => with_unit(text).ok(),
    };
    time.ok_or_else(|| {
        format!(
            "`{text}` is no duration; write a number with its unit, such as 500ms, 10s, 1m30s or 2h"
        )
    })
}

/// A number of milliseconds as a duration; nothing if it is no positive number.
pub fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
}

/// Nanoseconds in milliseconds.
pub fn in_milliseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_in_go() {
        for (text, milliseconds) in [
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("0.25m", 15_000),
            (" 500ms ", 500),
            ("2h", 7_200_000),
            ("2d", 172_800_000),
            ("1500", 1500),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "10", "10x", "-1s", "1 m", "ten"] {
            assert_eq!(parse(text).is_ok(), text == "10", "{text}");
        }
    }
}
