//! Estimates the differences of many figures of two contenders, with simultaneous bands.
//!
//! The method is a shift function (Doksum, Annals of Statistics 2, 1974: the differences of
//! quantiles) over figures that were paired in blocks. Its bands contain all true differences
//! together. In each block, the two contenders are exchanged for all figures at once, so that the
//! correlation of figures is preserved. The maximum of the figures' rank sums determines the width
//! of all bands (the method of the maximum statistic: Westfall & Young, Resampling-Based Multiple
//! Testing, 1993, ch. 2). The result is not valid as a test that is repeated after each block.

use crate::permutation::{HALVES, ranks};
use crate::sequential::{ALL_WAYS, all_sums};
use crate::shift::{ValueRange, averages};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Number of random permutations if there are too many to try all.
const RANDOM_WAYS: usize = 1 << 14;
/// Fixed, so that the same differences always give the same bands.
const SEED: u64 = 0x6272_756e_7402;

/// Difference of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftBand {
    /// Estimate of Hodges & Lehmann.
    pub value: f64,
    /// Simultaneous band of the difference.
    pub band: ValueRange,
}

/// Returns the shift and band of each figure. `figures` contains the differences by block, with the
/// same number of blocks for each. None if there are too few blocks for simultaneous bands with
/// confidence 1 − `level`.
pub fn bands(figures: &[Vec<f64>], level: f64) -> Option<Vec<ShiftBand>> {
    let shifts: Vec<FigureShift> = figures
        .iter()
        .map(|differences| FigureShift::estimate(differences))
        .collect::<Option<_>>()?;
    let blocks = figures.first()?.len();
    let greatest = greatest_sums(figures, &shifts, blocks);
    let most = HALVES * (blocks * (blocks + 1) / 2) as u32;
    let affordable = (greatest.len() as f64 * level * (1.0 + 1e-12)) as usize;
    // The critical sum is one above the highest sum that is exceeded too often.
    let sum = greatest.get(affordable)? + 1;
    let count = (sum <= most).then_some(sum.div_ceil(HALVES) as usize)?;
    shifts.iter().map(|shift| shift.band(count)).collect()
}

/// Shift of a figure, with the pairwise averages of its differences.
struct FigureShift {
    /// Median of the averages.
    value: f64,
    /// Pairwise averages of the differences, ascending.
    averages: Vec<f64>,
}

impl FigureShift {
    fn estimate(differences: &[f64]) -> Option<Self> {
        let averages = averages(differences);
        Some(Self { value: crate::robust::median(&averages)?, averages })
    }

    /// Band from the averages that are `count` places from each end.
    fn band(&self, count: usize) -> Option<ShiftBand> {
        // A rank sum is the number of averages on one side, so it is also a
        // position in their order.
        let low = *self.averages.get(self.averages.len().checked_sub(count)?)?;
        let high = *self.averages.get(count - 1)?;
        let band = ValueRange { low: low.min(self.value), high: high.max(self.value) };
        Some(ShiftBand { value: self.value, band })
    }
}

/// Returns, for each way to exchange the blocks, the greatest rank sum of any figure on either
/// side, in descending order.
fn greatest_sums(figures: &[Vec<f64>], shifts: &[FigureShift], blocks: usize) -> Vec<u32> {
    let most = HALVES * (blocks * (blocks + 1) / 2) as u32;
    let mut greatest: Vec<u32> = Vec::new();
    for (differences, shift) in figures.iter().zip(shifts) {
        let rest: Vec<f64> = differences.iter().map(|d| d - shift.value).collect();
        let sums = sums(&rest);
        greatest.resize(sums.len(), 0);
        for (greatest, sum) in greatest.iter_mut().zip(sums) {
            *greatest = (*greatest).max(sum).max(most - sum);
        }
    }
    greatest.sort_unstable_by(|a, b| b.cmp(a));
    greatest
}

/// Returns the signed-rank sums of all ways, or of randomly drawn ways. A way exchanges the same
/// blocks for every figure, whatever the figure's sign in them.
fn sums(differences: &[f64]) -> Vec<u32> {
    let ranks = ranks(differences);
    if ranks.len() <= ALL_WAYS {
        let mut negative = 0;
        for (block, difference) in differences.iter().enumerate() {
            negative |= usize::from(*difference < 0.0) << block;
        }
        let sums = all_sums(&ranks);
        return (0..sums.len()).map(|way| sums[way ^ negative]).collect();
    }
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut sums = vec![0; RANDOM_WAYS];
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
    fn one_figure_has_the_interval_of_the_wilcoxon_table() {
        // With eight blocks, a sum of 33 or more (of 36) has the two-sided p 0.039. The interval
        // goes from the 4th of 36 averages to the 33rd.
        let d = vec![0.3, 1.9, 2.4, 3.8, 4.1, 5.7, 6.6, 8.2];
        let all = averages(&d);
        let found = bands(&[d], 0.05).unwrap()[0];
        assert_eq!(found.band, ValueRange { low: all[3], high: all[32] });
    }

    #[test]
    fn correlated_figures_do_not_widen_bands_and_others_do() {
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
        fn bands_contain_their_figure(
            figures in prop::collection::vec(prop::collection::vec(-9.0f64..9.0, 9), 1..5)
        ) {
            for banded in bands(&figures, 0.05).unwrap_or_default() {
                prop_assert!(banded.band.low <= banded.value && banded.value <= banded.band.high);
            }
        }
    }
}
