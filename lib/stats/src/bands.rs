//! By how much many figures of two things differ, all at once.
//!
//! What it is: a shift function (Doksum, Annals of Statistics 2, 1974: the differences of quantiles) over figures that were
//! paired in blocks, with bands that hold all true differences together. In all blocks the two are exchanged for all
//! figures at once, so that what hangs together stays together; the greatest of the figures' rank sums decides how wide all
//! bands are (the method of the greatest statistic: Westfall & Young, Resampling-Based Multiple Testing, 1993, ch. 2). What
//! it is not: a test that may be looked at again after each block.

use crate::permutation::{HALVES, ranks};
use crate::sequential::{ALL_WAYS, all_sums};
use crate::shift::{Between, averages};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Random permutations drawn when there are too many to try all.
const DRAWN: usize = 1 << 14;
/// The same differences give the same bands.
const SEED: u64 = 0x6272_756e_7402;

/// How much one figure differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Banded {
    /// By the estimate of Hodges & Lehmann.
    pub value: f64,
    /// The band.
    pub band: Between,
}

/// For each figure, its differences by block (as many of each) → its shift and band; None where the blocks are too few for
/// bands that hold together with 1 − `level`.
pub fn bands(figures: &[Vec<f64>], level: f64) -> Option<Vec<Banded>> {
    let all: Vec<(f64, Vec<f64>)> = figures.iter().map(|differences| shifted(differences)).collect::<Option<_>>()?;
    let blocks = figures.first()?.len();
    let greatest = greatest(figures, &all, blocks);
    let most = HALVES * (blocks * (blocks + 1) / 2) as u32;
    let affordable = (greatest.len() as f64 * level * (1.0 + 1e-12)) as usize;
    // The least sum that so few ways reach: one above the highest that is too frequent.
    let sum = greatest.get(affordable)? + 1;
    let count = (sum <= most).then_some(sum.div_ceil(HALVES) as usize)?;
    let band = |(value, averages): &(f64, Vec<f64>)| {
        let (low, high) = (*averages.get(averages.len().checked_sub(count)?)?, *averages.get(count - 1)?);
        Some(Banded { value: *value, band: Between { low: low.min(*value), high: high.max(*value) } })
    };
    all.iter().map(band).collect()
}

/// The shift, and the averages of two that it is the median of.
fn shifted(differences: &[f64]) -> Option<(f64, Vec<f64>)> {
    let averages = averages(differences);
    Some((crate::robust::median(&averages)?, averages))
}

/// Of each way to exchange the two, the greatest sum of any figure on either side, from the highest.
fn greatest(figures: &[Vec<f64>], all: &[(f64, Vec<f64>)], blocks: usize) -> Vec<u32> {
    let most = HALVES * (blocks * (blocks + 1) / 2) as u32;
    let mut greatest: Vec<u32> = Vec::new();
    for (differences, (value, _)) in figures.iter().zip(all) {
        let rest: Vec<f64> = differences.iter().map(|d| d - value).collect();
        let sums = sums(&rest);
        greatest.resize(sums.len(), 0);
        for (greatest, sum) in greatest.iter_mut().zip(sums) {
            *greatest = (*greatest).max(sum).max(most - sum);
        }
    }
    greatest.sort_unstable_by(|a, b| b.cmp(a));
    greatest
}

/// The sums of the signed ranks in all ways, or in some that are the same for every figure: way by way the same blocks are
/// exchanged, whatever sign each figure had in them.
fn sums(differences: &[f64]) -> Vec<u32> {
    let ranks = ranks(differences);
    if ranks.len() <= ALL_WAYS {
        let turned = differences.iter().enumerate().fold(0, |bits, (b, d)| bits | (usize::from(*d < 0.0) << b));
        let sums = all_sums(&ranks);
        return (0..sums.len()).map(|way| sums[way ^ turned]).collect();
    }
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut sums = vec![0; DRAWN];
    for (rank, d) in ranks.iter().zip(differences) {
        for sum in &mut sums {
            *sum += u32::from(random.random::<bool>() == (*d < 0.0)) * rank;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_figure_has_the_interval_of_wilcoxons_table() {
        // Of eight, a sum of 33 or more has the two-sided p 0.039 (36 in all): the 4th of 36 averages to the 33rd.
        let d = vec![0.3, 1.9, 2.4, 3.8, 4.1, 5.7, 6.6, 8.2];
        let all = averages(&d);
        let found = bands(&[d], 0.05).unwrap()[0];
        assert_eq!(found.band, Between { low: all[3], high: all[32] });
    }

    #[test]
    fn figures_that_go_together_cost_nothing_and_others_do() {
        let d: Vec<f64> = vec![0.3, 1.9, 2.4, 3.8, 4.1, 5.7, 6.6, 8.2];
        let other = vec![4.0, 1.1, 7.3, 0.2, 2.6, 6.1, 0.9, 3.3];
        let alone = bands(std::slice::from_ref(&d), 0.05).unwrap()[0].band;
        let twice: Vec<f64> = d.iter().map(|d| 2.0 * d).collect();
        assert_eq!(bands(&[d.clone(), twice], 0.05).unwrap()[0].band, alone);
        let both = bands(&[d, other], 0.05).unwrap()[0].band;
        assert!(both.low < alone.low && both.high > alone.high, "{both:?} {alone:?}");
    }

    #[test]
    fn five_blocks_are_too_few() {
        assert_eq!(bands(&[vec![1.0, 2.0, 3.0, 4.0, 5.0]], 0.05), None);
        assert!(bands(&[vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 0.05).is_some());
        assert_eq!(bands(&[], 0.05), None);
    }

    proptest! {
        #[test]
        fn bands_hold_their_figure(
            figures in prop::collection::vec(prop::collection::vec(-9.0f64..9.0, 9), 1..5)
        ) {
            for banded in bands(&figures, 0.05).unwrap_or_default() {
                prop_assert!(banded.band.low <= banded.value && banded.value <= banded.band.high);
            }
        }
    }
}
