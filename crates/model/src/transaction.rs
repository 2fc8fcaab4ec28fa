//! Sums of transactions: named parts of a scenario with requests that are timed together.

use brunt_stats::{Histogram, Quantile, quantile};

/// Sum of the transactions of one name. Merging is associative and commutative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransactionTally {
    /// Number of transactions with a first request that was due.
    pub started: u64,
    /// Number of ended transactions without a failed request.
    pub succeeded: u64,
    /// Number of ended transactions with a failed request.
    pub failed: u64,
    /// Number of transactions that the end of the run interrupted.
    pub unfinished: u64,
    /// Times from the planned instant of the first request to the last byte of the last one, in
    /// nanoseconds, of ended transactions.
    pub response: Histogram,
    /// The part of `response` that belongs to failed transactions.
    pub failed_response: Histogram,
}

/// Result of a transaction or an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// No request failed.
    Succeeded,
    /// At least one request failed.
    Failed,
    /// The run ended first.
    Unfinished,
}

impl TransactionTally {
    /// Records the end of a started transaction, after `nanos` nanoseconds.
    pub fn end(&mut self, end: TransactionEnd, nanos: u64) {
        match end {
            TransactionEnd::Succeeded => self.succeeded += 1,
            TransactionEnd::Failed => {
                self.failed += 1;
                self.failed_response.record(nanos);
            }
            TransactionEnd::Unfinished => {
                // It has no response time.
                self.unfinished += 1;
                return;
            }
        }
        self.response.record(nanos);
    }

    /// Number of transactions that have not ended yet.
    pub fn in_flight(&self) -> u64 {
        // A transaction may end in a later interval than it started, so the difference can be
        // negative.
        self.started.saturating_sub(self.succeeded + self.failed + self.unfinished)
    }

    /// Returns a quantile of the response time, in nanoseconds. Unfinished transactions
    /// count as the slowest.
    pub fn response_quantile(&self, q: f64) -> Quantile {
        // An unfinished transaction is slower than every finished one.
        quantile::censored(&self.response, &Histogram::new(), self.unfinished, q)
    }

    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.response.merge(&other.response);
        self.failed_response.merge(&other.failed_response);
    }
}
