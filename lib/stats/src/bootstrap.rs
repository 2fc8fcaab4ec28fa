//! Estimates the uncertainty of a figure by resampling (Efron 1979).
//!
//! Values are drawn with replacement, in two stages: repetitions, then blocks within each
//! (Davison & Hinkley, "Bootstrap Methods and their Application", 1997, §3.8). The result is a
//! percentile interval. Resampling does not help with few repetitions: of three values it can
//! only draw these three.

use rand::{Rng, RngExt as _};

/// Distribution of a figure over many draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampled {
    /// Lower end: 2.5 % of the figures are below.
    pub low: f64,
    /// Upper end: 2.5 % of the figures are above.
    pub high: f64,
    /// Share of the draws that had a figure.
    pub figure_share: f64,
}

/// Draws `n` of `n` indices with replacement.
pub fn draw(n: usize, random: &mut impl Rng) -> Vec<usize> {
    (0..n).map(|_| random.random_range(0..n)).collect()
}

/// Returns the percentile interval of a figure over `draws` draws. None if no draw had a figure.
pub fn interval<R: Rng>(
    draws: u32,
    random: &mut R,
    mut figure: impl FnMut(&mut R) -> Option<f64>,
) -> Option<Resampled> {
    let mut figures: Vec<f64> =
        (0..draws).filter_map(|_| figure(random)).filter(|f| f.is_finite()).collect();
    figures.sort_by(f64::total_cmp);
    let low = quantile(&figures, 0.025)?;
    let high = quantile(&figures, 0.975)?;
    Some(Resampled { low, high, figure_share: figures.len() as f64 / f64::from(draws) })
}

fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    sorted.get(((sorted.len() as f64 * q) as usize).min(sorted.len().saturating_sub(1))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn the_interval_of_a_mean_follows_its_standard_error() {
        // The population 0 … 99 has the standard deviation 28.866, so the mean of 100 draws has
        // 2.8866. The interval is ±1.96 of that.
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let resampled = interval(4000, &mut random, |r| {
            Some(draw(100, r).iter().sum::<usize>() as f64 / 100.0)
        })
        .unwrap();
        assert!(
            (resampled.low - (49.5 - 5.66)).abs() < 0.4
                && (resampled.high - (49.5 + 5.66)).abs() < 0.4,
            "{resampled:?}"
        );
        assert_eq!(resampled.figure_share, 1.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let of =
            |seed| interval(50, &mut Pcg64Mcg::seed_from_u64(seed), |r| Some(draw(9, r)[0] as f64));
        assert_eq!(of(7), of(7));
    }

    #[test]
    fn draws_without_a_figure_are_counted() {
        let mut n = 0;
        let found = interval(100, &mut Pcg64Mcg::seed_from_u64(1), |_| {
            n += 1;
            (n % 4 == 0).then_some(2.0)
        });
        assert_eq!(found, Some(Resampled { low: 2.0, high: 2.0, figure_share: 0.25 }));
        assert_eq!(interval(10, &mut Pcg64Mcg::seed_from_u64(1), |_| None), None);
    }
}
