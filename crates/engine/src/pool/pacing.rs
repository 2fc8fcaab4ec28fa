//! Measures the time for which the connect rate kept some worker from opening a connection.

use brunt_model::Tick;
use brunt_model::sync::IgnorePoison;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

/// Pacing time of all workers together.
#[derive(Default)]
pub(super) struct Pacing {
    paced: Mutex<Paced>,
    /// True once any worker waited: without pacing, no request takes the lock.
    is_used: AtomicBool,
}

#[derive(Default)]
struct Paced {
    nanos: u64,
    /// Begin of the pacing in progress, and the number of workers that wait.
    current: Option<(Tick, usize)>,
}

impl Pacing {
    fn lock(&self) -> MutexGuard<'_, Paced> {
        self.paced.lock().ignore_poison()
    }

    /// Returns the pacing time until `instant`, in nanoseconds.
    pub fn until(&self, instant: Tick) -> u64 {
        if !self.is_used.load(SeqCst) {
            return 0;
        }
        let paced = self.lock();
        paced.nanos + paced.current.map_or(0, |(since, _)| instant.nanos_since(since))
    }

    /// Counts one more waiting worker.
    pub fn begin(&self, instant: Tick) {
        self.is_used.store(true, SeqCst);
        let mut paced = self.lock();
        let (since, workers) = paced.current.unwrap_or((instant, 0));
        paced.current = Some((since, workers + 1));
    }

    /// Counts one waiting worker less.
    pub fn end(&self, instant: Tick) {
        let mut paced = self.lock();
        if let Some((since, workers)) = paced.current.take() {
            if workers > 1 {
                paced.current = Some((since, workers - 1));
            } else {
                paced.nanos += instant.nanos_since(since);
            }
        }
    }
}
