//! Times the transactions that a user has under way. None of them is a request: the requests are recorded by themselves.

use crate::actor::Actor;
use crate::iteration::{RequestTiming, StepResult};
use crate::recorder::Cohort;
use crate::user::Step;
use brunt_model::Tick;
use brunt_model::scenario::Pauses;
use brunt_model::transaction::TransactionEnd;
use brunt_wire::Transport;
use std::sync::Arc;

/// The transactions that a user has under way; the innermost is the last.
#[derive(Default)]
pub struct OpenTransactions(Vec<OpenTransaction>);

struct OpenTransaction {
    name: Arc<str>,
    pauses: Pauses,
    /// When its first request was due; None: it has had none.
    from: Option<Tick>,
    /// When its last request ended.
    to: Tick,
    /// Nanoseconds of pauses between its requests.
    paused: u64,
    /// Nanoseconds of pauses behind its last request.
    pauses_now: u64,
    failed: bool,
}

impl OpenTransaction {
    /// Its time, in nanoseconds.
    fn nanos(&self, from: Tick) -> u64 {
        let all = self.to.nanos_since(from);
        if self.pauses == Pauses::Included { all } else { all.saturating_sub(self.paused) }
    }
}

impl<T: Transport> Actor<T> {
    /// Steps begin that are timed together.
    pub fn begin_transaction(&mut self, name: Arc<str>, pauses: Pauses) {
        let open =
            OpenTransaction { name, pauses, from: None, to: Tick::ZERO, paused: 0, pauses_now: 0, failed: false };
        self.transactions.get_or_insert_default().0.push(open);
    }

    /// A request within all transactions that are under way is due.
    pub fn request_in_transactions(&mut self, planned: Tick) {
        let Some(OpenTransactions(all)) = self.transactions.as_deref_mut() else { return };
        for open in all {
            open.paused += std::mem::take(&mut open.pauses_now);
            if open.from.is_none() {
                open.from = Some(planned);
                if self.shared.cohort(planned) == Cohort::Measured {
                    self.shared.recorder.borrow_mut().transaction(&open.name).started += 1;
                }
            }
        }
    }

    /// The request ended.
    pub fn reply_in_transactions(&mut self, failed: bool) {
        let to = self.ended;
        for open in self.transactions.iter_mut().flat_map(|all| &mut all.0) {
            open.to = to;
            open.failed |= failed;
        }
    }

    /// The user thinks for so many nanoseconds.
    pub fn pause_in_transactions(&mut self, nanos: u64) {
        let all = self.transactions.iter_mut().flat_map(|all| &mut all.0);
        all.filter(|open| open.from.is_some()).for_each(|open| open.pauses_now += nanos);
    }

    /// The steps of the innermost are over.
    pub fn end_transaction(&mut self) {
        let Some(open) = self.transactions.as_mut().and_then(|all| all.0.pop()) else { return };
        let end = if open.failed { TransactionEnd::Failed } else { TransactionEnd::Succeeded };
        self.record_transaction(&open, end);
    }

    /// The iteration is over: by its own steps, or because of a failure.
    pub fn end_transactions(&mut self) {
        while self.transactions.as_ref().is_some_and(|all| !all.0.is_empty()) {
            self.end_transaction();
        }
    }

    /// The run is over behind a request, or in a pause: transactions end whose last request was made, unless it was cut off.
    pub fn end_run_in_transactions(&mut self, asked: &StepResult, due: RequestTiming, step: u32) {
        let is_cut = self.shared.cut.get().is_some_and(|cut| self.ended >= cut);
        while !is_cut && self.transactions.as_ref().is_some_and(|all| !all.0.is_empty()) {
            match self.user.next(asked.turn(due.iteration, step)) {
                Step::EndTransaction => self.end_transaction(),
                _ => break,
            }
        }
        self.leave_transactions();
    }

    /// The run is over within all that are under way.
    fn leave_transactions(&mut self) {
        let Some(all) = self.transactions.take() else { return };
        all.0.iter().for_each(|open| self.record_transaction(open, TransactionEnd::Unfinished));
    }

    fn record_transaction(&self, open: &OpenTransaction, end: TransactionEnd) {
        if let Some(from) = open.from
            && self.shared.cohort(from) == Cohort::Measured
        {
            self.shared.recorder.borrow_mut().transaction(&open.name).end(end, open.nanos(from));
        }
    }
}
