//! Computes the interval of a quantile, as shares of the sorted values.
//!
//! With 95 % confidence, the true quantile lies between these ranks, whatever the distribution of
//! the values. The sample may be autocorrelated: it counts as `effective`
//! independent values. The values at these ranks are not determined here.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// Quantile of the normal distribution at 97.5 %.
pub(crate) const NORMAL: f64 = 1.959_963_984_540_054;

/// Minimum number of effective samples beyond a quantile for a closed interval. With fewer, the
/// probability to see none is above 2.5 % (Poisson: e⁻⁴ = 1.8 %).
pub const FEWEST_BEYOND: f64 = 4.0;

/// Number of effective samples on both sides (n·q·(1−q)) from which the incomplete beta function is
/// replaced by its score approximation. The two agree to a thousandth of the interval, and the
/// continued fraction of the beta function is slow there.
const MANY: f64 = 200.0;

/// Properties of a quantile's sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveSample {
    /// Effective sample size: the equivalent number of independent values.
    pub effective: f64,
    /// Degrees of freedom of the estimate of that number.
    pub freedom: f64,
    /// Skewness of the number of values beyond the quantile.
    pub skewness: f64,
}

/// Interval of a quantile, as shares (0 to 1) of the sorted values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end; None if too few values are beyond the quantile.
    pub high: Option<f64>,
}

/// Quantile of Student's t at 97.5 %. Above 200 degrees of freedom it is computed by an expansion
/// (Abramowitz & Stegun 26.7.5).
pub fn student(freedom: f64) -> f64 {
    if freedom > 200.0 {
        return NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// Probability that Student's t is at least as far from 0 as `t`, in either direction.
pub fn student_p(t: f64, freedom: f64) -> f64 {
    // A degree of freedom above this makes no difference, but loses precision.
    let freedom = freedom.min(1e6);
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |law| 2.0 * law.cdf(-t.abs()))
}

/// Returns the 95 % interval of quantile `q`.
///
/// For n independent values, its ends are fractional order statistics. Their shares u solve
/// `I_q((n+1)u, (n+1)(1−u))` = 0.975 and 0.025, where I is the regularized incomplete beta
/// function. Source: Hutson, "Calculating nonparametric confidence intervals for quantiles
/// using fractional order statistics", J. Applied Statistics 26, 1999. n is the effective size,
/// reduced by (z/t)² because it is itself an estimate. Source: Korn & Graubard, "Confidence
/// intervals for proportions with small expected number of positive counts estimated from
/// survey data", Survey Methodology 24, 1998.
///
/// If slow requests come in clusters, a run with few clusters underestimates both the quantile and
/// its uncertainty. The upper end is therefore raised by (2z²+1)/6 · γ standard deviations (Johnson
/// 1978; Hall 1992, §2.3). γ is the skewness of the count beyond the quantile, minus that of the
/// binomial distribution, which the formula above contains already.
pub fn shares(q: f64, sample: EffectiveSample) -> Shares {
    let EffectiveSample { effective, freedom, skewness } = sample;
    let size = effective * (NORMAL / student(freedom)).powi(2);
    let deviation = (q * (1.0 - q) / effective).sqrt();
    let excess_skewness =
        (skewness - (2.0 * q - 1.0) / (effective * q * (1.0 - q)).sqrt()).clamp(0.0, 0.4);
    let correction = (2.0 * NORMAL * NORMAL + 1.0) / 6.0 * excess_skewness * deviation;
    let high = share(size, q, Side::High) + correction;
    let is_closed = effective * (1.0 - q) >= FEWEST_BEYOND && (size + 1.0) * (1.0 - high) >= 1.0;
    Shares { low: share(size, q, Side::Low), high: is_closed.then_some(high) }
}

/// Returns the 1-based ranks of the ends of a 95 % interval of the median of `n` independent
/// values. The interval is the inversion of the sign test (Thompson 1936). None for fewer than six
/// values: their whole range contains the median with less than 95 %.
pub fn median_ranks(n: usize) -> Option<(usize, usize)> {
    let mut below = 0.0;
    let mut term = 0.5_f64.powi(i32::try_from(n).ok()?);
    let mut rank = 0;
    // The number of values below the median is binomial with 1/2. Ranks in the 2.5
    // % tail are excluded.
    while below + term <= 0.025 && rank < n {
        below += term;
        term *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some((rank, n + 1 - rank))
}

/// End of an interval.
#[derive(Clone, Copy)]
enum Side {
    Low,
    High,
}

/// One end of the interval for `size` independent values.
fn share(size: f64, q: f64, side: Side) -> f64 {
    if size * q * (1.0 - q) >= MANY {
        return score(size, q, side);
    }
    let probability = match side {
        Side::Low => 0.975,
        Side::High => 0.025,
    };
    let mut low = 1e-12;
    let mut high = 1.0 - 1e-12;
    // Bisection to nearly the precision of an f64.
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        let at_middle = beta_reg((size + 1.0) * middle, (size + 1.0) * (1.0 - middle), q);
        if at_middle > probability { low = middle } else { high = middle }
    }
    low
}

/// Approximates an end of the interval by its score.
///
/// A beta variable with mean u and sum n+1 has the variance u(1−u)/(n+2). The normal
/// approximation is (q − u)² = z²·u(1−u)/(n+2); Wilson (1927) gives its solutions. The
/// skewness is 2(1−2u)/√(n·u(1−u)). The first term of Cornish & Fisher (1937) for it moves
/// both ends by −(z²−1)(1−2q)/(3n).
fn score(size: f64, q: f64, side: Side) -> f64 {
    let c = NORMAL * NORMAL / (size + 2.0);
    let half = (c * q * (1.0 - q) + c * c / 4.0).sqrt();
    let sign = match side {
        Side::Low => -1.0,
        Side::High => 1.0,
    };
    let skew_shift = (NORMAL * NORMAL - 1.0) * (1.0 - 2.0 * q) / (3.0 * size);
    (q + c / 2.0 + sign * half) / (1.0 + c) - skew_shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_of(effective: f64) -> EffectiveSample {
        EffectiveSample { effective, freedom: 1e6, skewness: 0.0 }
    }

    #[test]
    fn students_t_matches_tables() {
        for (freedom, t) in [(3.0, 3.182), (9.0, 2.262), (30.0, 2.042), (120.0, 1.980)] {
            assert!((student(freedom) - t).abs() < 5e-4, "{freedom}");
        }
        assert!((student(1e7) - NORMAL).abs() < 1e-4);
    }

    #[test]
    fn the_median_of_a_hundred_lies_between_the_fortieth_and_the_sixty_first() {
        // Order-statistic tables for the median, n = 100, at least 95 %: ranks 40 and 61 (David &
        // Nagaraja 2003). The fractional ranks (n+1)u lie inside these, by less than one.
        let shares = shares(0.5, sample_of(100.0));
        let (low, high) = (101.0 * shares.low, 101.0 * shares.high.unwrap());
        assert!(low > 40.0 && low < 41.0 && high > 60.0 && high < 61.0, "{low} {high}");
    }

    #[test]
    fn the_ranks_around_a_median_match_tables() {
        // Conover, Practical Nonparametric Statistics, table of the binomial distribution.
        assert_eq!(
            [5, 6, 9, 10, 20].map(median_ranks),
            [None, Some((1, 6)), Some((2, 8)), Some((2, 9)), Some((6, 15))]
        );
        assert_eq!(median_ranks(100), Some((40, 61)));
        assert_eq!(median_ranks(0), None);
    }

    #[test]
    fn fewer_than_four_values_beyond_leave_no_upper_bound() {
        assert_eq!(shares(0.99, sample_of(399.0)).high, None);
        assert!(shares(0.99, sample_of(500.0)).high.is_some());
        assert_eq!(shares(0.99, EffectiveSample { freedom: 4.0, ..sample_of(500.0) }).high, None);
    }

    #[test]
    fn higher_confidence_and_autocorrelation_widen_the_interval() {
        let sure = shares(0.9, sample_of(500.0));
        let unsure = shares(0.9, EffectiveSample { freedom: 8.0, ..sample_of(500.0) });
        let clumped = shares(0.9, EffectiveSample { skewness: 0.5, ..sample_of(500.0) });
        assert!(unsure.low < sure.low && unsure.high > sure.high);
        assert!(clumped.low == sure.low && clumped.high > sure.high);
    }

    #[test]
    fn both_methods_agree_at_their_boundary() {
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
