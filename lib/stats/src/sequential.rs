//! The permutation test within blocks, repeated after each block at
//! a controlled significance level.
//!
//! A way is one of the possibilities to exchange the contenders within the blocks. The test rejects
//! at a look if few enough ways are rejected at this or an earlier look: at most α·spent(n/N) of
//! all ways. n is the number of blocks so far, N their maximum (`spending`). The counts are exact,
//! so the part of α that few blocks cannot use remains for later looks. No tables are used: each
//! way is followed through all looks, with the ranks of the blocks at each look.
//!
//! Up to 16 blocks, all 2ⁿ ways are followed. With more blocks, 2¹⁵ of them are drawn with a fixed
//! seed. The observed way is one of them, so the level still holds (Hemerik & Goeman, TEST 27,
//! 2018). The test is one-sided: for a two-sided test, each side is tested at half of the level.
//!
//! Each way has a **price**: the smallest α at which it would be rejected by now. The price of the
//! observed way is the p-value.

use crate::permutation::{HALVES, ranks};
use crate::spending::spent;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Maximum number of blocks for which all ways are followed.
pub const ALL_WAYS: usize = 16;
/// Number of drawn ways for more blocks.
const DRAWN_WAYS: usize = 1 << 15;
/// Price of a way that was never rejected. From a level of one half on, one side of a two-sided
/// test has no meaning.
const NEVER_REJECTED: f64 = 0.5;
/// Fixed, so that the same differences always give the same p-value.
const SEED: u64 = 0x6272_756e_7401;

/// All looks at a growing list of differences, for the test of "greater than zero".
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    looks: Vec<Look>,
    price: f64,
}

/// The possible results of one look.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    /// Sums of signed ranks, times [`HALVES`], in descending order, each with its price.
    prices: Vec<(u32, f64)>,
}

impl Path {
    /// Tests after each of `differences`, in their order; `most` is their maximum number.
    pub fn of(differences: &[f64], most: usize) -> Self {
        let most = most.max(differences.len());
        let mut ways = Ways::new(differences, most);
        let mut looks = Vec::with_capacity(differences.len());
        for n in 1..=differences.len() {
            ways.grow();
            let sums = ways.sums(&ranks(&differences[..n]));
            let look = Look { prices: ways.prices(&sums, spent(n as f64 / most as f64)) };
            ways.update_prices(&sums, &look);
            looks.push(look);
        }
        Self { looks, price: ways.observed_price() }
    }

    /// One-sided p-value after all looks so far; higher values are reported as 0.5.
    pub fn p(&self) -> f64 {
        self.price
    }

    /// Returns the critical count of each look at a level: this many of the pairwise
    /// averages must be above a value for the test to reject it as the shift. None if a
    /// look cannot reject any value.
    pub fn counts(&self, level: f64) -> impl Iterator<Item = Option<usize>> + '_ {
        self.looks.iter().map(move |look| {
            // The tolerance accepts a level that is reached exactly, in spite of rounding.
            let affordable =
                look.prices.iter().take_while(|(_, price)| *price <= level * (1.0 + 1e-12));
            // A rank sum is the number of pairwise averages above zero.
            Some(affordable.last()?.0.div_ceil(HALVES) as usize)
        })
    }
}

/// The ways for the blocks so far, each with its price.
struct Ways {
    /// Distinct prices, ascending; the last is that of the ways that were never rejected.
    steps: Vec<f64>,
    /// For each way, the index of its price.
    price_index: Vec<u32>,
    /// Observed signs of the differences.
    signs: Vec<bool>,
    /// Signs of each block, by way. Empty if all ways are followed: then the bits of a way's
    /// number are its signs.
    drawn: Vec<Vec<bool>>,
}

impl Ways {
    fn new(differences: &[f64], most: usize) -> Self {
        let signs: Vec<bool> = differences.iter().map(|d| *d > 0.0).collect();
        if most <= ALL_WAYS {
            return Self {
                steps: vec![NEVER_REJECTED],
                price_index: vec![0],
                signs,
                drawn: Vec::new(),
            };
        }
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let mut drawn = Vec::with_capacity(signs.len());
        for observed in &signs {
            // The first way is the observed one.
            let mut column = vec![*observed];
            column.extend((1..DRAWN_WAYS).map(|_| random.random::<bool>()));
            drawn.push(column);
        }
        Self { steps: vec![NEVER_REJECTED], price_index: vec![0; DRAWN_WAYS], signs, drawn }
    }

    /// Adds a block to all ways.
    fn grow(&mut self) {
        if self.drawn.is_empty() {
            // Both signs of the new block continue every way.
            self.price_index.extend_from_within(..);
        }
    }

    /// Returns the signed-rank sum of each way.
    fn sums(&self, ranks: &[u32]) -> Vec<u32> {
        if self.drawn.is_empty() {
            return all_sums(ranks);
        }
        let mut sums = vec![0; self.price_index.len()];
        for (rank, column) in ranks.iter().zip(&self.drawn) {
            for (sum, positive) in sums.iter_mut().zip(column) {
                *sum += u32::from(*positive) * rank;
            }
        }
        sums
    }

    /// Returns the price of each sum that occurs, in descending order of the sums. It is the
    /// smallest α at which the budget covers two kinds of ways: those with at least this sum, and
    /// those that were rejected before at that α. The budget is α·spent of all ways.
    fn prices(&self, sums: &[u32], spent: f64) -> Vec<(u32, f64)> {
        let budget = spent * sums.len() as f64;
        let mut by_price = vec![0_u32; self.steps.len()];
        for index in &self.price_index {
            by_price[*index as usize] += 1;
        }
        let mut high = vec![0_u32; self.steps.len()];
        let mut prices = Vec::new();
        for (sum, ways) in
            by_sum(sums).into_iter().enumerate().rev().filter(|(_, ways)| !ways.is_empty())
        {
            for way in ways {
                high[self.price_index[way as usize] as usize] += 1;
            }
            prices.push((sum as u32, self.rounded(price(&self.steps, &by_price, &high, budget))));
        }
        prices
    }

    /// Rounds prices of drawn ways up to seven binary digits, so that there are few distinct ones.
    /// The draw is random anyway.
    fn rounded(&self, price: f64) -> f64 {
        if price >= NEVER_REJECTED || self.drawn.is_empty() {
            return price.min(NEVER_REJECTED);
        }
        let places = 2.0_f64.powf(7.0 - price.log2().ceil());
        ((price * places).ceil() / places).min(NEVER_REJECTED)
    }

    /// Lowers the price of each way to that of its sum, if that is lower.
    fn update_prices(&mut self, sums: &[u32], look: &Look) {
        let mut steps: Vec<f64> =
            self.steps.iter().copied().chain(look.prices.iter().map(|(_, price)| *price)).collect();
        steps.sort_unstable_by(f64::total_cmp);
        steps.dedup();
        let before: Vec<u32> = self.steps.iter().map(|price| index_of(&steps, *price)).collect();
        let mut by_sum = vec![0_u32; look.prices.first().map_or(0, |(sum, _)| *sum as usize + 1)];
        for (sum, price) in &look.prices {
            by_sum[*sum as usize] = index_of(&steps, *price);
        }
        for (index, sum) in self.price_index.iter_mut().zip(sums) {
            *index = before[*index as usize].min(by_sum[*sum as usize]);
        }
        self.steps = steps;
    }

    /// Price of the observed way.
    fn observed_price(&self) -> f64 {
        let mut way = 0;
        if self.drawn.is_empty() {
            for (block, is_positive) in self.signs.iter().enumerate() {
                way |= usize::from(*is_positive) << block;
            }
        }
        self.steps[self.price_index[way] as usize]
    }
}

/// Index of a price in the ascending list `steps`.
fn index_of(steps: &[f64], price: f64) -> u32 {
    steps.partition_point(|step| *step < price) as u32
}

/// Groups the numbers of the ways by their sum.
fn by_sum(sums: &[u32]) -> Vec<Vec<u32>> {
    let mut ways = vec![Vec::new(); sums.iter().max().map_or(0, |most| *most as usize + 1)];
    for (way, sum) in sums.iter().enumerate() {
        ways[*sum as usize].push(way as u32);
    }
    ways
}

/// Returns the smallest α with a budget for the ways with a high sum and those rejected before.
///
/// Between two prices that occurred before, the number of ways to cover is constant. Within each
/// such range, α is too small below ways/budget. `by_price` is the number of ways with
/// each earlier price, `high` the number of those with a high sum.
fn price(steps: &[f64], by_price: &[u32], high: &[u32], budget: f64) -> f64 {
    let mut ways = f64::from(high.iter().sum::<u32>());
    let mut least = 0.0_f64;
    let mut from = 0.0;
    for ((to, all), high) in steps.iter().zip(by_price).zip(high) {
        let uncovered = (ways / budget).min(*to);
        if uncovered > from {
            least = uncovered;
        }
        ways += f64::from(all - high);
        from = *to;
    }
    least
}

/// Returns the sums of all ways. Bit b of a way's number is set if the b-th difference is positive.
pub(crate) fn all_sums(ranks: &[u32]) -> Vec<u32> {
    let mut sums = vec![0];
    for rank in ranks {
        let positive: Vec<u32> = sums.iter().map(|sum| sum + rank).collect();
        sums.extend(positive);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation;
    use proptest::prelude::*;

    /// The differences with the signs of another way.
    fn exchanged(sizes: &[f64], way: usize) -> Vec<f64> {
        sizes.iter().enumerate().map(|(b, d)| if way >> b & 1 == 1 { *d } else { -d }).collect()
    }

    #[test]
    fn one_look_equals_the_plain_test() {
        // At this level, looks before the eighth block cannot reject, so the whole α is left
        // for the last one.
        let d = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5];
        let least = permutation::least_p(8) / 2.0;
        assert_eq!(permutation::greater(&d), least);
        assert!((Path::of(&d, 8).p() - least).abs() < 0.004, "{}", Path::of(&d, 8).p());
        assert_eq!(Path::of(&d[..1], 1).p(), 0.5);
        assert_eq!(Path::of(&[], 8).p(), NEVER_REJECTED);
    }

    #[test]
    fn agreeing_blocks_are_significant_once_the_spending_allows() {
        let d: Vec<f64> = (1..=10).map(f64::from).collect();
        let first = (1..=10).find(|n| 2.0 * Path::of(&d[..*n], 10).p() <= 0.05);
        assert_eq!(first, crate::spending::first_look(0.05, 10).map(|n| n as usize));
        assert_eq!(first, Some(7));
    }

    #[test]
    fn the_share_of_significant_permutations_is_within_the_level() {
        let sizes = [0.4, 2.0, 1.1, 3.0, 0.2, 1.7, 2.2, 0.9];
        let p: Vec<f64> = (0..256).map(|way| Path::of(&exchanged(&sizes, way), 8).p()).collect();
        for alpha in [0.004, 0.01, 0.025, 0.05, 0.1, 0.3] {
            let share = p.iter().filter(|p| **p <= alpha).count() as f64 / 256.0;
            assert!(share <= alpha + 1e-12, "{alpha}: {share}");
            // With 256 ways, the unused share is at most that of a few ways.
            assert!(share >= alpha - 5.0 / 256.0 || alpha > 0.1, "{alpha}: {share}");
        }
    }

    #[test]
    fn sampled_permutations_approximate_all_permutations() {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut ratios = Vec::new();
        for _ in 0..20 {
            let d: Vec<f64> = (0..10).map(|_| random.random::<f64>() * 4.0 - 1.0).collect();
            // With a maximum of 17 blocks, ways are drawn; the spending is nearly the same.
            ratios.push(Path::of(&d, 17).p() / Path::of(&d, 16).p());
        }
        let middle = crate::robust::median(&ratios).unwrap();
        assert!((0.9..1.2).contains(&middle), "{ratios:?}");
    }

    #[test]
    fn counts_match_tables_with_one_look() {
        // Wilcoxon's table: with nine blocks, a sum of 40 or more has the one-sided p 0.0195,
        // and 39 has 0.0273.
        let sums = all_sums(&ranks(&permutation::tests::DEPRESSION));
        let ways = Ways {
            steps: vec![NEVER_REJECTED],
            price_index: vec![0; 512],
            signs: Vec::new(),
            drawn: Vec::new(),
        };
        let path =
            Path { looks: vec![Look { prices: ways.prices(&sums, 1.0) }], price: NEVER_REJECTED };
        assert_eq!(path.counts(0.025).collect::<Vec<_>>(), [Some(40)]);
        assert_eq!(path.counts(0.001).collect::<Vec<_>>(), [None]);
    }

    proptest! {
        #[test]
        fn p_never_increases_with_another_look(d in prop::collection::vec(-9.0f64..10.0, 1..9), most in 9_usize..12) {
            let p: Vec<f64> = (0..=d.len()).map(|n| Path::of(&d[..n], most).p()).collect();
            prop_assert!(p.windows(2).all(|w| w[1] <= w[0]));
            prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
        }

        #[test]
        fn the_level_does_not_depend_on_the_sizes(sizes in prop::collection::vec(0.0f64..5.0, 6), most in 6_usize..9) {
            let p: Vec<f64> = (0..64).map(|way| Path::of(&exchanged(&sizes, way), most).p()).collect();
            for p_value in p.iter().filter(|p| **p < NEVER_REJECTED) {
                let share = p.iter().filter(|p| *p <= p_value).count() as f64 / 64.0;
                prop_assert!(share <= p_value * spent(6.0 / most as f64) + 1e-9, "{share} {p_value}");
            }
        }
    }
}
