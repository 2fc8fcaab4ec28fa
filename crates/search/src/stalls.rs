//! Stalls: pauses in which a server completes no request, at any load.
//!
//! A lower load does not prevent stalls. Their share of slow requests, counted over all trials of a
//! search, is a lower limit of an objective's figure at every load. Stalls are rare and long, so
//! short trials contradict each other. Only their number over the whole search shows how often they
//! occur. Closed loops are not examined, since their users wait for a stalled server; neither are
//! stalls shorter than a block.

use crate::bound::CountedRatio;
use crate::summary::{TrialBlock, TrialSummary};

/// Minimum number of missing replies in a stall. By chance, this many are missing
/// with probability 10⁻⁶ (e^−15).
const MISSING: f64 = 15.0;

/// Share of requests that are slow because of stalls, at every load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StallShare {
    /// Estimate of the share.
    pub value: f64,
    /// Upper end of its 95 % interval; 0 if there was no stall.
    pub high: f64,
}

/// Returns the share of slow requests that the stalls of all trials cause.
pub fn stall_share(trials: &[&TrialSummary], counted: CountedRatio) -> StallShare {
    let CountedRatio::Slower(bound) = counted else { return StallShare::default() };
    let mut stalls = 0.0;
    let mut slow = 0.0;
    let mut seconds = 0.0;
    for trial in trials {
        seconds += trial.blocks.iter().map(|block| block.seconds).sum::<f64>();
        for stall in pauses(trial).into_iter().filter(|stall| *stall > bound) {
            stalls += 1.0;
            slow += stall - bound;
        }
    }
    if stalls < 1.0 {
        return StallShare::default();
    }
    let value = slow / seconds;
    StallShare { value, high: value * poisson_high(stalls) / stalls }
}

/// Lengths, in seconds, of the stalls of a trial. The generator's lag is subtracted, since it can
/// have caused that part of a pause.
fn pauses(trial: &TrialSummary) -> Vec<f64> {
    let mut pauses = Vec::new();
    let mut length = 0.0;
    let mut lag = 0.0_f64;
    let end = TrialBlock { completed: 1.0, ..TrialBlock::default() };
    // The first replies may take as long as a stall.
    for block in trial.blocks.iter().skip_while(|block| block.completed <= 0.0).chain([&end]) {
        if block.completed <= 0.0 {
            length += block.seconds;
            lag = lag.max(block.lag);
            continue;
        }
        if (length - lag) * trial.offered.min(trial.load) >= MISSING {
            pauses.push(length - lag);
        }
        length = 0.0;
        lag = 0.0;
    }
    pauses
}

/// Upper end of the 95 % interval of a Poisson mean, for `count` events: half the quantile of χ²
/// with 2(count + 1) degrees of freedom, by Wilson and Hilferty (Proc. Nat. Acad. Sci. 17, 1931).
pub fn poisson_high(count: f64) -> f64 {
    const NORMAL: f64 = 1.96;
    let spread = 1.0 / (9.0 * (count + 1.0));
    (count + 1.0) * (1.0 - spread + NORMAL * spread.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(completed: &[f64]) -> TrialSummary {
        let block = |completed: &f64| TrialBlock {
            seconds: 0.1,
            completed: *completed,
            ..TrialBlock::default()
        };
        TrialSummary {
            load: 500.0,
            offered: 500.0,
            blocks: completed.iter().map(block).collect(),
            ..TrialSummary::default()
        }
    }

    #[test]
    fn the_interval_of_a_poisson_mean_matches_tables() {
        // Garwood (Biometrika 28, 1936): up to 8.77 of 3 events, 3.69 of none.
        assert!((poisson_high(3.0) - 8.77).abs() < 0.03 && (poisson_high(0.0) - 3.69).abs() < 0.03);
    }

    #[test]
    fn a_second_without_replies_is_a_stall_and_its_requests_are_slow_at_every_load() {
        let mut completed = [50.0; 200];
        completed[40..50].fill(0.0);
        let share = stall_share(&[&trial(&completed)], CountedRatio::Slower(0.05));
        assert!(
            (share.value - 0.95 / 20.0).abs() < 1e-9 && share.high > 5.0 * share.value,
            "{share:?}"
        );
        completed[40..50].fill(1.0);
        assert_eq!(
            stall_share(&[&trial(&completed)], CountedRatio::Slower(0.05)),
            StallShare::default()
        );
    }

    #[test]
    fn a_pause_explained_by_lag_is_not_a_stall() {
        let mut late = trial(&[50.0, 0.0, 0.0, 150.0]);
        late.blocks[2].lag = 0.2;
        assert_eq!(stall_share(&[&late], CountedRatio::Slower(0.05)), StallShare::default());
    }
}
