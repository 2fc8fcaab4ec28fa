//! Writes figures of a run: quantiles, with `≥` if only a lower bound is known, and intervals.
//!
//! Out of scope: numbers without a meaning, which `model::numbers` writes.

use brunt_model::finding::FigureEstimate;
use brunt_model::numbers::{UNKNOWN, round3, seconds, three_digits, time};
use brunt_model::objective::Metric;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Judgement, Run, Tally};
use brunt_stats::{Histogram, Quantile};

/// Formats a quantile, with `≥` if it is a lower bound. A lower bound of 0 carries no
/// information and is unknown.
pub fn quantile(q: Quantile) -> String {
    // A lower bound of 0 carries no information.
    if q.at_least && q.value == 0 {
        return UNKNOWN.into();
    }
    if q.at_least { format!("≥ {}", time(q.value)) } else { time(q.value) }
}

/// Formats a 95 % interval: `95 % CI 356–368`.
pub fn interval(ends: (f64, f64)) -> String {
    format!("95 % CI {}–{}", three_digits(ends.0), three_digits(ends.1))
}

/// Formats a figure with its 95 % interval and its unit: `362 (95 % CI 356–368) requests/s`.
pub fn with_interval(value: f64, ends: Option<(f64, f64)>, unit: &str) -> String {
    let ends = ends.map_or(String::new(), |ends| format!(" ({})", interval(ends)));
    format!("{}{ends} {unit}", three_digits(value))
}

/// Formats a time in seconds with its 95 % interval, all in the unit that fits the time.
pub fn time_with_interval(value: f64, ends: Option<(f64, f64)>) -> String {
    let (per_second, unit) = unit_of_time(value);
    match ends {
        Some((low, high)) => {
            with_interval(value * per_second, Some((low * per_second, high * per_second)), unit)
        }
        None => seconds(value),
    }
}

/// Formats the 95 % interval of a time in seconds, in the unit that fits the time: `95
/// % CI 6.71–7.61 ms`.
pub fn time_interval(value: f64, ends: (f64, f64)) -> String {
    let (per_second, unit) = unit_of_time(value);
    format!("{} {unit}", interval((ends.0 * per_second, ends.1 * per_second)))
}

/// Returns the factor from seconds to the unit that fits a time, and the unit.
fn unit_of_time(seconds: f64) -> (f64, &'static str) {
    // The rounded value decides, so that 999.9 µs is shown as 1.00 ms.
    match round3(seconds * 1e9) {
        ..1e6 => (1e6, "µs"),
        ..1e9 => (1e3, "ms"),
        _ => (1.0, "s"),
    }
}

/// Formats a quantile of the response time; unknown if there are too few requests.
pub fn response_quantile(t: &Tally, q: f64) -> String {
    known_quantile(t, q).map_or(UNKNOWN.into(), quantile)
}

/// Returns a quantile of the response time, or None if there are too few requests.
pub fn known_quantile(t: &Tally, q: f64) -> Option<Quantile> {
    // Dropped and cut requests have no response time, but count as the slowest.
    let all = t.response.count() + t.failed_by(Failure::Dropped) + t.failed_by(Failure::Cut);
    (!t.response.is_empty() && enough(q, all)).then(|| t.response_quantile(q))
}

/// Returns a percentile that is known exactly, with both ends of its interval, in seconds.
pub fn with_both_ends(run: &Run, judgement: &Judgement, q: f64) -> Option<(f64, (f64, f64))> {
    // A percentile that is only a lower bound has no upper end.
    let exact = known_quantile(&run.total, q).filter(|quantile| !quantile.at_least)?;
    let estimate = estimate(judgement, q)?;
    Some((seconds_of(exact.value), (estimate.low, estimate.high?)))
}

/// Returns the interval of a percentile, if the judgement has one.
pub fn estimate(judgement: &Judgement, q: f64) -> Option<&FigureEstimate> {
    judgement
        .intervals
        .iter()
        .find(|i| Metric::Quantile(i.quantile).is_same(Metric::Quantile(q)))
        .and_then(|i| i.estimate.as_ref())
}

/// True if `count` values are enough for quantile `q`: at least one is expected above it.
pub fn enough(q: f64, count: u64) -> bool {
    // At least one value must be above the quantile; the subtrahend covers rounding.
    q >= 1.0 || count as f64 * (1.0 - q) >= 1.0 - 1e-9
}

/// Formats quantile `q` of a histogram without censored values; unknown if there
/// are too few values.
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
    fn an_interval_has_the_unit_of_its_figure() {
        assert_eq!(
            with_interval(362.0, Some((356.0, 368.0)), "requests/s"),
            "362 (95 % CI 356–368) requests/s"
        );
        assert_eq!(with_interval(362.0, None, "requests/s"), "362 requests/s");
        assert_eq!(
            time_with_interval(0.0009, Some((0.0008, 0.0012))),
            "900 (95 % CI 800–1,200) µs"
        );
        assert_eq!(time_with_interval(0.0012, None), "1.20 ms");
    }

    #[test]
    fn a_quantile_needs_a_sample_beyond_it() {
        assert!(enough(0.99, 100) && !enough(0.99, 99));
        assert!(enough(0.999, 1000) && !enough(0.999, 999));
        assert!(enough(1.0, 1));
    }
}
