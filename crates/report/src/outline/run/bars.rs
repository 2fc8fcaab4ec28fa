//! The histogram of response times.
//!
//! Bounds are round numbers: equal ratios where the times are spread widely, equal steps where they lie close together.
//! They reach from the first to the last thousandth; what lies beyond is in the first and last row.

use super::{Report, Section};
use crate::outline::block::{Bar, Block};
use brunt_model::Failure;
use brunt_model::numbers::{count, plural, time};
use brunt_stats::Histogram;

const MOST_ROWS: usize = 13;
/// Times within this ratio are drawn in equal steps.
const NARROW: f64 = 3.0;

/// Round numbers at nearly equal ratios within a power of ten, from coarse to fine: 1-3, 1-2-5, and the preferred
/// numbers R5, R10 and R20 of ISO 3. Unequal ratios would draw peaks that are not there.
const LADDERS: [&[f64]; 6] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 1.6, 2.5, 4.0, 6.3],
    &[1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0],
    &[1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8, 3.15, 3.55, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1, 8.0, 9.0],
];

/// The bars, and the number of times that they do not show.
pub fn section(report: &Report) -> Section {
    let total = &report.run.total;
    if total.response.is_empty() {
        return Section::new();
    }
    let title = format!("Response times of {}", plural(total.response.count(), "request"));
    let timeouts = total.failed_by(Failure::Timeout);
    let timeouts = (timeouts > 0).then(|| format!("{} timed out, counted at the timeout", count(timeouts)));
    let unseen = total.failed_by(Failure::Dropped) + total.failed_by(Failure::Cut);
    let unseen = (unseen > 0).then(|| format!("not shown: {} dropped or cut off, times unknown", count(unseen)));
    let bars = vec![Block::Heading(title), Block::Bars(bars(&total.response))];
    bars.into_iter().chain(timeouts.into_iter().chain(unseen).map(Block::Paragraph)).collect()
}

fn bars(h: &Histogram) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for up_to in bounds(h) {
        // The bucket of the greatest value may reach beyond it.
        let so_far = if up_to == h.max() { h.count() } else { h.count_at_or_below(up_to) };
        let before = bars.last().map_or(0, |bar| bar.so_far);
        bars.push(Bar { up_to, count: so_far - before, so_far });
    }
    bars
}

/// Greatest values of the rows, ascending; the last holds everything.
fn bounds(h: &Histogram) -> Vec<u64> {
    let (low, high) = (h.quantile(0.001).max(1) as f64, h.quantile(0.999).max(1) as f64);
    let inner = if high / low < NARROW { even(low, high) } else { spread(low, high) };
    let mut bounds: Vec<u64> = inner.into_iter().map(|b| b.round() as u64).collect();
    bounds.retain(|b| *b < h.max() && h.count_at_or_below(*b) < h.count() && time(*b) != time(h.max()));
    bounds.push(h.max());
    bounds
}

/// The finest ladder that needs few enough rows.
fn spread(low: f64, high: f64) -> Vec<f64> {
    LADDERS
        .iter()
        .rev()
        .map(|ladder| climb(ladder, low, high))
        .find(|rungs| rungs.len() <= MOST_ROWS)
        .unwrap_or_default()
}

/// The rungs from the first at or above `low` to the first at or above `high`.
fn climb(ladder: &[f64], low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let rungs = decades.flat_map(|d| ladder.iter().map(move |m| m * 10f64.powi(d)));
    until(rungs.filter(|r| *r >= low), high)
}

/// Round steps of equal width.
fn even(low: f64, high: f64) -> Vec<f64> {
    let least = ((high - low) / (MOST_ROWS as f64 - 2.0)).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= least).unwrap_or(least);
    let first = (low / step).ceil();
    until((0..).map(|i| (first + f64::from(i)) * step), high)
}

/// All up to the first at or above `high`.
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
    fn bounds_are_round_few_and_hold_everything() {
        for h in [
            of([5]),
            of([0]),
            of([u64::MAX, 1]),
            of(400_000..=402_000),
            of((1..2000).map(|i| i * 1000)),
            of((0..60).map(|i| 1 << i)),
        ] {
            let b = bounds(&h);
            assert!(b.len() <= MOST_ROWS + 1, "{b:?}");
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
