//! Durations as Go writes them: `1h30m`, `1.5s`, `300ms`.

use std::time::Duration;

/// Parses a duration.
///
/// # Errors
///
/// The text is no duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    read(text.trim()).ok_or_else(|| {
        format!(
            "`{text}` is no duration; write a number with its unit, such as 500ms, 10s, 1m30s or 2h"
        )
    })
}

fn read(text: &str) -> Option<Duration> {
    let mut rest = text;
    // Scripts compute such texts; "0" and numbers alone are milliseconds, as in k6.
    if let Ok(milliseconds) = rest.parse::<f64>() {
        return Duration::try_from_secs_f64(milliseconds / 1e3).ok();
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        // Units follow each other without a separator.
        // Longer units first: `m` begins `ms`.
        let units = [
            ("ms", 1e-3),
            ("us", 1e-6),
            ("µs", 1e-6),
            ("ns", 1e-9),
            ("d", 86400.0),
            ("h", 3600.0),
            ("m", 60.0),
            ("s", 1.0),
        ];
        let (unit, factor) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
        seconds += number * factor;
        rest = &rest[unit.len()..];
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|_| !text.is_empty())
}

/// A number of milliseconds as a duration; nothing if it is no positive number.
pub fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1e3).unwrap_or_default()
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
