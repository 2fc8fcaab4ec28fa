//! What all trials together show about the capacity under a set of objectives.
//!
//! Each objective's figure in each trial, with its variance, is fitted by [`crate::curve`]. The
//! curve chooses the next loads. The ends of the interval come from [`crate::confirm`] alone.

use crate::bound::{CountedRatio, ObjectiveFigure};
use crate::confirm::{self, Ends};
use crate::counts::{Counts, View, sum, variance};
use crate::curve::{Crossing, CurveScale, CurveTarget, ObservedPoint, Saturation, crossing};
use crate::search::Search;
use crate::summary::{EvidenceFor, TrialSummary, bounds};
use brunt_model::LoadUnit;
use brunt_model::answer::Estimate;

/// The state of a search for the capacity under one set of objectives.
#[derive(Debug, Clone)]
pub struct CapacityState {
    /// Highest load below the capacity that met the objectives; None if none met them. Below and
    /// above are separated where the trials contradict this least.
    pub met: Option<f64>,
    /// Lowest load above the capacity that missed the objectives; None if none did.
    pub missed: Option<f64>,
    /// Lowest load at which a trial certainly missed the objectives, whatever the cause, and not only
    /// by a few slow requests.
    pub clearly_missed: Option<f64>,
    /// Crossing of the objective that is missed first, with all effects of lag: what a trial will
    /// measure. None until both sides were seen.
    pub measured: Option<Crossing>,
    /// The same without all possible effects of lag: what the server alone does.
    pub server: Option<Crossing>,
    /// The ends that confirmations prove.
    pub ends: Ends,
    /// The capacity with its interval.
    pub at: Estimate,
}

impl CapacityState {
    /// Distance of the estimate to the further end of the interval, as a share of the estimate.
    /// Infinite if an end is open.
    pub fn half_width(&self) -> f64 {
        match self.at {
            Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
                (high - value).max(value - low) / value
            }
            _ => f64::INFINITY,
        }
    }

    /// The load that is most likely the capacity. The interval does not contain it by proof.
    pub fn likely(&self) -> Option<f64> {
        let crossings = self.measured.zip(self.server);
        crossings.map(|(measured, server)| (measured.load * server.load).sqrt())
    }
}

/// Returns the state of each set.
pub fn states(search: &Search, trials: &[TrialSummary]) -> Vec<CapacityState> {
    let sets = bounds(&search.find);
    let mut states: Vec<CapacityState> =
        (0..sets.len()).map(|set| state(search, set, &sets[set], trials)).collect();
    // What a stricter set meets, a looser one meets.
    for strict in 0..sets.len() {
        for loose in (0..sets.len()).filter(|loose| *loose != strict) {
            if is_implied(&sets[loose], &sets[strict]) {
                let least = states[strict].ends.met;
                let most = states[loose].ends.missed;
                let ends = &mut states[loose].ends;
                ends.met = [ends.met, least].into_iter().flatten().reduce(f64::max);
                let ends = &mut states[strict].ends;
                ends.missed = [ends.missed, most].into_iter().flatten().reduce(f64::min);
            }
        }
    }
    // A server that changed has changed for all sets.
    if let Some(worsened) = states.iter().find_map(|state| state.ends.worsened) {
        for state in &mut states {
            state.ends = Ends { worsened: Some(worsened), ..Ends::default() };
        }
    }
    for state in &mut states {
        state.at = estimate(state, search.unit);
    }
    states
}

/// True if a load that meets the objectives `strict` certainly meets `loose`.
fn is_implied(loose: &[ObjectiveFigure], strict: &[ObjectiveFigure]) -> bool {
    loose.iter().all(|loose| {
        strict.iter().any(|strict| match (strict.counted, loose.counted) {
            (CountedRatio::Slower(strict_bound), CountedRatio::Slower(loose_bound)) => {
                strict_bound <= loose_bound && strict.allowed <= loose.allowed
            }
            (strict_counted, loose_counted) => {
                strict_counted == loose_counted && strict.allowed <= loose.allowed
            }
        })
    })
}

/// True if a trial is evidence in a view.
fn is_evidence(view: View, trial: &TrialSummary) -> bool {
    let is_evidence = match view {
        View::WithLag => trial.evidence != EvidenceFor::None,
        View::WithoutLag => trial.evidence == EvidenceFor::Both,
    };
    is_evidence && trial.undisturbed().next().is_some()
}

/// The trials that are evidence in a view, with a set of objectives.
struct SetView<'a> {
    view: View,
    set: usize,
    bounds: &'a [ObjectiveFigure],
    trials: Vec<&'a TrialSummary>,
}

impl<'a> SetView<'a> {
    fn new(
        view: View,
        set: usize,
        bounds: &'a [ObjectiveFigure],
        trials: &'a [TrialSummary],
    ) -> Self {
        let trials = trials.iter().filter(|trial| is_evidence(view, trial)).collect();
        Self { view, set, bounds, trials }
    }
}

fn state(
    search: &Search,
    set: usize,
    bounds: &[ObjectiveFigure],
    trials: &[TrialSummary],
) -> CapacityState {
    let with_lag = SetView::new(View::WithLag, set, bounds, trials);
    let without_lag = SetView::new(View::WithoutLag, set, bounds, trials);
    let Split { met, missed } = with_lag.split();
    let measured = first_crossing(&with_lag.crossings());
    // Without any effect of lag, both fits are the same.
    let server = if without_lag.is_like(&with_lag) {
        measured
    } else {
        first_crossing(&without_lag.crossings()).or(measured)
    };
    let ends = confirm::ends(&search.find, set, trials);
    let clearly = trials.iter().filter(|trial| confirm::is_clearly_missed(trial, set, bounds));
    let clearly_missed = clearly.map(|trial| trial.load).reduce(f64::min);
    CapacityState { met, missed, clearly_missed, measured, server, ends, at: Estimate::default() }
}

/// The interval that the confirmations prove, and the estimate between its ends.
fn estimate(state: &CapacityState, unit: LoadUnit) -> Estimate {
    let Ends { met: low, missed: high, .. } = state.ends;
    let (Some(low), Some(high)) = (low, high) else { return Estimate { value: None, low, high } };
    let value = state.likely().unwrap_or((low * high).sqrt()).clamp(low, high);
    let value = if matches!(unit, LoadUnit::Users { .. }) { value.floor() } else { value };
    Estimate { value: Some(value.max(low)), low: Some(low), high: Some(high) }
}

/// The crossing at the lowest load.
fn first_crossing(crossings: &[Crossing]) -> Option<Crossing> {
    crossings.iter().copied().min_by(|a, b| a.load.total_cmp(&b.load))
}

/// Separation of the trials into those below and those above the capacity.
struct Split {
    /// Highest load that met the objectives, of those below.
    met: Option<f64>,
    /// Lowest load that missed them, of those above.
    missed: Option<f64>,
}

impl SetView<'_> {
    /// Splits the trials by load so that the outcomes contradict the split least. A slow
    /// request among the few of a low load thus does not outweigh ten times as many good
    /// requests at a higher load.
    fn split(&self) -> Split {
        let mut all: Vec<(f64, f64)> =
            self.trials.iter().map(|trial| (trial.load, self.excess(trial))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Evidence against a split below all trials. A trial moved below the split adds its excess.
        let mut against: f64 = all.iter().map(|(_, excess)| (-excess).max(0.0)).sum();
        let mut least = against;
        let mut below = 0;
        for (index, (_, excess)) in all.iter().enumerate() {
            against += excess;
            // The tolerance prevents rounding errors from deciding.
            if against < least - 1e-9 {
                least = against;
                below = index + 1;
            }
        }
        let met = all[..below]
            .iter()
            .filter(|(_, excess)| *excess <= 0.0)
            .map(|(load, _)| *load)
            .reduce(f64::max);
        let missed = all[below..]
            .iter()
            .filter(|(_, excess)| *excess > 0.0)
            .map(|(load, _)| *load)
            .reduce(f64::min);
        Split { met, missed }
    }

    /// Excess of the objective that a trial misses most: the number of requests times the relative
    /// excess over the allowed value. Negative if the trial meets all objectives.
    fn excess(&self, trial: &TrialSummary) -> f64 {
        const MOST: f64 = 10.0;
        let excesses = self.bounds.iter().enumerate().map(|(index, bound)| {
            let counts = self.counts(trial, index);
            (figure(trial, &counts, bound) / bound.allowed - 1.0).min(MOST)
                * sum(&counts).total.max(1.0)
        });
        excesses.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the crossings of the objectives, without those that are not crossed.
    fn crossings(&self) -> Vec<Crossing> {
        (0..self.bounds.len())
            .filter_map(|index| {
                let (points, target) = self.points(index);
                crossing(&points, target)
            })
            .collect()
    }

    /// True if this view has the same trials as another, and lag had no effect.
    fn is_like(&self, other: &Self) -> bool {
        self.trials.len() == other.trials.len()
            && self.trials.iter().all(|trial| {
                let parts =
                    trial.undisturbed().filter_map(|block| block.parts.get(self.set)).flatten();
                parts.into_iter().all(|part| part.over == part.without_lag)
            })
    }

    /// The counts of an objective in all undisturbed blocks.
    fn counts(&self, trial: &TrialSummary, index: usize) -> Vec<Counts> {
        self.view.counts(trial.undisturbed(), self.set, index)
    }

    fn points(&self, index: usize) -> (Vec<ObservedPoint>, CurveTarget) {
        let bound = &self.bounds[index];
        let scale = if bound.is_share() { CurveScale::Share } else { CurveScale::Amount };
        let points = self.trials.iter().map(|trial| {
            let counts = self.counts(trial, index);
            let (variance, freedom) = variance(&counts, bound.is_share());
            let total = sum(&counts).total;
            ObservedPoint {
                load: trial.load,
                figure: figure(trial, &counts, bound),
                seconds: trial.undisturbed_seconds().max(0.1),
                variance: if total > 0.0 { variance / (total * total) } else { 0.0 },
                freedom,
            }
        });
        let saturation = bound.depends_on_waiting().then(|| self.saturation()).flatten();
        let served = bound.depends_on_waiting().then(|| highest_throughput(&self.trials));
        let target = CurveTarget {
            scale,
            allowed: bound.allowed,
            saturation,
            served,
            clump: bound.cluster_seconds(),
        };
        (points.collect(), target)
    }

    fn saturation(&self) -> Option<Saturation> {
        if self.bounds.iter().any(ObjectiveFigure::depends_on_waiting) {
            saturation(&self.trials)
        } else {
            None
        }
    }
}

/// True if a trial's figures exceed a bound of the set.
pub fn misses(trial: &TrialSummary, set: usize, bounds: &[ObjectiveFigure]) -> bool {
    bounds.iter().enumerate().any(|(index, bound)| {
        let counts = View::WithLag.counts(trial.undisturbed(), set, index);
        figure(trial, &counts, bound) > bound.allowed
    })
}

/// Returns the figure of an objective over some blocks. Without requests, the objective is
/// not met. In overload the queue grows without limit, so the figure is large, however short
/// the queue still is.
fn figure(trial: &TrialSummary, counts: &[Counts], bound: &ObjectiveFigure) -> f64 {
    const ENDLESS: f64 = 1000.0;
    match sum(counts).ratio().unwrap_or(1.0) {
        figure if !(bound.depends_on_waiting() && trial.is_overloaded()) => figure,
        _ if bound.is_share() => 1.0,
        figure => figure.max(ENDLESS * bound.allowed),
    }
}

fn highest_throughput(trials: &[&TrialSummary]) -> f64 {
    trials.iter().map(|trial| trial.achieved).fold(0.0, f64::max)
}

/// Returns the throughput of an overloaded server, with the error of a count of requests. In a deep
/// overload, throughput may fall. Therefore only loads slightly above the highest throughput count.
fn saturation(trials: &[&TrialSummary]) -> Option<Saturation> {
    const SHALLOW: f64 = 1.2;
    let most = highest_throughput(trials);
    let mut best: Option<(f64, f64)> = None;
    for trial in
        trials.iter().filter(|trial| trial.is_overloaded() && trial.offered <= SHALLOW * most)
    {
        let completed: f64 = trial.undisturbed().map(|block| block.completed).sum();
        let seconds = trial.undisturbed_seconds();
        let is_best =
            best.is_none_or(|best| (completed / seconds).total_cmp(&(best.0 / best.1)).is_ge());
        if seconds > 0.0 && is_best {
            best = Some((completed, seconds));
        }
    }
    let (completed, seconds) = best?;
    Some(Saturation {
        load: (completed / seconds).max(most),
        error: completed.max(1.0).sqrt().recip().max(0.005),
    })
}
