//! Notices a worker that does not return from a step of a scenario, such as an endless script, so that the
//! run can end without it.
//!
//! A worker notes each step that evaluates texts or scripts. If one takes too long, the worker is first
//! asked to return, and then abandoned: its thread stays, and its results up to its last interval count. Out of
//! scope: steps of plans without texts or scripts, which the worker does not note.

use brunt_model::Tick;
use brunt_model::time::nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Maximum duration of a step during the load.
const MAX_STEP: Duration = Duration::from_secs(30);

/// Maximum duration of a step that continues after the end of the load.
const MAX_STEP_AFTER_END: Duration = Duration::from_secs(1);

/// Time in which a worker that is asked to return must do so.
const RETURN_TIME: Duration = Duration::from_secs(2);

/// Maximum grace period after a command to end the run.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// Number of looks that find a worker in some step, from which on it counts as busy.
const BUSY_LOOKS: u32 = 4;

/// Interval at which workers are looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// The step that a worker is carrying out. The worker writes it, the collecting thread reads it.
#[derive(Debug)]
pub(crate) struct WorkerActivity {
    /// Twice the number of steps, less one within a step.
    steps: AtomicU64,
    population: AtomicU64,
    /// Position of the step in the scenario of the population.
    position: AtomicU64,
    /// End of the load, in nanoseconds of the run.
    ends: AtomicU64,
    /// Grace period after it, in nanoseconds.
    grace: AtomicU64,
    must_return: AtomicBool,
}

impl Default for WorkerActivity {
    fn default() -> Self {
        Self {
            steps: AtomicU64::default(),
            population: AtomicU64::default(),
            position: AtomicU64::default(),
            ends: AtomicU64::new(Tick::NEVER.0),
            grace: AtomicU64::default(),
            must_return: AtomicBool::default(),
        }
    }
}

impl WorkerActivity {
    /// Notes that a step begins.
    pub fn begin_step(&self, population: usize) {
        self.population.store(population as u64, Ordering::Relaxed);
        // Only this worker writes it, so a sum in two parts loses nothing.
        self.steps.store(self.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Notes the position of the current step.
    pub fn set_position(&self, position: u32) {
        self.position.store(position.into(), Ordering::Relaxed);
    }

    /// Notes that the step has ended.
    pub fn end_step(&self) {
        self.steps.store(self.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Notes the end of the load, and the grace period for requests in flight.
    pub fn set_end(&self, ends: Tick, grace: Duration) {
        self.ends.store(ends.0, Ordering::Relaxed);
        self.grace.store(nanos(grace), Ordering::Relaxed);
    }

    /// True if the current step must end.
    pub fn must_return(&self) -> bool {
        self.must_return.load(Ordering::Relaxed)
    }
}

/// A step that did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StuckStep {
    pub worker: usize,
    pub population: usize,
    pub position: u32,
}

/// Watches the workers of a process.
pub(crate) struct Watch {
    workers: Vec<WatchedWorker>,
    /// First instant at which the run was seen to be over.
    over_since: Option<Tick>,
}

struct WatchedWorker {
    activity: Arc<WorkerActivity>,
    /// Number of steps at the last look.
    steps: u64,
    /// When this number was first seen.
    since: Tick,
    /// When the worker was asked to return.
    asked: Option<Tick>,
    /// Number of looks in a row that found it in a step although all requests are cut.
    busy_looks: u32,
    is_abandoned: bool,
}

impl Watch {
    /// Watches workers with these activities.
    pub fn new(activities: impl Iterator<Item = Arc<WorkerActivity>>) -> Self {
        let workers = activities.map(|activity| WatchedWorker {
            activity,
            steps: 0,
            since: Tick::ZERO,
            asked: None,
            busy_looks: 0,
            is_abandoned: false,
        });
        Self { workers: workers.collect(), over_since: None }
    }

    /// True if a worker has noted a step.
    pub fn is_needed(&self) -> bool {
        self.workers.iter().any(|worker| worker.activity.steps.load(Ordering::Relaxed) > 0)
    }

    /// True if this worker was abandoned.
    pub fn has_abandoned(&self, worker: usize) -> bool {
        self.workers[worker].is_abandoned
    }

    /// True if any worker was abandoned.
    pub fn has_abandoned_any(&self) -> bool {
        self.workers.iter().any(|worker| worker.is_abandoned)
    }

    /// Asks workers to return whose step takes too long. Returns a step from which its worker did not
    /// return although it was asked, and abandons the worker. `is_over`: the run is to end before its time.
    pub fn look(&mut self, now: Tick, is_over: bool) -> Option<StuckStep> {
        if is_over {
            self.over_since.get_or_insert(now);
        }
        let over_since = self.over_since.unwrap_or(Tick::NEVER);
        let workers = self.workers.iter_mut().enumerate();
        let mut present = workers.filter(|(_, worker)| !worker.is_abandoned);
        present.find_map(|(number, worker)| {
            worker.look(now, over_since).then(|| StuckStep {
                worker: number,
                population: worker.activity.population.load(Ordering::Relaxed) as usize,
                position: worker.activity.position.load(Ordering::Relaxed) as u32,
            })
        })
    }
}

impl WatchedWorker {
    /// True if the worker does not return from its step, or from its steps.
    fn look(&mut self, now: Tick, over_since: Tick) -> bool {
        let steps = self.activity.steps.load(Ordering::Relaxed);
        let grace = Duration::from_nanos(self.activity.grace.load(Ordering::Relaxed));
        let ends = Tick(self.activity.ends.load(Ordering::Relaxed));
        // Many steps may take long together.
        let cut = (ends + grace).min(over_since + grace.min(SHORT_GRACE));
        let is_busy = !steps.is_multiple_of(2) && now >= cut + RETURN_TIME;
        self.busy_looks = if is_busy { self.busy_looks + 1 } else { 0 };
        if self.busy_looks >= BUSY_LOOKS {
            self.is_abandoned = true;
            return true;
        }
        if steps != self.steps || steps.is_multiple_of(2) {
            self.steps = steps;
            self.since = now;
            if self.asked.take().is_some() {
                self.activity.must_return.store(false, Ordering::Relaxed);
            }
            return false;
        }
        let ends = over_since.min(ends);
        // A step that began before the end has this time after it, too.
        let latest = (self.since + MAX_STEP).min(self.since.max(ends) + MAX_STEP_AFTER_END);
        if now < latest {
            return false;
        }
        let asked = *self.asked.get_or_insert_with(|| {
            self.activity.must_return.store(true, Ordering::Relaxed);
            now
        });
        self.is_abandoned = now >= asked + RETURN_TIME;
        self.is_abandoned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Tick {
        Tick((seconds * 1e9) as u64)
    }

    fn watch() -> (Arc<WorkerActivity>, Watch) {
        let activity = Arc::new(WorkerActivity::default());
        let watch = Watch::new([Arc::clone(&activity)].into_iter());
        (activity, watch)
    }

    /// Returns when a step that begins at 10 s is asked to end, and when its worker is abandoned.
    fn fate(ends: f64, stopped: f64) -> [f64; 2] {
        let (activity, mut watch) = watch();
        activity.set_end(at(ends), Duration::from_secs(30));
        activity.begin_step(1);
        activity.set_position(7);
        let mut asked = None;
        for quarter in 40..400 {
            let now = f64::from(quarter) / 4.0;
            let stuck = watch.look(at(now), now >= stopped);
            if activity.must_return() {
                asked.get_or_insert(now);
            }
            if let Some(stuck) = stuck {
                assert_eq!([stuck.population, stuck.position as usize], [1, 7]);
                assert!(watch.has_abandoned(0) && watch.look(at(now), true).is_none());
                return [asked.unwrap(), now];
            }
        }
        panic!("not abandoned");
    }

    #[test]
    fn a_step_is_asked_to_end_and_then_abandoned() {
        assert_eq!(fate(1e6, 1e6), [40.0, 42.0]);
        assert_eq!(fate(15.0, 1e6), [16.0, 18.0]);
        assert_eq!(fate(1e6, 12.0), [13.0, 15.0]);
        assert_eq!(fate(5.0, 1e6), [11.0, 13.0]);
    }

    #[test]
    fn many_steps_after_the_end_are_abandoned_too() {
        for (ends, stopped, expected) in [(10.0, 1e6, 17.75), (1e6, 10.0, 13.75)] {
            let (activity, mut watch) = watch();
            activity.set_end(at(ends), Duration::from_secs(5));
            let ended = (0..400).map(|quarter| f64::from(quarter) / 4.0).find(|now| {
                activity.begin_step(0);
                let stuck = watch.look(at(*now), *now >= stopped);
                activity.end_step();
                stuck.is_some()
            });
            assert_eq!(ended, Some(expected));
        }
    }

    #[test]
    fn a_worker_whose_steps_end_is_kept() {
        let (activity, mut watch) = watch();
        assert!(!watch.is_needed());
        activity.set_end(at(1e6), Duration::ZERO);
        for second in 0..100 {
            activity.begin_step(0);
            assert_eq!(watch.look(at(f64::from(second) * 2.0), false), None);
            assert_eq!(watch.look(at(f64::from(second) * 2.0 + 1.0), false), None);
            activity.end_step();
        }
        watch.look(at(300.0), true);
        assert!(watch.is_needed() && !activity.must_return());
        // Between its steps, a worker may wait as long as it likes.
        assert_eq!(watch.look(at(1000.0), true), None);
    }
}
