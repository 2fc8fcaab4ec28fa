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

/// The transactions that a user has under way.
#[derive(Default)]
pub struct OpenTransactions {
    /// The innermost is the last.
    all: Vec<OpenTransaction>,
    /// Those that rest, by the number under which they do.
    suspended: Vec<(usize, OpenTransaction)>,
}

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
        self.transactions.get_or_insert_default().all.push(open);
    }

    /// A request within all transactions that are under way is due.
    pub fn request_in_transactions(&mut self, planned: Tick) {
        for open in self.transactions.iter_mut().flat_map(|open| &mut open.all) {
            open.paused += std::mem::take(&mut open.pauses_now);
            if open.from.is_none() {
                open.from = Some(planned);
                if self.population.clock.cohort(planned) == Cohort::Measured {
                    self.population.requests.recorder().transaction(&open.name).started += 1;
                }
            }
        }
    }

    /// The request ended.
    pub fn reply_in_transactions(&mut self, failed: bool) {
        let to = self.ended;
        for open in self.transactions.iter_mut().flat_map(|open| &mut open.all) {
            open.to = to;
            open.failed |= failed;
        }
    }

    /// The user thinks for so many nanoseconds.
    pub fn pause_in_transactions(&mut self, nanos: u64) {
        let all = self.transactions.iter_mut().flat_map(|open| &mut open.all);
        all.filter(|open| open.from.is_some()).for_each(|open| open.pauses_now += nanos);
    }

    /// The steps of the innermost are over.
    pub fn end_transaction(&mut self) {
        let Some(open) = self.transactions.as_mut().and_then(|open| open.all.pop()) else { return };
        let end = if open.failed { TransactionEnd::Failed } else { TransactionEnd::Succeeded };
        self.record_transaction(&open, end);
    }

    /// The iteration is over: by its own steps, or because of a failure.
    pub fn end_transactions(&mut self) {
        while self.transactions.as_ref().is_some_and(|open| !open.all.is_empty()) {
            self.end_transaction();
        }
    }

    /// The run is over behind a request, or in a pause: transactions end whose last request was made, unless it was cut off.
    pub fn end_run_in_transactions(&mut self, asked: &StepResult, due: RequestTiming, step: u32) {
        let is_cut = self.population.clock.cut().is_some_and(|cut| self.ended >= cut);
        while !is_cut && self.transactions.as_ref().is_some_and(|open| !open.all.is_empty()) {
            match self.user.next(asked.turn(due.iteration, step)) {
                Step::EndTransaction => self.end_transaction(),
                _ => break,
            }
        }
    }

    /// The user is done, within all that are under way or rest.
    pub fn leave_transactions(&mut self) {
        let Some(OpenTransactions { all, suspended }) = self.transactions.take().map(|open| *open) else { return };
        let suspended = suspended.iter().map(|(_, open)| open);
        suspended.chain(&all).for_each(|open| self.record_transaction(open, TransactionEnd::Unfinished));
    }

    /// The innermost rest, so many. The time until they go on is a pause.
    pub fn suspend_transactions(&mut self, key: usize, count: usize) {
        let Some(OpenTransactions { all, suspended }) = self.transactions.as_deref_mut() else { return };
        let from = all.len().saturating_sub(count);
        suspended.extend(all.drain(from..).map(|open| (key, open)));
    }

    /// Those that rest under this number go on.
    pub fn resume_transactions(&mut self, key: usize) {
        let now = self.ended;
        let Some(OpenTransactions { all, suspended }) = self.transactions.as_deref_mut() else { return };
        for (_, mut open) in suspended.extract_if(.., |(under, _)| *under == key) {
            open.pauses_now = now.nanos_since(open.to);
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
