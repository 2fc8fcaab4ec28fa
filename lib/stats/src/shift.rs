//! By how much two groups of values differ.
//!
//! What it is: the estimate of Hodges & Lehmann (Annals of Mathematical Statistics 34, 1963), and the interval that a rank
//! test leaves when it is turned round: all shifts that it does not reject (Hollander & Wolfe, Nonparametric Statistical
//! Methods, §3.2 and §4.2; over several looks, Jennison & Turnbull, JRSS B 51, 1989). Paired in blocks: the median of all
//! averages of two differences, and their order statistics. Not paired: the same of all differences between a value of the
//! one group and a value of the other. Out of scope: the test.
//!
//! A value that is known from below only gives a difference that is known to lie between two ends; both estimates never
//! fall when a value rises, so that of the lower ends and that of the upper ends hold the true one between them.

use crate::sequential::Path;

/// A figure that lies between two ends; they are the same where it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// The lower end, or −∞.
    pub low: f64,
    /// The upper end, or ∞.
    pub high: f64,
}

/// A shift, with the interval that the test leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub value: Between,
    /// The interval; an end at which the test cannot say anything is infinite.
    pub interval: Between,
}

impl Between {
    /// A figure that is known.
    pub fn at(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The figure, where it is known.
    pub fn known(self) -> Option<f64> {
        (self.low == self.high && self.low.is_finite()).then_some(self.low)
    }

    /// By how much this is more than another.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self { low: worst(self.low - other.high, -1.0), high: worst(self.high - other.low, 1.0) }
    }
}

/// Unknown values count as infinitely far off.
fn worst(value: f64, side: f64) -> f64 {
    if value.is_nan() { side * f64::INFINITY } else { value }
}

/// The two one-sided tests of differences that were paired in blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// The lower ends, by block.
    low: Vec<f64>,
    /// The upper ends turned round, by block.
    high: Vec<f64>,
    greater: Path,
    less: Path,
}

impl Paired {
    /// Of a list of blocks in the order in which they were made, of which there may be `most`, with a look after each.
    pub fn of(differences: &[Between], most: usize) -> Self {
        let low: Vec<f64> = differences.iter().map(|d| d.low).collect();
        let high: Vec<f64> = differences.iter().map(|d| -d.high).collect();
        let (greater, less) = (Path::of(&low, most), Path::of(&high, most));
        Self { low, high, greater, less }
    }

    /// The two-sided p-value, after all looks so far. What is known from one side only speaks no more than that side does.
    pub fn p(&self) -> f64 {
        (2.0 * self.greater.p().min(self.less.p())).min(1.0)
    }

    /// The shift, with the interval that the two-sided tests at this level leave at all looks together.
    pub fn shift(&self, level: f64) -> Shift {
        let value = Between { low: middle(&averages(&self.low)), high: -middle(&averages(&self.high)) };
        let ends = ends(&self.low, &self.greater, level).zip(ends(&self.high, &self.less, level));
        let looks: Vec<Between> = ends.map(|(low, high)| Between { low, high: -high }).collect();
        let together = looks.iter().fold(Between { low: f64::NEG_INFINITY, high: f64::INFINITY }, |all, look| {
            Between { low: all.low.max(look.low), high: all.high.min(look.high) }
        });
        // Looks that leave nothing together: the blocks changed on the way. The last has seen all of them.
        let last = looks.last().copied().filter(|_| together.low > together.high);
        let Between { low, high } = last.unwrap_or(together);
        // An earlier look may have left out what is now the estimate.
        Shift { value, interval: Between { low: low.min(value.low), high: high.max(value.high) } }
    }
}

/// The lower end at each look.
fn ends<'a>(differences: &'a [f64], path: &'a Path, level: f64) -> impl Iterator<Item = f64> + 'a {
    path.counts(level / 2.0).enumerate().map(move |(look, count)| {
        let Some(count) = count else { return f64::NEG_INFINITY };
        nth_highest(&averages(&differences[..=look]), count)
    })
}

/// The averages of each two differences, each with itself too, ascending (Walsh).
pub fn averages(differences: &[f64]) -> Vec<f64> {
    let with = |(at, a): (usize, &f64)| -> Vec<f64> {
        differences[at..].iter().map(|b| worst(f64::midpoint(*a, *b), -1.0)).collect()
    };
    let mut all: Vec<f64> = differences.iter().enumerate().flat_map(with).collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// The shift of `theirs` above `ours`, which were not paired, with the interval that the exact two-sided test of Mann &
/// Whitney at this level leaves.
pub fn unpaired(ours: &[Between], theirs: &[Between], level: f64) -> Shift {
    let of = |end: fn(Between) -> f64| -> Vec<f64> {
        let mut all: Vec<f64> = theirs.iter().flat_map(|b| ours.iter().map(move |a| end(b.less(*a)))).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let (low, high) = (of(|d| d.low), of(|d| -d.high));
    let value = Between { low: middle(&low), high: -middle(&high) };
    let count = crate::rank::count(ours.len(), theirs.len(), level / 2.0);
    let end = |all: &[f64]| count.map_or(f64::NEG_INFINITY, |count| nth_highest(all, count));
    Shift { value, interval: Between { low: end(&low), high: -end(&high) } }
}

/// The median of values in order; −∞ of nothing.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NEG_INFINITY,
        n if n % 2 == 1 => sorted[half],
        _ => worst(f64::midpoint(sorted[half - 1], sorted[half]), -1.0),
    }
}

fn nth_highest(sorted: &[f64], n: usize) -> f64 {
    sorted.len().checked_sub(n).and_then(|at| sorted.get(at)).copied().unwrap_or(f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::tests::DEPRESSION;
    use proptest::prelude::*;

    const OPEN: f64 = f64::INFINITY;

    fn known(values: &[f64]) -> Vec<Between> {
        values.iter().copied().map(Between::at).collect()
    }

    /// Permeability of the chorioamnion (Hollander & Wolfe 1973, p. 69; R's `wilcox.test` has it as its example).
    const AT_TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLY: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    #[test]
    fn the_paired_example_has_its_published_estimate() {
        // Hollander & Wolfe: 0.46; the 96.1 % interval goes from the 6th of 45 averages to the 40th: 0.010 to 0.786.
        let all = averages(&DEPRESSION);
        assert!((middle(&all) - 0.46).abs() < 1e-9 && all.len() == 45);
        assert!((nth_highest(&all, 40) - 0.010).abs() < 1e-9 && (nth_highest(&all, 6) - 0.786).abs() < 1e-9);
    }

    #[test]
    fn the_unpaired_example_has_its_published_estimate() {
        // 0.305; the interval at 96 % goes from the 9th of 50 differences to the 42nd: −0.15 to 0.76.
        let shift = unpaired(&known(&EARLY), &known(&AT_TERM), 0.04);
        let near = |found: f64, published: f64| assert!((found - published).abs() < 1e-9, "{found} {published}");
        near(shift.value.known().unwrap(), 0.305);
        near(shift.interval.low, -0.15);
        near(shift.interval.high, 0.76);
    }

    #[test]
    fn the_interval_leaves_zero_out_just_when_the_test_speaks() {
        let d = [0.031, 0.052, 0.044, 0.06, 0.038, 0.049, 0.071, 0.055];
        for n in 1..=d.len() {
            let paired = Paired::of(&known(&d[..n]), 10);
            assert_eq!(paired.shift(0.05).interval.low > 0.0, paired.p() <= 0.05, "{n}");
        }
        assert_eq!(Paired::of(&known(&d[..4]), 10).shift(0.05).interval, Between { low: -OPEN, high: OPEN });
    }

    #[test]
    fn the_interval_holds_the_estimate_whatever_an_earlier_look_left_out() {
        let d = [-3.82, -1.22, 0.0, 0.0, 0.0, 1.2, 4.41, 2.82];
        let shift = Paired::of(&known(&d), 9).shift(0.2);
        assert!(shift.interval.low <= shift.value.low && shift.value.high <= shift.interval.high, "{shift:?}");
    }

    #[test]
    fn what_is_known_from_below_only_has_an_open_end() {
        let mut d = known(&[0.2, 0.3, 0.25, 0.4, 0.35, 0.22, 0.31, 0.28]);
        let all = Paired::of(&d, 8).shift(0.05);
        d[3].high = OPEN;
        let one = Paired::of(&d, 8).shift(0.05);
        assert_eq!((one.interval.low, one.value.low), (all.interval.low, all.value.low));
        assert!(one.interval.high >= all.interval.high);
        for d in &mut d {
            d.high = OPEN;
        }
        let every = Paired::of(&d, 8).shift(0.05);
        assert_eq!((every.value.known(), every.interval.high, every.interval.low > 0.0), (None, OPEN, true));
        // Both sides of a block unknown: nothing.
        let neither = Between { low: 1.0, high: OPEN }.less(Between { low: 2.0, high: OPEN });
        assert_eq!(neither, Between { low: -OPEN, high: OPEN });
        assert_eq!(Paired::of(&[neither; 8], 8).p(), 1.0);
    }

    proptest! {
        #[test]
        fn a_shift_moves_with_the_values(d in prop::collection::vec(-5.0f64..5.0, 1..9), by in -5.0f64..5.0) {
            let moved: Vec<f64> = d.iter().map(|d| d + by).collect();
            let (at, there) = (middle(&averages(&d)), middle(&averages(&moved)));
            prop_assert!((there - at - by).abs() < 1e-9);
        }

        #[test]
        fn the_other_way_round_is_the_opposite(d in prop::collection::vec(-5.0f64..5.0, 1..9)) {
            let back: Vec<f64> = d.iter().map(|d| -d).collect();
            let (a, b) = (Paired::of(&known(&d), 9), Paired::of(&known(&back), 9));
            prop_assert!((a.p() - b.p()).abs() < 1e-12);
            prop_assert_eq!(a.shift(0.2).interval.low, -b.shift(0.2).interval.high);
            let shift = a.shift(0.2);
            prop_assert!(shift.interval.low <= shift.value.low && shift.value.high <= shift.interval.high);
        }
    }
}
