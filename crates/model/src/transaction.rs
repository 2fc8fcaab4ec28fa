//! The sum of transactions: named parts of a scenario whose requests are timed together.
//!
//! Out of scope: a sum of requests. The requests of a transaction are in the tallies of the run, and a transaction is in none
//! of them.

use brunt_stats::{Histogram, Quantile, quantile};

/// The sum of the transactions of one name. Merge is associative and commutative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransactionTally {
    /// Their first request was due.
    pub started: u64,
    /// Ended, and none of their requests failed.
    pub succeeded: u64,
    /// Ended, and at least one of their requests failed.
    pub failed: u64,
    /// The run ended within them.
    pub unfinished: u64,
    /// Nanoseconds from planned of the first request to the last byte of the last, of those that ended.
    pub response: Histogram,
    /// The part of `response` of those that failed.
    pub failed_response: Histogram,
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// None of its requests failed.
    Succeeded,
    /// At least one of its requests failed.
    Failed,
    /// The run ended within it.
    Unfinished,
}

impl TransactionTally {
    /// A transaction that was started is over, after so many nanoseconds.
    pub fn end(&mut self, end: TransactionEnd, nanos: u64) {
        match end {
            TransactionEnd::Succeeded => self.succeeded += 1,
            TransactionEnd::Failed => {
                self.failed += 1;
                self.failed_response.record(nanos);
            }
            TransactionEnd::Unfinished => {
                self.unfinished += 1;
                return;
            }
        }
        self.response.record(nanos);
    }

    /// Those that have not ended.
    pub fn under_way(&self) -> u64 {
        self.started.saturating_sub(self.succeeded + self.failed + self.unfinished)
    }

    /// A quantile of the response time, in nanoseconds. Those that did not end count as the slowest.
    pub fn response_quantile(&self, q: f64) -> Quantile {
        quantile::censored(&self.response, &Histogram::new(), self.unfinished, q)
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.response.merge(&other.response);
        self.failed_response.merge(&other.failed_response);
    }
}
