//! Decides whether the intervals are as narrow as requested, so that the run may end.
//!
//! It compares intervals with goals, and schedules these comparisons. Out of scope: the clock, and
//! ending the run; both belong to the caller.

use super::percentile;
use brunt_model::Run;
use brunt_model::finding::{FigureEstimate, PercentileInterval};
use brunt_model::goal::Aim;
use brunt_model::goal::Goal;
use std::time::Duration;

/// Ratio of the run's length at a look to that at the previous look.
const GROWTH: f64 = 1.25;
/// Number of consecutive looks at which an interval must be narrow enough, because one may
/// be narrow by chance.
const LOOKS: u32 = 2;
/// Minimum number of effective samples on the thinner side of a quantile. An interval that may end
/// the run is examined often and accepted when it is narrow. It is narrow too early if few clumps
/// of slow requests were seen.
const FEWEST_BEYOND: f64 = 25.0;

/// Progress of a run toward its goals.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilProgress {
    /// Progress toward each goal, in their order.
    pub goals: Vec<GoalProgress>,
}

/// Progress of a run toward one goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalProgress {
    /// The goal, with its maximum half width.
    pub goal: Goal,
    /// Distance of the interval's further end from the figure, as a share of the figure.
    /// None without an interval, without two ends, or with fewer than 25 effective
    /// samples beyond a quantile.
    pub half_width: Option<f64>,
}

impl GoalProgress {
    /// True if the interval is narrow enough.
    pub fn is_narrow(&self) -> bool {
        self.half_width.is_some_and(|half| half <= self.goal.within)
    }
}

impl UntilProgress {
    /// True if all intervals are narrow enough.
    pub fn is_narrow(&self) -> bool {
        self.goals.iter().all(GoalProgress::is_narrow)
    }
}

/// Returns the progress of the run toward `goals`.
pub fn goal_progress(run: &Run, goals: &[Goal]) -> UntilProgress {
    let mut quantiles: Vec<f64> = goals.iter().filter_map(|g| quantile(g.aim)).collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup();
    let points = super::measured(run);
    let intervals = percentile::intervals(run, &points, &quantiles);
    let mut reaches = Vec::new();
    for goal in goals {
        let estimate = match goal.aim {
            Aim::Quantile(q) => estimate_of(q, &intervals),
            Aim::Throughput => super::throughput(run, &points),
        };
        reaches.push(GoalProgress { goal: *goal, half_width: estimate.and_then(half_width) });
    }
    UntilProgress { goals: reaches }
}

/// Estimate of a quantile, if enough effective samples lie beyond it.
fn estimate_of(q: f64, intervals: &[PercentileInterval]) -> Option<FigureEstimate> {
    let has_enough = |interval: &&PercentileInterval| {
        interval.quantile == q && interval.effective_samples * q.min(1.0 - q) >= FEWEST_BEYOND
    };
    intervals.iter().find(has_enough)?.estimate
}

fn quantile(aim: Aim) -> Option<f64> {
    match aim {
        Aim::Quantile(q) => Some(q),
        Aim::Throughput => None,
    }
}

fn half_width(estimate: FigureEstimate) -> Option<f64> {
    let FigureEstimate { value, low, high } = estimate;
    let half = (high? - value).max(value - low);
    (value > 0.0).then(|| half / value)
}

/// Schedules looks at a run, and counts those in a row with narrow intervals.
#[derive(Debug, Clone)]
pub struct StopRule {
    goals: Vec<Goal>,
    next: Duration,
    narrow: u32,
}

/// Result of a look.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The run must continue.
    Continue(UntilProgress),
    /// All goals are reached: the run may end.
    Done(UntilProgress),
}

impl StopRule {
    /// Creates a rule for `goals`. The first look is due after `first` of measured time.
    pub fn new(goals: Vec<Goal>, first: Duration) -> Self {
        Self { goals, next: first, narrow: 0 }
    }

    /// Looks at the run if a look is due. `elapsed` is the measured time so far.
    pub fn evaluate_if_due(&mut self, elapsed: Duration, run: &Run) -> Option<Decision> {
        if elapsed < self.next {
            return None;
        }
        // Few looks keep the error of stopping at a narrow interval by chance small.
        self.next = elapsed.mul_f64(GROWTH);
        let progress = goal_progress(run, &self.goals);
        self.narrow = if progress.is_narrow() { self.narrow + 1 } else { 0 };
        Some(if self.narrow >= LOOKS {
            Decision::Done(progress)
        } else {
            Decision::Continue(progress)
        })
    }
}
