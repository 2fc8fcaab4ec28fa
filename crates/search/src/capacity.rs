//! The capacity under a set of objectives, as all trials together have it.
//!
//! What it is: each objective's figure of each trial, with how much it varies, handed to [`crate::curve`]; of several
//! objectives the one that is missed first. Out of scope: that model, and the sentence about it.

use crate::bound::{Bound, Counted, KEPT};
use crate::curve::{Crossing, LoadPoint, Saturation, Scale, Target, crossing};
use crate::drift::{self, Drift, Pace};
use crate::search::{PastTrial, Search};
use crate::sides;
use crate::stalls::{poisson_high, stall_share};
use crate::summary::{Evidence, Part, TrialSummary, bounds};
use brunt_model::answer::{Estimate, LoadSide};
use brunt_model::{Find, LoadUnit};
use brunt_stats::blocks;

/// What is known of the capacity under one set of objectives.
#[derive(Debug, Clone)]
pub struct CapacityState {
    /// The highest load that met the objectives, of those below the capacity as the trials have it most simply; None where
    /// none met them.
    pub met: Option<f64>,
    /// The least load that missed them, of those above it; None where none did.
    pub missed: Option<f64>,
    /// The highest load of which a trial alone decided that it is met.
    pub surely_met: Option<f64>,
    /// Whether any trial surely lies above it, and not only by the chance of some slow requests.
    pub is_above: bool,
    /// Where the objective that is missed first crosses its bound; None before both sides were seen.
    pub crossing: Option<Crossing>,
    /// The capacity with its interval.
    pub at: Estimate,
    /// Whether stalls may make more requests slow than an objective allows, at every load.
    pub is_stalled: bool,
}

impl CapacityState {
    /// Half the interval, as a share of the capacity: that of its further end. Infinite where a side is open.
    pub fn half_width(&self) -> f64 {
        match self.at {
            Estimate { value: Some(value), low: Some(low), high: Some(high) } => {
                (high - value).max(value - low) / value
            }
            _ => f64::INFINITY,
        }
    }
}

/// What is known of each set's capacity.
pub fn known(find: &Find, unit: LoadUnit, seen: &[TrialSummary]) -> Vec<CapacityState> {
    let sets = bounds(find);
    sets.iter().enumerate().map(|(set, bounds)| of_set(set, bounds, unit, seen)).collect()
}

/// One of the two ways in which all trials are read, each of them in the same way whatever it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// All that was over a bound is the server's: the capacity is no lower than this shows, so its lower end counts.
    AsSeen,
    /// All that lag can have caused is taken away: the capacity is no higher than this shows, so its upper end counts.
    WithoutLag,
}

impl View {
    fn counts(self, trial: &TrialSummary) -> bool {
        let said = match self {
            Self::AsSeen => trial.evidence != Evidence::None,
            Self::WithoutLag => trial.evidence == Evidence::Both,
        };
        said && trial.undisturbed().next().is_some()
    }

    fn over(self, part: &Part) -> f64 {
        match self {
            Self::AsSeen => part.over,
            Self::WithoutLag => part.least,
        }
    }
}

/// A set of objectives, and the trials that are evidence in a view.
struct Viewed<'a> {
    view: View,
    set: usize,
    bounds: &'a [Bound],
    trials: Vec<&'a TrialSummary>,
}

fn of_set(set: usize, bounds: &[Bound], unit: LoadUnit, seen: &[TrialSummary]) -> CapacityState {
    let of =
        |view: View| Viewed { view, set, bounds, trials: seen.iter().filter(|trial| view.counts(trial)).collect() };
    let (as_seen, without_lag) = (of(View::AsSeen), of(View::WithoutLag));
    let met = as_seen.split().0;
    let missed = without_lag.split().1;
    let (surely_met, surely_missed) = (as_seen.surely_met(), without_lag.surely_missed());
    let is_above = surely_missed.is_some() || without_lag.is_missed_in_overload();
    let lower = as_seen.crossings();
    let is_alike = without_lag.is_like(&as_seen);
    let upper = if is_alike { lower.clone() } else { without_lag.crossings() };
    let met_clearly = met.filter(|met| as_seen.is_clearly_met(*met));
    let is_stalled = as_seen.is_stalled();
    let ends = Ends { lower, upper, surely_met, surely_missed, met_clearly, most: without_lag.saturation() };
    let at = if is_stalled { Estimate { value: None, low: None, ..ends.estimate() } } else { ends.estimate() };
    let at = if matches!(unit, LoadUnit::Users { .. }) { whole(at) } else { at };
    let surely_met = surely_met.or(met_clearly).filter(|_| !is_stalled);
    CapacityState { met, missed, surely_met, is_above, crossing: ends.crossing(), at, is_stalled }
}

/// What both views come to.
struct Ends {
    lower: Vec<Crossing>,
    upper: Vec<Crossing>,
    surely_met: Option<f64>,
    surely_missed: Option<f64>,
    met_clearly: Option<f64>,
    most: Option<Saturation>,
}

impl Ends {
    /// The crossing of the objective that is missed first, in the middle of both views.
    fn crossing(&self) -> Option<Crossing> {
        let first = |of: &[Crossing]| of.iter().copied().min_by(|a, b| a.load.total_cmp(&b.load));
        let (lower, upper) = (first(&self.lower)?, first(&self.upper)?);
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
            // The highest throughput ever served is a bound, however little else is known.
            (Some(first), low, high) if low.is_none() || high.is_none() => Some(first.min(most.unwrap_or(first))),
            _ => first,
        };
        let ends = (self.low(value), self.high(value));
        let low = ends.0.map(|low| low.min(value.unwrap_or(low)));
        Estimate { value, low, high: ends.1.map(|high| high.max(value.unwrap_or(high))) }
    }

    fn low(&self, value: Option<f64>) -> Option<f64> {
        // An objective whose low end is open may be missed at any load, but for what single trials decided.
        let open = self.lower.is_empty() || self.lower.iter().any(|crossing| crossing.low.is_none());
        let low = self.lower.iter().filter_map(|crossing| crossing.low).reduce(f64::min).filter(|_| !open);
        let decided = self.surely_met.into_iter().chain(self.met_clearly).reduce(f64::max);
        low.or(decided.filter(|low| value.is_none_or(|value| *low < value)))
    }

    fn high(&self, value: Option<f64>) -> Option<f64> {
        let high = self.upper.iter().filter_map(|crossing| crossing.high).reduce(f64::min);
        let high = high.or(self.surely_missed.filter(|high| value.is_none_or(|value| *high > value)));
        // Where a queue grows without end, no bound on a wait is kept.
        high.into_iter().chain(self.most.map(|most| most.at_most())).reduce(f64::min)
    }
}

impl Viewed<'_> {
    /// The highest load that met the objectives and the least that missed them, where as little as possible speaks against
    /// it: one slow request of the few of a low load is no limit where ten times as many are served well.
    fn split(&self) -> (Option<f64>, Option<f64>) {
        let mut all: Vec<(f64, f64)> = self.trials.iter().map(|trial| (trial.load, self.excess(trial))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        // What speaks against the capacity being below all of them; each that is let in speaks for or against it.
        let mut against: f64 = all.iter().map(|(_, excess)| (-excess).max(0.0)).sum();
        let (mut least, mut below) = (against, 0);
        for (index, (_, excess)) in all.iter().enumerate() {
            against += excess;
            if against < least - 1e-9 {
                (least, below) = (against, index + 1);
            }
        }
        let met = all[..below].iter().filter(|(_, excess)| *excess <= 0.0).map(|(load, _)| *load);
        let missed = all[below..].iter().filter(|(_, excess)| *excess > 0.0).map(|(load, _)| *load);
        (met.reduce(f64::max), missed.reduce(f64::min))
    }

    /// By how much a trial misses the objective that it misses most: in requests, as a multiple of what is allowed. Below 0
    /// where it meets all.
    fn excess(&self, trial: &TrialSummary) -> f64 {
        const MOST: f64 = 10.0;
        let one = |(index, bound): (usize, &Bound)| {
            let parts = self.parts(trial, index);
            (figure(trial, &parts, bound) / bound.allowed - 1.0).min(MOST) * sums(&parts).1.max(1.0)
        };
        self.bounds.iter().enumerate().map(one).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The highest load that a trial alone shows to be below the capacity.
    fn surely_met(&self) -> Option<f64> {
        let is_below = |trial: &TrialSummary| {
            let mut bounds = self.bounds.iter().enumerate();
            bounds.all(|(index, bound)| sides::is_below(&self.parts(trial, index), bound)) && !trial.is_overloaded()
        };
        self.trials.iter().filter(|trial| is_below(trial)).map(|trial| trial.load).reduce(f64::max)
    }

    /// The least load that a trial alone decided to be above the capacity.
    fn surely_missed(&self) -> Option<f64> {
        let is_above = |trial: &&&TrialSummary| side(trial, self.set, self.bounds) == LoadSide::Above;
        self.trials.iter().filter(is_above).map(|trial| trial.load).reduce(f64::min)
    }

    fn is_missed_in_overload(&self) -> bool {
        self.trials.iter().any(|trial| trial.is_overloaded() && self.excess(trial) > 0.0)
    }

    /// Whether replies at a load took hardly longer than at lower loads, and all trials up to it show that few enough miss
    /// each bound. Requests that do not queue are independent of each other.
    fn is_clearly_met(&self, load: f64) -> bool {
        const HARDLY: f64 = 1.2;
        let up_to: Vec<&TrialSummary> = self.trials.iter().copied().filter(|trial| trial.load <= load).collect();
        let mean = |trials: &[&TrialSummary]| {
            let blocks = || trials.iter().flat_map(|trial| &trial.blocks);
            blocks().map(|block| block.response).sum::<f64>() / blocks().map(|block| block.completed).sum::<f64>()
        };
        let (last, lower): (Vec<&TrialSummary>, Vec<&TrialSummary>) =
            up_to.iter().partition(|trial| trial.load >= load);
        let is_queued = !lower.is_empty() && mean(&last) > HARDLY * mean(&lower);
        let is_met = |(index, bound): (usize, &Bound)| {
            let parts: Vec<Part> = up_to.iter().flat_map(|trial| self.parts(trial, index)).collect();
            let (over, of) = sums(&parts);
            match bound.counted {
                Counted::Slower(_) | Counted::Errors => poisson_high(over) < bound.allowed * of,
                Counted::Mean => over < 0.5 * bound.allowed * of,
                Counted::Wanted { .. } => last.iter().all(|trial| self.excess(trial) <= 0.0),
            }
        };
        !is_queued && self.bounds.iter().enumerate().all(is_met)
    }

    /// Whether stalls may make more requests slow than an objective allows, at every load.
    fn is_stalled(&self) -> bool {
        let throughput = highest_throughput(&self.trials);
        let loaded: Vec<&TrialSummary> = self.trials.iter().copied().filter(|trial| trial.load <= throughput).collect();
        self.bounds.iter().any(|bound| stall_share(&loaded, bound.counted).high > bound.allowed)
    }

    /// Where each objective is crossed; none where one of them is not.
    fn crossings(&self) -> Vec<Crossing> {
        let one = |index: usize| {
            let (glimpses, target) = self.glimpses(index);
            crossing(&glimpses, target)
        };
        (0..self.bounds.len()).filter_map(one).collect()
    }

    /// Whether another view shows the same.
    fn is_like(&self, other: &Self) -> bool {
        let same = |trial: &&TrialSummary| {
            let parts = trial.undisturbed().filter_map(|block| block.parts.get(self.set)).flatten();
            parts.into_iter().all(|part| part.over == part.least)
        };
        self.trials.len() == other.trials.len() && self.trials.iter().all(same)
    }

    fn parts(&self, trial: &TrialSummary, index: usize) -> Vec<Part> {
        let as_viewed = |part: Part| Part { over: self.view.over(&part), ..part };
        of_blocks(trial, self.set, index).map(as_viewed).collect()
    }

    fn glimpses(&self, index: usize) -> (Vec<LoadPoint>, Target) {
        let bound = &self.bounds[index];
        let scale = if bound.is_share() { Scale::Share } else { Scale::Amount };
        let glimpse = |trial: &&TrialSummary| {
            let parts = self.parts(trial, index);
            let (variance, freedom) = variance(&parts, bound);
            let seconds = trial.undisturbed_seconds().max(0.1);
            LoadPoint { load: trial.load, figure: figure(trial, &parts, bound), seconds, variance, freedom }
        };
        let saturation = bound.waits().then(|| self.saturation()).flatten();
        let served = bound.waits().then(|| highest_throughput(&self.trials));
        let target = Target { scale, allowed: bound.allowed, saturation, served, clump: bound.clump() };
        (self.trials.iter().map(glimpse).collect(), target)
    }

    fn saturation(&self) -> Option<Saturation> {
        if self.bounds.iter().any(Bound::waits) { saturation(&self.trials) } else { None }
    }
}

/// On which side of the capacity a whole trial lies, by itself.
pub fn side(trial: &TrialSummary, set: usize, bounds: &[Bound]) -> LoadSide {
    let one = |(index, bound): (usize, &Bound)| sides::side(&of_blocks(trial, set, index).collect::<Vec<_>>(), bound);
    let endless = trial.is_overloaded() && bounds.iter().any(Bound::waits);
    let each = bounds.iter().enumerate().map(one).chain(endless.then_some(LoadSide::Above));
    match (sides::joined(&each.collect::<Vec<_>>()), trial.evidence) {
        // The decision leaves out blocks that lag disturbed. A report that shows their p99 cannot call the bound met.
        (LoadSide::Below, _) if exceeds(trial, set, bounds) => LoadSide::Undecided,
        (side, Evidence::Both) | (side @ LoadSide::Below, Evidence::LowerEnd) => side,
        _ => LoadSide::Undecided,
    }
}

/// Users are whole: the greatest number that meets the objectives.
fn whole(at: Estimate) -> Estimate {
    Estimate { value: at.value.map(f64::floor), low: at.low.map(f64::floor), high: at.high.map(f64::floor) }
}

/// Whether a trial's figures are over a bound of the set.
pub fn misses(trial: &TrialSummary, set: usize, bounds: &[Bound]) -> bool {
    let over = |(index, bound): (usize, &Bound)| {
        figure(trial, &of_blocks(trial, set, index).collect::<Vec<_>>(), bound) > bound.allowed
    };
    bounds.iter().enumerate().any(over)
}

/// Whether the figures of a whole trial, disturbed blocks included, are over a bound of the set.
fn exceeds(trial: &TrialSummary, set: usize, bounds: &[Bound]) -> bool {
    let is_over = |(index, bound): (usize, &Bound)| {
        let blocks = trial.blocks.iter().filter_map(|block| block.parts.get(set)?.get(index).copied());
        figure(trial, &blocks.collect::<Vec<_>>(), bound) > bound.allowed
    };
    bounds.iter().enumerate().any(is_over)
}

/// The parts of the blocks that lag has not disturbed.
fn of_blocks(trial: &TrialSummary, set: usize, index: usize) -> impl Iterator<Item = Part> {
    trial.undisturbed().filter_map(move |block| block.parts.get(set)?.get(index).copied())
}

/// Over all, of all. Where nothing came, nothing was met; nor where a queue grows without end, however short it is yet.
fn figure(trial: &TrialSummary, parts: &[Part], bound: &Bound) -> f64 {
    const ENDLESS: f64 = 1000.0;
    let (over, of) = sums(parts);
    match if of > 0.0 { over / of } else { 1.0 } {
        figure if !(bound.waits() && trial.is_overloaded()) => figure,
        _ if bound.is_share() => 1.0,
        figure => figure.max(ENDLESS * bound.allowed),
    }
}

fn sums(parts: &[Part]) -> (f64, f64) {
    parts.iter().fold((0.0, 0.0), |(over, of), part| (over + part.over, of + part.of))
}

fn highest_throughput(trials: &[&TrialSummary]) -> f64 {
    trials.iter().map(|trial| trial.achieved).fold(0.0, f64::max)
}

/// The highest throughput of an overloaded server, with the error of a count of requests. Throughput may fall in a deep
/// overload, so the load must be little above the highest throughput of any trial.
fn saturation(useful: &[&TrialSummary]) -> Option<Saturation> {
    const SHALLOW: f64 = 1.2;
    let most = highest_throughput(useful);
    let achieved = |trial: &&TrialSummary| {
        let completed: f64 = trial.undisturbed().map(|block| block.completed).sum();
        (completed, trial.undisturbed_seconds())
    };
    let shallow = useful.iter().filter(|trial| trial.is_overloaded() && trial.offered <= SHALLOW * most);
    let throughputs = shallow.map(achieved).filter(|one: &(f64, f64)| one.1 > 0.0);
    let (completed, seconds) = throughputs.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))?;
    Some(Saturation { load: (completed / seconds).max(most), error: completed.max(1.0).sqrt().recip().max(0.005) })
}

/// The variance of the figure, with its degrees of freedom: by batch means of the trial's blocks (a ratio estimator, as the
/// requests of a block are random too).
fn variance(parts: &[Part], bound: &Bound) -> (f64, f64) {
    let (over, of) = sums(parts);
    if over <= 0.0 || of <= 0.0 {
        return (0.0, 1.0);
    }
    let apart: Vec<f64> = parts.iter().map(|part| part.over - over / of * part.of).collect();
    let (variance, freedom) = match blocks::spread(&apart) {
        Some(spread) => (spread.variance * apart.len() as f64, spread.freedom),
        None => coarse(&apart),
    };
    // Requests that were slow one by one, and none because of the other, vary least.
    let figure = over / of;
    let least = if bound.is_share() { figure * (1.0 - figure).max(0.0) / of } else { 0.0 };
    ((variance / (of * of)).max(least), freedom)
}

/// Where neighbours hang together however long blocks are: five batches.
fn coarse(apart: &[f64]) -> (f64, f64) {
    let batch = apart.len() / 5;
    if batch == 0 {
        return (0.0, 1.0);
    }
    let sums: Vec<f64> = apart.chunks_exact(batch).map(|chunk| chunk.iter().sum()).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
    (variance * sums.len() as f64, 3.0)
}

/// How the capacity under the first set of objectives wandered, whose value is `at`; None where it did not, as far as is known.
pub fn drift(search: &Search, seen: &[TrialSummary], made: &[PastTrial], at: f64) -> Option<Drift> {
    let sets = bounds(&search.find);
    if !sets.first()?.iter().any(Bound::waits) {
        return None;
    }
    let steady = |trial: &&TrialSummary| trial.limited.is_none() && trial.achieved >= KEPT * trial.offered;
    let paces: Vec<Pace> = search.evidence(seen, made).iter().filter(steady).filter_map(pace).collect();
    let all: Vec<&TrialSummary> = seen.iter().collect();
    drift::drift(&paces, at, saturation(&all)?.load)
}

fn pace(trial: &TrialSummary) -> Option<Pace> {
    let mean = Bound { counted: Counted::Mean, allowed: 0.0 };
    let parts: Vec<Part> = trial
        .undisturbed()
        .map(|block| Part { over: block.response, least: block.response, of: block.completed })
        .collect();
    let (variance, _) = variance(&parts, &mean);
    let (over, of) = sums(&parts);
    let known = Pace { load: trial.load, time: trial.began + trial.seconds / 2.0, mean: over / of, variance };
    (over > 0.0 && of > 0.0).then_some(known)
}
