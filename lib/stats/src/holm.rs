//! Corrects the p-values of many tests, so that false alarms are as rare as with one test.
//!
//! The method is Holm's step-down procedure (Scandinavian J. of Statistics 6, 1979) with
//! weights. Of the remaining hypotheses, the one with the smallest weighted p-value is tested
//! at its share of α. If it is rejected, its share is distributed among the rest. The size of a
//! difference is not estimated.

/// A hypothesis: its p-value, and its initial weight. Its share of α is its weight divided by the
/// sum of all weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hypothesis {
    /// p-value of this test alone.
    pub p: f64,
    /// Weight; a hypothesis with a higher one is tested earlier.
    pub weight: f64,
}

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HolmResult {
    /// Adjusted p-value: the smallest α at which the hypothesis is rejected.
    pub p: f64,
    /// Level of the single test: the share of α when the hypothesis was tested, or when no
    /// more could be rejected.
    pub level: f64,
    /// True if the hypothesis was rejected.
    pub rejected: bool,
}

/// Tests all hypotheses. The results are in the same order.
pub fn holm(all: &[Hypothesis], alpha: f64) -> Vec<HolmResult> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| (all[*a].p / all[*a].weight).total_cmp(&(all[*b].p / all[*b].weight)));
    let mut results = vec![HolmResult { p: 1.0, level: alpha, rejected: false }; all.len()];
    let mut highest = 0.0_f64;
    let mut remaining_weight = weight(all, &order);
    let mut rejections = 0;
    for index in order.iter().copied() {
        let share = remaining_weight / all[index].weight;
        // A later hypothesis cannot have a smaller adjusted p-value than an earlier one.
        highest = highest.max((all[index].p * share).min(1.0));
        let rejected = highest <= alpha;
        results[index] = HolmResult { p: highest, level: alpha / share, rejected };
        if rejected {
            rejections += 1;
            remaining_weight = weight(all, &order[rejections..]);
        }
    }
    results
}

/// Sum of the weights of some hypotheses.
fn weight(all: &[Hypothesis], indices: &[usize]) -> f64 {
    indices.iter().map(|index| all[*index].weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn equal(p: &[f64]) -> Vec<Hypothesis> {
        p.iter().map(|p| Hypothesis { p: *p, weight: 1.0 }).collect()
    }

    #[test]
    fn p_values_equal_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.02, 0.005), "holm"): 0.03 0.04 0.04 0.02.
        let adjusted: Vec<f64> =
            holm(&equal(&[0.01, 0.04, 0.02, 0.005]), 0.05).iter().map(|t| t.p).collect();
        for (adjusted, r) in adjusted.iter().zip([0.03, 0.04, 0.04, 0.02]) {
            assert!((adjusted - r).abs() < 1e-12, "{adjusted} {r}");
        }
    }

    #[test]
    fn rejected_hypotheses_pass_their_level_on() {
        let first = Hypothesis { p: 0.02, weight: 0.5 };
        let others = [0.02, 0.4].map(|p| Hypothesis { p, weight: 0.25 });
        let tested = holm(&[first, others[0], others[1]], 0.05);
        // 0.02 ≤ 0.025, then 0.02 ≤ 0.05·0.25/0.5, but 0.4 > 0.05.
        assert_eq!(tested.iter().map(|t| t.rejected).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(tested.iter().map(|t| t.level).collect::<Vec<_>>(), [0.025, 0.025, 0.05]);
        assert_eq!(holm(&[], 0.05), []);
    }

    proptest! {
        #[test]
        fn a_hypothesis_is_rejected_if_its_p_is_within_its_level(
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
