//! How far the generator's lag can have raised the response times of each block of a trial.
//!
//! A request that is sent late, or behind others that were sent late, may take longer through no fault of the server. In a
//! queue that is served in order, no reply comes later than by the greatest lag of its busy period. The same correction
//! applies to trials that met the objectives and to trials that missed them; it depends on lag only, not on the outcome.

use crate::bound::{Bound, Counted};

/// Lag below this share of the tightest bound is corrected for; more leaves nothing to be corrected.
const CORRECTED: f64 = 0.5;
/// Seconds in which lag can have an effect where no objective says how long queues last.
const USUAL_SECONDS: f64 = 0.5;

/// The effect of lag on one block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Effect {
    /// Response times are longer by so many seconds at most.
    pub seconds: f64,
    /// Whether the block is left out: its lag exceeds the bound, and quieter blocks make up half of the trial.
    pub is_contested: bool,
}

/// The effect of lag on each block; `greatest` is the greatest lag of the requests that ended in it, `block` its length.
/// Both in seconds.
pub fn effects(greatest: &[f64], block: f64, bounds: &[Vec<Bound>]) -> Vec<Effect> {
    let slower = || {
        bounds.iter().flatten().filter_map(|bound| match bound.counted {
            Counted::Slower(than) => Some((than, bound.clump())),
            _ => None,
        })
    };
    let blocks = |seconds: f64| (seconds / block.max(1e-3)).ceil() as usize;
    // A late request delays those behind it, and its own lag is known when it ends.
    let behind = blocks(slower().map(|(_, clump)| clump).fold(USUAL_SECONDS, f64::max));
    let ahead = blocks(slower().map(|(than, _)| than).fold(block, f64::max));
    let around = |at: usize| {
        let window = &greatest[at.saturating_sub(behind)..(at + ahead + 1).min(greatest.len())];
        window.iter().copied().fold(0.0, f64::max)
    };
    let seconds: Vec<f64> = (0..greatest.len()).map(around).collect();
    let tightest = slower().map(|(than, _)| than).fold(f64::INFINITY, f64::min);
    let limit = (CORRECTED * tightest).max(median(&seconds));
    seconds.into_iter().map(|seconds| Effect { seconds, is_contested: seconds > limit }).collect()
}

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slower(than: f64) -> Vec<Vec<Bound>> {
        vec![vec![Bound { counted: Counted::Slower(than), allowed: 0.01 }]]
    }

    #[test]
    fn lag_has_an_effect_on_the_blocks_behind_it_and_is_known_one_later() {
        let mut lags = [0.001; 40];
        lags[20] = 0.18;
        let effects = effects(&lags, 0.1, &slower(0.1));
        let contested: Vec<usize> = (0..40).filter(|at| effects[*at].is_contested).collect();
        assert_eq!(contested, (19..=25).collect::<Vec<_>>());
        assert!(contested.iter().all(|at| effects[*at].seconds == 0.18) && effects[10].seconds == 0.001);
    }

    #[test]
    fn half_of_a_trial_counts_however_disturbed_it_is() {
        let lags: Vec<f64> = (0..100).map(|at| f64::from(at) / 50.0).collect();
        let effects = effects(&lags, 0.1, &slower(0.1));
        assert!(effects.iter().filter(|effect| !effect.is_contested).count() >= 50);
        assert!(!super::effects(&[0.005; 30], 0.1, &slower(0.1))[7].is_contested);
    }
}
