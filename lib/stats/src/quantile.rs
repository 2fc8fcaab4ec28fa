//! Computes quantiles, also of samples with unfinished requests.
//!
//! A request that was dropped, cut or timed out has no response time. It is only known that the
//! time would have been longer (it is *right-censored*). Such requests count as the slowest of
//! all. If the rank of a quantile falls among them, the quantile is known only from below and
//! is printed `≥ x`.

use crate::Histogram;

/// Returns the 1-based rank of quantile `q` among `count` values: the smallest k with k/count
/// ≥ q (nearest-rank definition).
pub fn rank(q: f64, count: u64) -> u64 {
    // A product such as 0.99 × 100 may be slightly above 99 because of rounding: the next
    // rank would be wrong.
    let exact = q * count as f64;
    ((exact - 1e-9 * exact.max(1.0)).ceil() as u64).clamp(1, count.max(1))
}

/// A quantile, and whether it is a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// Value, in the unit of the histogram; the lower bound if `at_least`.
    pub value: u64,
    /// True if the true value is unknown and greater: the rank falls among unfinished requests.
    pub at_least: bool,
}

/// Returns quantile `q` over three kinds of values: those of `known`; those of `timed_out`, of
/// which only a lower bound is known; and `unseen` more, of which nothing is known. The last two
/// count as slower than all known values, in this order.
pub fn censored(known: &Histogram, timed_out: &Histogram, unseen: u64, q: f64) -> Quantile {
    let rank = rank(q, known.count() + timed_out.count() + unseen);
    if rank <= known.count() {
        return Quantile { value: known.value_at_rank(rank), at_least: false };
    }
    let bound = timed_out.value_at_rank((rank - known.count()).min(timed_out.count()));
    Quantile {
        value: bound.max(known.max()),
        at_least: known.count() + timed_out.count() + unseen > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut h = Histogram::new();
        for v in values {
            h.record(v);
        }
        h
    }

    #[test]
    fn ranks_follow_the_nearest_rank_definition() {
        assert_eq!(rank(0.99, 100), 99);
        assert_eq!(rank(0.999, 1000), 999);
        assert_eq!(rank(0.5, 3), 2);
        assert_eq!(rank(0.0, 10), 1);
        assert_eq!(rank(1.0, 10), 10);
        assert_eq!(rank(0.07, 100), 7);
        assert_eq!(rank(0.5, 0), 1);
    }

    #[test]
    fn a_rank_among_the_unfinished_is_a_lower_bound() {
        let (known, none) = (of(1..=90), Histogram::new());
        assert_eq!(censored(&known, &none, 10, 0.9), Quantile { value: 90, at_least: false });
        assert_eq!(censored(&known, &none, 10, 0.91), Quantile { value: 90, at_least: true });
        let late = of([1000; 10]);
        assert_eq!(censored(&known, &late, 0, 0.9), Quantile { value: 90, at_least: false });
        assert_eq!(censored(&known, &late, 0, 0.95), Quantile { value: 1000, at_least: true });
    }

    #[test]
    fn a_timeout_shorter_than_a_slow_reply_still_counts_as_slower() {
        let known = of([1000; 50].into_iter().chain([5000; 50]));
        let late = of([2000; 50]);
        assert!(!censored(&known, &late, 0, 0.5).at_least);
        assert!(censored(&known, &late, 0, 0.5).value >= 5000);
        assert!(censored(&known, &late, 0, 0.9).at_least);
    }

    #[test]
    fn a_quantile_of_only_lost_requests_is_at_least_zero() {
        let none = Histogram::new();
        assert_eq!(censored(&none, &none, 5, 0.5), Quantile { value: 0, at_least: true });
        assert_eq!(censored(&none, &none, 0, 0.5), Quantile { value: 0, at_least: false });
    }
}
