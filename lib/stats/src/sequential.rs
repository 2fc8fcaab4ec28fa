//! The permutation test within blocks, looked at after each block, without more false alarms than at one look.
//!
//! What it is: of all ways to exchange the two within the blocks, those that would have spoken at this look or at an
//! earlier one are at most α·spent(n/N), n being the blocks so far and N the most that there may be (`spending`; the
//! way of counting is exact, so that what few blocks cannot spend is not lost but left to later looks). Nothing is taken
//! from a table: each way is followed through all looks, with the ranks that the blocks had at each. Up to 16 blocks all
//! 2ⁿ ways are; beyond, 2¹⁵ of them drawn with a fixed seed, that which happened among them, so that the level still holds
//! (Hemerik & Goeman, TEST 27, 2018). Out of scope: two-sided. Each side is tested by itself at half of the level.
//!
//! Each way has a **price**: the least α at which it would have spoken by now. That of the way which happened is the p-value.

use crate::permutation::{HALVES, ranks};
use crate::spending::spent;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Up to so many blocks, all ways are followed.
pub const ALL_WAYS: usize = 16;
/// Beyond, so many.
const DRAWN: usize = 1 << 15;
/// The price of what never spoke: of levels from a half on, one side of a two-sided test says nothing.
const SILENT: f64 = 0.5;
/// The same differences give the same p.
const SEED: u64 = 0x6272_756e_7401;

/// All looks at a growing list of differences, for "greater than zero".
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    looks: Vec<Look>,
    price: f64,
}

/// One look: sums of signed ranks, in halves of a rank, from the highest, each with the least α at which it would have spoken.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    prices: Vec<(u32, f64)>,
}

impl Path {
    /// Looks after each of `differences`, in their order, of which there may be `most`.
    pub fn of(differences: &[f64], most: usize) -> Self {
        let most = most.max(differences.len());
        let mut ways = Ways::new(differences, most);
        let mut looks = Vec::with_capacity(differences.len());
        for n in 1..=differences.len() {
            ways.grow();
            let sums = ways.sums(&ranks(&differences[..n]));
            let look = Look { prices: ways.prices(&sums, spent(n as f64 / most as f64)) };
            ways.pay(&sums, &look);
            looks.push(look);
        }
        Self { looks, price: ways.happened() }
    }

    /// The one-sided p-value, after all looks so far; a half where it is that or more.
    pub fn p(&self) -> f64 {
        self.price
    }

    /// For each look, so many of the averages of two differences must lie above a value for a test at this level to say that
    /// the true shift does; None: at this look nothing can be said.
    pub fn counts(&self, level: f64) -> impl Iterator<Item = Option<usize>> + '_ {
        self.looks.iter().map(move |look| {
            let affordable = |(_, price): &&(u32, f64)| *price <= level * (1.0 + 1e-12);
            let least = look.prices.iter().take_while(affordable).last()?;
            Some(least.0.div_ceil(HALVES) as usize)
        })
    }
}

/// The ways to exchange the two within the blocks so far, each with its price.
struct Ways {
    /// The prices that occur, ascending; the last is that of all that never spoke.
    steps: Vec<f64>,
    /// Of each way, which of them it has.
    at: Vec<u32>,
    /// The signs that happened.
    signs: Vec<bool>,
    /// The signs of each block, by way; empty where all ways are followed: there they are the bits of the way's number.
    drawn: Vec<Vec<bool>>,
}

impl Ways {
    fn new(differences: &[f64], most: usize) -> Self {
        let signs: Vec<bool> = differences.iter().map(|d| *d > 0.0).collect();
        if most <= ALL_WAYS {
            return Self { steps: vec![SILENT], at: vec![0], signs, drawn: Vec::new() };
        }
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        // The first of them is the one that happened.
        let mut column = |happened: &bool| {
            let others = (1..DRAWN).map(|_| random.random::<bool>());
            std::iter::once(*happened).chain(others).collect()
        };
        let drawn = signs.iter().map(&mut column).collect();
        Self { steps: vec![SILENT], at: vec![0; DRAWN], signs, drawn }
    }

    /// One block more.
    fn grow(&mut self) {
        if self.drawn.is_empty() {
            self.at.extend_from_within(..);
        }
    }

    fn sums(&self, ranks: &[u32]) -> Vec<u32> {
        if self.drawn.is_empty() {
            return all_sums(ranks);
        }
        let mut sums = vec![0; self.at.len()];
        for (rank, column) in ranks.iter().zip(&self.drawn) {
            for (sum, positive) in sums.iter_mut().zip(column) {
                *sum += u32::from(*positive) * rank;
            }
        }
        sums
    }

    /// For each sum that occurs, from the highest: the least α from which on all ways with this sum or a higher one, and all
    /// that had spoken before at that α, are no more than α·spent of all ways.
    fn prices(&self, sums: &[u32], spent: f64) -> Vec<(u32, f64)> {
        let budget = spent * sums.len() as f64;
        let mut spoken = vec![0_u32; self.steps.len()];
        for at in &self.at {
            spoken[*at as usize] += 1;
        }
        let mut high = vec![0_u32; self.steps.len()];
        let mut prices = Vec::new();
        for (sum, ways) in by_sum(sums).into_iter().enumerate().rev().filter(|(_, ways)| !ways.is_empty()) {
            for way in ways {
                high[self.at[way as usize] as usize] += 1;
            }
            prices.push((sum as u32, self.rounded(price(&self.steps, &spoken, &high, budget))));
        }
        prices
    }

    /// Prices of drawn ways are rounded up to seven binary places, so that few occur: which ways are drawn is chance anyway.
    fn rounded(&self, price: f64) -> f64 {
        if price >= SILENT || self.drawn.is_empty() {
            return price.min(SILENT);
        }
        let places = 2.0_f64.powf(7.0 - price.log2().ceil());
        ((price * places).ceil() / places).min(SILENT)
    }

    /// Each way has the least price that it ever had.
    fn pay(&mut self, sums: &[u32], look: &Look) {
        let mut steps: Vec<f64> =
            self.steps.iter().copied().chain(look.prices.iter().map(|(_, price)| *price)).collect();
        steps.sort_unstable_by(f64::total_cmp);
        steps.dedup();
        let step = |price: f64| steps.partition_point(|step| *step < price) as u32;
        let before: Vec<u32> = self.steps.iter().map(|price| step(*price)).collect();
        let mut now = vec![0_u32; look.prices.first().map_or(0, |(sum, _)| *sum as usize + 1)];
        for (sum, price) in &look.prices {
            now[*sum as usize] = step(*price);
        }
        for (at, sum) in self.at.iter_mut().zip(sums) {
            *at = before[*at as usize].min(now[*sum as usize]);
        }
        self.steps = steps;
    }

    /// The price of the way that happened.
    fn happened(&self) -> f64 {
        let number = |sum: usize, (block, positive): (usize, &bool)| sum | (usize::from(*positive) << block);
        let way = if self.drawn.is_empty() { self.signs.iter().enumerate().fold(0, number) } else { 0 };
        self.steps[self.at[way] as usize]
    }
}

/// The numbers of the ways that have each sum.
fn by_sum(sums: &[u32]) -> Vec<Vec<u32>> {
    let mut ways = vec![Vec::new(); sums.iter().max().map_or(0, |most| *most as usize + 1)];
    for (way, sum) in sums.iter().enumerate() {
        ways[*sum as usize].push(way as u32);
    }
    ways
}

/// Between two prices that occurred before, the number of ways does not change: within each such range the budget falls short
/// below ways/budget. `spoken` are the ways that had each price before, `high` those of them with a sum that is high enough.
fn price(steps: &[f64], spoken: &[u32], high: &[u32], budget: f64) -> f64 {
    let mut ways = f64::from(high.iter().sum::<u32>());
    let (mut least, mut from) = (0.0_f64, 0.0);
    for ((to, spoken), high) in steps.iter().zip(spoken).zip(high) {
        let short = (ways / budget).min(*to);
        if short > from {
            least = short;
        }
        ways += f64::from(spoken - high);
        from = *to;
    }
    least
}

/// The sums of all ways; bit b of a way's number: the b-th difference is positive.
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

    /// The differences with other signs.
    fn exchanged(sizes: &[f64], way: usize) -> Vec<f64> {
        sizes.iter().enumerate().map(|(b, d)| if way >> b & 1 == 1 { *d } else { -d }).collect()
    }

    #[test]
    fn one_look_is_the_plain_test() {
        // Until the last block of eight, a level that one look at few blocks cannot reach leaves all to the last.
        let d = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5];
        let least = permutation::least_p(8) / 2.0;
        assert_eq!(permutation::greater(&d), least);
        assert!((Path::of(&d, 8).p() - least).abs() < 0.004, "{}", Path::of(&d, 8).p());
        assert_eq!(Path::of(&d[..1], 1).p(), 0.5);
        assert_eq!(Path::of(&[], 8).p(), SILENT);
    }

    #[test]
    fn blocks_that_all_agree_speak_as_soon_as_the_spending_allows() {
        let d: Vec<f64> = (1..=10).map(f64::from).collect();
        let first = (1..=10).find(|n| 2.0 * Path::of(&d[..*n], 10).p() <= 0.05);
        assert_eq!(first, crate::spending::first_look(0.05, 10).map(|n| n as usize));
        assert_eq!(first, Some(7));
    }

    #[test]
    fn no_more_ways_speak_than_are_paid_for() {
        let sizes = [0.4, 2.0, 1.1, 3.0, 0.2, 1.7, 2.2, 0.9];
        let p: Vec<f64> = (0..256).map(|way| Path::of(&exchanged(&sizes, way), 8).p()).collect();
        for alpha in [0.004, 0.01, 0.025, 0.05, 0.1, 0.3] {
            let share = p.iter().filter(|p| **p <= alpha).count() as f64 / 256.0;
            assert!(share <= alpha + 1e-12, "{alpha}: {share}");
            // Of 256 ways, what is not used is less than what a few ways cost.
            assert!(share >= alpha - 5.0 / 256.0 || alpha > 0.1, "{alpha}: {share}");
        }
    }

    #[test]
    fn drawn_ways_come_near_all_ways() {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut ratios = Vec::new();
        for _ in 0..20 {
            let d: Vec<f64> = (0..10).map(|_| random.random::<f64>() * 4.0 - 1.0).collect();
            // With one block more that there may be, ways are drawn; the spending is nearly the same.
            ratios.push(Path::of(&d, 17).p() / Path::of(&d, 16).p());
        }
        let middle = crate::robust::median(&ratios).unwrap();
        assert!((0.9..1.2).contains(&middle), "{ratios:?}");
    }

    #[test]
    fn counts_are_those_of_the_tables_where_there_is_one_look() {
        // Wilcoxon's table: of nine, a sum of 40 or more has the one-sided p 0.0195, and 39 0.0273.
        let sums = all_sums(&ranks(&permutation::tests::DEPRESSION));
        let ways = Ways { steps: vec![SILENT], at: vec![0; 512], signs: Vec::new(), drawn: Vec::new() };
        let path = Path { looks: vec![Look { prices: ways.prices(&sums, 1.0) }], price: SILENT };
        assert_eq!(path.counts(0.025).collect::<Vec<_>>(), [Some(40)]);
        assert_eq!(path.counts(0.001).collect::<Vec<_>>(), [None]);
    }

    proptest! {
        #[test]
        fn another_look_never_takes_back_what_was_said(d in prop::collection::vec(-9.0f64..10.0, 1..9), most in 9_usize..12) {
            let p: Vec<f64> = (0..=d.len()).map(|n| Path::of(&d[..n], most).p()).collect();
            prop_assert!(p.windows(2).all(|w| w[1] <= w[0]));
            prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
        }

        #[test]
        fn the_level_holds_whatever_the_sizes(sizes in prop::collection::vec(0.0f64..5.0, 6), most in 6_usize..9) {
            let p: Vec<f64> = (0..64).map(|way| Path::of(&exchanged(&sizes, way), most).p()).collect();
            for p_value in p.iter().filter(|p| **p < SILENT) {
                let share = p.iter().filter(|p| *p <= p_value).count() as f64 / 64.0;
                prop_assert!(share <= p_value * spent(6.0 / most as f64) + 1e-9, "{share} {p_value}");
            }
        }
    }
}
