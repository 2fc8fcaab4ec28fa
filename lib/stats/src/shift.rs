//! Estimates the difference of two groups of values.
//!
//! The estimate is that of Hodges & Lehmann (Annals of Mathematical Statistics 34, 1963). The
//! interval is the inversion of a rank test: it contains all shifts that the test does not reject.
//! Sources: Hollander & Wolfe, Nonparametric Statistical Methods, §3.2 and §4.2; over several
//! looks, Jennison & Turnbull, JRSS B 51, 1989. For values paired in blocks, the estimate is the
//! median of all pairwise averages of differences, and the interval consists of their order
//! statistics. For unpaired values, the same is computed from all differences between a value of
//! one group and a value of the other.

use crate::sequential::Path;

/// A figure between two limits, which are equal if the figure is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    /// Lower limit, or −∞.
    pub low: f64,
    /// Upper limit, or ∞.
    pub high: f64,
}

/// A shift, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Estimate of the shift.
    pub value: ValueRange,
    /// Confidence interval; an end is infinite if the test cannot reject any value there.
    pub interval: ValueRange,
}

impl ValueRange {
    /// Creates a known figure.
    pub fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Returns the figure if it is known.
    pub fn exact_value(self) -> Option<f64> {
        (self.low == self.high && self.low.is_finite()).then_some(self.low)
    }

    /// Subtracts another figure, with the widest limits that are possible.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            low: infinite_if_unknown(self.low - other.high, -1.0),
            high: infinite_if_unknown(self.high - other.low, 1.0),
        }
    }
}

/// Replaces an undefined difference of infinities by an infinity with the sign of `side`.
fn infinite_if_unknown(value: f64, side: f64) -> f64 {
    if value.is_nan() { side * f64::INFINITY } else { value }
}

/// The two one-sided tests of differences that are paired in blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// Lower limits, by block.
    low: Vec<f64>,
    /// Upper limits with inverted signs, by block.
    high: Vec<f64>,
    greater: Path,
    less: Path,
}

impl Paired {
    /// Tests after each block, in the order of measurement; `most` is the maximum number of blocks.
    pub fn new(differences: &[ValueRange], most: usize) -> Self {
        let low: Vec<f64> = differences.iter().map(|d| d.low).collect();
        let high: Vec<f64> = differences.iter().map(|d| -d.high).collect();
        let greater = Path::of(&low, most);
        let less = Path::of(&high, most);
        Self { low, high, greater, less }
    }

    /// Two-sided p-value after all looks so far. A difference that is known on one side only counts
    /// for that side only.
    pub fn p(&self) -> f64 {
        (2.0 * self.greater.p().min(self.less.p())).min(1.0)
    }

    /// Returns the shift, with the interval that the two-sided tests at `level` do not
    /// reject at any look.
    pub fn shift(&self, level: f64) -> Shift {
        let value =
            ValueRange { low: middle(&averages(&self.low)), high: -middle(&averages(&self.high)) };
        let low_ends = lower_ends(&self.low, &self.greater, level);
        let high_ends = lower_ends(&self.high, &self.less, level);
        let looks: Vec<ValueRange> =
            low_ends.zip(high_ends).map(|(low, high)| ValueRange { low, high: -high }).collect();
        let together = looks
            .iter()
            .fold(ValueRange { low: f64::NEG_INFINITY, high: f64::INFINITY }, |all, look| {
                ValueRange { low: all.low.max(look.low), high: all.high.min(look.high) }
            });
        // If the looks together reject everything, the blocks changed over time. The last
        // look includes all blocks.
        let last = looks.last().copied().filter(|_| together.low > together.high);
        let ValueRange { low, high } = last.unwrap_or(together);
        // An earlier look may have rejected the current estimate.
        Shift {
            value,
            interval: ValueRange { low: low.min(value.low), high: high.max(value.high) },
        }
    }
}

/// Returns the lower end of the interval at each look.
fn lower_ends<'a>(
    differences: &'a [f64],
    path: &'a Path,
    level: f64,
) -> impl Iterator<Item = f64> + 'a {
    path.counts(level / 2.0).enumerate().map(move |(look, count)| {
        let Some(count) = count else { return f64::NEG_INFINITY };
        nth_highest(&averages(&differences[..=look]), count)
    })
}

/// Returns the pairwise averages of the differences, ascending; each difference is also
/// paired with itself (Walsh).
pub fn averages(differences: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (index, a) in differences.iter().enumerate() {
        all.extend(
            differences[index..].iter().map(|b| infinite_if_unknown(f64::midpoint(*a, *b), -1.0)),
        );
    }
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// Returns the shift of `theirs` above `ours`, which are not paired. Its interval is the inversion
/// of the exact two-sided test of Mann & Whitney at `level`.
pub fn unpaired(ours: &[ValueRange], theirs: &[ValueRange], level: f64) -> Shift {
    let mut low = Vec::with_capacity(ours.len() * theirs.len());
    let mut high = Vec::with_capacity(ours.len() * theirs.len());
    for b in theirs {
        for a in ours {
            let difference = b.minus(*a);
            low.push(difference.low);
            high.push(-difference.high);
        }
    }
    low.sort_unstable_by(f64::total_cmp);
    high.sort_unstable_by(f64::total_cmp);
    let value = ValueRange { low: middle(&low), high: -middle(&high) };
    let Some(count) = crate::rank::count(ours.len(), theirs.len(), level / 2.0) else {
        return Shift {
            value,
            interval: ValueRange { low: f64::NEG_INFINITY, high: f64::INFINITY },
        };
    };
    Shift {
        value,
        interval: ValueRange { low: nth_highest(&low, count), high: -nth_highest(&high, count) },
    }
}

/// Median of sorted values; −∞ without values.
pub(crate) fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NEG_INFINITY,
        n if n % 2 == 1 => sorted[half],
        _ => infinite_if_unknown(f64::midpoint(sorted[half - 1], sorted[half]), -1.0),
    }
}

/// The `n`-th highest of sorted values; −∞ if there are fewer.
fn nth_highest(sorted: &[f64], n: usize) -> f64 {
    sorted.len().checked_sub(n).and_then(|at| sorted.get(at)).copied().unwrap_or(f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::tests::DEPRESSION;
    use proptest::prelude::*;

    const OPEN: f64 = f64::INFINITY;

    fn exact_values(values: &[f64]) -> Vec<ValueRange> {
        values.iter().copied().map(ValueRange::exact).collect()
    }

    /// Permeability of the chorioamnion (Hollander & Wolfe 1973, p. 69; R's `wilcox.test` has
    /// it as its example).
    const AT_TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLY: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    #[test]
    fn the_paired_example_has_its_published_estimate() {
        // Hollander & Wolfe: 0.46; the 96.1 % interval goes from the 6th of 45 averages to the
        // 40th: 0.010 to 0.786.
        let all = averages(&DEPRESSION);
        assert!((middle(&all) - 0.46).abs() < 1e-9 && all.len() == 45);
        assert!(
            (nth_highest(&all, 40) - 0.010).abs() < 1e-9
                && (nth_highest(&all, 6) - 0.786).abs() < 1e-9
        );
    }

    #[test]
    fn the_unpaired_example_has_its_published_estimate() {
        // 0.305; the interval at 96 % goes from the 9th of 50 differences to the
        // 42nd: −0.15 to 0.76.
        let shift = unpaired(&exact_values(&EARLY), &exact_values(&AT_TERM), 0.04);
        let near = |found: f64, published: f64| {
            assert!((found - published).abs() < 1e-9, "{found} {published}");
        };
        near(shift.value.exact_value().unwrap(), 0.305);
        near(shift.interval.low, -0.15);
        near(shift.interval.high, 0.76);
    }

    #[test]
    fn the_interval_excludes_zero_if_the_test_is_significant() {
        let d = [0.031, 0.052, 0.044, 0.06, 0.038, 0.049, 0.071, 0.055];
        for n in 1..=d.len() {
            let paired = Paired::new(&exact_values(&d[..n]), 10);
            assert_eq!(paired.shift(0.05).interval.low > 0.0, paired.p() <= 0.05, "{n}");
        }
        assert_eq!(
            Paired::new(&exact_values(&d[..4]), 10).shift(0.05).interval,
            ValueRange { low: -OPEN, high: OPEN }
        );
    }

    #[test]
    fn the_interval_contains_the_estimate_after_earlier_looks() {
        let d = [-3.82, -1.22, 0.0, 0.0, 0.0, 1.2, 4.41, 2.82];
        let shift = Paired::new(&exact_values(&d), 9).shift(0.2);
        assert!(
            shift.interval.low <= shift.value.low && shift.value.high <= shift.interval.high,
            "{shift:?}"
        );
    }

    #[test]
    fn lower_bounds_give_an_open_interval() {
        let mut d = exact_values(&[0.2, 0.3, 0.25, 0.4, 0.35, 0.22, 0.31, 0.28]);
        let all = Paired::new(&d, 8).shift(0.05);
        d[3].high = OPEN;
        let one = Paired::new(&d, 8).shift(0.05);
        assert_eq!((one.interval.low, one.value.low), (all.interval.low, all.value.low));
        assert!(one.interval.high >= all.interval.high);
        for d in &mut d {
            d.high = OPEN;
        }
        let every = Paired::new(&d, 8).shift(0.05);
        assert_eq!(
            (every.value.exact_value(), every.interval.high, every.interval.low > 0.0),
            (None, OPEN, true)
        );
        // If both values of a block are unknown, the difference is unknown.
        let neither =
            ValueRange { low: 1.0, high: OPEN }.minus(ValueRange { low: 2.0, high: OPEN });
        assert_eq!(neither, ValueRange { low: -OPEN, high: OPEN });
        assert_eq!(Paired::new(&[neither; 8], 8).p(), 1.0);
    }

    proptest! {
        #[test]
        fn a_shift_moves_with_the_values(d in prop::collection::vec(-5.0f64..5.0, 1..9), by in -5.0f64..5.0) {
            let moved: Vec<f64> = d.iter().map(|d| d + by).collect();
            let (at, there) = (middle(&averages(&d)), middle(&averages(&moved)));
            prop_assert!((there - at - by).abs() < 1e-9);
        }

        #[test]
        fn swapping_the_sides_negates_the_shift(d in prop::collection::vec(-5.0f64..5.0, 1..9)) {
            let back: Vec<f64> = d.iter().map(|d| -d).collect();
            let a = Paired::new(&exact_values(&d), 9);
            let b = Paired::new(&exact_values(&back), 9);
            prop_assert!((a.p() - b.p()).abs() < 1e-12);
            prop_assert_eq!(a.shift(0.2).interval.low, -b.shift(0.2).interval.high);
            let shift = a.shift(0.2);
            prop_assert!(shift.interval.low <= shift.value.low && shift.value.high <= shift.interval.high);
        }
    }
}
