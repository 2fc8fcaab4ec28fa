//! Detects servers that do not recover from an overload.
//!
//! After an overload, a server may be slower permanently: its later trials measure the damage, not
//! the capacity. A server is damaged if all trials since the overload missed the objectives, and a
//! repeated load, which met them before, is slower than before for most of its trial. Such trials
//! are no evidence. The duration of a recovery is measured in `recovery`.

use crate::recovery::{RECOVERED, pieces};
use crate::summary::TrialSummary;

/// A load below this share of the highest throughput can show damage. Near the capacity, chance or
/// drift can also slow the server.
const FAR_BELOW: f64 = 0.6;

/// The state of a server after the last overload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Damage {
    /// For each trial, true if the server had not recovered yet.
    pub is_unrecovered: Vec<bool>,
    /// A load that met the objectives before, to be repeated because the recovery is uncertain.
    pub unknown_at: Option<f64>,
    /// Number of trials since the last overload that show that the server has not recovered.
    pub slow_checks: usize,
}

/// A trial that overloaded the server, and the results before it.
struct Overload<'a> {
    index: usize,
    /// The trial with the highest load far below the capacity that met the objectives.
    met: &'a TrialSummary,
    /// Highest throughput up to then.
    throughput: f64,
}

/// Returns the damage that the trials show. `misses` returns true for a trial
/// that misses the objectives.
pub fn damage(trials: &[&TrialSummary], misses: impl Fn(&TrialSummary) -> bool) -> Damage {
    let mut damage = Damage { is_unrecovered: vec![false; trials.len()], ..Damage::default() };
    let mut overload: Option<Overload> = None;
    let mut is_suspected = false;
    let mut met: Vec<&TrialSummary> = Vec::new();
    let mut throughput = 0.0_f64;
    for (index, &trial) in trials.iter().enumerate() {
        if !misses(trial) {
            // Slow checks before this trial prove that the server was damaged until now.
            let since = overload
                .take()
                .filter(|_| damage.slow_checks > 0)
                .map_or(index, |overload| overload.index + 1);
            damage.is_unrecovered[since..index].fill(true);
            damage.slow_checks = 0;
            is_suspected = false;
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

/// True if replies took longer than before for most of the trial.
fn is_slower(trial: &TrialSummary, before: &TrialSummary) -> bool {
    let Some(level) = before.mean.map(|mean| RECOVERED * mean) else { return false };
    let pieces = pieces(&trial.blocks);
    let slow = pieces
        .iter()
        .filter(|piece| piece.completed <= 0.0 || piece.response > level * piece.completed);
    2 * slow.count() > pieces.len()
}
