//! Which value a quantile is, also where some requests never finished.
//!
//! A request that was dropped, cut off or timed out has no response time: all that is known is that it would have been
//! longer (it is *right-censored*). Such requests count as the slowest of all. A quantile whose rank falls among them
//! is known from below only and is printed `≥ x`.

use crate::Histogram;

/// The 1-based rank of quantile `q` among `count` values: the smallest k with k/count ≥ q (nearest-rank definition).
pub fn rank(q: f64, count: u64) -> u64 {
    // A product such as 0.99 × 100 may come out a hair above 99: the next rank would be wrong.
    let exact = q * count as f64;
    ((exact - 1e-9 * exact.max(1.0)).ceil() as u64).clamp(1, count.max(1))
}

/// A quantile, and whether it is only known from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The value, in the unit of the histogram; the lower bound where `at_least`.
    pub value: u64,
    /// The rank fell among requests whose true value is unknown and greater.
    pub at_least: bool,
}

/// Quantile `q` over the values of `seen` and `unseen` more that are longer than any of them could tell.
/// `unfinished` of the values in `seen` are themselves lower bounds (timeouts), and are taken for its greatest.
pub fn censored(seen: &Histogram, unfinished: u64, unseen: u64, q: f64) -> Quantile {
    let rank = rank(q, seen.count() + unseen);
    let known = seen.count().saturating_sub(unfinished);
    Quantile { value: seen.value_at_rank(rank.min(seen.count())), at_least: rank > known }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut h = Histogram::new();
        (1..=90).for_each(|v| h.record(v));
        assert_eq!(censored(&h, 0, 10, 0.9), Quantile { value: 90, at_least: false });
        assert_eq!(censored(&h, 0, 10, 0.91), Quantile { value: 90, at_least: true });
        (0..10).for_each(|_| h.record(1000));
        assert_eq!(censored(&h, 10, 0, 0.9), Quantile { value: 90, at_least: false });
        assert_eq!(censored(&h, 10, 0, 0.95), Quantile { value: 1000, at_least: true });
    }

    #[test]
    fn nothing_seen_and_something_lost_is_at_least_zero() {
        let q = censored(&Histogram::new(), 0, 5, 0.5);
        assert_eq!(q, Quantile { value: 0, at_least: true });
    }
}
