//! Finds knee, saturation and collapse in the trials of a search.
//!
//! The definitions are those of a sweep, applied to the loads of the search. These are less dense
//! than in a sweep, so a knee is only known to lie between the two neighboring loads.

use crate::summary::TrialSummary;
use brunt_judge::sweep;
use brunt_model::analysis::{Band, ContenderAnalysis, LimitKind, ObservedQuantile};
use brunt_model::answer::Estimate;
use brunt_model::{LoadUnit, Observation, Observations};

/// Throughput collapsed if it is below this share of the maximum at lower loads.
const COLLAPSED: f64 = 0.9;
/// Number of standard deviations of a count that are attributed to chance.
const DEVIATIONS: f64 = 3.0;

/// The limits of a server that the trials show.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Load at which the response time starts to bend.
    pub knee: Option<Estimate>,
    /// Throughput that does not grow with the load any more.
    pub saturation: Option<Estimate>,
    /// Lowest load at which throughput fell clearly below its maximum.
    pub collapse: Option<f64>,
}

/// Returns the limits that the trials show. Generator-limited trials are excluded.
pub fn limits(trials: &[TrialSummary], unit: LoadUnit) -> Limits {
    let mut valid: Vec<&TrialSummary> =
        trials.iter().filter(|trial| trial.limited.is_none()).collect();
    valid.sort_by(|a, b| a.load.total_cmp(&b.load));
    let analysis = sweep::analyse(&observations(&valid, unit));
    let Some(analysis) = analysis.contenders.first() else { return Limits::default() };
    Limits {
        knee: knee(analysis, &valid),
        saturation: saturation(analysis, &valid),
        collapse: collapse(&valid),
    }
}

fn observations(trials: &[&TrialSummary], unit: LoadUnit) -> Observations {
    Observations {
        contenders: vec![String::new()],
        factors: Vec::new(),
        unit,
        observations: trials.iter().map(|trial| observation(trial, unit)).collect(),
        objectives: Vec::new(),
        notes: Vec::new(),
    }
}

fn observation(trial: &TrialSummary, unit: LoadUnit) -> Observation {
    let p99 =
        trial.p99.map(|seconds| ObservedQuantile { quantile: 0.99, seconds, at_least: false });
    Observation {
        load: trial.load,
        offered: matches!(unit, LoadUnit::PerSecond).then_some(trial.offered),
        achieved: trial.achieved,
        mean: trial.mean,
        quantiles: p99.into_iter().collect(),
        ..Observation::default()
    }
}

/// Returns the knee, with the neighboring loads as its interval.
fn knee(analysis: &ContenderAnalysis, trials: &[&TrialSummary]) -> Option<Estimate> {
    let value = analysis.limits.iter().find(|limit| limit.kind == LimitKind::Knee)?.at?.value;
    let mut low = None;
    let mut high = None;
    // Trials are sorted by load.
    for load in trials.iter().map(|trial| trial.load) {
        if load < value {
            low = Some(load);
        } else if load > value && high.is_none() {
            high = Some(load);
        }
    }
    Some(Estimate { value: Some(value), low, high })
}

/// Returns the saturation. If the sweep's analysis has no interval, it is the range of the
/// trials above the saturation.
fn saturation(analysis: &ContenderAnalysis, trials: &[&TrialSummary]) -> Option<Estimate> {
    let at = analysis.limits.iter().find(|limit| limit.kind == LimitKind::Saturation)?.at?;
    if at.band != Band::One {
        return Some(Estimate { value: Some(at.value), low: Some(at.low), high: Some(at.high) });
    }
    let mut low = None;
    let mut high = None;
    for trial in trials.iter().filter(|trial| trial.offered > 1.05 * at.value) {
        low = Some(trial.achieved.min(low.unwrap_or(at.value)));
        high = Some(trial.achieved.max(high.unwrap_or(at.value)));
    }
    Some(Estimate { value: Some(at.value), low, high })
}

fn collapse(trials: &[&TrialSummary]) -> Option<f64> {
    trials.iter().find(|trial| has_collapsed(trial, trials)).map(|trial| trial.load)
}

/// True if the throughput is clearly below the maximum at lower loads.
fn has_collapsed(trial: &TrialSummary, trials: &[&TrialSummary]) -> bool {
    let lower = trials.iter().filter(|other| other.load < trial.load);
    let most = lower.map(|other| other.achieved).fold(0.0, f64::max);
    let seconds: f64 = trial.blocks.iter().map(|block| block.seconds).sum();
    // A short trial can have fewer arrivals by chance.
    let by_chance = DEVIATIONS * (most / seconds.max(1.0)).sqrt();
    trial.achieved < COLLAPSED * most - by_chance
}
