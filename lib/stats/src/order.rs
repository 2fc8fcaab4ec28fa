//! The interval of a quantile, as shares of the sorted values.
//!
//! What it is: the ranks between which the true quantile lies with 95 % confidence, whatever the distribution of the
//! values, for a sample worth `effective` independent ones. Out of scope: the values at these ranks.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// The quantile of the normal distribution at 97.5 %.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Fewer effective samples beyond a quantile leave its interval open: the chance to see none at all is then above
/// 2.5 % (Poisson: e⁻⁴ = 1.8 %).
pub const FEWEST_BEYOND: f64 = 4.0;

/// From this many effective samples on both sides (n·q·(1−q)) the incomplete beta function is replaced by its score
/// approximation: they agree to a thousandth of the interval, and the continued fraction of the former is slow there.
const MANY: f64 = 200.0;

/// What is known of a quantile's sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Independent values that it is worth.
    pub effective: f64,
    /// The degrees of freedom with which that number is known.
    pub freedom: f64,
    /// The skewness of the number of values beyond the quantile.
    pub skewness: f64,
}

/// Shares (0 to 1) of the sorted values between which the true quantile lies; no upper one where too few lie beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: Option<f64>,
}

/// Student's t at 97.5 %; from 200 degrees of freedom on by its expansion (Abramowitz & Stegun 26.7.5).
pub fn student(freedom: f64) -> f64 {
    if freedom > 200.0 {
        return NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// The 95 % interval of quantile `q`.
///
/// For n independent values, the fractional order statistics whose shares u solve `I_q((n+1)u, (n+1)(1−u))` = 0.975 and
/// 0.025, I being the regularised incomplete beta function (Hutson, "Calculating nonparametric confidence intervals for
/// quantiles using fractional order statistics", J. Applied Statistics 26, 1999). n is the effective size, made smaller
/// by (z/t)² because it is itself an estimate (Korn & Graubard, "Confidence intervals for proportions with small
/// expected number of positive counts estimated from survey data", Survey Methodology 24, 1998).
///
/// Where slow requests come in clumps, a run that saw few clumps finds both the quantile and its own uncertainty too
/// small. The upper end is therefore moved up by (2z²+1)/6 · γ standard deviations (Johnson 1978; Hall 1992, §2.3), γ
/// being by how much the count beyond is more skewed than the binomial one that is in the above already.
pub fn shares(q: f64, sample: Sample) -> Shares {
    let Sample { effective, freedom, skewness } = sample;
    let size = effective * (NORMAL / student(freedom)).powi(2);
    let deviation = (q * (1.0 - q) / effective).sqrt();
    let more = (skewness - (2.0 * q - 1.0) / (effective * q * (1.0 - q)).sqrt()).clamp(0.0, 0.4);
    let moved = (2.0 * NORMAL * NORMAL + 1.0) / 6.0 * more * deviation;
    let high = share(size, q, Side::High) + moved;
    let known = effective * (1.0 - q) >= FEWEST_BEYOND && (size + 1.0) * (1.0 - high) >= 1.0;
    Shares { low: share(size, q, Side::Low), high: known.then_some(high) }
}

/// The 1-based ranks of the least and the greatest value of a 95 % interval of the median of `n` independent values (the
/// sign test turned round: Thompson 1936); None of fewer than six, whose whole range holds it with less than 95 %.
pub fn median_ranks(n: usize) -> Option<(usize, usize)> {
    let (mut below, mut term) = (0.0, 0.5_f64.powi(i32::try_from(n).ok()?));
    let mut rank = 0;
    // Those below the median are binomial with 1/2: as many of the tail as fit into 2.5 % are left out.
    while below + term <= 0.025 && rank < n {
        below += term;
        term *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some((rank, n + 1 - rank))
}

#[derive(Clone, Copy)]
enum Side {
    Low,
    High,
}

fn share(size: f64, q: f64, side: Side) -> f64 {
    if size * q * (1.0 - q) >= MANY {
        return score(size, q, side);
    }
    let wanted = match side {
        Side::Low => 0.975,
        Side::High => 0.025,
    };
    let (mut low, mut high) = (1e-12, 1.0 - 1e-12);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        let at_most = beta_reg((size + 1.0) * middle, (size + 1.0) * (1.0 - middle), q);
        if at_most > wanted { low = middle } else { high = middle }
    }
    low
}

/// A beta variable of mean u and sum n+1 has the variance u(1−u)/(n+2): the normal approximation gives
/// (q − u)² = z²·u(1−u)/(n+2), whose solutions are Wilson's (1927). Its skewness is 2(1−2u)/√(n·u(1−u)): the first term
/// of Cornish & Fisher (1937) for it moves both ends by −(z²−1)(1−2q)/(3n).
fn score(size: f64, q: f64, side: Side) -> f64 {
    let c = NORMAL * NORMAL / (size + 2.0);
    let half = (c * q * (1.0 - q) + c * c / 4.0).sqrt();
    let sign = match side {
        Side::Low => -1.0,
        Side::High => 1.0,
    };
    let skewed = (NORMAL * NORMAL - 1.0) * (1.0 - 2.0 * q) / (3.0 * size);
    (q + c / 2.0 + sign * half) / (1.0 + c) - skewed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(effective: f64) -> Sample {
        Sample { effective, freedom: 1e6, skewness: 0.0 }
    }

    #[test]
    fn students_t_is_that_of_the_tables() {
        for (freedom, t) in [(3.0, 3.182), (9.0, 2.262), (30.0, 2.042), (120.0, 1.980)] {
            assert!((student(freedom) - t).abs() < 5e-4, "{freedom}");
        }
        assert!((student(1e7) - NORMAL).abs() < 1e-4);
    }

    #[test]
    fn the_median_of_a_hundred_lies_between_the_fortieth_and_the_sixty_first() {
        // Order-statistic tables for the median, n = 100, at least 95 %: ranks 40 and 61 (David & Nagaraja 2003).
        // The fractional ranks (n+1)u lie inside these, by less than one.
        let shares = shares(0.5, known(100.0));
        let (low, high) = (101.0 * shares.low, 101.0 * shares.high.unwrap());
        assert!(low > 40.0 && low < 41.0 && high > 60.0 && high < 61.0, "{low} {high}");
    }

    #[test]
    fn the_ranks_around_a_median_are_those_of_the_tables() {
        // Conover, Practical Nonparametric Statistics, table of the binomial distribution.
        assert_eq!(
            [5, 6, 9, 10, 20].map(median_ranks),
            [None, Some((1, 6)), Some((2, 8)), Some((2, 9)), Some((6, 15))]
        );
        assert_eq!(median_ranks(100), Some((40, 61)));
        assert_eq!(median_ranks(0), None);
    }

    #[test]
    fn fewer_than_four_beyond_have_no_upper_end() {
        assert_eq!(shares(0.99, known(399.0)).high, None);
        assert!(shares(0.99, known(500.0)).high.is_some());
        assert_eq!(shares(0.99, Sample { freedom: 4.0, ..known(500.0) }).high, None);
    }

    #[test]
    fn less_certainty_and_clumps_widen() {
        let sure = shares(0.9, known(500.0));
        let unsure = shares(0.9, Sample { freedom: 8.0, ..known(500.0) });
        let clumped = shares(0.9, Sample { skewness: 0.5, ..known(500.0) });
        assert!(unsure.low < sure.low && unsure.high > sure.high);
        assert!(clumped.low == sure.low && clumped.high > sure.high);
    }

    #[test]
    fn both_ways_to_compute_agree_where_they_meet() {
        for q in [0.5, 0.9, 0.99, 0.999] {
            let size = MANY / (q * (1.0 - q));
            let deviation = (q * (1.0 - q) / size).sqrt();
            for side in [Side::Low, Side::High] {
                let (exact, near) = (share(size * 0.999_999, q, side), score(size, q, side));
                assert!((exact - near).abs() < 0.01 * deviation, "{q}: {exact} {near} {deviation}");
            }
        }
    }
}
