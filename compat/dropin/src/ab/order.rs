//! ab's arithmetic of times: mean, deviation, median and percentiles, with ab's rounding.
//!
//! Two rules are odd and intended. The median of an odd number of values is the mean
//! of the middle one and the next. Of an even number it is the upper of the middle
//! two. Means are whole microseconds.

/// Sorted values, in microseconds.
#[derive(Debug, Clone, Default)]
pub struct Ordered(Vec<u64>);

/// A row of ab's table, in microseconds except for the deviation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeSummary {
    pub min: u64,
    /// Mean, rounded down to whole microseconds.
    pub mean: u64,
    /// Sample standard deviation, in milliseconds.
    pub deviation: f64,
    /// Median by ab's rule.
    pub median: u64,
    pub max: u64,
}

impl Ordered {
    pub fn new(values: impl Iterator<Item = u64>) -> Self {
        let mut values: Vec<u64> = values.collect();
        values.sort_unstable();
        Self(values)
    }

    /// Computes the row of the table; all zeros without values.
    pub fn row(&self) -> TimeSummary {
        let Some(min) = self.0.first() else { return TimeSummary::default() };
        let Some(max) = self.0.last() else { return TimeSummary::default() };
        let n = self.0.len();
        let mean = self.0.iter().sum::<u64>() / n as u64;
        let squares: f64 = self.0.iter().map(|value| (*value as f64 - mean as f64).powi(2)).sum();
        let deviation = if n > 1 { (squares / (n - 1) as f64).sqrt() / 1000.0 } else { 0.0 };
        TimeSummary { min: *min, mean, deviation, median: self.median(), max: *max }
    }

    fn median(&self) -> u64 {
        let middle = self.0.len() / 2;
        match self.0.get(middle + 1) {
            Some(next) if self.0.len() % 2 == 1 => u64::midpoint(self.0[middle], *next),
            _ => self.0[middle],
        }
    }

    /// The true median; 0 without values.
    pub fn true_median(&self) -> u64 {
        let n = self.0.len();
        match n {
            0 => 0,
            _ if n % 2 == 1 => self.0[n / 2],
            _ => u64::midpoint(self.0[n / 2 - 1], self.0[n / 2]),
        }
    }

    /// Value of a row of the table of percentiles. 100 % is the maximum.
    pub fn served(&self, percent: usize) -> u64 {
        let rank = if percent >= 100 {
            self.0.len().saturating_sub(1)
        } else {
            self.0.len() * percent / 100
        };
        self.0.get(rank).copied().unwrap_or(0)
    }

    /// Value of a row of `-e`. ab reads past the end of its values for some percentages; here the
    /// last value is used.
    pub fn csv(&self, percent: usize) -> u64 {
        let last = self.0.len().saturating_sub(1);
        let rank = match percent {
            0 => 0,
            100.. => last,
            _ => ((0.5 + self.0.len() as f64 * percent as f64 / 100.0) as usize).min(last),
        };
        self.0.get(rank).copied().unwrap_or(0)
    }
}

/// Converts microseconds to milliseconds; halves are rounded up.
pub fn millis(micros: u64) -> u64 {
    (micros + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Ordered {
        Ordered::new(values.iter().copied())
    }

    #[test]
    fn the_median_is_ab_s() {
        assert_eq!(of(&[5]).row().median, 5);
        assert_eq!(of(&[1, 2]).row().median, 2);
        assert_eq!(of(&[3, 1, 2]).row().median, 2);
        assert_eq!(of(&[10, 20, 40]).row().median, 30);
        assert_eq!(of(&[10, 20, 40, 80]).row().median, 40);
        assert_eq!(
            (of(&[10, 20, 40]).true_median(), of(&[10, 20, 40, 80]).true_median()),
            (20, 30)
        );
    }

    #[test]
    fn mean_and_deviation_of_a_sample() {
        // R: sd(c(8000, 8000, 12000)) is 2309.401.
        let row = of(&[12_000, 8000, 8000]).row();
        assert_eq!((row.min, row.mean, row.median, row.max), (8000, 9333, 10_000, 12_000));
        assert!((row.deviation - 2.309_401).abs() < 1e-6);
        assert_eq!(of(&[7]).row().deviation, 0.0);
        assert_eq!(of(&[]).row(), TimeSummary::default());
    }

    #[test]
    fn ranks() {
        let ten = of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!([50, 66, 99, 100].map(|p| ten.served(p)), [6, 7, 10, 10]);
        assert_eq!([0, 1, 5, 99, 100].map(|p| ten.csv(p)), [1, 1, 2, 10, 10]);
        assert_eq!([499, 500, 1499].map(millis), [0, 1, 1]);
    }
}
