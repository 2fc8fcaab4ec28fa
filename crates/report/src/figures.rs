//! How numbers are written for people: three significant digits, a unit that fits, commas between thousands.
//!
//! Out of scope: a place that knows what a number means. Exact figures are in the JSON document.

use brunt_model::finding::Estimate;
use brunt_model::words;
pub use brunt_model::words::{count, plural, round3};
use brunt_model::{Failure, Judgement, Run, Tally};
use brunt_stats::{Histogram, Quantile};

/// Stands where a figure would say more than is known.
pub const UNKNOWN: &str = "–";

/// Three significant digits, and all that stand before the point: `0.123`, `12.3`, `12,345`.
pub fn three(x: f64) -> String {
    if x.is_finite() { words::three(x) } else { UNKNOWN.into() }
}

/// As a user would type it: `2,000`, `0.5`; no digits that say nothing.
pub fn plain(x: f64) -> String {
    if x.fract() == 0.0 && (0.0..1e15).contains(&x) { count(x as u64) } else { format!("{x}") }
}

/// A time in nanoseconds: `391 µs`, `1.20 ms`, `3.41 s`.
pub fn time(nanos: u64) -> String {
    let rounded = round3(nanos as f64);
    match rounded {
        0.0 => "0 µs".into(),
        ..1e3 => format!("{:.2} µs", rounded / 1e3),
        ..1e6 => format!("{} µs", three(rounded / 1e3)),
        ..1e9 => format!("{} ms", three(rounded / 1e6)),
        _ => format!("{} s", three(nanos as f64 / 1e9)),
    }
}

/// A time in seconds, as [`time`].
pub fn seconds(s: f64) -> String {
    time((s * 1e9).round() as u64)
}

/// A span that somebody chose or waited for: `250 ms`, `10 s`, `2 min 30 s`, `1 h 5 min`.
pub fn span(seconds: f64) -> String {
    if seconds < 1.0 && seconds > 0.0 {
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

/// A share of a whole: `42.1 %`. Never rounds to none or to all.
pub fn share(part: u64, whole: u64) -> String {
    fraction(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// A share from 0 to 1, as [`share`].
pub fn fraction(x: f64) -> String {
    let percent = x * 100.0;
    match percent {
        0.0 => "0 %".into(),
        ..0.01 => "<0.01 %".into(),
        ..9.995 => format!("{percent:.2} %"),
        ..99.95 => format!("{percent:.1} %"),
        _ if x < 1.0 => ">99.9 %".into(),
        _ => format!("{percent:.0} %"),
    }
}

/// Bytes: `812 B`, `38.4 MB` (10^6).
pub fn bytes(n: f64) -> String {
    let rounded = round3(n);
    match rounded {
        ..1e3 => format!("{} B", rounded.round()),
        ..1e6 => format!("{} kB", three(rounded / 1e3)),
        ..1e9 => format!("{} MB", three(rounded / 1e6)),
        ..1e12 => format!("{} GB", three(rounded / 1e9)),
        _ => format!("{} TB", three(n / 1e12)),
    }
}

/// A quantile, `≥` before it where it is only known from below; that it is more than nothing is no knowledge.
pub fn quantile(q: Quantile) -> String {
    if q.at_least && q.value == 0 {
        return UNKNOWN.into();
    }
    if q.at_least { format!("≥ {}", time(q.value)) } else { time(q.value) }
}

/// A 95 % interval: `95 % CI 356–368`.
pub fn interval((low, high): (f64, f64)) -> String {
    format!("95 % CI {}–{}", three(low), three(high))
}

/// A figure with its 95 % interval and its unit: `362 (95 % CI 356–368) requests/s`.
pub fn with_interval(value: f64, ends: Option<(f64, f64)>, unit: &str) -> String {
    let ends = ends.map_or(String::new(), |ends| format!(" ({})", interval(ends)));
    format!("{}{ends} {unit}", three(value))
}

/// A time in seconds with its 95 % interval, all in the unit that fits the time.
pub fn time_with_interval(value: f64, ends: Option<(f64, f64)>) -> String {
    let (per_second, unit) = unit_of_time(value);
    match ends {
        Some((low, high)) => with_interval(value * per_second, Some((low * per_second, high * per_second)), unit),
        None => seconds(value),
    }
}

/// The 95 % interval of a time in seconds, in the unit that fits the time: `95 % CI 6.71–7.61 ms`.
pub fn time_interval(value: f64, (low, high): (f64, f64)) -> String {
    let (per_second, unit) = unit_of_time(value);
    format!("{} {unit}", interval((low * per_second, high * per_second)))
}

fn unit_of_time(seconds: f64) -> (f64, &'static str) {
    match round3(seconds * 1e9) {
        ..1e6 => (1e6, "µs"),
        ..1e9 => (1e3, "ms"),
        _ => (1.0, "s"),
    }
}

/// A quantile of the response time, where there are enough requests to speak of it.
pub fn response_quantile(t: &Tally, q: f64) -> String {
    known_quantile(t, q).map_or(UNKNOWN.into(), quantile)
}

/// The same as a figure.
pub fn known_quantile(t: &Tally, q: f64) -> Option<Quantile> {
    let all = t.response.count() + t.failed_by(Failure::Dropped) + t.failed_by(Failure::Cut);
    (!t.response.is_empty() && enough(q, all)).then(|| t.response_quantile(q))
}

/// A percentile that is known exactly, and both ends of its interval, in seconds.
pub fn with_both_ends(run: &Run, judgement: &Judgement, q: f64) -> Option<(f64, (f64, f64))> {
    let exact = known_quantile(&run.total, q).filter(|exact| !exact.at_least)?;
    let estimate = estimate(judgement, q)?;
    Some((exact.value as f64 / 1e9, (estimate.low, estimate.high?)))
}

/// The interval of a percentile, where the judgement has one.
pub fn estimate(judgement: &Judgement, q: f64) -> Option<&Estimate> {
    judgement.intervals.iter().find(|i| (i.quantile - q).abs() < 1e-9).and_then(|i| i.estimate.as_ref())
}

/// Whether `count` values are enough to speak of quantile `q`: at least one is expected beyond it.
pub fn enough(q: f64, count: u64) -> bool {
    q >= 1.0 || count as f64 * (1.0 - q) >= 1.0 - 1e-9
}

/// Quantile `q` of a histogram that knows all its values, where there are enough of them.
pub fn quantile_of(histogram: &Histogram, q: f64) -> String {
    if histogram.is_empty() || !enough(q, histogram.count()) {
        return UNKNOWN.into();
    }
    time(histogram.quantile(q))
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
    fn shares_never_round_to_none_or_all() {
        assert_eq!(share(0, 10), "0 %");
        assert_eq!(share(10, 10), "100 %");
        assert_eq!(share(999_999, 1_000_000), ">99.9 %");
        assert_eq!(share(1, 1_000_000), "<0.01 %");
        assert_eq!(share(421, 1000), "42.1 %");
        assert_eq!(share(8, 10_000), "0.08 %");
    }

    #[test]
    fn spans_read_as_people_say_them() {
        let written = [0.0, 0.25, 1.5, 10.0, 60.0, 150.0, 3900.0].map(span);
        assert_eq!(written, ["0 s", "250 ms", "1.5 s", "10 s", "1 min", "2 min 30 s", "1 h 5 min"]);
    }

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!([0, 999, 1000, 1_544_630].map(count), ["0", "999", "1,000", "1,544,630"]);
        assert_eq!([0.0, 0.123_45, 9.996, 99.96, 154_463.4].map(three), ["0", "0.123", "10.0", "100", "154,463"]);
        assert_eq!([812.0, 38_400.0, 999_950.0, 1.5e9].map(bytes), ["812 B", "38.4 kB", "1.00 MB", "1.50 GB"]);
        assert_eq!([2000.0, 0.5].map(plain), ["2,000", "0.5"]);
    }

    #[test]
    fn an_interval_has_the_unit_of_its_figure() {
        assert_eq!(with_interval(362.0, Some((356.0, 368.0)), "requests/s"), "362 (95 % CI 356–368) requests/s");
        assert_eq!(with_interval(362.0, None, "requests/s"), "362 requests/s");
        assert_eq!(time_with_interval(0.0009, Some((0.0008, 0.0012))), "900 (95 % CI 800–1,200) µs");
        assert_eq!(time_with_interval(0.0012, None), "1.20 ms");
    }

    #[test]
    fn a_quantile_needs_a_sample_beyond_it() {
        assert!(enough(0.99, 100) && !enough(0.99, 99));
        assert!(enough(0.999, 1000) && !enough(0.999, 999));
        assert!(enough(1.0, 1));
    }
}
