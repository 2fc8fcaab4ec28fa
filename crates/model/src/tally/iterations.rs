//! Counts iterations of scenarios.

use super::sums::{Summand, sums};
use crate::transaction::TransactionEnd;

sums! {
    /// Number of iterations. An iteration that is active has no count yet.
    pub struct IterationTally as IterationMessage {
        /// Number of arrivals of an open loop that became due. Each plans an iteration.
        [uint64] arrivals: u64 = 1,
        /// Number of iterations that ended without a failed request.
        [uint64] succeeded: u64 = 2,
        /// Number of iterations that ended with a failed request.
        [uint64] failed: u64 = 3,
        /// Number of iterations that the end of the run interrupted.
        [uint64] unfinished: u64 = 4,
    }
}

impl IterationTally {
    /// Counts the end of an iteration.
    #[inline]
    pub fn end(&mut self, end: TransactionEnd) {
        match end {
            TransactionEnd::Succeeded => self.succeeded += 1,
            TransactionEnd::Failed => self.failed += 1,
            TransactionEnd::Unfinished => self.unfinished += 1,
        }
    }

    /// Number of iterations that performed all their steps.
    pub fn done(&self) -> u64 {
        self.succeeded + self.failed
    }
}
