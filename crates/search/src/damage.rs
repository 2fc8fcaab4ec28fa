//! Servers that do not recover from an overload.
//!
//! After an overload, a server may be slower for good: its later trials measure the damage, not the capacity. It is damaged if
//! all trials since the overload missed the objectives, one at a load that was met before among them, with response times
//! above those of that time for most of the trial. Such trials are no evidence. Out of scope: how long a recovery takes.

use crate::recovery::{BACK, pieces};
use crate::summary::TrialSummary;

/// A load below this share of the highest throughput shows damage: near the capacity, chance or drift can slow the server.
const FAR_BELOW: f64 = 0.6;

/// The state of a server after the last overload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Damage {
    /// For each trial, whether the server had not recovered yet.
    pub is_unrecovered: Vec<bool>,
    /// The load to repeat, since it is not known whether the server recovered: it met the objectives before.
    pub unknown_at: Option<f64>,
    /// Trials since the last overload that show that the server has not recovered.
    pub slow_checks: usize,
}

/// A trial that overloaded the server, and what was known before it.
struct Overload<'a> {
    index: usize,
    met: &'a TrialSummary,
    /// The highest throughput so far.
    throughput: f64,
}

/// The damage that trials show; `misses` says whether a trial misses the objectives.
pub fn damage(trials: &[&TrialSummary], misses: impl Fn(&TrialSummary) -> bool) -> Damage {
    let mut damage = Damage { is_unrecovered: vec![false; trials.len()], ..Damage::default() };
    let mut overload: Option<Overload> = None;
    let mut is_suspected = false;
    let mut met: Vec<&TrialSummary> = Vec::new();
    let mut throughput = 0.0_f64;
    for (index, &trial) in trials.iter().enumerate() {
        if !misses(trial) {
            let since = overload.take().filter(|_| damage.slow_checks > 0).map_or(index, |overload| overload.index + 1);
            damage.is_unrecovered[since..index].fill(true);
            (damage.slow_checks, is_suspected) = (0, false);
            met.push(trial);
        } else if let Some(overload) = &overload {
            let is_check = trial.load <= overload.met.load * 1.001;
            damage.slow_checks += usize::from(is_check && is_slower(trial, overload.met));
            is_suspected |= trial.load <= overload.throughput;
        }
        throughput = throughput.max(trial.achieved);
        if overload.is_none() && trial.is_overloaded() {
            let far_below = met.iter().filter(|met| met.load <= FAR_BELOW * throughput);
            let check = far_below.max_by(|a, b| a.load.total_cmp(&b.load));
            overload = check.map(|met| Overload { index, met, throughput });
        }
    }
    if let Some(overload) = overload {
        if damage.slow_checks > 0 {
            damage.is_unrecovered[overload.index + 1..].fill(true);
        }
        damage.unknown_at = is_suspected.then_some(overload.met.load);
    }
    damage
}

/// Whether replies took longer than before for most of a trial.
fn is_slower(trial: &TrialSummary, before: &TrialSummary) -> bool {
    let Some(level) = before.mean.map(|mean| BACK * mean) else { return false };
    let pieces = pieces(&trial.blocks);
    let slow = pieces.iter().filter(|piece| piece.completed <= 0.0 || piece.response > level * piece.completed);
    2 * slow.count() > pieces.len()
}
