//! Numbers the requests of a run, and limits them.

use crate::recorder::Cohort;
use brunt_model::ProcessPart;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers for requests, and their limit if a run is bounded in requests.
#[derive(Debug)]
pub struct Tickets {
    next: AtomicU64,
    /// Distance between two numbers of one process.
    step: u64,
    /// Number of requests in the measured time; counted only with a limit.
    measured: AtomicU64,
    limit: Option<u64>,
}

impl Tickets {
    /// Creates the numbers of a part: each m-th, from its own on, and its share of `limit`. Without a part, the
    /// share is 0.
    pub fn new(limit: Option<u64>, part: Option<ProcessPart>) -> Self {
        let ProcessPart { number, count, .. } = part.unwrap_or(ProcessPart::WHOLE);
        Self {
            next: AtomicU64::new(number.into()),
            step: count.into(),
            measured: AtomicU64::new(0),
            limit: limit.map(|n| part.map_or(0, |part| part.share_of_arrivals(n))),
        }
    }

    /// Returns the number of the next request. None: the limit is reached. Requests of the
    /// warm-up are not limited.
    pub fn take(&self, cohort: Cohort) -> Option<u64> {
        if let (Some(limit), Cohort::Measured) = (self.limit, cohort)
            && self.measured.fetch_add(1, Ordering::Relaxed) >= limit
        {
            return None;
        }
        Some(self.next.fetch_add(self.step, Ordering::Relaxed))
    }

    /// Takes the numbers of up to `requested` further requests. Returns how many were permitted.
    pub fn take_many(&self, cohort: Cohort, requested: u64) -> u64 {
        let permitted = match (self.limit, cohort) {
            (Some(limit), Cohort::Measured) => {
                // The counter may exceed the limit: later calls then return nothing.
                requested.min(
                    limit.saturating_sub(self.measured.fetch_add(requested, Ordering::Relaxed)),
                )
            }
            _ => requested,
        };
        self.next.fetch_add(self.step * permitted, Ordering::Relaxed);
        permitted
    }

    /// True if the limit is reached.
    pub fn are_gone(&self) -> bool {
        self.limit.is_some_and(|limit| self.measured.load(Ordering::Relaxed) >= limit)
    }
}
