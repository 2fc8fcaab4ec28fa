//! Draws the histogram of response times.
//!
//! Bounds are round numbers: equal ratios if the times spread widely, equal steps if they
//! are close together. They cover the quantiles from 0.001 to 0.999; the first and the last
//! row contain the rest.

use super::{ReportSection, RunReport};
use crate::outline::block::{Bar, ReportBlock};
use brunt_model::Failure;
use brunt_model::numbers::{count, plural, time};
use brunt_stats::Histogram;

/// Maximum number of rows.
const MAX_ROWS: usize = 13;
/// Ratio of the highest to the lowest time below which the bounds have equal steps.
const NARROW: f64 = 3.0;

/// Round numbers at nearly equal ratios within a power of ten, from coarse to fine: 1-3, 1-2-5, and
/// the preferred numbers R5, R10 and R20 of ISO 3. Unequal ratios would show false peaks.
const LADDERS: [&[f64]; 6] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.6, 2.5, 4.0, 6.3],
    &[1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0],
    &[
        1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8, 3.15, 3.55, 4.0, 4.5, 5.0, 5.6, 6.3,
        7.1, 8.0, 9.0,
    ],
];

/// Returns the bars, and the number of times that they do not show.
pub fn section(report: &RunReport) -> ReportSection {
    let total = &report.run.total;
    if total.response.is_empty() {
        return ReportSection::new();
    }
    let title = format!("Response times of {}", plural(total.response.count(), "request"));
    let timeouts = total.timed_out_requests();
    let timeouts =
        (timeouts > 0).then(|| format!("{} timed out, counted at the timeout", count(timeouts)));
    let unseen = total.failed_by(Failure::Dropped) + total.failed_by(Failure::Cut);
    let unseen = (unseen > 0)
        .then(|| format!("not shown: {} dropped or cut off, times unknown", count(unseen)));
    let bars = vec![ReportBlock::Heading(title), ReportBlock::Bars(bars(&total.response))];
    bars.into_iter().chain(timeouts.into_iter().chain(unseen).map(ReportBlock::Paragraph)).collect()
}

fn bars(h: &Histogram) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for up_to in bounds(h) {
        // The bucket of the maximum may extend beyond it.
        let so_far = if up_to == h.max() { h.count() } else { h.count_at_or_below(up_to) };
        let before = bars.last().map_or(0, |bar| bar.so_far);
        bars.push(Bar { up_to, count: so_far - before, so_far });
    }
    bars
}

/// Returns the greatest values of the rows, ascending. The last row contains the maximum.
fn bounds(h: &Histogram) -> Vec<u64> {
    // A single outlier must not stretch the scale, so the extremes share the outer rows.
    let low = h.quantile(0.001).max(1) as f64;
    let high = h.quantile(0.999).max(1) as f64;
    let inner = if high / low < NARROW { even(low, high) } else { spread(low, high) };
    let mut bounds: Vec<u64> = inner.into_iter().map(|b| b.round() as u64).collect();
    // No two rows may show the same rounded bound.
    bounds.retain(|b| {
        *b < h.max() && h.count_at_or_below(*b) < h.count() && time(*b) != time(h.max())
    });
    bounds.push(h.max());
    bounds
}

/// Returns the bounds of the finest ladder with few enough rows.
fn spread(low: f64, high: f64) -> Vec<f64> {
    LADDERS
        .iter()
        .rev()
        .map(|ladder| climb(ladder, low, high))
        .find(|rungs| rungs.len() <= MAX_ROWS)
        .unwrap_or_default()
}

/// Returns the numbers of a ladder, from the first at or above `low` to the first
/// at or above `high`.
fn climb(ladder: &[f64], low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let rungs = decades.flat_map(|d| ladder.iter().map(move |m| m * 10f64.powi(d)));
    until(rungs.filter(|r| *r >= low), high)
}

/// Returns round bounds at equal distances.
fn even(low: f64, high: f64) -> Vec<f64> {
    // Two rows are for the bound above `high` and for the maximum.
    let min_step = ((high - low) / (MAX_ROWS as f64 - 2.0)).max(1.0);
    let power = 10f64.powf(min_step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|s| *s >= min_step)
        .unwrap_or(min_step);
    let first = (low / step).ceil();
    until((0..).map(|i| (first + f64::from(i)) * step), high)
}

/// Returns all values up to the first at or above `high`.
fn until(ascending: impl Iterator<Item = f64>, high: f64) -> Vec<f64> {
    let mut over = false;
    ascending.take_while(|x| !std::mem::replace(&mut over, *x >= high)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut h = Histogram::new();
        values.into_iter().for_each(|v| h.record(v));
        h
    }

    #[test]
    fn bounds_are_round_and_few_and_include_all_values() {
        for h in [
            of([5]),
            of([0]),
            of([u64::MAX, 1]),
            of(400_000..=402_000),
            of((1..2000).map(|i| i * 1000)),
            of((0..60).map(|i| 1 << i)),
        ] {
            let b = bounds(&h);
            assert!(b.len() <= MAX_ROWS + 1, "{b:?}");
            assert!(b.is_sorted_by(|a, b| a < b), "{b:?}");
            assert_eq!(b.last(), Some(&h.max()));
        }
    }

    #[test]
    fn times_close_together_are_drawn_in_equal_steps() {
        let b = bounds(&of((0..1000).map(|i| 400_000 + i * 100)));
        assert_eq!(b[..3], [410_000, 420_000, 430_000]);
    }
}
