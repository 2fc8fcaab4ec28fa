//! Whether the intervals are as narrow as was asked, so that the run may end.
//!
//! What it is: a comparison, and a small machine that says when to make it. Out of scope: a clock, or what ends the
//! run; both belong to whoever drives it.

use super::percentile;
use brunt_model::Run;
use brunt_model::finding::{Estimate, Interval};
use brunt_model::goal::Aim;
use brunt_model::goal::Goal;
use std::time::Duration;

/// The run's length at a look, as a multiple of that at the look before.
const GROWTH: f64 = 1.25;
/// Looks in a row at which an interval must be narrow enough: one may be narrow by chance.
const LOOKS: u32 = 2;
/// Effective samples that must lie on the thinner side of a quantile. An interval that may end the run is looked at
/// often and taken when it is narrow, and it is narrow too early where few clumps of slow requests were seen.
const FEWEST_BEYOND: f64 = 25.0;

/// How far a run is on the way to its goals.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// One for each goal, in their order.
    pub reaches: Vec<GoalProgress>,
}

/// How far a run is on the way to one goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalProgress {
    /// The goal.
    pub goal: Goal,
    /// The distance of the interval's further end from the figure, as a share of the figure; None where there is no
    /// interval, none with two ends, or fewer than 25 effective samples beyond a quantile.
    pub half_width: Option<f64>,
}

impl GoalProgress {
    /// Whether the interval is narrow enough.
    pub fn is_narrow(&self) -> bool {
        self.half_width.is_some_and(|half| half <= self.goal.within)
    }
}

impl Progress {
    /// Whether all intervals are narrow enough.
    pub fn is_narrow(&self) -> bool {
        self.reaches.iter().all(GoalProgress::is_narrow)
    }
}

/// How far the run is on the way to `goals`.
pub fn is_reached(run: &Run, goals: &[Goal]) -> Progress {
    let mut quantiles: Vec<f64> = goals.iter().filter_map(|g| quantile(g.aim)).collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup();
    let points = super::measured(run);
    let intervals = percentile::intervals(run, &points, &quantiles);
    let estimate = |aim| match aim {
        Aim::Quantile(q) => {
            let enough = |i: &&Interval| i.quantile == q && i.effective_samples * q.min(1.0 - q) >= FEWEST_BEYOND;
            intervals.iter().find(enough)?.estimate
        }
        Aim::Throughput => super::throughput(run, &points),
    };
    let reach = |goal: &Goal| GoalProgress { goal: *goal, half_width: estimate(goal.aim).and_then(half_width) };
    Progress { reaches: goals.iter().map(reach).collect() }
}

fn quantile(aim: Aim) -> Option<f64> {
    match aim {
        Aim::Quantile(q) => Some(q),
        Aim::Throughput => None,
    }
}

fn half_width(estimate: Estimate) -> Option<f64> {
    let Estimate { value, low, high } = estimate;
    let half = (high? - value).max(value - low);
    (value > 0.0).then(|| half / value)
}

/// When to look at a run, and whether it was narrow enough twice in a row.
#[derive(Debug, Clone)]
pub struct StopRule {
    goals: Vec<Goal>,
    next: Duration,
    narrow: u32,
}

/// What a look found.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The run goes on.
    GoOn(Progress),
    /// All goals are reached: the run may end.
    Done(Progress),
}

impl StopRule {
    /// Looks for `goals`, the first time when the measured time has lasted `first`.
    pub fn new(goals: Vec<Goal>, first: Duration) -> Self {
        Self { goals, next: first, narrow: 0 }
    }

    /// Looks at the run if it is time to; `elapsed`: how long the measured time has lasted.
    pub fn look(&mut self, elapsed: Duration, run: &Run) -> Option<Decision> {
        if elapsed < self.next {
            return None;
        }
        self.next = elapsed.mul_f64(GROWTH);
        let progress = is_reached(run, &self.goals);
        self.narrow = if progress.is_narrow() { self.narrow + 1 } else { 0 };
        Some(if self.narrow >= LOOKS { Decision::Done(progress) } else { Decision::GoOn(progress) })
    }
}
