//! Computes the capacity under a set of objectives from all trials.
//!
//! Each objective's figure in each trial, with its variance, is fitted by [`crate::curve`]. Of
//! several objectives, the one that is missed first determines the capacity.

use crate::bound::{CountedRatio, MIN_ACHIEVED, ObjectiveFigure};
use crate::curve::{Crossing, CurveScale, CurveTarget, ObservedPoint, Saturation, crossing};
use crate::drift::{self, Drift, TrialMean};
use crate::search::{PastTrial, Search};
use crate::sides;
use crate::stalls::{poisson_high, stall_share};
use crate::summary::{BoundCount, EvidenceFor, TrialSummary, bounds};
use brunt_model::answer::{Estimate, LoadSide};
use brunt_model::{CapacitySearch, LoadUnit};
use brunt_stats::blocks;

/// The state of a search for the capacity under one set of objectives.
#[derive(Debug, Clone)]
pub struct CapacityState {
    /// Highest load below the capacity that met the objectives; None if none met them. Below and
    /// above are separated where the trials contradict this least.
    pub met: Option<f64>,
    /// Lowest load above the capacity that missed the objectives; None if none did.
    pub missed: Option<f64>,
    /// Highest load that a single trial proves to be below the capacity.
    pub proven_met: Option<f64>,
    /// True if a trial certainly lies above the capacity, and not only because of
    /// a few slow requests.
    pub is_above: bool,
    /// Crossing of the objective that is missed first; None until both sides were seen.
    pub crossing: Option<Crossing>,
    /// Estimate of the capacity, with its interval.
    pub at: Estimate,
    /// True if stalls may make more requests slow than an objective allows, at every load.
    pub is_stalled: bool,
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
}

/// Returns the state of each set.
pub fn states(
    find: &CapacitySearch,
    unit: LoadUnit,
    trials: &[TrialSummary],
) -> Vec<CapacityState> {
    bounds(find).iter().enumerate().map(|(set, bounds)| state(set, bounds, unit, trials)).collect()
}

/// One of the two ways to evaluate the trials. Each treats all trials
/// alike, whatever their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// Includes all effects of lag. The capacity is at least the result, so this
    /// gives the lower end.
    WithLag,
    /// Excludes all possible effects of lag. The capacity is at most the result, so this
    /// gives the upper end.
    WithoutLag,
}

impl View {
    /// True if a trial is evidence for this view's end of the interval.
    fn includes(self, trial: &TrialSummary) -> bool {
        let is_evidence = match self {
            Self::WithLag => trial.evidence != EvidenceFor::None,
            Self::WithoutLag => trial.evidence == EvidenceFor::Both,
        };
        is_evidence && trial.undisturbed().next().is_some()
    }

    fn over(self, part: &BoundCount) -> f64 {
        match self {
            Self::WithLag => part.over,
            Self::WithoutLag => part.without_lag,
        }
    }
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
        let trials = trials.iter().filter(|trial| view.includes(trial)).collect();
        Self { view, set, bounds, trials }
    }
}

fn state(
    set: usize,
    bounds: &[ObjectiveFigure],
    unit: LoadUnit,
    trials: &[TrialSummary],
) -> CapacityState {
    let with_lag = SetView::new(View::WithLag, set, bounds, trials);
    let without_lag = SetView::new(View::WithoutLag, set, bounds, trials);
    let met = with_lag.split().met;
    let missed = without_lag.split().missed;
    let proven_met = with_lag.proven_met();
    let proven_missed = without_lag.proven_missed();
    let is_above = proven_missed.is_some() || without_lag.is_missed_in_overload();
    let lower = with_lag.crossings();
    // Without any effect of lag, both fits are the same.
    let upper =
        if without_lag.is_like(&with_lag) { lower.clone() } else { without_lag.crossings() };
    let clearly_met = met.filter(|met| with_lag.is_clearly_met(*met));
    let is_stalled = with_lag.is_stalled();
    let ends = Ends {
        lower,
        upper,
        proven_met,
        proven_missed,
        clearly_met,
        most: without_lag.saturation(),
    };
    let at = if is_stalled {
        Estimate { value: None, low: None, ..ends.estimate() }
    } else {
        ends.estimate()
    };
    let at = if matches!(unit, LoadUnit::Users { .. }) { whole(at) } else { at };
    let proven_met = proven_met.or(clearly_met).filter(|_| !is_stalled);
    CapacityState { met, missed, proven_met, is_above, crossing: ends.crossing(), at, is_stalled }
}

/// Results of both views.
struct Ends {
    /// Crossing of each objective, with all effects of lag.
    lower: Vec<Crossing>,
    /// Crossing of each objective, without the effects of lag.
    upper: Vec<Crossing>,
    proven_met: Option<f64>,
    proven_missed: Option<f64>,
    clearly_met: Option<f64>,
    most: Option<Saturation>,
}

impl Ends {
    /// Crossing of the objective that is missed first, in the geometric mean of both views.
    fn crossing(&self) -> Option<Crossing> {
        let lower = first_crossing(&self.lower)?;
        let upper = first_crossing(&self.upper)?;
        Some(Crossing {
            load: (lower.load * upper.load).sqrt(),
            low: lower.low,
            high: upper.high,
            slope: (lower.slope * upper.slope).sqrt(),
        })
    }

    fn estimate(&self) -> Estimate {
        let most = self.most.map(|most| most.load);
        let first = self.crossing().map(|crossing| crossing.load);
        let value = match (first, self.low(first), self.high(first)) {
            // The highest observed throughput limits the estimate, even if little else is known.
            (Some(first), low, high) if low.is_none() || high.is_none() => {
                Some(first.min(most.unwrap_or(first)))
            }
            _ => first,
        };
        let low = self.low(value).map(|low| low.min(value.unwrap_or(low)));
        let high = self.high(value).map(|high| high.max(value.unwrap_or(high)));
        Estimate { value, low, high }
    }

    fn low(&self, value: Option<f64>) -> Option<f64> {
        // An objective with an open lower end may be missed at any load. Then
        // only proven loads count.
        let is_open =
            self.lower.is_empty() || self.lower.iter().any(|crossing| crossing.low.is_none());
        let low = self
            .lower
            .iter()
            .filter_map(|crossing| crossing.low)
            .reduce(f64::min)
            .filter(|_| !is_open);
        let proven = self.proven_met.into_iter().chain(self.clearly_met).reduce(f64::max);
        low.or(proven.filter(|low| value.is_none_or(|value| *low < value)))
    }

    fn high(&self, value: Option<f64>) -> Option<f64> {
        let high = self.upper.iter().filter_map(|crossing| crossing.high).reduce(f64::min);
        let high =
            high.or(self.proven_missed.filter(|high| value.is_none_or(|value| *high > value)));
        // Above saturation the queue grows without limit, so no bound on a waiting time is met.
        high.into_iter().chain(self.most.map(|most| most.at_most())).reduce(f64::min)
    }
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
            let parts = self.parts(trial, index);
            (figure(trial, &parts, bound) / bound.allowed - 1.0).min(MOST)
                * sum(&parts).total.max(1.0)
        });
        excesses.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Highest load that a single trial proves to be below the capacity.
    fn proven_met(&self) -> Option<f64> {
        let below = self.trials.iter().filter(|trial| {
            let mut bounds = self.bounds.iter().enumerate();
            bounds.all(|(index, bound)| sides::is_below(&self.parts(trial, index), bound))
                && !trial.is_overloaded()
        });
        below.map(|trial| trial.load).reduce(f64::max)
    }

    /// Lowest load that a single trial proves to be above the capacity.
    fn proven_missed(&self) -> Option<f64> {
        let above = self
            .trials
            .iter()
            .filter(|trial| side(trial, self.set, self.bounds) == LoadSide::Above);
        above.map(|trial| trial.load).reduce(f64::min)
    }

    fn is_missed_in_overload(&self) -> bool {
        self.trials.iter().any(|trial| trial.is_overloaded() && self.excess(trial) > 0.0)
    }

    /// True if replies at `load` took hardly longer than at lower loads, and all trials up
    /// to it together prove that each bound is met. Requests that do not queue are
    /// independent of each other.
    fn is_clearly_met(&self, load: f64) -> bool {
        const HARDLY: f64 = 1.2;
        let up_to: Vec<&TrialSummary> =
            self.trials.iter().copied().filter(|trial| trial.load <= load).collect();
        let (last, lower): (Vec<&TrialSummary>, Vec<&TrialSummary>) =
            up_to.iter().partition(|trial| trial.load >= load);
        let is_queued = !lower.is_empty() && mean_response(&last) > HARDLY * mean_response(&lower);
        if is_queued {
            return false;
        }
        self.bounds.iter().enumerate().all(|(index, bound)| {
            let parts: Vec<BoundCount> =
                up_to.iter().flat_map(|trial| self.parts(trial, index)).collect();
            let BoundCount { over, total: of, .. } = sum(&parts);
            match bound.counted {
                CountedRatio::Slower(_) | CountedRatio::Errors => {
                    poisson_high(over) < bound.allowed * of
                }
                CountedRatio::Mean => over < 0.5 * bound.allowed * of,
                CountedRatio::Wanted { .. } => last.iter().all(|trial| self.excess(trial) <= 0.0),
            }
        })
    }

    /// True if stalls may make more requests slow than an objective allows, at every load.
    fn is_stalled(&self) -> bool {
        let throughput = highest_throughput(&self.trials);
        // Above the highest throughput, a growing queue can look like a stall.
        let loaded: Vec<&TrialSummary> =
            self.trials.iter().copied().filter(|trial| trial.load <= throughput).collect();
        self.bounds.iter().any(|bound| stall_share(&loaded, bound.counted).high > bound.allowed)
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

    /// The counts of an objective in all undisturbed blocks, as this view evaluates them.
    fn parts(&self, trial: &TrialSummary, index: usize) -> Vec<BoundCount> {
        of_blocks(trial, self.set, index)
            .map(|part| BoundCount { over: self.view.over(&part), ..part })
            .collect()
    }

    fn points(&self, index: usize) -> (Vec<ObservedPoint>, CurveTarget) {
        let bound = &self.bounds[index];
        let scale = if bound.is_share() { CurveScale::Share } else { CurveScale::Amount };
        let points = self.trials.iter().map(|trial| {
            let parts = self.parts(trial, index);
            let (variance, freedom) = variance(&parts, bound);
            let seconds = trial.undisturbed_seconds().max(0.1);
            ObservedPoint {
                load: trial.load,
                figure: figure(trial, &parts, bound),
                seconds,
                variance,
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

/// Returns the side of the capacity on which a finished trial lies, from that trial alone.
pub fn side(trial: &TrialSummary, set: usize, bounds: &[ObjectiveFigure]) -> LoadSide {
    let sides_of_bounds = bounds.iter().enumerate().map(|(index, bound)| {
        let parts: Vec<BoundCount> = of_blocks(trial, set, index).collect();
        sides::side(&parts, bound)
    });
    // In overload the queue grows, so a bound on a waiting time is missed sooner or later.
    let is_overload_above =
        trial.is_overloaded() && bounds.iter().any(ObjectiveFigure::depends_on_waiting);
    let each = sides_of_bounds.chain(is_overload_above.then_some(LoadSide::Above));
    match (sides::joined(&each.collect::<Vec<_>>()), trial.evidence) {
        // The decision excludes blocks that lag disturbed, but the trial's p99 in the report
        // includes them. If that exceeds the bound, the bound cannot be reported as met.
        (LoadSide::Below, _) if exceeds(trial, set, bounds) => LoadSide::Undecided,
        (side, EvidenceFor::Both) | (side @ LoadSide::Below, EvidenceFor::LowerEnd) => side,
        _ => LoadSide::Undecided,
    }
}

/// Rounds an estimate of users down to the highest integer that meets the objectives.
fn whole(at: Estimate) -> Estimate {
    Estimate {
        value: at.value.map(f64::floor),
        low: at.low.map(f64::floor),
        high: at.high.map(f64::floor),
    }
}

/// True if a trial's figures exceed a bound of the set.
pub fn misses(trial: &TrialSummary, set: usize, bounds: &[ObjectiveFigure]) -> bool {
    bounds.iter().enumerate().any(|(index, bound)| {
        let parts: Vec<BoundCount> = of_blocks(trial, set, index).collect();
        figure(trial, &parts, bound) > bound.allowed
    })
}

/// True if the figures of a whole trial, including disturbed blocks, exceed a bound of the set.
fn exceeds(trial: &TrialSummary, set: usize, bounds: &[ObjectiveFigure]) -> bool {
    bounds.iter().enumerate().any(|(index, bound)| {
        let blocks =
            trial.blocks.iter().filter_map(|block| block.parts.get(set)?.get(index).copied());
        figure(trial, &blocks.collect::<Vec<_>>(), bound) > bound.allowed
    })
}

/// The counts of an objective in the blocks that lag has not disturbed.
fn of_blocks(trial: &TrialSummary, set: usize, index: usize) -> impl Iterator<Item = BoundCount> {
    trial.undisturbed().filter_map(move |block| block.parts.get(set)?.get(index).copied())
}

/// Returns the figure of an objective over some blocks. Without requests, the objective is
/// not met. In overload the queue grows without limit, so the figure is large, however short
/// the queue still is.
fn figure(trial: &TrialSummary, parts: &[BoundCount], bound: &ObjectiveFigure) -> f64 {
    const ENDLESS: f64 = 1000.0;
    let BoundCount { over, total: of, .. } = sum(parts);
    match if of > 0.0 { over / of } else { 1.0 } {
        figure if !(bound.depends_on_waiting() && trial.is_overloaded()) => figure,
        _ if bound.is_share() => 1.0,
        figure => figure.max(ENDLESS * bound.allowed),
    }
}

fn sum(parts: &[BoundCount]) -> BoundCount {
    parts.iter().fold(BoundCount::default(), |sum, part| BoundCount {
        over: sum.over + part.over,
        without_lag: sum.without_lag + part.without_lag,
        total: sum.total + part.total,
    })
}

/// Mean response time over all blocks of some trials.
fn mean_response(trials: &[&TrialSummary]) -> f64 {
    let mut response = 0.0;
    let mut completed = 0.0;
    for block in trials.iter().flat_map(|trial| &trial.blocks) {
        response += block.response;
        completed += block.completed;
    }
    response / completed
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

/// Returns the variance of the figure and its degrees of freedom, by batch means of the trial's
/// blocks. It is a ratio estimator, since the number of requests in a block is random too.
fn variance(parts: &[BoundCount], bound: &ObjectiveFigure) -> (f64, f64) {
    let BoundCount { over, total: of, .. } = sum(parts);
    if over <= 0.0 || of <= 0.0 {
        return (0.0, 1.0);
    }
    let deviations: Vec<f64> =
        parts.iter().map(|part| part.over - over / of * part.total).collect();
    let (variance, freedom) = match blocks::spread(&deviations) {
        Some(spread) => (spread.variance * deviations.len() as f64, spread.freedom),
        None => coarse_variance(&deviations),
    };
    // The variance of independent requests is the minimum.
    let figure = over / of;
    let least = if bound.is_share() { figure * (1.0 - figure).max(0.0) / of } else { 0.0 };
    ((variance / (of * of)).max(least), freedom)
}

/// Variance of the sum from five batches, for blocks that are autocorrelated at every block size.
fn coarse_variance(deviations: &[f64]) -> (f64, f64) {
    let batch = deviations.len() / 5;
    if batch == 0 {
        return (0.0, 1.0);
    }
    let sums: Vec<f64> = deviations.chunks_exact(batch).map(|chunk| chunk.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let variance =
        sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
    (variance * sums.len() as f64, 3.0)
}

/// Returns the drift of the capacity under the first set of objectives, which is estimated as `at`.
/// None if there is no significant drift.
pub fn drift(
    search: &Search,
    trials: &[TrialSummary],
    history: &[PastTrial],
    at: f64,
) -> Option<Drift> {
    let sets = bounds(&search.find);
    if !sets.first()?.iter().any(ObjectiveFigure::depends_on_waiting) {
        return None;
    }
    let paces: Vec<TrialMean> = search
        .evidence(trials, history)
        .iter()
        .filter(|trial| trial.limited.is_none() && trial.achieved >= MIN_ACHIEVED * trial.offered)
        .filter_map(pace)
        .collect();
    let all: Vec<&TrialSummary> = trials.iter().collect();
    drift::drift(&paces, at, saturation(&all)?.load)
}

/// Mean response time of a trial; None without replies.
fn pace(trial: &TrialSummary) -> Option<TrialMean> {
    let mean = ObjectiveFigure { counted: CountedRatio::Mean, allowed: 0.0 };
    let parts: Vec<BoundCount> = trial
        .undisturbed()
        .map(|block| BoundCount {
            over: block.response,
            without_lag: block.response,
            total: block.completed,
        })
        .collect();
    let (variance, _) = variance(&parts, &mean);
    let BoundCount { over, total: of, .. } = sum(&parts);
    let time = trial.began + trial.seconds / 2.0;
    (over > 0.0 && of > 0.0).then_some(TrialMean {
        load: trial.load,
        time,
        mean: over / of,
        variance,
    })
}
