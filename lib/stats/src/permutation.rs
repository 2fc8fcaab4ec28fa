//! Tests whether two contenders differ that were measured in turn, block by block.
//!
//! The method is the permutation test within blocks. If the contenders are equal, each difference
//! within a block could also have the opposite sign. The p-value is a share of all 2ⁿ ways to
//! exchange the contenders in some blocks: those with a statistic at least as extreme. The
//! statistic is the sum of the signed ranks (Wilcoxon, Biometrics Bulletin 1, 1945), so an extreme
//! block has no more weight than its rank. `shift` estimates the size of the difference.
//! `sequential` contains the test that may be repeated after each block.

/// Factor on all rank sums, so that mean ranks of ties are integers.
pub const HALVES: u32 = 2;

/// Returns the ranks of the absolute differences, times [`HALVES`]; ties have their mean rank.
pub fn ranks(differences: &[f64]) -> Vec<u32> {
    differences
        .iter()
        .map(|difference| {
            let size = difference.abs();
            let below = differences.iter().filter(|other| other.abs() < size).count() as u32;
            let equal = differences.iter().filter(|other| other.abs() == size).count() as u32;
            HALVES * below + equal + 1
        })
        .collect()
}

/// Returns the sum of the ranks of positive differences, times [`HALVES`]. A zero counts neither as
/// greater nor as less.
pub fn sum(differences: &[f64]) -> u32 {
    ranks(differences)
        .iter()
        .zip(differences)
        .filter(|(_, d)| **d > 0.0)
        .map(|(rank, _)| rank)
        .sum()
}

/// Returns the exact p-value of "greater than zero": the share of all ways with a sum of at least
/// that of these differences. It is 1 without differences.
pub fn greater(differences: &[f64]) -> f64 {
    let ranks = ranks(differences);
    let observed = sum(differences);
    let most: u32 = ranks.iter().sum();
    let mut shares = vec![0.0; most as usize + 1];
    shares[0] = 1.0;
    for rank in ranks {
        // A block has either sign with probability 1/2.
        let mut next: Vec<f64> = shares.iter().map(|share| share / 2.0).collect();
        for (sum, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            next[sum + rank as usize] += share / 2.0;
        }
        shares = next;
    }
    shares[observed as usize..].iter().sum::<f64>().min(1.0)
}

/// Returns the smallest two-sided p-value that `blocks` blocks can have: 2/2ⁿ.
pub fn least_p(blocks: u32) -> f64 {
    2.0 * 0.5_f64.powi(blocks.max(1).cast_signed())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hamilton's depression scale of nine patients before and after a tranquilliser
    /// (Hollander & Wolfe, Nonparametric Statistical Methods, 1973, p. 29; R's `wilcox.test`
    /// has them as its example).
    pub const DEPRESSION: [f64; 9] = [
        1.83 - 0.878,
        0.50 - 0.647,
        1.62 - 0.598,
        2.48 - 2.05,
        1.68 - 1.06,
        1.88 - 1.29,
        1.55 - 1.06,
        -0.08,
        0.01,
    ];

    #[test]
    fn the_published_example_has_its_published_p() {
        // R: wilcox.test(x, y, paired = TRUE, alternative = "greater"): V = 40, p-value = 0.01953.
        assert_eq!(sum(&DEPRESSION), 40 * HALVES);
        assert!((greater(&DEPRESSION) - 0.01953).abs() < 5e-6);
    }

    #[test]
    fn ties_share_their_ranks_and_zeros_are_ignored() {
        // Counted by hand: {1, 1} has one of four ways with this sum, {0, 1} has one of two.
        assert_eq!(greater(&[1.0, 1.0]), 0.25);
        assert_eq!(greater(&[0.0, 1.0]), 0.5);
        assert_eq!((greater(&[0.0; 5]), greater(&[])), (1.0, 1.0));
    }

    #[test]
    fn the_minimum_p_is_reached_if_all_blocks_agree() {
        for n in 1..12_u32 {
            let agree: Vec<f64> = (1..=n).map(f64::from).collect();
            assert_eq!(2.0 * greater(&agree), least_p(n));
        }
        assert_eq!(2.0 * greater(&[f64::INFINITY, 1.0, f64::INFINITY, 2.0, 3.0]), least_p(5));
    }

    /// Computes the p-value by enumeration of all 2ⁿ ways.
    fn by_hand(differences: &[f64]) -> f64 {
        let ranks = ranks(differences);
        let observed = sum(differences);
        let ways = 1_u32 << differences.len();
        let sum = |way: u32| -> u32 {
            ranks.iter().enumerate().map(|(b, rank)| (way >> b & 1) * rank).sum()
        };
        (0..ways).filter(|way| sum(*way) >= observed).count() as f64 / f64::from(ways)
    }

    proptest! {
        #[test]
        fn the_p_value_is_the_share_of_all_permutations(d in prop::collection::vec(-4_i8..5, 1..9)) {
            let d: Vec<f64> = d.into_iter().map(f64::from).collect();
            prop_assert!((greater(&d) - by_hand(&d)).abs() < 1e-12);
        }

        #[test]
        fn a_greater_difference_never_increases_p(
            d in prop::collection::vec(-1e3f64..1e3, 1..10), at in 0_usize..10, by in 0.0f64..1e3
        ) {
            let mut more = d.clone();
            more[at % d.len()] += by;
            prop_assert!(greater(&more) <= greater(&d) + 1e-12);
        }
    }
}
