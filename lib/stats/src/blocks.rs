//! Estimates the variance of a sum over an autocorrelated series.
//!
//! The result is the long-run variance of a stationary series by *batch means* (Conway 1963;
//! Law & Kelton, "Simulation Modeling and Analysis", §9.5.3). Blocks grow until they are no
//! longer correlated. The blocks also determine the uncertainty of that variance. Stationarity
//! is tested by [`crate::mser`].

/// Minimum number of blocks for an estimate.
pub const FEWEST_BLOCKS: usize = 10;

/// Quantile of the normal distribution below which neighboring blocks count as
/// independent (5 %, one-sided).
const CORRELATED: f64 = 1.645;

/// Variance of the sum of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Variance of the sum, divided by the number of points: lim Var(Σz)/n.
    pub variance: f64,
    /// Degrees of freedom of that variance.
    pub freedom: f64,
    /// Skewness of the sum.
    pub skewness: f64,
    /// Number of points in a block.
    pub block: usize,
    /// Number of blocks that were compared.
    pub blocks: usize,
}

/// Returns the variance of the sum of `series`. None if even a tenth of the series is too
/// short for a block.
///
/// The block size is doubled until the correlation r of neighbors is no longer significant (von
/// Neumann 1941; Fishman's LBATCH 1978: r + 1/m < 1.645/√m for m blocks; 1/m is the bias of r).
/// The remaining correlation counts like that of a first-order process: factor (1 + r)/(1 − r)
/// for r > 0 (Skart: Tafazzoli, Wilson, Lada & Steiger, "Performance of Skart", INFORMS J.
/// Computing 23, 2011, eq. 8).
pub fn spread(series: &[f64]) -> Option<Spread> {
    let mut block = 1;
    while series.len() / block >= FEWEST_BLOCKS {
        let sums: Vec<f64> = series.chunks_exact(block).map(|chunk| chunk.iter().sum()).collect();
        let moments = Moments::of(&sums);
        let correlation = moments.correlation + 1.0 / moments.count;
        if correlation < CORRELATED / moments.count.sqrt() {
            return Some(moments.spread(correlation.max(0.0), block));
        }
        block *= 2;
    }
    None
}

/// Moments of the block sums.
struct Moments {
    count: f64,
    variance: f64,
    skewness: f64,
    /// Excess kurtosis, 0 for a normal distribution.
    kurtosis: f64,
    /// Correlation of neighboring blocks, without the correction of its bias.
    correlation: f64,
}

impl Moments {
    /// Computes the moments. All are 0 if the sums are equal.
    fn of(sums: &[f64]) -> Self {
        let count = sums.len() as f64;
        let mean = sums.iter().sum::<f64>() / count;
        let second = central_moment(sums, mean, 2);
        // Without variation, no ratio of moments is defined.
        let is_varying = second > 0.0;
        let products: f64 =
            sums.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / count;
        Self {
            count,
            variance: second * count / (count - 1.0),
            skewness: if is_varying {
                central_moment(sums, mean, 3) / second.powf(1.5)
            } else {
                0.0
            },
            kurtosis: if is_varying {
                central_moment(sums, mean, 4) / (second * second) - 3.0
            } else {
                0.0
            },
            correlation: if is_varying { products / second } else { 0.0 },
        }
    }

    /// Returns the variance and its uncertainty. `correlation` is that of neighboring blocks.
    ///
    /// A variance from m sums with excess kurtosis κ has the relative variance 2/(m−1) + κ/m
    /// (Cramér 1946, §27.4). Its degrees of freedom are those of the χ² with the same relative
    /// variance (Satterthwaite 1946). Clusters of slow requests make κ large, since few blocks then
    /// contribute most of the variance.
    fn spread(&self, correlation: f64, block: usize) -> Spread {
        let relative_variance = 2.0 / (self.count - 1.0) + self.kurtosis.max(0.0) / self.count;
        Spread {
            variance: self.variance / block as f64 * (1.0 + correlation) / (1.0 - correlation),
            freedom: (2.0 / relative_variance).max(3.0),
            skewness: self.skewness / self.count.sqrt(),
            block,
            blocks: self.count as usize,
        }
    }
}

/// Central moment of order `k`.
fn central_moment(values: &[f64], mean: f64, k: i32) -> f64 {
    values.iter().map(|value| (value - mean).powi(k)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform noise on ±√3 (variance 1), by a linear congruential generator (Knuth, MMIX).
    fn noise(n: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12_f64.sqrt()
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn independent_points_are_separate_blocks() {
        let spread = spread(&noise(4000)).unwrap();
        assert_eq!((spread.block, spread.blocks), (1, 4000));
        assert!((spread.variance - 1.0).abs() < 0.1, "{spread:?}");
        // A uniform distribution has an excess kurtosis of −1.2, which counts as 0.
        assert!((spread.freedom - 3999.0).abs() < 1e-6);
    }

    #[test]
    fn a_first_order_process_has_its_known_long_run_variance() {
        // z(t) = 0.8 z(t−1) + e: lim Var(Σz)/n = 1/(1 − 0.8)² = 25.
        let mut z = 0.0;
        let series: Vec<f64> = noise(40_000)
            .iter()
            .map(|e| {
                z = 0.8 * z + e;
                z
            })
            .collect();
        let spread = spread(&series).unwrap();
        assert!(spread.block >= 8 && (spread.variance - 25.0).abs() < 3.0, "{spread:?}");
    }

    #[test]
    fn a_few_clumps_leave_few_degrees_of_freedom() {
        let series: Vec<f64> = (0..1000).map(|i| if i % 100 == 50 { 9.9 } else { -0.1 }).collect();
        let spread = spread(&series).unwrap();
        // 10 clumps among 1000: excess kurtosis 1/(p(1−p)) − 6 = 95.01; 2/(2/999
        // + 0.09501) = 20.62.
        assert!((spread.freedom - 20.62).abs() < 0.01, "{spread:?}");
        // Skewness of one value: (1−2p)/√(p(1−p)) = 9.8494; of the sum of a thousand: 0.31147.
        assert!((spread.skewness - 0.31147).abs() < 1e-4, "{spread:?}");
    }

    #[test]
    fn trends_and_short_series_have_no_variance() {
        assert_eq!(spread(&(0..200).map(f64::from).collect::<Vec<_>>()), None);
        assert_eq!(spread(&[1.0; 9]), None);
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn constant_values_have_a_variance_of_zero() {
        let spread = spread(&[2.0; 50]).unwrap();
        assert_eq!((spread.variance, spread.skewness), (0.0, 0.0));
        assert!((spread.freedom - 49.0).abs() < 1e-9);
    }
}
