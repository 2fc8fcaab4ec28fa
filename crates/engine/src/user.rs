//! Decisions of a virtual user.

use brunt_model::metric::Metrics;
use brunt_model::scenario::Pauses;
use brunt_model::{CheckFailure, Outcome, Sample, SampleRecord, Tick};
use brunt_wire::{Prepared, Reply};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The next step of a virtual user.
#[derive(Debug)]
pub enum UserStep {
    /// Sends a request and awaits its reply.
    Request(Rc<Prepared>),
    /// Sends a request, and ends the iteration when its reply is complete.
    Last(Rc<Prepared>),
    /// Sends all requests on one connection, without waiting for replies in between.
    Together(Vec<Rc<Prepared>>),
    /// Sends all requests at once, each over its own lane, with at most the given number in
    /// flight (at least 1).
    Parallel(Vec<Rc<Prepared>>, usize),
    /// Pauses for a think time.
    Think(Duration),
    /// Reports a sample that the user made itself, without a request: it is not counted.
    Sample,
    /// Waits for an action of other users, at most until the load ends.
    Wait(Waiting),
    /// Begins a transaction of this name.
    BeginTransaction(Arc<str>, Pauses),
    /// Ends the innermost transaction.
    EndTransaction,
    /// Suspends the innermost transactions: a key, and their number. The following steps are
    /// not part of them.
    SuspendTransactions(usize, usize),
    /// Resumes the transactions that were suspended with this key.
    ResumeTransactions(usize),
    /// Ends the iteration.
    Done,
    /// Ends the user: it makes no further requests.
    Leave,
    /// Ends the run: no further request is begun.
    EndRun,
    /// Ends the iteration with a failed request, for the given reason.
    Broken(String),
    /// Records a failed request of this label, for the given reason; the iteration continues.
    Failing(String, u32),
}

/// A wait for an action of other users.
pub struct Waiting {
    /// Resolves when the wait is over.
    pub until: Pin<Box<dyn Future<Output = ()>>>,
    /// Maximum wait. None: unlimited.
    pub limit: Option<Duration>,
}

impl Waiting {
    /// Waits without a limit.
    pub fn unlimited(until: impl Future<Output = ()> + 'static) -> Self {
        Self { until: Box::pin(until), limit: None }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

/// Information for a virtual user's next decision.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserTurn<'a> {
    /// Index of this iteration among all of the run, from 0.
    pub number: u64,
    /// Reply to the last request of this iteration. None at its beginning, and if no complete reply
    /// arrived. After a parallel step: the reply to the last of its requests, in their order.
    pub last: Option<&'a Reply>,
    /// After a parallel step: the replies to its requests, in their order; None
    /// without a complete reply.
    pub replies: &'a [Option<Reply>],
    /// Number of failures in the last step: of its request, or of all requests of a parallel step.
    pub failures: u32,
    /// Number of requests that the user has made in this iteration.
    pub step: u32,
    /// True if the last request of this iteration failed: no complete reply arrived, or a
    /// check on it failed.
    pub failed: bool,
}

/// A request and its reply, with the redirects in between.
#[derive(Debug)]
pub struct RequestAttempt<'a> {
    /// The first request.
    pub first: &'a Prepared,
    /// The last request: the target of the last redirect, or the first request.
    pub request: &'a Prepared,
    /// Reply to the last request; None without a complete reply.
    pub reply: Option<&'a Reply>,
    /// Clocks of the whole chain.
    pub sample: &'a Sample,
    /// Clocks of the last request alone; None without a redirect.
    pub last_hop: Option<&'a Sample>,
    /// Records of the earlier requests, if the plan asks for records.
    pub hops: Vec<SampleRecord>,
    /// Messages that a WebSocket skipped, if the plan traces its users.
    pub skipped: Vec<Vec<u8>>,
}

/// A user's decision about a reply.
#[derive(Debug)]
pub struct UserVerdict {
    /// Outcome of the request, as the user sees it.
    pub outcome: Outcome,
    /// The user's checks that the reply failed.
    pub failures: Vec<CheckFailure>,
}

/// Decides the steps of one user. An iteration is one arrival of an open loop, or one round
/// of a closed loop.
pub trait VirtualUser {
    /// Returns the next step.
    fn next(&mut self, turn: UserTurn<'_>) -> UserStep;

    /// Returns the request to which the reply to `from` redirects, after `hops` earlier redirects.
    /// All samples of the chain count as one request in the totals.
    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>>;

    /// Judges the reply to the last request, before it is recorded. Called if the policy of
    /// the request has actions or assertions, or the plan asks for records. None: the checks
    /// of the policy decide.
    fn judge(&mut self, exchange: RequestAttempt<'_>) -> Option<UserVerdict> {
        let _ = exchange;
        None
    }

    /// Returns the record of a request with a redirect as its reply. None: the
    /// plan requests no records.
    fn record_hop(
        &mut self,
        request: &Prepared,
        reply: &Reply,
        sample: &Sample,
    ) -> Option<SampleRecord> {
        let _ = (request, reply, sample);
        None
    }
}

/// State of the run for its users: time, and number of users.
pub trait RunState {
    /// Milliseconds since 1970-01-01 UTC.
    fn unix_millis(&self) -> u64;

    /// The present instant of the run.
    fn now(&self) -> Tick;

    /// Milliseconds since 1970-01-01 UTC at an instant of the run.
    fn unix_millis_at(&self, at: Tick) -> u64;

    /// Number of active users of this population, and of all populations.
    fn active_users(&self) -> (u64, u64);

    /// Mean distance of two turns of this process, if all processes of the run take turns; 1 for a single process.
    fn stride(&self) -> f64 {
        1.0
    }

    /// Converts number `n` of this process, from 0, to a number among those of all
    /// processes of the run.
    fn among_processes(&self, n: u64) -> u64;

    /// Notes that a step begins that evaluates texts or scripts. If it does not end, the run ends without its worker.
    fn begin_step(&self) {}

    /// Notes the position of the current step in the scenario, for a message about it.
    fn set_position(&self, position: u32) {
        let _ = position;
    }

    /// Notes that the step has ended.
    fn end_step(&self) {}

    /// True if the current step takes too long, and must end with an error.
    fn must_return(&self) -> bool {
        false
    }
}

/// Numbers the names of labels, also during the run.
pub type Numbering = Rc<dyn Fn(&str) -> u32>;

/// Creates the users of one worker thread.
pub trait Users {
    /// Creates the user of this number among those of all workers. Users differ only in their
    /// number and their memory.
    fn user(&self, number: u64) -> Box<dyn VirtualUser>;

    /// Returns a request to the origin to which connections are opened before the load begins. None if the
    /// origin is not known before.
    fn first(&self) -> Option<Rc<Prepared>>;

    /// Returns the records of samples that its users have made since the last call, if the
    /// plan asks for records.
    fn take_records(&self) -> Vec<SampleRecord> {
        Vec::new()
    }

    /// Returns the figures that its users' scripts have reported since the last call.
    fn take_metrics(&self) -> Metrics {
        Metrics::default()
    }
}
