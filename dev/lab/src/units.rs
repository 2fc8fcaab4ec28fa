//! Parses durations and sizes of options: `10ms`, `1.5s`, `124k`, `1M`.
//!
//! Times become nanoseconds, sizes become bytes. Invalid text is refused with a message
//! that includes the remedy.

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// Nanoseconds in a millisecond.
pub const MILLISECOND: u64 = 1_000_000;

/// Maximum time of an option: a day, in nanoseconds.
// Sums of such times fit into 64 bits.
const MAX_NANOS: f64 = 86_400e9;

/// Maximum size, in bytes.
const MAX_SIZE: f64 = (1u64 << 30) as f64;

/// Parses a duration with its unit (`ns`, `us`, `ms`, `s`, `m`, `h`) into nanoseconds.
pub fn parse_span(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "" => return Err(format!("`{text}` has no unit: write e.g. `{text}ms` or `{text}s`")),
        _ => {
            return Err(format!(
                "`{text}` is not a duration: write e.g. `500us`, `10ms`, `1.5s`, `2m`"
            ));
        }
    };
    let value = parse_number(number)
        .ok_or_else(|| format!("`{text}` is not a duration: write e.g. `10ms`"))?;
    let nanos = value * scale;
    if nanos > MAX_NANOS {
        return Err(format!("`{text}` is more than a day"));
    }
    Ok(nanos.round() as u64)
}

/// Parses a duration that must not be zero.
pub fn parse_positive_span(text: &str) -> Result<u64, String> {
    match parse_span(text)? {
        0 => Err(format!("`{text}` must be more than zero")),
        nanos => Ok(nanos),
    }
}

/// Parses a size with an optional unit (`k`/`KiB` = 1024, `M`, `G`; `kB` = 1000) into bytes, at most 1 GiB.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "" | "b" | "B" => 1.0,
        "k" | "K" | "KiB" => 1024.0,
        "kB" => 1e3,
        "M" | "MiB" => 1_048_576.0,
        "MB" => 1e6,
        "G" | "GiB" => 1_073_741_824.0,
        _ => return Err(size_error(text)),
    };
    let bytes = parse_number(number).ok_or_else(|| size_error(text))? * scale;
    if bytes > MAX_SIZE {
        return Err(format!("`{text}` is more than 1 GiB"));
    }
    Ok(bytes.round() as usize)
}

/// Converts nanoseconds to the seconds of the JSON.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / SECOND as f64
}

fn size_error(text: &str) -> String {
    format!("`{text}` is not a size: write e.g. `10`, `1k`, `124k`, `1M`")
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(end)
}

fn parse_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes() {
        assert_eq!(parse_span("10ms"), Ok(10_000_000));
        assert_eq!(parse_span("1.5s"), Ok(1_500_000_000));
        assert_eq!(parse_span("500us"), Ok(500_000));
        assert_eq!(parse_span("2m"), Ok(120 * SECOND));
        assert_eq!(parse_span("0s"), Ok(0));
        assert_eq!(parse_size("10"), Ok(10));
        assert_eq!(parse_size("1k"), Ok(1024));
        assert_eq!(parse_size("124k"), Ok(124 * 1024));
        assert_eq!(parse_size("1M"), Ok(1 << 20));
    }

    #[test]
    fn errors_show_valid_values() {
        assert!(parse_span("10").unwrap_err().contains("`10ms`"));
        assert!(parse_span("ms").unwrap_err().contains("write e.g."));
        assert!(parse_span("-1s").unwrap_err().contains("write e.g."));
        assert!(parse_span("99h").unwrap_err().contains("more than a day"));
        assert!(parse_positive_span("0s").unwrap_err().contains("more than zero"));
        assert!(parse_size("many").unwrap_err().contains("write e.g."));
        assert!(parse_size("9G").unwrap_err().contains("1 GiB"));
    }
}
