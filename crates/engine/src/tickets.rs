//! Numbers of requests, and their limit.

use crate::recorder::Cohort;
use brunt_model::Part;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers for requests, and the end of them where a run is bounded in requests.
#[derive(Debug)]
pub struct Tickets {
    next: AtomicU64,
    /// How far the numbers of one process are apart.
    step: u64,
    /// Those of the measured time, where they are bounded.
    measured: AtomicU64,
    limit: Option<u64>,
}

impl Tickets {
    /// The numbers of a part: each m-th, from its own on, and its share of `limit`.
    pub fn new(limit: Option<u64>, part: Part) -> Self {
        Self {
            next: AtomicU64::new(part.number.into()),
            step: part.of.into(),
            measured: AtomicU64::new(0),
            limit: limit.map(|n| part.share(n)),
        }
    }

    /// The number of the next request; None: enough were made. Those of the warm-up are not bounded.
    pub fn take(&self, cohort: Cohort) -> Option<u64> {
        if let (Some(limit), Cohort::Measured) = (self.limit, cohort)
            && self.measured.fetch_add(1, Ordering::Relaxed) >= limit
        {
            return None;
        }
        Some(self.next.fetch_add(self.step, Ordering::Relaxed))
    }

    /// The numbers of as many of the next `wanted` requests as there may be; how many.
    pub fn take_many(&self, cohort: Cohort, wanted: u64) -> u64 {
        let taken = match (self.limit, cohort) {
            (Some(limit), Cohort::Measured) => {
                wanted.min(limit.saturating_sub(self.measured.fetch_add(wanted, Ordering::Relaxed)))
            }
            _ => wanted,
        };
        self.next.fetch_add(self.step * taken, Ordering::Relaxed);
        taken
    }

    /// Whether enough were made.
    pub fn are_gone(&self) -> bool {
        self.limit.is_some_and(|limit| self.measured.load(Ordering::Relaxed) >= limit)
    }
}
