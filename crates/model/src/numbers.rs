//! Formats numbers for people: three significant digits, a suitable unit, commas between thousands.
//!
//! Exact figures are in the JSON documents. The formats of other tools are in `dropin` and `jmx`.

use crate::time::seconds_of;
pub use brunt_texts::count;
use std::time::Duration;

/// Placeholder of an unknown figure.
pub const UNKNOWN: &str = "–";

/// Formats a number with its noun: `1 request`, `2,000 requests`.
pub fn plural(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Formats bytes as lower-case hexadecimal digits: `3f9a12`.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Joins words as an enumeration: `a, b and c`.
pub fn enumeration(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Rounds `x` to three significant digits.
pub fn round3(x: f64) -> f64 {
    // Decimal formatting rounds exactly; dividing by a power of ten adds a binary error.
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Formats a number with three significant digits and all digits before the point: `0.123`, `12.3`,
/// `12,345`; [`UNKNOWN`] for infinities and NaN.
pub fn three_digits(x: f64) -> String {
    if !x.is_finite() {
        return UNKNOWN.into();
    }
    if x == 0.0 {
        return "0".into();
    }
    // From 999.5 on, three digits round to 1,000, which is an integer.
    if x.abs() >= 999.5 {
        return count(x.abs().round() as u64);
    }
    // Rounding may carry to the next power of ten, which needs one decimal less. So it comes first.
    let rounded = round3(x);
    let places = 2 - rounded.abs().log10().floor() as i32;
    format!("{rounded:.*}", places.clamp(0, 9) as usize)
}

/// Formats a number without trailing zeros: `2,000`, `0.5`.
pub fn plain(x: f64) -> String {
    // f64 represents all integers up to 2^53, about 9e15.
    if x.fract() == 0.0 && (0.0..1e15).contains(&x) { count(x as u64) } else { format!("{x}") }
}

/// Formats a rate: `498/s`.
pub fn rate(x: f64) -> String {
    format!("{}/s", three_digits(x))
}

/// Formats a time in nanoseconds: `391 µs`, `1.20 ms`, `3.41 s`.
pub fn time(nanos: u64) -> String {
    // Rounding first selects the unit: 999.6 µs is 1.00 ms, not 1,000 µs.
    let rounded = round3(nanos as f64);
    match rounded {
        0.0 => "0 µs".into(),
        ..1e3 => format!("{:.2} µs", rounded / 1e3),
        ..1e6 => format!("{} µs", three_digits(rounded / 1e3)),
        ..1e9 => format!("{} ms", three_digits(rounded / 1e6)),
        _ => format!("{} s", three_digits(seconds_of(nanos))),
    }
}

/// Formats a time in seconds, like [`time`].
pub fn seconds(s: f64) -> String {
    if s.is_finite() { time((s * 1e9).round() as u64) } else { UNKNOWN.into() }
}

/// Formats a duration with one decimal, below a second with three: `3.0 s`, `0.025 s`.
pub fn short_seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    // From 0.95 on, one decimal rounds to 1.0.
    if seconds < 0.95 { format!("{seconds:.3} s") } else { format!("{seconds:.1} s") }
}

/// Formats a configured or elapsed duration: `250 ms`, `10 s`, `2 min 30 s`, `1 h 5 min`.
pub fn span(seconds: f64) -> String {
    if seconds < 1.0 && seconds > 0.0 {
        // Rounding removes the error of binary fractions: 0.0093 s is 9.299999999999999 ms.
        return format!("{} ms", plain((seconds * 1e5).round() / 1e2));
    }
    if seconds < 60.0 {
        return format!("{} s", plain((seconds * 1e2).round() / 1e2));
    }
    let whole = seconds.round() as u64;
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let parts = parts.iter().filter(|p| p.0 > 0).map(|(n, unit)| format!("{} {unit}", count(*n)));
    parts.collect::<Vec<_>>().join(" ")
}

/// Formats a share from 0 to 1: `42.1 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// Formats a share with at most one decimal: `48 %`, `4.1 %`.
pub fn short_percent(share: f64) -> String {
    let percent = share * 100.0;
    // From 9.95 on, one decimal rounds to 10.0.
    if percent.abs() < 9.95 && percent != 0.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Formats the size of a relative difference: `4.1 %`.
pub fn size_percent(size: f64) -> String {
    format!("{} %", size_number(size))
}

/// Formats the size of a relative difference without unit: `4.1`.
pub fn size_number(size: f64) -> String {
    let percent = size * 100.0;
    // The boundaries are the values at which rounding adds a digit.
    match percent {
        ..0.095 => format!("{:.2}", percent.abs()),
        ..99.95 => format!("{percent:.1}"),
        _ => count(percent.round() as u64),
    }
}

/// Formats a relative difference with its sign: `+4.1 %`, `+4,013 %`.
pub fn signed_percent(difference: f64) -> String {
    match difference * 100.0 {
        percent if !percent.is_finite() => UNKNOWN.into(),
        percent if percent.abs() < 1e3 => format!("{percent:+.1} %"),
        percent => {
            format!("{}{} %", if percent < 0.0 { "-" } else { "+" }, three_digits(percent.abs()))
        }
    }
}

/// Formats a relative difference with its sign, for narrow columns: `+4.1%`, `-12%`, `+2e3%`.
pub fn narrow_percent(difference: f64) -> String {
    let percent = difference * 100.0;
    match percent.abs() {
        size if size < 10.0 => format!("{percent:+.1}%"),
        size if size < 1000.0 => format!("{percent:+.0}%"),
        _ => format!("{percent:+.0e}%"),
    }
}

/// Returns a share in percent as the user wrote it, without the error of binary fractions: 0.07
/// is 7, not 7.000000000000001.
pub fn exact_percent(share: f64) -> f64 {
    // Six decimals of a percent keep p99.9999 and remove binary errors.
    (share * 1e8).round() / 1e6
}

/// Formats a share of a whole: `42.1 %`. It is never rounded to none or to all.
pub fn share(part: u64, whole: u64) -> String {
    fraction(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// Formats a share from 0 to 1, like [`share`].
pub fn fraction(x: f64) -> String {
    let percent = x * 100.0;
    // The boundaries are the values at which rounding adds a digit.
    match percent {
        0.0 => "0 %".into(),
        ..0.01 => "<0.01 %".into(),
        ..9.995 => format!("{percent:.2} %"),
        ..99.95 => format!("{percent:.1} %"),
        _ if x < 1.0 => ">99.9 %".into(),
        _ => format!("{percent:.0} %"),
    }
}

/// Formats bits per second with decimal units, as for links: `100 Mb/s`.
pub fn bits(x: f64) -> String {
    scaled(x, ["b/s", "kb/s", "Mb/s", "Gb/s"])
}

fn scaled(x: f64, units: [&str; 4]) -> String {
    let [ones, thousands, millions, billions] = units;
    match x {
        ..1e3 => format!("{} {ones}", three_digits(x)),
        ..1e6 => format!("{} {thousands}", three_digits(x / 1e3)),
        ..1e9 => format!("{} {millions}", three_digits(x / 1e6)),
        _ => format!("{} {billions}", three_digits(x / 1e9)),
    }
}

/// Formats bytes: `812 B`, `38.4 MB` (10^6).
pub fn bytes(n: f64) -> String {
    // Rounding first selects the unit: 999,600 B is 1.00 MB, not 1,000 kB.
    let rounded = round3(n);
    match rounded {
        ..1e3 => format!("{} B", rounded.round()),
        ..1e6 => format!("{} kB", three_digits(rounded / 1e3)),
        ..1e9 => format!("{} MB", three_digits(rounded / 1e6)),
        ..1e12 => format!("{} GB", three_digits(rounded / 1e9)),
        _ => format!("{} TB", three_digits(n / 1e12)),
    }
}

/// Formats a quantile as a percentile: `p99.9`.
pub fn percentile(q: f64) -> String {
    format!("p{}", exact_percent(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let cases = [
            (0, "0 µs"),
            (7, "0.01 µs"),
            (350, "0.35 µs"),
            (999, "1.00 µs"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (391_499, "391 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (1_204_000, "1.20 ms"),
            (99_950_000, "100 ms"),
            (999_999_999, "1.00 s"),
            (61_230_000_000, "61.2 s"),
            (3_600_000_000_000, "3,600 s"),
        ];
        for (nanos, written) in cases {
            assert_eq!(time(nanos), written, "{nanos}");
        }
    }

    #[test]
    fn shares_are_never_rounded_to_zero_or_all() {
        assert_eq!(share(0, 10), "0 %");
        assert_eq!(share(10, 10), "100 %");
        assert_eq!(share(999_999, 1_000_000), ">99.9 %");
        assert_eq!(share(1, 1_000_000), "<0.01 %");
        assert_eq!(share(421, 1000), "42.1 %");
        assert_eq!(share(8, 10_000), "0.08 %");
    }

    #[test]
    fn durations_are_written_in_common_units() {
        let written = [0.0, 0.25, 1.5, 10.0, 60.0, 150.0, 3900.0].map(span);
        assert_eq!(written, ["0 s", "250 ms", "1.5 s", "10 s", "1 min", "2 min 30 s", "1 h 5 min"]);
    }

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!([0, 999, 1000, 1_544_630].map(count), ["0", "999", "1,000", "1,544,630"]);
        assert_eq!(
            [0.0, 0.123_45, 9.996, 99.96, 154_463.4].map(three_digits),
            ["0", "0.123", "10.0", "100", "154,463"]
        );
        assert_eq!(
            [812.0, 38_400.0, 999_950.0, 1.5e9].map(bytes),
            ["812 B", "38.4 kB", "1.00 MB", "1.50 GB"]
        );
        assert_eq!([2000.0, 0.5].map(plain), ["2,000", "0.5"]);
    }

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(
            [three_digits(0.0), three_digits(3.394), three_digits(498.25), three_digits(12_345.6)],
            ["0", "3.39", "498", "12,346"]
        );
        assert_eq!(
            [seconds(0.000_391), seconds(0.0012), seconds(1.0)],
            ["391 µs", "1.20 ms", "1.00 s"]
        );
        assert_eq!([seconds(f64::INFINITY), three_digits(f64::NAN)], [UNKNOWN, UNKNOWN]);
        assert_eq!(
            [three_digits(9.999), three_digits(0.099_96), three_digits(999.7)],
            ["10.0", "0.100", "1,000"]
        );
        assert_eq!(
            [bits(1e8), bytes(12_300.0), percent(0.0031)],
            ["100 Mb/s", "12.3 kB", "0.310 %"]
        );
        assert_eq!([0.999, 0.5, 0.999_999].map(percentile), ["p99.9", "p50", "p99.9999"]);
        assert_eq!([plural(1, "user"), plural(2000, "user")], ["1 user", "2,000 users"]);
    }

    #[test]
    fn each_format_of_a_share_has_its_digits() {
        assert_eq!([0.0, 0.041, 0.0995, 0.48].map(short_percent), ["0 %", "4.1 %", "10 %", "48 %"]);
        assert_eq!([0.0004, 0.041, 12.5].map(size_percent), ["0.04 %", "4.1 %", "1,250 %"]);
        assert_eq!(
            [0.041, -0.5, 40.13, f64::NAN].map(signed_percent),
            ["+4.1 %", "-50.0 %", "+4,013 %", UNKNOWN]
        );
        assert_eq!([0.041, -0.12, 20.0].map(narrow_percent), ["+4.1%", "-12%", "+2e3%"]);
        assert_eq!([0.07, 0.29, 0.005].map(exact_percent), [7.0, 29.0, 0.5]);
        assert_eq!(
            [25, 3000].map(|millis| short_seconds(Duration::from_millis(millis))),
            ["0.025 s", "3.0 s"]
        );
    }
}
