//! Whether the server, or its machine, became another while it was searched.
//!
//! What it is: the same curve, whose crossing may wander in a straight line over time; where that fits the trials better than
//! chance would have it, it is told. What it is not: a cause. Trials at the overload are not looked at.

use crate::curve::{Glimpse, Target, crossing};
use brunt_stats::order;

/// The capacity as it wandered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// At the first trial.
    pub first: f64,
    /// At the last.
    pub last: f64,
}

/// So many trials near the capacity are needed to tell a drift from a bend of the curve.
const FEWEST: usize = 4;
/// From the middle of the search to its end, the crossing wanders by so much of itself at most.
const MOST: f64 = 0.5;
/// Loads that are tried for that.
const STEPS: i32 = 25;

/// How the crossing wandered; `times` are those of the glimpses, in seconds. None where it did not, as far as is known.
pub fn drift(glimpses: &[Glimpse], times: &[f64], target: Target) -> Option<Drift> {
    let still = crossing(glimpses, target)?;
    if still.near < FEWEST {
        return None;
    }
    let (least, most) = times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), t| (a.min(*t), b.max(*t)));
    let part = |time: f64| if most > least { 2.0 * (time - least) / (most - least) - 1.0 } else { 0.0 };
    let moved = |by: f64| -> Vec<Glimpse> {
        let one =
            |(glimpse, time): (&Glimpse, &f64)| Glimpse { load: glimpse.load / (1.0 + by * part(*time)), ..*glimpse };
        glimpses.iter().zip(times).map(one).collect()
    };
    let wanders = |step: i32| {
        let by = MOST * (f64::from(step) / f64::from(STEPS)).powi(3);
        Some((by, crossing(&moved(by), target)?))
    };
    let all = (-STEPS..=STEPS).filter_map(wanders);
    let (by, best) = all.min_by(|a, b| a.1.deviance.total_cmp(&b.1.deviance))?;
    let freedom = target.freedom + (best.near as f64 - 3.0).max(0.0);
    let clear = still.deviance - best.deviance > order::student(freedom).powi(2);
    clear.then_some(Drift { first: best.load * (1.0 - by), last: best.load * (1.0 + by) })
}
