//! Knee, saturation and collapse, from the trials of a search.
//!
//! What it is: the definitions of a sweep, applied to the loads that a search happened to try. Out of scope: as fine as a
//! sweep: a knee lies somewhere between the loads beside it.

use crate::summary::TrialSummary;
use brunt_judge::sweep;
use brunt_model::analysis::{Band, ContenderAnalysis, LimitKind, ObservedQuantile};
use brunt_model::answer::Estimate;
use brunt_model::{LoadUnit, Observation, Observations};

/// Throughput fell clearly where it is less than this share of the most at lower loads.
const FELL: f64 = 0.9;
/// Standard deviations of a count that are taken for chance.
const DEVIATIONS: f64 = 3.0;

/// What the trials show of a server's limits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Where the response time starts to bend.
    pub knee: Option<Estimate>,
    /// The throughput that does not grow any more.
    pub saturation: Option<Estimate>,
    /// The least load at which throughput fell clearly below what it had been.
    pub collapse: Option<f64>,
}

/// The limits that trials show; those in which the generator was the limit are left out.
pub fn limits(seen: &[TrialSummary], unit: LoadUnit) -> Limits {
    let mut useful: Vec<&TrialSummary> = seen.iter().filter(|trial| trial.limited.is_none()).collect();
    useful.sort_by(|a, b| a.load.total_cmp(&b.load));
    let analysis = sweep::analyse(&observations(&useful, unit));
    let Some(found) = analysis.contenders.first() else { return Limits::default() };
    Limits { knee: knee(found, &useful), saturation: saturation(found, &useful), collapse: collapse(&useful) }
}

fn observations(useful: &[&TrialSummary], unit: LoadUnit) -> Observations {
    let observation = |trial: &&TrialSummary| Observation {
        load: trial.load,
        offered: matches!(unit, LoadUnit::PerSecond).then_some(trial.offered),
        achieved: trial.achieved,
        mean: trial.mean,
        quantiles: trial
            .p99
            .map(|seconds| ObservedQuantile { quantile: 0.99, seconds, at_least: false })
            .into_iter()
            .collect(),
        ..Observation::default()
    };
    Observations {
        contenders: vec![String::new()],
        factors: Vec::new(),
        unit,
        observations: useful.iter().map(observation).collect(),
        objectives: Vec::new(),
        notes: Vec::new(),
    }
}

/// Between the loads beside it.
fn knee(found: &ContenderAnalysis, useful: &[&TrialSummary]) -> Option<Estimate> {
    let value = found.limits.iter().find(|limit| limit.kind == LimitKind::Knee)?.at?.value;
    let loads = || useful.iter().map(|trial| trial.load);
    let low = loads().filter(|load| *load < value).reduce(f64::max);
    let high = loads().filter(|load| *load > value).reduce(f64::min);
    Some(Estimate { value: Some(value), low, high })
}

/// With the range of the trials behind it, where nothing better is known.
fn saturation(found: &ContenderAnalysis, useful: &[&TrialSummary]) -> Option<Estimate> {
    let at = found.limits.iter().find(|limit| limit.kind == LimitKind::Saturation)?.at?;
    if at.band != Band::One {
        return Some(Estimate { value: Some(at.value), low: Some(at.low), high: Some(at.high) });
    }
    let behind = || useful.iter().filter(|trial| trial.offered > 1.05 * at.value).map(|trial| trial.achieved);
    let (low, high) = (behind().reduce(f64::min), behind().reduce(f64::max));
    let with = |end: Option<f64>, of: fn(f64, f64) -> f64| end.map(|end| of(end, at.value));
    Some(Estimate { value: Some(at.value), low: with(low, f64::min), high: with(high, f64::max) })
}

fn collapse(useful: &[&TrialSummary]) -> Option<f64> {
    let fell = |trial: &TrialSummary| {
        let lower = useful.iter().filter(|other| other.load < trial.load);
        let most = lower.map(|other| other.achieved).fold(0.0, f64::max);
        let seconds: f64 = trial.blocks.iter().map(|block| block.seconds).sum();
        // Arrivals of a short trial are that many fewer by chance.
        let by_chance = DEVIATIONS * (most / seconds.max(1.0)).sqrt();
        trial.achieved < FELL * most - by_chance
    };
    useful.iter().find(|trial| fell(trial)).map(|trial| trial.load)
}
