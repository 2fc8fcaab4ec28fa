//! Test of a series for a linear trend.
//!
//! The slope is that of least squares. Its variance is that of independent residuals with the
//! long-run variance of [`blocks::spread`], so autocorrelated points and bursts are not
//! mistaken for a trend.

use crate::blocks;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Significance level, two-sided. Every healthy run is tested for three figures, so it is strict.
const LEVEL: f64 = 0.001;

/// Returns the change over the length of `values` by the fitted line, if it is significant. None
/// below [`blocks::FEWEST_BLOCKS`] values, and if the residuals are too correlated for a variance.
pub fn change(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let center = (count - 1.0) / 2.0;
    let squares: f64 = (0..values.len()).map(|i| (i as f64 - center).powi(2)).sum();
    let products: f64 =
        values.iter().enumerate().map(|(i, y)| (i as f64 - center) * (y - mean)).sum();
    let slope = products / squares;
    let residuals: Vec<f64> =
        values.iter().enumerate().map(|(i, y)| y - mean - slope * (i as f64 - center)).collect();
    let spread = blocks::spread(&residuals)?;
    let bound = StudentsT::new(0.0, 1.0, spread.freedom).ok()?.inverse_cdf(1.0 - LEVEL / 2.0);
    (slope.abs() > bound * (spread.variance / squares).sqrt()).then_some(slope * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    /// Values of a first-order autoregressive process around a line that rises by `rise` in all.
    fn series(seed: u64, correlation: f64, rise: f64) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut state = 0.0;
        let mut values = Vec::new();
        for i in 0..200 {
            state = correlation * state + random.random::<f64>() - 0.5;
            values.push(10.0 + rise * f64::from(i) / 200.0 + state);
        }
        values
    }

    /// Number of 1,000 series in which a trend is found.
    fn detections(correlation: f64, rise: f64) -> usize {
        (0..1000).filter(|seed| change(&series(*seed, correlation, rise)).is_some()).count()
    }

    #[test]
    fn a_trend_is_found_and_measured() {
        let change = change(&series(1, 0.0, 2.0)).unwrap();
        assert!((1.7..2.3).contains(&change), "{change}");
        assert!(detections(0.0, 1.0) > 990);
        assert!(detections(0.5, 2.0) > 950);
    }

    #[test]
    fn series_without_a_trend_rarely_have_one() {
        for correlation in [0.0, 0.5, 0.8] {
            let false_alarms = detections(correlation, 0.0);
            assert!(false_alarms <= 10, "{false_alarms} of 1,000 at correlation {correlation}");
        }
    }

    /// A value of the exponential distribution with mean 1.
    fn exponential(random: &mut Pcg64Mcg) -> f64 {
        -(1.0 - random.random::<f64>()).ln()
    }

    /// Medians of the response time in each of 100 intervals of an M/M/1 queue, in service times.
    fn queue(seed: u64, utilization: f64, interval: f64) -> Vec<f64> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut medians = Vec::new();
        let mut arrival = 0.0_f64;
        let mut free = 0.0_f64;
        for i in 1..=110 {
            let mut responses = Vec::new();
            while arrival < f64::from(i) * interval {
                free = free.max(arrival) + exponential(&mut random);
                responses.push(free - arrival);
                arrival += exponential(&mut random) / utilization;
            }
            responses.sort_by(f64::total_cmp);
            medians.push(responses.get(responses.len() / 2).copied().unwrap_or(0.0));
        }
        medians.split_off(10)
    }

    #[test]
    fn queues_of_a_steady_load_rarely_have_a_trend() {
        for (utilization, interval) in [(0.5, 50.0), (0.8, 50.0), (0.9, 50.0), (0.9, 500.0)] {
            let false_alarms = (0..200)
                .filter(|seed| change(&queue(*seed, utilization, interval)).is_some())
                .count();
            assert!(false_alarms <= 1, "{false_alarms} of 200 at {utilization}");
        }
    }

    #[test]
    fn too_few_or_equal_values_have_no_trend() {
        assert_eq!(change(&[]), None);
        assert_eq!(change(&[1.0, 2.0, 3.0]), None);
        assert_eq!(change(&[5.0; 100]), None);
    }

    #[test]
    fn an_exact_line_is_a_trend() {
        let line: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(change(&line).map(f64::round), Some(100.0));
    }
}
