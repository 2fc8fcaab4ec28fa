//! How long an experiment will still take: as long as planned, times how much longer than planned it took so far; one that
//! grows, as long as it may.

use brunt_model::{Clock, Experiment, Plan, Tick, TrialIndex};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long an experiment will still take.
pub struct TimeLeft<'a> {
    clock: &'a dyn Clock,
    experiment: &'a Experiment,
    began: Tick,
    /// Planned seconds of the trials that were made, and of those to come.
    made: f64,
    to_come: f64,
    /// Repetitions that were made whole.
    repetitions: u32,
}

impl<'a> TimeLeft<'a> {
    /// From now on; some trials are done already.
    pub fn new(clock: &'a dyn Clock, experiment: &'a Experiment, done: &BTreeSet<TrialIndex>) -> Self {
        let to_come = budget(experiment).unwrap_or_else(|| {
            let left = brunt_rig::order(experiment).filter(|place| !done.contains(place));
            left.map(|place| planned(experiment, place)).sum()
        });
        Self { clock, experiment, began: clock.now(), made: 0.0, to_come, repetitions: 0 }
    }

    /// A trial was made.
    pub fn made(&mut self, place: TrialIndex) {
        if self.experiment.grows() {
            return;
        }
        let planned = planned(self.experiment, place);
        self.made += planned;
        self.to_come -= planned;
    }

    /// A repetition is complete; whether one more would exceed this time from the beginning.
    pub fn is_used_up(&mut self, within: Duration) -> bool {
        self.repetitions += 1;
        let elapsed = self.clock.now() - self.began;
        elapsed + elapsed / self.repetitions > within
    }

    /// How long it will still take, the trial that goes on included.
    pub fn time(&self) -> Duration {
        let elapsed = (self.clock.now() - self.began).as_secs_f64();
        let to_come = if self.experiment.grows() { self.to_come - elapsed } else { self.to_come };
        let slower = if self.made > 0.0 { elapsed / self.made } else { 1.0 };
        Duration::try_from_secs_f64((to_come * slower).max(0.0)).unwrap_or_default()
    }
}

/// How long all searches together may take, in seconds; None where nothing is searched.
fn budget(experiment: &Experiment) -> Option<f64> {
    let find = experiment.find()?;
    let given = |place: &TrialIndex| (1..=experiment.given()).contains(&place.step);
    let known: f64 = brunt_rig::order(experiment).filter(given).map(|place| planned(experiment, place)).sum();
    let searches = experiment.contenders.len() * experiment.repetitions as usize;
    Some(find.within.as_secs_f64() * searches as f64 + known)
}

fn planned(experiment: &Experiment, place: TrialIndex) -> f64 {
    let load = experiment.step(place).map_or(Duration::ZERO, |step| of_load(&step.plan));
    (load + experiment.cooldown).as_secs_f64()
}

/// A load that ends after a number of requests is taken for a second long; the trials made so far mend that.
fn of_load(plan: &Plan) -> Duration {
    plan.main().stop.warmup + plan.main().stop.duration.unwrap_or(Duration::from_secs(1))
}
