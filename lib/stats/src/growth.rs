//! Decides whether a level, such as the memory of a process, grows steadily to the end of a series.
//!
//! The level of a process is noisy in one direction: a garbage collector lets it rise and fall
//! again. So the series is divided into blocks, and the lowest value of each block counts, which is
//! the level after a collection. Growth is steady if each step from block to block is similar to
//! the mean step, and the second half grows almost as much as the first: a cache that fills levels
//! off.
//!
//! The blocks are the independent observations of the interval, since values within a block are
//! autocorrelated. A level that only wanders (a random walk) rises in all steps with a probability
//! of 2⁻⁹ = 0.2 %, and rarely in similar ones.

use crate::order::student;
use std::ops::RangeInclusive;

/// Number of blocks.
const BLOCKS: usize = 10;
/// Minimum number of values in a block.
const LEAST_VALUES: usize = 3;
/// Range of the steps, as multiples of the mean step. A worker that starts, or a table that
/// doubles, makes one large step. A level that has reached its limit makes small ones.
const STEPS: RangeInclusive<f64> = 0.5..=3.0;
/// Minimum growth of the second half of the steps, as a share of that of the first half.
// Values that approach a limit with a time constant shorter than 1.4 times the series are below.
const LEAST_SECOND_HALF: f64 = 0.7;
/// Maximum half-width of the interval, as a share of the growth.
const MAX_HALF_WIDTH: f64 = 0.3;

/// Steady growth of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Growth per unit of time.
    pub rate: f64,
    /// Lower end of the 95 % interval of the rate.
    pub low: f64,
    /// Upper end of the 95 % interval of the rate.
    pub high: f64,
    /// Lowest value of the first block.
    pub first: f64,
    /// Lowest value of the last block.
    pub last: f64,
}

/// The values of one block.
struct Block {
    /// Time of the lowest value.
    time: f64,
    lowest: f64,
    highest: f64,
}

/// A value of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelAt {
    /// Time of the value, in any unit.
    pub time: f64,
    /// The value.
    pub level: f64,
}

/// Returns the growth of a series in order of time; None if it does not grow steadily to its end,
/// or if there are too few values.
pub fn steady_growth(series: &[LevelAt]) -> Option<Growth> {
    let blocks = blocks(series)?;
    let steps: Vec<f64> = blocks.windows(2).map(|pair| pair[1].lowest - pair[0].lowest).collect();
    // The ends of a step are single values, so only their size relative to the others counts.
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    if mean <= 0.0 || !steps.iter().all(|step| STEPS.contains(&(step / mean))) {
        return None;
    }
    // With an odd number of steps, the middle one belongs to neither half.
    let half = steps.len() / 2;
    let first_half: f64 = steps[..half].iter().sum();
    let second_half: f64 = steps[steps.len() - half..].iter().sum();
    if second_half < LEAST_SECOND_HALF * first_half || !is_highest_at_the_end(&blocks) {
        return None;
    }
    fit(&blocks).filter(|growth| growth.high - growth.rate <= MAX_HALF_WIDTH * growth.rate)
}

/// Divides the time of a series into equal blocks.
fn blocks(series: &[LevelAt]) -> Option<Vec<Block>> {
    let start = series.first()?.time;
    let length = (series.last()?.time - start) / BLOCKS as f64;
    let mut blocks = Vec::new();
    let mut rest = series;
    for number in 1..=BLOCKS {
        let end = start + length * number as f64;
        let count = match number {
            // The end of the last block may be rounded down.
            BLOCKS => rest.len(),
            _ => rest.partition_point(|value| value.time < end),
        };
        let (values, later) = rest.split_at(count);
        rest = later;
        if values.len() < LEAST_VALUES {
            return None;
        }
        let lowest = values.iter().min_by(|a, b| a.level.total_cmp(&b.level))?;
        let levels = values.iter().map(|value| value.level);
        blocks.push(Block {
            // Not the middle of the block: the rounding of its ends would bend the line.
            time: lowest.time,
            lowest: lowest.level,
            highest: levels.fold(f64::NEG_INFINITY, f64::max),
        });
    }
    Some(blocks)
}

/// True if the highest value is in the last two blocks, and the first block is below the middle
/// ones. A level that falls at the very begin of the series has a high first block.
fn is_highest_at_the_end(blocks: &[Block]) -> bool {
    let peak =
        |blocks: &[Block]| blocks.iter().map(|b| b.highest).fold(f64::NEG_INFINITY, f64::max);
    let (earlier, last) = blocks.split_at(BLOCKS - 2);
    peak(last) >= peak(earlier) && blocks[0].highest < peak(&blocks[2..=BLOCKS / 2])
}

/// Fits a line to the lowest values by least squares, with the interval of its slope.
fn fit(blocks: &[Block]) -> Option<Growth> {
    let count = blocks.len() as f64;
    let mean_time = blocks.iter().map(|b| b.time).sum::<f64>() / count;
    let mean_level = blocks.iter().map(|b| b.lowest).sum::<f64>() / count;
    let spread: f64 = blocks.iter().map(|b| (b.time - mean_time).powi(2)).sum();
    let products = blocks.iter().map(|b| (b.time - mean_time) * (b.lowest - mean_level));
    let rate = products.sum::<f64>() / spread;
    let residuals =
        blocks.iter().map(|b| (b.lowest - mean_level - rate * (b.time - mean_time)).powi(2));
    let freedom = count - 2.0;
    let half_width = student(freedom) * (residuals.sum::<f64>() / freedom / spread).sqrt();
    let is_valid = rate.is_finite() && half_width.is_finite() && rate - half_width > 0.0;
    is_valid.then(|| Growth {
        rate,
        low: rate - half_width,
        high: rate + half_width,
        first: blocks[0].lowest,
        last: blocks[blocks.len() - 1].lowest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Readings of a simulated level, one per unit of time.
    const LENGTH: usize = 600;
    /// Number of simulated series of each shape.
    const SERIES: u64 = 500;

    /// Random numbers from 0 to 1 (splitmix64).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn between(&mut self, low: f64, high: f64) -> f64 {
            low + (high - low) * self.next()
        }

        /// A normal number, as the sum of twelve uniform ones.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.next()).sum::<f64>() - 6.0
        }
    }

    /// Returns the share of simulated series that are found to grow.
    fn found(level: impl Fn(&mut Random) -> Vec<f64>) -> f64 {
        let grows = (0..SERIES).filter(|seed| {
            let levels = level(&mut Random(*seed));
            steady_growth(&series(&levels)).is_some()
        });
        grows.count() as f64 / SERIES as f64
    }

    fn series(levels: &[f64]) -> Vec<LevelAt> {
        let values = levels.iter().enumerate();
        values.map(|(time, level)| LevelAt { time: time as f64, level: *level }).collect()
    }

    /// Returns levels around 100 by a formula of the share of time that has passed, with noise.
    fn levels(random: &mut Random, noise: f64, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let all = 0..LENGTH;
        all.map(|at| 100.0 + level(at as f64 / LENGTH as f64) + noise * random.normal()).collect()
    }

    #[test]
    fn a_level_without_growth_is_not_found_to_grow() {
        let steady = found(|random| levels(random, 1.0, |_| 0.0));
        assert!(steady <= 0.001, "{steady}");
        let flat = found(|random| levels(random, 0.0, |_| 0.0));
        assert_eq!(flat, 0.0);
    }

    #[test]
    fn a_wandering_level_is_rarely_found_to_grow() {
        let walk = found(|random| {
            let mut level = 100.0;
            let steps = (0..LENGTH).map(|_| {
                level += 0.1 * random.normal();
                level
            });
            steps.collect()
        });
        assert!(walk <= 0.005, "{walk}");
    }

    #[test]
    fn a_cache_that_fills_is_not_found_to_grow() {
        let cache = found(|random| {
            let constant = random.between(0.01, 0.7);
            let size = random.between(5.0, 300.0);
            levels(random, 0.1, |at| size * (1.0 - (-at / constant).exp()))
        });
        assert!(cache <= 0.005, "{cache}");
        let full_cache = found(|random| {
            let full = random.between(0.05, 0.85);
            levels(random, 0.1, |at| 50.0 * (at / full).min(1.0))
        });
        assert!(full_cache <= 0.005, "{full_cache}");
        let root = found(|random| levels(random, 0.1, |at| 50.0 * at.sqrt()));
        assert_eq!(root, 0.0);
    }

    #[test]
    fn a_garbage_collector_is_not_found_to_grow() {
        let sawtooth = found(|random| {
            let period = random.between(0.01, 0.99);
            let phase = random.next();
            let size = random.between(5.0, 300.0);
            levels(random, 0.1, |at| size * (at / period + phase).fract())
        });
        assert!(sawtooth <= 0.005, "{sawtooth}");
    }

    #[test]
    fn steps_are_not_found_to_grow() {
        for number in 1..=4 {
            let steps = found(|random| {
                let at: Vec<f64> = (0..number).map(|_| random.next()).collect();
                levels(random, 0.1, |time| {
                    20.0 * at.iter().filter(|step| **step < time).count() as f64
                })
            });
            assert!(steps <= 0.005, "{number} steps: {steps}");
        }
    }

    #[test]
    fn a_leak_is_found_also_below_a_garbage_collector() {
        let leak = found(|random| {
            let growth = random.between(5.0, 200.0);
            levels(random, 0.1, |at| growth * at)
        });
        assert!(leak >= 0.99, "{leak}");
        let with_collector = found(|random| {
            let growth = random.between(20.0, 200.0);
            let period = random.between(0.005, 0.05);
            levels(random, 0.1, |at| growth * at + 30.0 * (at / period).fract())
        });
        assert!(with_collector >= 0.9, "{with_collector}");
    }

    #[test]
    fn the_interval_contains_the_rate_of_the_leak() {
        // A share near 95 % needs more series than one near 0.
        let count = 2 * SERIES;
        let rates = (0..count).filter_map(|seed| {
            let mut random = Random(seed);
            let growth = random.between(20.0, 200.0);
            let noise = random.between(0.1, 0.5);
            let levels = levels(&mut random, noise, |at| growth * at);
            Some((growth / LENGTH as f64, steady_growth(&series(&levels))?))
        });
        let contains: Vec<bool> =
            rates.map(|(rate, growth)| growth.low <= rate && rate <= growth.high).collect();
        let share = contains.iter().filter(|one| **one).count() as f64 / contains.len() as f64;
        let is_found = contains.len() as f64 >= 0.95 * count as f64;
        assert!(is_found && share >= 0.93, "{share} of {}", contains.len());
    }

    proptest! {
        #[test]
        fn nothing_panics(levels: Vec<f64>) {
            let _ = steady_growth(&series(&levels));
        }

        #[test]
        fn values_that_do_not_grow_have_no_growth(
            rates in proptest::collection::vec(-1.0_f64..0.0, 100..300),
        ) {
            let mut level = 100.0;
            let levels: Vec<f64> = rates.iter().map(|rate| { level += rate; level }).collect();
            prop_assert_eq!(steady_growth(&series(&levels)), None);
        }
    }
}
