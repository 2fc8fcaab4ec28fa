//! Fits throughput over concurrency.
//!
//! The model is the Universal Scalability Law X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther,
//! "Guerrilla Capacity Planning", 2007). It is fitted by bounded non-linear least squares
//! (Levenberg 1944, Marquardt 1963). The fit is no forecast: above the greatest measured N it
//! is only a formula.

/// Parameters of the Universal Scalability Law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalabilityLaw {
    /// λ: throughput at concurrency 1.
    pub lambda: f64,
    /// σ, 0 to 1: serial share of the work (contention).
    pub sigma: f64,
    /// κ, at least 0: cost of coherency.
    pub kappa: f64,
}

impl ScalabilityLaw {
    /// Returns the throughput at concurrency `n`.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / self.slowdown(n)
    }

    /// Returns the concurrency of the maximum throughput, √((1−σ)/κ). None if there is no maximum.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0))
    }

    /// Denominator of the law: the slowdown compared with linear scaling.
    fn slowdown(&self, n: f64) -> f64 {
        1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0)
    }

    /// The derivatives ∂X/∂λ, ∂X/∂σ and ∂X/∂κ.
    fn gradient(&self, n: f64) -> [f64; 3] {
        let x = self.at(n);
        let slowdown = self.slowdown(n);
        [n / slowdown, -x * (n - 1.0) / slowdown, -x * n * (n - 1.0) / slowdown]
    }

    /// Adds a step to the parameters, within their bounds.
    fn moved(&self, by: [f64; 3]) -> Self {
        Self {
            // λ must stay above 0.
            lambda: (self.lambda + by[0]).max(self.lambda * 1e-3),
            sigma: (self.sigma + by[1]).clamp(0.0, 1.0),
            kappa: (self.kappa + by[2]).max(0.0),
        }
    }

    /// Sum of the squared residuals.
    fn squares(&self, n: &[f64], x: &[f64]) -> f64 {
        n.iter().zip(x).map(|(n, x)| (x - self.at(*n)).powi(2)).sum()
    }
}

/// Result of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Parameters of the fitted law.
    pub law: ScalabilityLaw,
    /// Coefficient of determination: 1 − Σ(x − X(n))² / Σ(x − x̄)².
    pub r_squared: f64,
}

/// Fits the law to throughputs `x` at concurrencies `n` (1 and up). None for fewer than four
/// points, or if nothing was completed.
pub fn fit(n: &[f64], x: &[f64]) -> Option<Fit> {
    let per_one = n.iter().zip(x).map(|(n, x)| x / n).fold(0.0, f64::max);
    if n.len() < 4 || n.len() != x.len() || per_one <= 0.0 || !per_one.is_finite() {
        return None;
    }
    // The sum of squares has few local minima. Starts with little and with much
    // contention find them all.
    let starts = [(0.0, 0.0), (0.02, 0.0), (0.02, 1e-4), (0.2, 1e-3), (0.8, 0.0)];
    let fits = starts
        .map(|(sigma, kappa)| descend(ScalabilityLaw { lambda: per_one, sigma, kappa }, n, x));
    let law = fits.into_iter().min_by(|a, b| a.squares(n, x).total_cmp(&b.squares(n, x)))?;
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let total: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    Some(Fit { law, r_squared: if total > 0.0 { 1.0 - law.squares(n, x) / total } else { 0.0 } })
}

/// Takes steps of Levenberg and Marquardt until they give no improvement. A parameter at its bound
/// that would leave it stays there.
fn descend(start: ScalabilityLaw, n: &[f64], x: &[f64]) -> ScalabilityLaw {
    let mut law = start;
    let mut damping = 1e-3;
    for _ in 0..200 {
        let before = law.squares(n, x);
        let next = law.moved(step(&law, n, x, damping));
        if next.squares(n, x) < before {
            damping /= 5.0;
            let has_converged = before - next.squares(n, x) < 1e-14 * before;
            law = next;
            if has_converged {
                break;
            }
        } else if damping > 1e12 {
            break;
        } else {
            damping *= 4.0;
        }
    }
    law
}

/// Solves `(JᵀJ + damping·diag(JᵀJ))·step = Jᵀr`.
fn step(law: &ScalabilityLaw, n: &[f64], x: &[f64], damping: f64) -> [f64; 3] {
    let mut matrix = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for (n, x) in n.iter().zip(x) {
        let gradient = law.gradient(*n);
        let residual = x - law.at(*n);
        for i in 0..3 {
            right[i] += gradient[i] * residual;
            for j in 0..3 {
                matrix[i][j] += gradient[i] * gradient[j];
            }
        }
    }
    let at_bound = [false, law.sigma <= 0.0 && right[1] < 0.0, law.kappa <= 0.0 && right[2] < 0.0];
    for i in 0..3 {
        // The minimum prevents a singular matrix.
        matrix[i][i] = (matrix[i][i] * (1.0 + damping)).max(1e-300);
        if at_bound[i] {
            matrix[i] = [0.0; 3];
            right[i] = 0.0;
            // A zero step for this parameter.
            matrix[i][i] = 1.0;
        }
    }
    solve(matrix, right)
}

/// Solves a linear system by Gaussian elimination with pivoting; 0 if it has no unique solution.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> [f64; 3] {
    for column in 0..3 {
        // The largest pivot keeps rounding errors small.
        let pivot = (column..3)
            .max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs()))
            .unwrap_or(column);
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in column + 1..3 {
            let factor = a[row][column] / a[column][column];
            let above = a[column];
            a[row].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            b[row] -= factor * b[column];
        }
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let substituted: f64 = (row + 1..3).map(|j| a[row][j] * solution[j]).sum();
        solution[row] = (b[row] - substituted) / a[row][row];
    }
    if solution.iter().all(|s| s.is_finite()) { solution } else { [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sparccenter_2000_is_fitted_as_in_the_literature() {
        // SPEC SDM91 on a SPARCcenter 2000 (Gunther 2007, ch. 5; data set `specsdm91` of
        // R's package usl): with λ fitted too, λ = 89.99, σ = 0.0277, κ = 0.000104, and
        // the peak at 96.5.
        let n = [1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0];
        let x = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2];
        let Fit { law, r_squared } = fit(&n, &x).unwrap();
        assert!((law.lambda - 89.99).abs() < 0.05, "{law:?}");
        assert!(
            (law.sigma - 0.0277).abs() < 1e-4 && (law.kappa - 0.000_104_4).abs() < 1e-6,
            "{law:?}"
        );
        assert!(
            (law.peak().unwrap() - 96.5).abs() < 0.3 && r_squared > 0.98,
            "{law:?} {r_squared}"
        );
    }

    #[test]
    fn linear_growth_has_neither_contention_nor_a_peak() {
        let n: Vec<f64> = (1..=8).map(f64::from).collect();
        let x: Vec<f64> = n.iter().map(|n| 7.0 * n).collect();
        let law = fit(&n, &x).unwrap().law;
        assert!(law.sigma < 1e-9 && law.kappa < 1e-9 && (law.lambda - 7.0).abs() < 1e-6, "{law:?}");
        // Superlinear growth is outside of the model, so the parameters are at their bounds.
        let x: Vec<f64> = n.iter().map(|n| n * n).collect();
        let law = fit(&n, &x).unwrap().law;
        assert!(law.sigma == 0.0 && law.kappa == 0.0 && law.peak().is_none());
    }

    #[test]
    fn too_few_points_have_no_fit() {
        assert_eq!(fit(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(fit(&[1.0, 2.0, 3.0, 4.0], &[0.0; 4]), None);
    }

    proptest! {
        #[test]
        fn points_of_a_law_are_fitted_exactly(lambda in 1.0f64..1e4, sigma in 0.0f64..0.5, kappa in 0.0f64..0.01) {
            let law = ScalabilityLaw { lambda, sigma, kappa };
            let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
            let found = fit(&n, &n.map(|n| law.at(n))).unwrap();
            prop_assert!(found.r_squared > 0.999_99, "{:?}", found);
            prop_assert!((found.law.lambda / lambda - 1.0).abs() < 1e-2 && (found.law.sigma - sigma).abs() < 1e-2);
            prop_assert!((found.law.kappa - kappa).abs() < 1e-3);
        }
    }
}
