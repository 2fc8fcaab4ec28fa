//! What a virtual user does next.

use brunt_model::scenario::Pauses;
use brunt_model::{CheckFailure, Outcome, Sample, SampleRecord, Tick};
use brunt_wire::{Prepared, Reply};
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What a virtual user does next.
#[derive(Debug)]
pub enum Step {
    /// It asks this.
    Request(Rc<Prepared>),
    /// It asks this, and its iteration is over when the reply is there.
    Last(Rc<Prepared>),
    /// It asks all of these on one connection, without waiting for a reply in between.
    Together(Vec<Rc<Prepared>>),
    /// It asks all of these at once, each over a lane of its own, and has at most so many under way at a time (at least 1).
    Parallel(Vec<Rc<Prepared>>, usize),
    /// A think time.
    Think(Duration),
    /// It made a sample that is no request: nothing of it is counted.
    Sample,
    /// It waits for something, at most until the load ends.
    Wait(Waiting),
    /// Steps begin that are timed together, under this name.
    BeginTransaction(Arc<str>, Pauses),
    /// The steps that began last to be timed together are over.
    EndTransaction,
    /// So many transactions, those that began last, rest under this number: what follows is not within them.
    SuspendTransactions(usize, usize),
    /// Those under this number go on.
    ResumeTransactions(usize),
    /// Its iteration is over.
    Done,
    /// It does nothing more.
    Leave,
    /// The run is over: no further request is begun.
    EndRun,
    /// It cannot go on: why. Counts as a failed request.
    Broken(String),
    /// It cannot make a request of this label: why. Counts as a failed request; the iteration goes on.
    Failing(String, u32),
}

/// Something that a user waits for.
pub struct Waiting {
    /// What.
    pub until: Pin<Box<dyn Future<Output = ()>>>,
    /// For how long, at most.
    pub limit: Option<Duration>,
}

impl Waiting {
    /// However long it takes.
    pub fn for_ever(until: impl Future<Output = ()> + 'static) -> Self {
        Self { until: Box::pin(until), limit: None }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

/// What a virtual user knows when it decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Turn<'a> {
    /// The number of this iteration among all of the run, from 0.
    pub number: u64,
    /// The reply to its last request in this iteration; None at the beginning, and where no whole reply came. Behind a
    /// parallel step: to the last of its requests in their order.
    pub last: Option<&'a Reply>,
    /// Behind a parallel step: the replies to its requests, in their order; None where no whole reply came.
    pub replies: &'a [Option<Reply>],
    /// Of its last request, or of all requests of its last step, how many failed.
    pub failures: u32,
    /// How many requests it has made in this iteration.
    pub step: u32,
    /// Its last request in this iteration failed: no whole reply came, or a check on it failed.
    pub failed: bool,
}

/// A request and what came of it, with the redirects that are part of it.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The first request.
    pub first: &'a Prepared,
    /// The last: what the first was redirected to, or the first itself.
    pub request: &'a Prepared,
    /// The reply to the last; None where no whole one came.
    pub reply: Option<&'a Reply>,
    /// The clocks of all of it.
    pub sample: &'a Sample,
    /// The clocks of the last alone; None where there was no redirect.
    pub last_hop: Option<&'a Sample>,
    /// Records of the requests before the last, where such are wanted.
    pub hops: Vec<SampleRecord>,
}

/// What a user decides about a reply.
#[derive(Debug)]
pub struct UserVerdict {
    /// Outcome of the request.
    pub outcome: Outcome,
    /// The user's checks that the reply failed.
    pub failures: Vec<CheckFailure>,
}

/// Decides what one user does. One iteration is one arrival of an open loop, or one round of a closed one.
pub trait VirtualUser {
    /// The next step.
    fn next(&mut self, turn: Turn<'_>) -> Step;

    /// The request that the reply to `from` leads to as a part of it, after `hops` that led here: a redirect whose samples are
    /// one in the totals.
    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>>;

    /// What it says of the reply to its last request, before that is recorded. It is asked where the policy of the request has
    /// actions or assertions, and where the plan asks for records. None: what the checks of the policy say.
    fn judge(&mut self, exchange: Exchange<'_>) -> Option<UserVerdict> {
        let _ = exchange;
        None
    }

    /// The record of a request whose reply redirects to the next. None: the plan asks for no records.
    fn record_hop(&mut self, request: &Prepared, reply: &Reply, sample: &Sample) -> Option<SampleRecord> {
        let _ = (request, reply, sample);
        None
    }
}

/// The run around its users: time, and number of users.
pub trait Surroundings {
    /// Milliseconds since 1970-01-01 UTC.
    fn unix_millis(&self) -> u64;

    /// The same for an instant of the run.
    fn unix_millis_at(&self, at: Tick) -> u64;

    /// How many users of this population there are now, and how many of all.
    fn users_there(&self) -> (u64, u64);

    /// Number `n` of this process, counted from 0, as a number among those of all processes of the run.
    fn among_processes(&self, n: u64) -> u64;
}

/// Numbers the names of labels, also while the run goes on.
pub type Numbering = Rc<dyn Fn(&str) -> u32>;

/// Makes the users of one worker thread.
pub trait Users {
    /// The user of this number among those of all workers; all are alike but for it and their memory.
    fn user(&self, number: u64) -> Box<dyn VirtualUser>;

    /// A request to where connections are opened before the load begins.
    fn first(&self) -> Rc<Prepared>;

    /// The records of samples that its users have made since the last call, where the plan asks for records.
    fn take_records(&self) -> Vec<SampleRecord> {
        Vec::new()
    }
}
