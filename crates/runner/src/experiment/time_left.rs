//! Estimates the remaining time of an experiment: the planned time, times the ratio of elapsed and
//! planned time so far. For an experiment with searches, it is the rest of their time budget.

use brunt_model::{Clock, Experiment, Plan, Tick, TrialIndex};
use std::collections::BTreeSet;
use std::time::Duration;

/// Estimate of the remaining time of an experiment.
pub struct TimeLeft<'a> {
    clock: &'a dyn Clock,
    experiment: &'a Experiment,
    began: Tick,
    /// Planned seconds of the trials that were made, and of the remaining ones.
    made_seconds: f64,
    remaining_seconds: f64,
    /// Number of completed repetitions.
    repetitions: u32,
}

impl<'a> TimeLeft<'a> {
    /// Starts the estimate. `done` are the trials that were made before.
    pub fn new(
        clock: &'a dyn Clock,
        experiment: &'a Experiment,
        done: &BTreeSet<TrialIndex>,
    ) -> Self {
        let remaining_seconds = budget(experiment).unwrap_or_else(|| {
            let remaining = brunt_rig::order(experiment).filter(|place| !done.contains(place));
            remaining.map(|place| planned_seconds(experiment, place)).sum()
        });
        Self {
            clock,
            experiment,
            began: clock.now(),
            made_seconds: 0.0,
            remaining_seconds,
            repetitions: 0,
        }
    }

    /// Records that a trial was made.
    pub fn record_trial(&mut self, place: TrialIndex) {
        // The estimate of a search is its time budget, which the clock alone uses up.
        if self.experiment.has_search() {
            return;
        }
        let seconds = planned_seconds(self.experiment, place);
        self.made_seconds += seconds;
        self.remaining_seconds -= seconds;
    }

    /// Records a completed repetition. Returns true if another one would exceed
    /// the time budget `within`.
    pub fn is_used_up(&mut self, within: Duration) -> bool {
        self.repetitions += 1;
        let elapsed = self.clock.now() - self.began;
        // The next repetition takes about as long as the mean of those before.
        elapsed + elapsed / self.repetitions > within
    }

    /// Remaining time, including the current trial.
    pub fn time(&self) -> Duration {
        let elapsed = (self.clock.now() - self.began).as_secs_f64();
        let remaining_seconds = if self.experiment.has_search() {
            self.remaining_seconds - elapsed
        } else {
            self.remaining_seconds
        };
        let slowdown = if self.made_seconds > 0.0 { elapsed / self.made_seconds } else { 1.0 };
        Duration::try_from_secs_f64((remaining_seconds * slowdown).max(0.0)).unwrap_or_default()
    }
}

/// Time budget in seconds of all searches and given loads; None without searches.
fn budget(experiment: &Experiment) -> Option<f64> {
    let find = experiment.find()?;
    let given_places = brunt_rig::order(experiment)
        .filter(|place| (1..=experiment.given_loads()).contains(&place.step));
    let given_loads: f64 = given_places.map(|place| planned_seconds(experiment, place)).sum();
    let searches = experiment.contenders.len() * experiment.repetitions as usize;
    Some(find.within.as_secs_f64() * searches as f64 + given_loads)
}

fn planned_seconds(experiment: &Experiment, place: TrialIndex) -> f64 {
    let load = experiment.step(place).map_or(Duration::ZERO, |step| load_duration(&step.plan));
    (load + experiment.cooldown).as_secs_f64()
}

/// Duration of a load. A load that ends after a number of requests is assumed to last 1 s. The
/// ratio of elapsed and planned time corrects that.
fn load_duration(plan: &Plan) -> Duration {
    plan.main().stop.warmup + plan.main().stop.duration.unwrap_or(Duration::from_secs(1))
}
