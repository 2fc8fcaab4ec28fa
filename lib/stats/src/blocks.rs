//! How much a sum varies in a series whose points hang together.
//!
//! What it is: the long-run variance of a stationary series by *batch means* (Conway 1963; Law & Kelton, "Simulation
//! Modeling and Analysis", §9.5.3), with blocks that grow until they no longer hang together, and what the blocks say
//! of how sure that variance is. Out of scope: a test of whether the series is stationary (see [`crate::mser`]).

/// Fewer blocks say nothing.
pub const FEWEST_BLOCKS: usize = 10;

/// Neighbouring blocks count as independent below this quantile of the normal distribution (5 %, one-sided).
const TOGETHER: f64 = 1.645;

/// How the sum of a series varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The variance of the sum, divided by the number of points: lim Var(Σz)/n.
    pub variance: f64,
    /// The degrees of freedom of that variance.
    pub freedom: f64,
    /// The skewness of the sum.
    pub skewness: f64,
    /// Points in a block.
    pub block: usize,
    /// Blocks.
    pub blocks: usize,
}

/// How the sum of `series` varies; None where even a tenth of it is too short for a block.
///
/// Blocks of 1, 2, 4, … points are summed until the correlation r of neighbours is no longer significant (von Neumann
/// 1941; Fishman's LBATCH 1978: r + 1/m < 1.645/√m for m blocks; 1/m is the bias of r). What correlation is left is
/// taken into account as of a first-order process, by the factor (1 + r)/(1 − r) for r > 0 (Skart: Tafazzoli, Wilson,
/// Lada & Steiger, "Performance of Skart", INFORMS J. Computing 23, 2011, eq. 8).
pub fn spread(series: &[f64]) -> Option<Spread> {
    let mut block = 1;
    while series.len() / block >= FEWEST_BLOCKS {
        let sums: Vec<f64> = series.chunks_exact(block).map(|chunk| chunk.iter().sum()).collect();
        let moments = Moments::of(&sums);
        let left = moments.neighbours + 1.0 / moments.count;
        if left < TOGETHER / moments.count.sqrt() {
            return Some(moments.spread(left.max(0.0), block));
        }
        block *= 2;
    }
    None
}

struct Moments {
    count: f64,
    variance: f64,
    skewness: f64,
    kurtosis: f64,
    neighbours: f64,
}

impl Moments {
    /// All 0 where the sums do not differ.
    fn of(sums: &[f64]) -> Self {
        let count = sums.len() as f64;
        let mean = sums.iter().sum::<f64>() / count;
        let power = |k: i32| sums.iter().map(|s| (s - mean).powi(k)).sum::<f64>() / count;
        let second = power(2);
        let scaled = |x: f64, by: f64| if second > 0.0 { x / by } else { 0.0 };
        let together: f64 = sums.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / count;
        Self {
            count,
            variance: second * count / (count - 1.0),
            skewness: scaled(power(3), second.powf(1.5)),
            kurtosis: scaled(power(4), second * second) - scaled(3.0, 1.0),
            neighbours: scaled(together, second),
        }
    }

    /// A variance from m sums of excess kurtosis κ has itself the relative variance 2/(m−1) + κ/m (Cramér 1946,
    /// §27.4); as many degrees of freedom are those of a χ² that varies as much (Satterthwaite 1946). Clumps of slow
    /// requests make κ large: a few blocks then carry the whole variance.
    fn spread(&self, left: f64, block: usize) -> Spread {
        let unsure = 2.0 / (self.count - 1.0) + self.kurtosis.max(0.0) / self.count;
        Spread {
            variance: self.variance / block as f64 * (1.0 + left) / (1.0 - left),
            freedom: (2.0 / unsure).max(3.0),
            skewness: self.skewness / self.count.sqrt(),
            block,
            blocks: self.count as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly distributed on ±√3 (variance 1), by a linear congruential generator (Knuth, MMIX).
    fn noise(n: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12_f64.sqrt()
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn independent_points_are_blocks_of_their_own() {
        let spread = spread(&noise(4000)).unwrap();
        assert_eq!((spread.block, spread.blocks), (1, 4000));
        assert!((spread.variance - 1.0).abs() < 0.1, "{spread:?}");
        // An even distribution has an excess kurtosis of −1.2, which counts as 0.
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
        // 10 clumps among 1000: excess kurtosis 1/(p(1−p)) − 6 = 95.01; 2/(2/999 + 0.09501) = 20.62.
        assert!((spread.freedom - 20.62).abs() < 0.01, "{spread:?}");
        // Skewness of one: (1−2p)/√(p(1−p)) = 9.8494; of the sum of a thousand 0.31147.
        assert!((spread.skewness - 0.31147).abs() < 1e-4, "{spread:?}");
    }

    #[test]
    fn what_never_settles_or_is_too_short_has_no_answer() {
        assert_eq!(spread(&(0..200).map(f64::from).collect::<Vec<_>>()), None);
        assert_eq!(spread(&[1.0; 9]), None);
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn what_does_not_vary_has_a_variance_of_nothing() {
        let spread = spread(&[2.0; 50]).unwrap();
        assert_eq!((spread.variance, spread.skewness), (0.0, 0.0));
        assert!((spread.freedom - 49.0).abs() < 1e-9);
    }
}
