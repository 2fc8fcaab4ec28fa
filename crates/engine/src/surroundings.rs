//! The run as its users see it: what time it is, and how many they are.

use crate::clock::{Time, unix_seconds};
use crate::user::Surroundings;
use brunt_model::{Clock, Part, Tick};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many users of each population there are, over all workers of this process.
#[derive(Debug)]
pub struct ActiveUsers(Vec<AtomicU64>);

impl ActiveUsers {
    /// None of so many populations.
    pub fn new(populations: usize) -> Self {
        Self((0..populations).map(|_| AtomicU64::new(0)).collect())
    }

    /// A user of a population came, or went.
    pub fn change(&self, population: usize, came: bool) {
        let count = &self.0[population];
        if came {
            count.fetch_add(1, Ordering::Relaxed)
        } else {
            count.fetch_sub(1, Ordering::Relaxed)
        };
    }
}

/// What the users of one population see on one worker.
pub struct RunSurroundings {
    time: Time,
    /// The day at the clock's zero, in milliseconds since 1970-01-01 UTC.
    zero_unix_millis: u64,
    active_users: Arc<ActiveUsers>,
    population: usize,
    part: Part,
}

impl RunSurroundings {
    /// Those of a population, and of the part of the run that this process carries out.
    pub fn new(time: &Time, active_users: &Arc<ActiveUsers>, population: usize, part: Part) -> Self {
        let since_zero = time.now().nanos_since(Tick::ZERO) / 1_000_000;
        Self {
            time: time.clone(),
            zero_unix_millis: ((unix_seconds() * 1e3) as u64).saturating_sub(since_zero),
            active_users: Arc::clone(active_users),
            population,
            part,
        }
    }
}

/// One user without a run around it.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Surroundings for Alone {
    fn unix_millis(&self) -> u64 {
        (unix_seconds() * 1e3) as u64
    }

    fn unix_millis_at(&self, at: Tick) -> u64 {
        at.nanos_since(Tick::ZERO) / 1_000_000
    }

    fn users_there(&self) -> (u64, u64) {
        (1, 1)
    }

    fn among_processes(&self, n: u64) -> u64 {
        n
    }
}

impl Surroundings for RunSurroundings {
    fn unix_millis(&self) -> u64 {
        self.unix_millis_at(self.time.now())
    }

    fn unix_millis_at(&self, at: Tick) -> u64 {
        self.zero_unix_millis + at.nanos_since(Tick::ZERO) / 1_000_000
    }

    fn users_there(&self) -> (u64, u64) {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (count(&self.active_users.0[self.population]), self.active_users.0.iter().map(count).sum())
    }

    fn among_processes(&self, n: u64) -> u64 {
        n.saturating_mul(self.part.of.into()).saturating_add(self.part.number.into())
    }
}
