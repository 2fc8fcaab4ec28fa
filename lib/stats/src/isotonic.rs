//! Fits the nearest non-decreasing curve.
//!
//! The method is weighted least squares with the only condition that values do not decrease.
//! Adjacent violators are pooled (Ayer, Brunk, Ewing, Reid & Silverman, Annals of Mathematical
//! Statistics 26, 1955; Barlow et al., "Statistical Inference under Order Restrictions", 1972). The
//! result is a step function, not a smooth curve.

use std::iter::repeat_n;

/// Returns the non-decreasing values nearest to `values`. `weights` are their weights, above 0.
pub fn non_decreasing(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut pools: Vec<Pool> = Vec::with_capacity(values.len());
    for (&mean, &weight) in values.iter().zip(weights) {
        let mut pool = Pool { mean, weight, count: 1 };
        // A value below the pool before it is joined with that pool, which may then
        // violate the next one.
        while let Some(before) = pools.pop_if(|before| before.mean > pool.mean) {
            pool = before.join(&pool);
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|pool| repeat_n(pool.mean, pool.count)).collect()
}

struct Pool {
    mean: f64,
    weight: f64,
    count: usize,
}

impl Pool {
    fn join(&self, next: &Self) -> Self {
        let weight = self.weight + next.weight;
        let mean = (self.mean * self.weight + next.mean * next.weight) / weight;
        Self { mean, weight, count: self.count + next.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(values: &[f64]) -> Vec<f64> {
        non_decreasing(values, &vec![1.0; values.len()])
    }

    #[test]
    fn the_fit_equals_that_of_isoreg_in_r() {
        // Example from R's help page of isoreg.
        let fitted = plain(&[1.0, 0.0, 4.0, 3.0, 3.0, 5.0, 4.0, 2.0, 0.0]);
        assert_eq!(fitted, [0.5, 0.5, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn the_heavier_value_moves_less() {
        assert_eq!(non_decreasing(&[4.0, 0.0], &[3.0, 1.0]), [3.0, 3.0]);
        assert_eq!(plain(&[]), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn the_fit_never_decreases_and_preserves_the_mean(
            values in prop::collection::vec((-1e3f64..1e3, 0.1f64..10.0), 1..60)
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let fitted = non_decreasing(&values, &weights);
            prop_assert_eq!(fitted.len(), values.len());
            prop_assert!(fitted.windows(2).all(|w| w[0] <= w[1]));
            let sum = |of: &[f64]| of.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>();
            prop_assert!((sum(&fitted) - sum(&values)).abs() < 1e-6);
            let again = non_decreasing(&fitted, &weights);
            prop_assert!(again.iter().zip(&fitted).all(|(a, b)| (a - b).abs() < 1e-9));
        }

        #[test]
        fn no_other_rising_curve_is_nearer(values in prop::collection::vec(-10.0f64..10.0, 2..20),
                                           mut other in prop::collection::vec(-10.0f64..10.0, 20)) {
            other.sort_by(f64::total_cmp);
            let away = |curve: &[f64]| values.iter().zip(curve).map(|(v, c)| (v - c).powi(2)).sum::<f64>();
            prop_assert!(away(&plain(&values)) <= away(&other) + 1e-9);
        }
    }
}
