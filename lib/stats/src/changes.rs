//! Finds the change points of a short series of noisy values, such as a figure of each run over
//! months.
//!
//! The method is binary segmentation (Scott & Knott 1974; Vostrikova 1981) with the maximum rank
//! statistic of Pettitt (Applied Statistics 28, 1979) and a permutation test of that maximum, as in
//! E-divisive (Matteson & James, JASA 109, 2014). Ranks bound the weight of an outlier. A segment
//! of m of n values is tested at the share m/n of the level. The segments without a change that are
//! tested are disjoint, so the chance of any false change in the whole series is at most the level.
//!
//! Noise may be autocorrelated: the values are then not exchangeable. Each permutation therefore
//! has the order of an autoregressive process, with the autocorrelation of the series.
//!
//! [`shift`] estimates the size of a change.

mod noise;
pub mod shift;

pub use noise::MIN_ESTIMATED;
use noise::{Noise, Orders};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
pub use shift::{RelativeChange, relative_change};

/// Minimum number of values on each side of a change: two outliers are no change.
pub const MIN_SIDE: usize = 3;

/// Minimum number of values of a series with a change. With fewer, no order of the values has a
/// probability below 5 %.
pub const MIN_VALUES: usize = 8;

/// Minimum number of permutations, unless the first ones show that there is no change.
const MIN_DRAWS: usize = 999;

/// Number of permutations per unit of 1/level.
const DRAWS_AT_LEVEL: f64 = 20.0;

/// Shares of the level for the two tests of a segment.
const SHARE_OF_SPLIT: f64 = 0.7;
const SHARE_OF_EXCURSION: f64 = 1.0 - SHARE_OF_SPLIT;

const SEED: u64 = 0x6368_616e_6765;

/// A change of the level of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Probability of a change that is at least as clear in a series without one, corrected for all
    /// tests of the series.
    pub p: f64,
}

/// The changes of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoints {
    /// The changes, in the order of the values.
    pub points: Vec<ChangePoint>,
    /// Estimated autocorrelation of adjacent values between changes, from 0 to 0.9.
    pub autocorrelation: f64,
}

/// Returns the change points of finite values. The probability of any change in a series without one
/// is at most `level`. None for fewer than [`MIN_VALUES`] values.
pub fn change_points(values: &[f64], level: f64) -> Option<ChangePoints> {
    if values.len() < MIN_VALUES {
        return None;
    }
    let noise = Noise::of(values);
    let random = Pcg64Mcg::seed_from_u64(SEED);
    let mut search = Search { values, level, noise, random, points: Vec::new() };
    search.segment(0, values.len());
    let mut points = search.points;
    points.sort_unstable_by_key(|point| point.index);
    move_to_clearest(values, &mut points);
    Some(ChangePoints { points, autocorrelation: noise.autocorrelation })
}

struct Search<'a> {
    values: &'a [f64],
    level: f64,
    noise: Noise,
    random: Pcg64Mcg,
    points: Vec<ChangePoint>,
}

impl Search<'_> {
    /// Adds the changes between two indexes.
    fn segment(&mut self, from: usize, to: usize) {
        let ranks = centered_ranks(&self.values[from..to]);
        let tests = self.values.len() as f64 / ranks.len() as f64;
        // The span is tested last: each order of m values needs m² sums.
        let split = self
            .test(&ranks, clearest_split, tests / SHARE_OF_SPLIT)
            .or_else(|| self.test(&ranks, clearest_excursion, tests / SHARE_OF_EXCURSION));
        let Some((Split { first, last, .. }, p)) = split else { return };
        let mut indexes = vec![from + first];
        indexes.extend((last > first).then_some(from + last));
        self.points.extend(indexes.iter().map(|index| ChangePoint { index: *index, p }));
        let mut start = from;
        for end in indexes.into_iter().chain([to]) {
            self.segment(start, end);
            start = end;
        }
    }

    /// Tests the clearest split, at the level divided by `tests`. Returns it with its corrected p-value
    /// if it is significant.
    fn test(
        &mut self,
        ranks: &[f64],
        clearest: fn(&[f64]) -> Option<Split>,
        tests: f64,
    ) -> Option<(Split, f64)> {
        let observed = clearest(ranks)?;
        let mut orders = Orders::new(ranks, self.noise);
        let draws = MIN_DRAWS.max((DRAWS_AT_LEVEL * tests / self.level) as usize);
        // Sums of the same ranks in another order may differ in the last bits.
        let threshold = observed.statistic * (1.0 - 1e-9);
        let mut larger = 0;
        for _ in 0..draws {
            let drawn = clearest(orders.draw(&mut self.random));
            larger += usize::from(drawn.is_some_and(|split| split.statistic >= threshold));
            // Further permutations cannot lower the p-value.
            if corrected_p(larger, draws, tests) > self.level {
                return None;
            }
        }
        Some((observed, corrected_p(larger, draws, tests)))
    }
}

/// Returns the p-value of a test, times the number of tests that share the level. The observed order is
/// one of the permutations.
fn corrected_p(larger: usize, draws: usize, tests: f64) -> f64 {
    (larger + 1) as f64 / (draws + 1) as f64 * tests
}

/// Moves each change to the clearest split between its neighbors: the first splits did not know of
/// the later ones.
fn move_to_clearest(values: &[f64], points: &mut [ChangePoint]) {
    let mut from = 0;
    for number in 0..points.len() {
        let to = points.get(number + 1).map_or(values.len(), |next| next.index);
        let split = clearest_split(&centered_ranks(&values[from..to]));
        from = split.map_or(points[number].index, |split| from + split.first);
        points[number].index = from;
    }
}

/// A division of a segment into values of two levels.
#[derive(Debug, Clone, Copy)]
struct Split {
    /// Index of the first value of the second level.
    first: usize,
    /// Index at which the first level returns; that of `first` if it does not.
    last: usize,
    /// The squared standardized rank sum of the second level, times a constant.
    statistic: f64,
}

/// Returns the ranks of the values, ties with their mean rank, minus their mean.
fn centered_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mean = (values.len() as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tie in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (tie.len() as f64 - 1.0) / 2.0 - mean;
        for index in tie {
            ranks[*index] = rank;
        }
        start += tie.len();
    }
    ranks
}

/// Returns the clearest division into values before and after a change. None if no split has enough
/// values on both sides.
fn clearest_split(ranks: &[f64]) -> Option<Split> {
    let n = ranks.len();
    let mut sum: f64 = ranks.iter().take(MIN_SIDE - 1).sum();
    let mut clearest: Option<Split> = None;
    for before in MIN_SIDE..=n.checked_sub(MIN_SIDE)? {
        sum += ranks[before - 1];
        let statistic = sum * sum / (before as f64 * (n - before) as f64);
        if clearest.is_none_or(|known| statistic > known.statistic) {
            clearest = Some(Split { first: before, last: before, statistic });
        }
    }
    clearest
}

/// Returns the clearest division into values within a span, and those around it. A series whose level
/// changes and returns has no clear split in two (circular binary segmentation; Olshen et al.,
/// Biostatistics 5, 2004). None if the segment is too short.
fn clearest_excursion(ranks: &[f64]) -> Option<Split> {
    let n = ranks.len();
    let mut sums = Vec::with_capacity(n + 1);
    sums.push(0.0);
    for rank in ranks {
        sums.push(sums[sums.len() - 1] + rank);
    }
    let mut clearest: Option<Split> = None;
    for length in MIN_SIDE..=n.checked_sub(2 * MIN_SIDE)? {
        let variance = length as f64 * (n - length) as f64;
        let starts = MIN_SIDE..=n - length - MIN_SIDE;
        let most = starts.map(|first| (sums[first + length] - sums[first]).abs());
        let most = most.fold(0.0, f64::max);
        let statistic = most * most / variance;
        if clearest.is_none_or(|known| statistic > known.statistic) {
            let starts = MIN_SIDE..=n - length - MIN_SIDE;
            let first = starts.into_iter().find(|i| (sums[i + length] - sums[*i]).abs() == most)?;
            clearest = Some(Split { first, last: first + length, statistic });
        }
    }
    clearest
}

#[cfg(test)]
mod tests;
