//! Times the transactions of a user. A transaction is no request; its
//! requests are recorded separately.

use crate::actor::Actor;
use crate::iteration::{RequestTiming, StepResult};
use crate::recorder::Cohort;
use crate::user::UserStep;
use brunt_model::Tick;
use brunt_model::scenario::Pauses;
use brunt_model::transaction::TransactionEnd;
use brunt_wire::Transport;
use std::sync::Arc;

/// Transactions of a user that have not ended.
#[derive(Default)]
pub struct OpenTransactions {
    /// From the outermost to the innermost.
    all: Vec<OpenTransaction>,
    /// Suspended transactions, with their suspension keys.
    suspended: Vec<(usize, OpenTransaction)>,
}

struct OpenTransaction {
    name: Arc<str>,
    pauses: Pauses,
    /// When its first request was due. None before that.
    from: Option<Tick>,
    /// When its last request ended.
    to: Tick,
    /// Pauses between its requests, in nanoseconds.
    paused: u64,
    /// Pauses after its last request, in nanoseconds.
    trailing_pauses: u64,
    failed: bool,
}

impl OpenTransaction {
    /// Returns its duration in nanoseconds.
    fn nanos(&self, from: Tick) -> u64 {
        let duration = self.to.nanos_since(from);
        if self.pauses == Pauses::Included {
            duration
        } else {
            duration.saturating_sub(self.paused)
        }
    }
}

impl<T: Transport> Actor<T> {
    /// Begins a transaction of this name.
    pub fn begin_transaction(&mut self, name: Arc<str>, pauses: Pauses) {
        let open = OpenTransaction {
            name,
            pauses,
            from: None,
            to: Tick::ZERO,
            paused: 0,
            trailing_pauses: 0,
            failed: false,
        };
        self.transactions.get_or_insert_default().all.push(open);
    }

    /// Notes that a request within all open transactions is due.
    pub fn request_in_transactions(&mut self, planned: Tick) {
        for open in self.transactions.iter_mut().flat_map(|open| &mut open.all) {
            open.paused += std::mem::take(&mut open.trailing_pauses);
            if open.from.is_none() {
                open.from = Some(planned);
                if self.population.clock.cohort(planned) == Cohort::Measured {
                    self.population.requests.recorder().transaction(&open.name).started += 1;
                }
            }
        }
    }

    /// Notes that the request ended.
    pub fn reply_in_transactions(&mut self, failed: bool) {
        let to = self.ended_at;
        for open in self.transactions.iter_mut().flat_map(|open| &mut open.all) {
            open.to = to;
            open.failed |= failed;
        }
    }

    /// Adds a pause of the user to all open transactions.
    pub fn pause_in_transactions(&mut self, nanos: u64) {
        let all = self.transactions.iter_mut().flat_map(|open| &mut open.all);
        all.filter(|open| open.from.is_some()).for_each(|open| open.trailing_pauses += nanos);
    }

    /// Ends the innermost transaction.
    pub fn end_transaction(&mut self) {
        let Some(open) = self.transactions.as_mut().and_then(|open| open.all.pop()) else { return };
        let end = if open.failed { TransactionEnd::Failed } else { TransactionEnd::Succeeded };
        self.record_transaction(&open, end);
    }

    /// Ends all transactions, because the iteration is over: by its own steps, or
    /// because of a failure.
    pub fn end_transactions(&mut self) {
        while self.transactions.as_ref().is_some_and(|open| !open.all.is_empty()) {
            self.end_transaction();
        }
    }

    /// Ends the transactions that have made their last request, because the run is over. True if the
    /// iteration has no further step.
    pub fn has_no_further_step(
        &mut self,
        last_result: &StepResult,
        due: RequestTiming,
        step: u32,
    ) -> bool {
        let keeps_records = self.population.shared.plan.record.records.is_some();
        // The next step may be a sample that the user makes itself, and records would contain it.
        while !keeps_records || self.transactions.as_ref().is_some_and(|open| !open.all.is_empty())
        {
            match self.user.next(last_result.turn(due.iteration, step)) {
                UserStep::EndTransaction => self.end_transaction(),
                next => return matches!(next, UserStep::Done),
            }
        }
        false
    }

    /// Records all open and suspended transactions as unfinished, because the user ends.
    pub fn leave_transactions(&mut self) {
        let Some(OpenTransactions { all, suspended }) = self.transactions.take().map(|open| *open)
        else {
            return;
        };
        let suspended = suspended.iter().map(|(_, open)| open);
        suspended
            .chain(&all)
            .for_each(|open| self.record_transaction(open, TransactionEnd::Unfinished));
    }

    /// Suspends the `count` innermost transactions. The time until they resume is a pause.
    pub fn suspend_transactions(&mut self, key: usize, count: usize) {
        let Some(OpenTransactions { all, suspended }) = self.transactions.as_deref_mut() else {
            return;
        };
        let from = all.len().saturating_sub(count);
        suspended.extend(all.drain(from..).map(|open| (key, open)));
    }

    /// Resumes the transactions with this suspension key.
    pub fn resume_transactions(&mut self, key: usize) {
        let now = self.ended_at;
        let Some(OpenTransactions { all, suspended }) = self.transactions.as_deref_mut() else {
            return;
        };
        for (_, mut open) in suspended.extract_if(.., |(suspension, _)| *suspension == key) {
            open.trailing_pauses = now.nanos_since(open.to);
            all.push(open);
        }
    }

    fn record_transaction(&self, open: &OpenTransaction, end: TransactionEnd) {
        if let Some(from) = open.from
            && self.population.clock.cohort(from) == Cohort::Measured
        {
            self.population.requests.recorder().transaction(&open.name).end(end, open.nanos(from));
        }
    }
}
