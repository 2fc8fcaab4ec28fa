//! Many tests at once, without more false alarms than one.
//!
//! What it is: Holm's step-down procedure (Scandinavian J. of Statistics 6, 1979), weighted: the most convincing of all
//! that are left is tested at its share of α; what it used is shared among the rest if it was rejected. Out of scope: a
//! statement on how much anything differs.

/// A hypothesis: its p-value, and the share of α that it has at first (shares of all are taken in proportion).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hypothesis {
    /// Of it alone.
    pub p: f64,
    /// More: it is tested sooner.
    pub weight: f64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The least α at which it would have been rejected.
    pub p: f64,
    /// The level at which it was tested by itself: the share of α that it had when it was its turn, or when no more could
    /// be rejected.
    pub level: f64,
    /// It was rejected.
    pub rejected: bool,
}

/// All of them, in their order.
pub fn holm(all: &[Hypothesis], alpha: f64) -> Vec<Tested> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| (all[*a].p / all[*a].weight).total_cmp(&(all[*b].p / all[*b].weight)));
    let (mut tested, mut highest) = (vec![Tested { p: 1.0, level: alpha, rejected: false }; all.len()], 0.0_f64);
    let (mut left, mut done) = (weight(all, &order), 0);
    for at in order.iter().copied() {
        let Hypothesis { p, weight: own } = all[at];
        highest = highest.max((p * (left / own)).min(1.0));
        let rejected = highest <= alpha;
        tested[at] = Tested { p: highest, level: alpha / (left / own), rejected };
        if rejected {
            done += 1;
            left = weight(all, &order[done..]);
        }
    }
    tested
}

fn weight(all: &[Hypothesis], of: &[usize]) -> f64 {
    of.iter().map(|at| all[*at].weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn equal(p: &[f64]) -> Vec<Hypothesis> {
        p.iter().map(|p| Hypothesis { p: *p, weight: 1.0 }).collect()
    }

    #[test]
    fn p_values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.02, 0.005), "holm"): 0.03 0.04 0.04 0.02.
        let found: Vec<f64> = holm(&equal(&[0.01, 0.04, 0.02, 0.005]), 0.05).iter().map(|t| t.p).collect();
        for (found, r) in found.iter().zip([0.03, 0.04, 0.04, 0.02]) {
            assert!((found - r).abs() < 1e-12, "{found} {r}");
        }
    }

    #[test]
    fn what_was_rejected_hands_its_share_on() {
        let first = Hypothesis { p: 0.02, weight: 0.5 };
        let others = [0.02, 0.4].map(|p| Hypothesis { p, weight: 0.25 });
        let tested = holm(&[first, others[0], others[1]], 0.05);
        // 0.02 of 0.025; then 0.02 of 0.05·0.25/0.5; then 0.4 is not.
        assert_eq!(tested.iter().map(|t| t.rejected).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(tested.iter().map(|t| t.level).collect::<Vec<_>>(), [0.025, 0.025, 0.05]);
        assert_eq!(holm(&[], 0.05), []);
    }

    proptest! {
        #[test]
        fn a_hypothesis_is_rejected_just_when_its_own_p_is_within_its_level(
            p in prop::collection::vec((0.0f64..0.1, 1_u8..5), 1..8)
        ) {
            let all: Vec<Hypothesis> = p.iter().map(|(p, w)| Hypothesis { p: *p, weight: f64::from(*w) }).collect();
            for (hypothesis, tested) in all.iter().zip(holm(&all, 0.05)) {
                prop_assert_eq!(tested.rejected, hypothesis.p <= tested.level * (1.0 + 1e-12));
                prop_assert!(tested.p >= hypothesis.p);
            }
        }
    }
}
