//! Tests whether two small groups of values differ, based on their ranks.
//!
//! The test is the exact two-sided test of Mann & Whitney (1947), with mean ranks for ties. The
//! module also has the smallest p-value that groups of some size can reach. `shift` estimates the
//! size of the difference.

/// Returns the exact two-sided p-value. This is the share of all divisions into groups of
/// these sizes with a rank sum at least as far from the middle as that of `ours`. It is 1 if
/// a group is empty.
pub fn mann_whitney(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.is_empty() || theirs.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = ours.iter().chain(theirs).copied().collect();
    let ranks = doubled_ranks(&all);
    let sum: usize = ranks[..ours.len()].iter().sum();
    let middle = (ours.len() * (all.len() + 1)) as f64;
    let distance = (sum as f64 - middle).abs();
    let ways = ways(&ranks, ours.len());
    let mut total = 0.0;
    let mut extreme = 0.0;
    for (sum, count) in ways.iter().enumerate() {
        total += count;
        if (sum as f64 - middle).abs() >= distance {
            extreme += count;
        }
    }
    extreme / total
}

/// Returns the exact one-sided p-value of "ours are greater". This is the share of all
/// divisions into groups of these sizes with a first rank sum of at least that of `ours`. It is
/// 1 if a group is empty.
pub fn greater(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.is_empty() || theirs.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = ours.iter().chain(theirs).copied().collect();
    let ranks = doubled_ranks(&all);
    let sum: usize = ranks[..ours.len()].iter().sum();
    let ways = ways(&ranks, ours.len());
    ways[sum..].iter().sum::<f64>() / ways.iter().sum::<f64>()
}

/// Returns the ranks times 2, so that mean ranks of ties are integers.
fn doubled_ranks(all: &[f64]) -> Vec<usize> {
    all.iter()
        .map(|value| {
            let below = all.iter().filter(|other| *other < value).count();
            let equal = all.iter().filter(|other| *other == value).count();
            2 * below + equal + 1
        })
        .collect()
}

/// Returns the number of ways in which `size` of the `ranks` have each sum.
fn ways(ranks: &[usize], size: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; size + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        // Descending, so that each rank is used at most once.
        for chosen in (1..=size).rev() {
            for sum in (*rank..=most).rev() {
                ways[chosen][sum] += ways[chosen - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(size)
}

/// Returns the smallest two-sided p-value that groups of these sizes can have: 2 / C(n + m, n).
pub fn least_p(ours: usize, theirs: usize) -> f64 {
    let ways: f64 = (1..=ours).map(|i| (theirs + i) as f64 / i as f64).product();
    (2.0 / ways).min(1.0)
}

/// Returns the critical count of the exact one-sided test of groups without ties: of all
/// differences between a value of one group and a value of the other, this many must be on one
/// side. None if groups of these sizes cannot reach the level.
pub fn count(ours: usize, theirs: usize, level: f64) -> Option<usize> {
    let ranks: Vec<usize> = (1..=ours + theirs).collect();
    let ways = ways(&ranks, ours);
    let least = ours * (ours + 1) / 2;
    let total = ways.iter().sum::<f64>();
    let mut above = 0.0;
    let mut critical = None;
    for count in (0..=ours * theirs).rev() {
        above += ways[least + count];
        // The tolerance accepts a level that is reached exactly, in spite of rounding.
        if above > level * total * (1.0 + 1e-12) {
            break;
        }
        critical = Some(count);
    }
    critical
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_minimum_p_follows_the_binomial_coefficient() {
        assert!((least_p(3, 3) - 0.1).abs() < 1e-12);
        assert!((least_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!((least_p(1, 1), least_p(0, 3)), (1.0, 1.0));
    }

    #[test]
    fn p_matches_tables() {
        // Two separate groups of 3 have p = 0.1. For groups of 5, U = 2 has the two-sided p 8/252
        // (Mann & Whitney's table: 0.016 one-sided).
        assert!((mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.1).abs() < 1e-12);
        let p = mann_whitney(&[1.0, 2.0, 3.0, 4.0, 7.0], &[5.0, 6.0, 8.0, 9.0, 10.0]);
        assert!((p - 8.0 / 252.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn the_one_sided_p_equals_that_of_the_published_example() {
        // R: wilcox.test(x, y, alternative = "greater"): W = 35, p-value = 0.1272 (Hollander &
        // Wolfe 1973, p. 69).
        let at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert!((greater(&at_term, &early) - 0.1272).abs() < 5e-5);
        assert!((2.0 * greater(&at_term, &early) - mann_whitney(&at_term, &early)).abs() < 1e-12);
        assert_eq!(greater(&[f64::INFINITY, 3.0], &[1.0, 2.0]), 1.0 / 6.0);
    }

    #[test]
    fn counts_match_tables() {
        // Mann & Whitney's table: for groups of 10 and 5, U = 42 or more has the one-sided p
        // 0.01998, and 41 has 0.0276.
        assert_eq!(count(10, 5, 0.02), Some(42));
        assert_eq!(count(5, 10, 0.0277), Some(41));
        assert_eq!((count(3, 3, 0.025), count(0, 3, 0.025)), (None, None));
    }

    #[test]
    fn equal_values_do_not_differ() {
        assert_eq!(mann_whitney(&[2.0; 4], &[2.0; 5]), 1.0);
        assert_eq!(mann_whitney(&[], &[1.0]), 1.0);
    }

    proptest! {
        #[test]
        fn p_is_symmetric_and_never_below_the_minimum(
            a in prop::collection::vec(-1e3f64..1e3, 1..8), b in prop::collection::vec(-1e3f64..1e3, 1..8)
        ) {
            let p = mann_whitney(&a, &b);
            prop_assert!((p - mann_whitney(&b, &a)).abs() < 1e-9);
            prop_assert!(p <= 1.0 && p >= least_p(a.len(), b.len()) - 1e-12);
        }
    }
}
