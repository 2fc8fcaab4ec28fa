//! Compares the iterations of a run with its plan.

use crate::{Load, Run};

/// Number of iterations in the measured time of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Iterations {
    /// Number that the plan requires; None if the plan has no such number.
    pub planned: Option<u64>,
    /// Number of iterations that performed all their steps.
    pub done: u64,
    /// The part of `done` with a failed request.
    pub failed: u64,
    /// Number of iterations that the end of the run interrupted.
    pub unfinished: u64,
}

impl Run {
    /// Returns the iterations of the measured time. None if each iteration is one request.
    pub fn iterations(&self) -> Option<Iterations> {
        let populations = &self.plan.as_ref()?.populations;
        let has_scenario =
            populations.iter().any(|population| population.scenario.order().is_none());
        let tally = &self.total.iterations;
        has_scenario.then(|| Iterations {
            planned: self.planned_iterations(),
            done: tally.done(),
            failed: tally.failed,
            unfinished: tally.unfinished,
        })
    }

    fn planned_iterations(&self) -> Option<u64> {
        if !self.populations.is_empty() {
            return self.populations.iter().map(Self::planned_iterations).sum();
        }
        let population = self.plan.as_ref()?.main();
        let Load::Closed { users, .. } = &population.load else {
            return Some(self.total.iterations.arrivals);
        };
        let of_users = population.stop.iterations_per_user.map(|count| {
            let all = count.saturating_mul(users.peak().floor() as u64);
            // The limit of a user includes its warm-up.
            let warmup = &self.warmup.iterations;
            all.saturating_sub(warmup.done() + warmup.unfinished)
        });
        of_users.into_iter().chain(population.stop.requests).min()
    }
}
