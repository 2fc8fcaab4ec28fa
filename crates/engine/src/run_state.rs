//! The run as its users see it: the time, and the number of users.

use crate::activity::WorkerActivity;
use crate::clock::{WorkerClock, unix_seconds};
use crate::user::RunState;
use brunt_model::{Clock, ProcessPart, Tick};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of active users of each population, over all workers of this process.
#[derive(Debug)]
pub struct ActiveUsers(Vec<AtomicU64>);

impl ActiveUsers {
    /// Creates counters for this number of populations.
    pub fn new(populations: usize) -> Self {
        Self((0..populations).map(|_| AtomicU64::new(0)).collect())
    }

    /// Counts a user of a population as active, or as no longer active.
    pub fn change(&self, population: usize, is_active: bool) {
        let count = &self.0[population];
        if is_active {
            count.fetch_add(1, Ordering::Relaxed)
        } else {
            count.fetch_sub(1, Ordering::Relaxed)
        };
    }
}

/// The run as the users of one population see it on one worker.
pub struct LiveRunState {
    time: WorkerClock,
    /// Wall-clock time at the clock's zero, in milliseconds since 1970-01-01 UTC.
    zero_unix_millis: u64,
    activity: Arc<WorkerActivity>,
    active_users: Arc<ActiveUsers>,
    population: usize,
    part: Option<ProcessPart>,
}

impl LiveRunState {
    /// Creates the view of a population on a worker with this activity. `part` is the part of the population
    /// that this process carries out.
    pub fn new(
        time: &WorkerClock,
        activity: &Arc<WorkerActivity>,
        active_users: &Arc<ActiveUsers>,
        population: usize,
        part: Option<ProcessPart>,
    ) -> Self {
        let since_zero = time.now().nanos_since(Tick::ZERO) / 1_000_000;
        Self {
            time: time.clone(),
            zero_unix_millis: ((unix_seconds() * 1e3) as u64).saturating_sub(since_zero),
            activity: Arc::clone(activity),
            active_users: Arc::clone(active_users),
            population,
            part,
        }
    }
}

/// The state that a user without a run sees.
#[derive(Debug, Clone, Copy)]
pub struct NoRun;

impl RunState for NoRun {
    fn unix_millis(&self) -> u64 {
        (unix_seconds() * 1e3) as u64
    }

    fn now(&self) -> Tick {
        Tick::ZERO
    }

    fn unix_millis_at(&self, at: Tick) -> u64 {
        at.nanos_since(Tick::ZERO) / 1_000_000
    }

    fn active_users(&self) -> (u64, u64) {
        (1, 1)
    }

    fn among_processes(&self, n: u64) -> u64 {
        n
    }
}

impl RunState for LiveRunState {
    fn unix_millis(&self) -> u64 {
        self.unix_millis_at(self.time.now())
    }

    fn now(&self) -> Tick {
        self.time.now()
    }

    fn unix_millis_at(&self, at: Tick) -> u64 {
        self.zero_unix_millis + at.nanos_since(Tick::ZERO) / 1_000_000
    }

    fn active_users(&self) -> (u64, u64) {
        let users = self.active_users.0.iter().map(|count| count.load(Ordering::Relaxed));
        let users_of_population = self.active_users.0[self.population].load(Ordering::Relaxed);
        (users_of_population, users.sum())
    }

    fn stride(&self) -> f64 {
        self.part.unwrap_or(ProcessPart::WHOLE).stride()
    }

    fn among_processes(&self, n: u64) -> u64 {
        // A process without a part has no users that count.
        let ProcessPart { number, count, .. } = self.part.unwrap_or(ProcessPart::WHOLE);
        n.saturating_mul(count.into()).saturating_add(number.into())
    }

    fn begin_step(&self) {
        self.activity.begin_step(self.population);
    }

    fn set_position(&self, position: u32) {
        self.activity.set_position(position);
    }

    fn end_step(&self) {
        self.activity.end_step();
    }

    fn must_return(&self) -> bool {
        self.activity.must_return()
    }
}
