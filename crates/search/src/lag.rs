//! Estimates how far the generator's lag can have raised the response times of each
//! block of a trial.
//!
//! A request that is sent late, or queues after others that were sent late, may take longer
//! although the server is not slower. In a first-come, first-served queue, lag delays a reply by at
//! most the greatest lag of its busy period. The correction is the same for trials that met the
//! objectives and trials that missed them; it depends only on lag, not on the outcome.

use crate::bound::{CountedRatio, ObjectiveFigure};

/// Lag up to this share of the tightest bound is corrected; with more, too little would remain.
const CORRECTED: f64 = 0.5;
/// Duration of the effect of lag, in seconds, if no objective defines the length of queues.
const DEFAULT_SECONDS: f64 = 0.5;

/// The effect of lag on one block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LagEffect {
    /// Maximum increase of response times, in seconds.
    pub seconds: f64,
    /// True if the block is excluded: its lag exceeds the limit, and quieter blocks make up
    /// half of the trial.
    pub is_contested: bool,
}

/// Returns the effect of lag on each block. `greatest` is the greatest lag of the requests that
/// ended in each block, `block` the length of a block, both in seconds.
pub fn effects(greatest: &[f64], block: f64, bounds: &[Vec<ObjectiveFigure>]) -> Vec<LagEffect> {
    // Bounds on response times, with the lengths of their queues.
    let mut tightest = f64::INFINITY;
    let mut longest_bound = block;
    let mut longest_queue = DEFAULT_SECONDS;
    for bound in bounds.iter().flatten() {
        if let CountedRatio::Slower(than) = bound.counted {
            tightest = tightest.min(than);
            longest_bound = longest_bound.max(than);
            longest_queue = longest_queue.max(bound.cluster_seconds());
        }
    }
    // A late request delays the requests after it, but its own lag is recorded when it ends.
    let blocks_before = block_count(longest_queue, block);
    let blocks_after = block_count(longest_bound, block);
    let seconds: Vec<f64> = (0..greatest.len())
        .map(|index| {
            let end = (index + blocks_after + 1).min(greatest.len());
            let window = &greatest[index.saturating_sub(blocks_before)..end];
            window.iter().copied().fold(0.0, f64::max)
        })
        .collect();
    let limit = (CORRECTED * tightest).max(median(&seconds));
    seconds
        .into_iter()
        .map(|seconds| LagEffect { seconds, is_contested: seconds > limit })
        .collect()
}

/// Number of blocks in some seconds, rounded up.
fn block_count(seconds: f64, block: f64) -> usize {
    (seconds / block.max(1e-3)).ceil() as usize
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slower(than: f64) -> Vec<Vec<ObjectiveFigure>> {
        vec![vec![ObjectiveFigure { counted: CountedRatio::Slower(than), allowed: 0.01 }]]
    }

    #[test]
    fn lag_affects_later_blocks_and_is_detected_one_block_later() {
        let mut lags = [0.001; 40];
        lags[20] = 0.18;
        let effects = effects(&lags, 0.1, &slower(0.1));
        let contested: Vec<usize> = (0..40).filter(|at| effects[*at].is_contested).collect();
        assert_eq!(contested, (19..=25).collect::<Vec<_>>());
        assert!(
            contested.iter().all(|at| effects[*at].seconds == 0.18) && effects[10].seconds == 0.001
        );
    }

    #[test]
    fn at_least_half_of_a_disturbed_trial_counts() {
        let lags: Vec<f64> = (0..100).map(|at| f64::from(at) / 50.0).collect();
        let effects = effects(&lags, 0.1, &slower(0.1));
        assert!(effects.iter().filter(|effect| !effect.is_contested).count() >= 50);
        assert!(!super::effects(&[0.005; 30], 0.1, &slower(0.1))[7].is_contested);
    }
}
