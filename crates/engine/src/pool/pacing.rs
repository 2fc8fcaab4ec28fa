//! The time in which some worker wanted to open a connection, and the rate of opening kept it from that.

use brunt_model::Tick;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of all workers together.
#[derive(Default)]
pub(super) struct Pacing {
    paced: Mutex<Paced>,
    /// It ever was so: a run whose connections are not paced takes no lock.
    ever: AtomicBool,
}

#[derive(Default)]
struct Paced {
    nanos: u64,
    /// Since when, and for how many workers.
    now: Option<(Tick, usize)>,
}

impl Pacing {
    fn lock(&self) -> MutexGuard<'_, Paced> {
        self.paced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds until `at`.
    pub fn until(&self, at: Tick) -> u64 {
        if !self.ever.load(SeqCst) {
            return 0;
        }
        let paced = self.lock();
        paced.nanos + paced.now.map_or(0, |(since, _)| at.nanos_since(since))
    }

    /// One more worker waits.
    pub fn begin(&self, at: Tick) {
        self.ever.store(true, SeqCst);
        let mut paced = self.lock();
        let (since, workers) = paced.now.unwrap_or((at, 0));
        paced.now = Some((since, workers + 1));
    }

    /// One worker less.
    pub fn end(&self, at: Tick) {
        let mut paced = self.lock();
        if let Some((since, workers)) = paced.now.take() {
            if workers > 1 {
                paced.now = Some((since, workers - 1));
            } else {
                paced.nanos += at.nanos_since(since);
            }
        }
    }
}
