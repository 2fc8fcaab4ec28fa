//! Confirmations: the trials that prove the ends of a capacity's interval.
//!
//! A confirmation is one long run at one load. It proves that the load meets all objectives or that
//! it misses one. All other trials only choose loads, because short trials miss what happens rarely.
//!
//! Slow and failed requests come in clusters, and the number of clusters is Poisson. A count of k
//! requests with variance v is therefore treated as k²/v clusters of equal size, and its interval
//! is that of a Poisson mean of so many events (docs/method.md).

use crate::bound::{CountedRatio, ObjectiveFigure};
use crate::counts::{Counts, View, sum, variance};
use crate::curve::{Crossing, CurveScale};
use crate::summary::{EvidenceFor, TrialBlock, TrialSummary, bounds};
use brunt_model::CapacitySearch;
use brunt_model::answer::LoadSide;
use brunt_stats::{blocks, order};
use std::time::Duration;

/// Minimum number of requests of a confirmation.
const FEWEST_REQUESTS: f64 = 1000.0;
/// A trial may be shorter than requested by this share, since a run ends with an interval.
const ROUNDING: f64 = 0.03;
/// Slopes of a curve that are relied on. Few trials determine the slope badly.
const SLOPES: std::ops::RangeInclusive<f64> = 12.0..=30.0;
/// Fewest missing replies in a pause of the server. By chance, this many are missing with
/// probability 10⁻⁶ (e^−15).
const MISSING: f64 = 15.0;

/// Measured time of a confirmation. Each set of objectives needs two confirmations; with one set,
/// each takes a quarter of the time budget, and half of it remains for the choice of loads.
pub fn length(find: &CapacitySearch) -> Duration {
    find.within / (2 * find.objectives.len().max(1) as u32 + 2)
}

/// Number of requests that a confirmation of an end needs: without a slow or failed one, it must
/// prove that their share is below the bound.
pub fn enough_requests(find: &CapacitySearch, wanted: End) -> f64 {
    let bounds = bounds(find);
    let shares = bounds.iter().flatten().filter(|bound| bound.is_share());
    let least = shares.map(|bound| poisson_high(0.0) / bound.allowed).fold(0.0, f64::max);
    if wanted == End::Met { FEWEST_REQUESTS.max(least) } else { FEWEST_REQUESTS }
}

/// The ends of a capacity that confirmations prove, and what contradicts them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ends {
    /// Highest load that was confirmed to meet the objectives.
    pub met: Option<f64>,
    /// Lowest load that was confirmed to miss them.
    pub missed: Option<f64>,
    /// A load that met the objectives at first, and a lower one that missed them later.
    pub worsened: Option<(f64, f64)>,
    /// True if rare slow or failed requests of all trials may exceed the bound at every load.
    pub is_stalled: bool,
}

/// Returns the ends of a set's capacity that the trials prove.
pub fn ends(find: &CapacitySearch, set: usize, trials: &[TrialSummary]) -> Ends {
    let all_bounds = bounds(find);
    let Some(bounds) = all_bounds.get(set) else { return Ends::default() };
    let mut met: Vec<f64> = Vec::new();
    let mut missed: Vec<f64> = Vec::new();
    let mut worsened = None;
    for trial in trials {
        let load = trial.proven_load();
        let better = met.iter().copied().filter(|met| *met >= load).reduce(f64::max);
        match (side(trial, trials, set, bounds), is_confirmation(find, trial)) {
            (LoadSide::Below, true) => {
                // The server became faster: the earlier result is no longer true.
                missed.retain(|missed| *missed > load);
                met.push(load);
            }
            // A shorter trial proves no end, but it can contradict one. The server became slower:
            // neither result is true of it as it was and is.
            (LoadSide::Above, _) if better.is_some() => {
                worsened = better.map(|better| (better, load));
                met.clear();
                missed.clear();
            }
            (LoadSide::Above, true) => missed.push(load),
            _ => {}
        }
    }
    let watched = met.iter().copied().filter(|load| watch(trials, *load, set, bounds));
    let watched = watched.reduce(f64::max);
    Ends {
        met: watched,
        missed: missed.into_iter().reduce(f64::min),
        worsened,
        is_stalled: watched.is_none() && !met.is_empty(),
    }
}

/// True if a trial is long enough, and has enough requests, to prove an end.
pub fn is_confirmation(find: &CapacitySearch, trial: &TrialSummary) -> bool {
    trial.seconds >= (1.0 - ROUNDING) * length(find).as_secs_f64()
        && trial.offered * trial.seconds >= FEWEST_REQUESTS
}

/// Returns the side of the capacity on which the load of a trial lies, from the counts of that trial
/// alone. `all` are the trials of the search.
///
/// Other processes and the generator's lag make a server slower and never faster. Therefore a load
/// is below with all their effects included, and above only without them.
pub fn side(
    trial: &TrialSummary,
    all: &[TrialSummary],
    set: usize,
    bounds: &[ObjectiveFigure],
) -> LoadSide {
    // Other processes that come and go make times vary slowly, whatever the queue does.
    let may_queue =
        trial.evidence == EvidenceFor::Both && bounds.iter().any(|bound| comes_near(bound, trial));
    let is_below = trial.evidence != EvidenceFor::None
        && !trial.is_overloaded()
        && (!may_queue || forgets(trial))
        && bounds.iter().enumerate().all(|(index, bound)| {
            let counts = View::WithLag.counts(trial.undisturbed(), set, index);
            Interval::of(&counts, bound).is_some_and(|interval| interval.high < bound.allowed)
                && halves(&counts).all(|ratio| ratio <= bound.allowed)
        });
    if is_below {
        return LoadSide::Below;
    }
    let is_above = bounds.iter().enumerate().any(|(index, bound)| {
        // Other processes do not make a server refuse requests that is as fast as usual.
        let is_evidence = match (trial.evidence, bound.counted) {
            (EvidenceFor::Both, _) => true,
            (EvidenceFor::LowerEnd, CountedRatio::Errors) => is_as_fast_as_usual(trial, all),
            _ => false,
        };
        if !is_evidence {
            return false;
        }
        if bound.depends_on_waiting() && trial.is_overloaded() {
            return true;
        }
        let counts = View::WithoutLag.counts(trial.undisturbed(), set, index);
        Interval::of(&counts, bound).is_some_and(|interval| interval.low > bound.allowed)
            && halves(&counts).all(|ratio| ratio > bound.allowed)
    });
    if is_above { LoadSide::Above } else { LoadSide::Undecided }
}

/// True if the response times of a trial come near a bound, so that a queue may matter. Times far below it also vary
/// slowly for other reasons, such as the clock rate of the processor.
fn comes_near(bound: &ObjectiveFigure, trial: &TrialSummary) -> bool {
    /// Share of the bound that the mean of a tenth of the trial reaches before a queue matters.
    const NEAR: f64 = 0.02;
    let near = NEAR
        * match bound.counted {
            CountedRatio::Slower(than) => than,
            CountedRatio::Mean => bound.allowed,
            CountedRatio::Errors | CountedRatio::Wanted { .. } => return false,
        };
    let blocks: Vec<&TrialBlock> = trial.undisturbed().collect();
    blocks.chunks(blocks.len().div_ceil(10).max(1)).any(|tenth| {
        let response: f64 = tenth.iter().map(|block| block.response).sum();
        let completed: f64 = tenth.iter().map(|block| block.completed).sum();
        // Also true without replies: all of them may wait.
        response >= near * completed
    })
}

/// True if response times do not depend on those a tenth of the trial earlier. Near saturation, a
/// queue needs longer to forget its state, and a trial that begins with an empty queue sees too few
/// slow requests.
fn forgets(trial: &TrialSummary) -> bool {
    let response: f64 = trial.undisturbed().map(|block| block.response).sum();
    let completed: f64 = trial.undisturbed().map(|block| block.completed).sum();
    let mean = if completed > 0.0 { response / completed } else { 0.0 };
    let deviations = trial.undisturbed().map(|block| block.response - mean * block.completed);
    blocks::spread(&deviations.collect::<Vec<f64>>()).is_some()
}

/// True if replies took hardly longer than at the lower loads where they took least.
fn is_as_fast_as_usual(trial: &TrialSummary, all: &[TrialSummary]) -> bool {
    const HARDLY: f64 = 1.25;
    let lower = all.iter().filter(|other| other.load < trial.load);
    let usual_mean = lower.filter_map(|other| other.mean).reduce(f64::min);
    usual_mean.zip(trial.mean).is_some_and(|(usual_mean, mean)| mean <= HARDLY * usual_mean)
}

/// True if a trial certainly missed an objective, whatever the cause.
pub fn is_clearly_missed(trial: &TrialSummary, set: usize, bounds: &[ObjectiveFigure]) -> bool {
    bounds.iter().enumerate().any(|(index, bound)| {
        let counts = View::WithLag.counts(trial.blocks.iter(), set, index);
        (bound.depends_on_waiting() && trial.is_overloaded())
            || Interval::of(&counts, bound).is_some_and(|interval| interval.low > bound.allowed)
    })
}

/// An end of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The highest load that meets the objectives.
    Met,
    /// The lowest load that misses them.
    Missed,
}

impl End {
    /// Distance from the crossing, as a share of it, at which a trial of some seconds very likely
    /// confirms this end: the share of slow requests there is on the right side of the bound, with
    /// its own interval, and the crossing itself is uncertain.
    pub fn margin(self, crossing: &Crossing, seconds: f64) -> f64 {
        /// Share of the interval of the curve that counts: one standard deviation.
        const SMALLER: f64 = 0.5;
        const MOST_UNCERTAIN: f64 = 0.1;
        const STEP: f64 = 0.0025;
        const FARTHEST: f64 = 0.08;
        let uncertainty = match self {
            Self::Met => crossing.low.map_or(1.0, |low| 1.0 - low / crossing.load),
            Self::Missed => crossing.high.map_or(1.0, |high| high / crossing.load - 1.0),
        };
        let sign = if self == Self::Met { -1.0 } else { 1.0 };
        let mut own = STEP;
        while own < FARTHEST && !self.is_likely(crossing, 1.0 + sign * own, seconds) {
            own += STEP;
        }
        own.hypot((SMALLER * uncertainty).min(MOST_UNCERTAIN))
    }

    /// True if a trial at a multiple of the crossing very likely confirms this end, if the curve is
    /// right.
    fn is_likely(self, crossing: &Crossing, multiple: f64, seconds: f64) -> bool {
        /// Standard deviations by which the trial may turn out worse.
        const UNLUCKY: f64 = 2.2;
        let load = multiple * crossing.load;
        let slope = crossing.slope.clamp(*SLOPES.start(), *SLOPES.end());
        let figure = crossing.target.figure(slope * (multiple - 1.0));
        let allowed = crossing.target.allowed;
        let deviation = (crossing.dispersion * figure.powf(1.5) / seconds).sqrt();
        if crossing.target.scale == CurveScale::Amount {
            let wide = (NORMAL + UNLUCKY) * deviation;
            return match self {
                Self::Met => figure + wide < allowed,
                Self::Missed => figure - wide > allowed,
            };
        }
        let clusters = (figure / deviation).powi(2).min(figure * load * seconds).max(1e-9);
        let unlucky = UNLUCKY / clusters.sqrt();
        match self {
            Self::Met => figure * (1.0 + unlucky) * poisson_high(clusters) / clusters < allowed,
            Self::Missed => figure * (1.0 - unlucky) * poisson_low(clusters) / clusters > allowed,
        }
    }
}

/// True if the slow and failed requests of all trials allow that a load meets the objectives. Up to
/// this load, all of them count; above it, only pauses of the server, which no lower load prevents.
/// Each trial counts by its time, since pauses come by time and not by requests.
fn watch(trials: &[TrialSummary], load: f64, set: usize, bounds: &[ObjectiveFigure]) -> bool {
    bounds.iter().enumerate().filter(|(_, bound)| bound.is_share()).all(|(index, bound)| {
        let mut seen = ClusterCount::default();
        for trial in trials {
            seen.total += trial.seconds;
            if trial.load <= load * 1.001 {
                let counts = View::WithLag.counts(trial.undisturbed(), set, index);
                let count = ClusterCount::of(&counts);
                if count.total > 0.0 {
                    let weight = trial.seconds / count.total;
                    seen.over += weight * count.over;
                    seen.variance += weight * weight * count.variance;
                }
            } else if let CountedRatio::Slower(than) = bound.counted {
                for pause in pauses(trial).into_iter().filter(|pause| *pause > than) {
                    seen.over += pause - than;
                    seen.variance += (pause - than).powi(2);
                }
            }
        }
        seen.over <= 0.0 || seen.high() < bound.allowed
    })
}

/// Lengths, in seconds, of the pauses in which the server completed no request. The generator's lag
/// is subtracted, since it can have caused that part of a pause.
fn pauses(trial: &TrialSummary) -> Vec<f64> {
    let mut pauses = Vec::new();
    let mut length = 0.0;
    let mut lag = 0.0_f64;
    let end = TrialBlock { completed: 1.0, ..TrialBlock::default() };
    // The first replies may take as long as a pause.
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

/// The ratio of each half of a trial. Without requests, an objective is not met.
fn halves(counts: &[Counts]) -> impl Iterator<Item = f64> {
    let (first, second) = counts.split_at(counts.len() / 2);
    [first, second].into_iter().map(|half| sum(half).ratio().unwrap_or(1.0))
}

/// Slow or failed requests that come in clusters.
#[derive(Debug, Clone, Copy, Default)]
struct ClusterCount {
    over: f64,
    /// Variance of `over`.
    variance: f64,
    total: f64,
}

impl ClusterCount {
    fn of(counts: &[Counts]) -> Self {
        let Counts { over, total } = sum(counts);
        Self { over, variance: variance(counts, true).0, total }
    }

    /// Number of independent clusters of equal size with the same relative variance.
    fn clusters(&self) -> f64 {
        if self.variance > 0.0 { self.over * self.over / self.variance } else { self.over }
    }

    /// Upper end of the 95 % interval of the share.
    fn high(&self) -> f64 {
        if self.total <= 0.0 {
            return f64::INFINITY;
        }
        if self.over <= 0.0 {
            return poisson_high(0.0) / self.total;
        }
        let clusters = self.clusters();
        self.over / self.total * poisson_high(clusters) / clusters
    }

    /// Lower end of that interval.
    fn low(&self) -> f64 {
        let clusters = self.clusters();
        if self.over <= 0.0 || clusters <= 0.0 {
            return 0.0;
        }
        self.over / self.total * poisson_low(clusters) / clusters
    }
}

/// The 95 % interval of an objective's figure in one trial.
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// None without requests.
    fn of(counts: &[Counts], bound: &ObjectiveFigure) -> Option<Self> {
        let ratio = sum(counts).ratio()?;
        if bound.is_share() {
            let count = ClusterCount::of(counts);
            return Some(Self { low: count.low(), high: count.high() });
        }
        let (variance, freedom) = variance(counts, false);
        let half = order::student(freedom) * variance.sqrt() / sum(counts).total;
        Some(Self { low: ratio - half, high: ratio + half })
    }
}

/// Upper end of the 95 % interval of a Poisson mean, for `count` events: half the quantile of χ²
/// with 2(count + 1) degrees of freedom, by Wilson and Hilferty (Proc. Nat. Acad. Sci. 17, 1931).
pub fn poisson_high(count: f64) -> f64 {
    let next = count + 1.0;
    let spread = 1.0 / (9.0 * next);
    next * (1.0 - spread + NORMAL * spread.sqrt()).powi(3)
}

/// Lower end of that interval, from 2·count degrees of freedom.
pub fn poisson_low(count: f64) -> f64 {
    if count <= 0.0 {
        return 0.0;
    }
    let spread = 1.0 / (9.0 * count);
    count * (1.0 - spread - NORMAL * spread.sqrt()).max(0.0).powi(3)
}

/// Quantile of the normal distribution at 97.5 %.
const NORMAL: f64 = 1.96;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::BoundCount;

    const BOUND: ObjectiveFigure =
        ObjectiveFigure { counted: CountedRatio::Slower(0.05), allowed: 0.01 };

    /// A trial of 500 requests/s with these slow requests in blocks of 50.
    fn trial(slow: &[f64]) -> TrialSummary {
        let block = |slow: &f64| TrialBlock {
            seconds: 0.1,
            completed: 50.0,
            parts: vec![vec![BoundCount { over: *slow, without_lag: *slow, total: 50.0 }]],
            ..TrialBlock::default()
        };
        TrialSummary {
            load: 500.0,
            sent: 500.0,
            offered: 500.0,
            achieved: 500.0,
            seconds: slow.len() as f64 / 10.0,
            blocks: slow.iter().map(block).collect(),
            ..TrialSummary::default()
        }
    }

    #[test]
    fn the_interval_of_a_poisson_mean_matches_tables() {
        // Garwood (Biometrika 28, 1936): 0.62 to 8.77 of 3 events, up to 3.69 of none.
        assert!((poisson_high(3.0) - 8.77).abs() < 0.03 && (poisson_high(0.0) - 3.69).abs() < 0.03);
        assert!((poisson_low(3.0) - 0.62).abs() < 0.03 && poisson_low(0.0) == 0.0);
    }

    #[test]
    fn few_clusters_decide_nothing_and_many_decide() {
        let mut once = [0.0; 300];
        once[100..104].fill(50.0);
        // 1.3 % slow, all in one cluster: the share of the server may be much less, or more.
        assert_eq!(side(&trial(&once), &[], 0, &[BOUND]), LoadSide::Undecided);
        let often: Vec<f64> = (0..300).map(|at| if at % 5 == 0 { 10.0 } else { 0.0 }).collect();
        assert_eq!(side(&trial(&often), &[], 0, &[BOUND]), LoadSide::Above);
        let rarely: Vec<f64> = (0..300).map(|at| if at % 30 == 0 { 3.0 } else { 0.0 }).collect();
        assert_eq!(side(&trial(&rarely), &[], 0, &[BOUND]), LoadSide::Below);
    }

    #[test]
    fn slowly_varying_times_far_below_the_bound_are_no_queue() {
        // Times rise steadily to this number of seconds.
        for (highest, expected) in [(0.0008, LoadSide::Below), (0.02, LoadSide::Undecided)] {
            let mut trial = trial(&[0.0; 300]);
            trial.evidence = EvidenceFor::Both;
            for (at, block) in trial.blocks.iter_mut().enumerate() {
                block.response = block.completed * highest * (0.9 + 0.1 * at as f64 / 300.0);
            }
            assert_eq!(side(&trial, &[], 0, &[BOUND]), expected, "{highest}");
        }
    }

    #[test]
    fn a_trial_that_becomes_slow_proves_nothing() {
        let mut late: Vec<f64> = vec![0.0; 300];
        for at in (200..300).step_by(3) {
            late[at] = 3.0;
        }
        assert_eq!(side(&trial(&late), &[], 0, &[BOUND]), LoadSide::Undecided);
    }

    #[test]
    fn a_disturbed_trial_proves_that_a_load_is_met_and_not_that_it_is_missed() {
        let beside = |slow: f64| {
            let slow: Vec<f64> = (0..300).map(|at| if at % 5 == 0 { slow } else { 0.0 }).collect();
            TrialSummary { evidence: EvidenceFor::LowerEnd, ..trial(&slow) }
        };
        assert_eq!(side(&beside(0.1), &[], 0, &[BOUND]), LoadSide::Below);
        assert_eq!(side(&beside(20.0), &[], 0, &[BOUND]), LoadSide::Undecided);
    }

    #[test]
    fn refusals_of_a_server_that_is_as_fast_as_usual_count_beside_other_processes() {
        let refused = ObjectiveFigure { counted: CountedRatio::Errors, allowed: 0.01 };
        let often: Vec<f64> = (0..300).map(|at| if at % 5 == 0 { 10.0 } else { 0.0 }).collect();
        let with_mean = |load: f64, mean: f64| TrialSummary {
            load,
            mean: Some(mean),
            evidence: EvidenceFor::LowerEnd,
            ..trial(&often)
        };
        let usual = [with_mean(100.0, 0.01)];
        assert_eq!(side(&with_mean(500.0, 0.011), &usual, 0, &[refused]), LoadSide::Above);
        assert_eq!(side(&with_mean(500.0, 0.03), &usual, 0, &[refused]), LoadSide::Undecided);
    }

    #[test]
    fn pauses_at_any_load_count_against_met() {
        let mut completed = trial(&[0.0; 300]);
        for block in &mut completed.blocks[40..60] {
            block.completed = 0.0;
        }
        completed.load = 900.0;
        let quiet = trial(&[0.0; 300]);
        assert!(watch(std::slice::from_ref(&quiet), 500.0, 0, &[BOUND]));
        assert!(!watch(&[quiet, completed], 500.0, 0, &[BOUND]));
    }
}
