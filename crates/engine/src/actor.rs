//! A virtual user that makes requests over lanes of its connections: where a request's clocks are taken.

use crate::clock::Sleep;
use crate::iteration::{FailedRequest, RequestTiming, StepResult};
use crate::lanes::within;
use crate::population::WorkerPopulation;
use crate::recorder::Cohort;
use crate::transactions::OpenTransactions;
use crate::user::{Exchange, VirtualUser};
use brunt_model::outcome::CLOSE_STATUS;
use brunt_model::{CheckFailure, Failure, Outcome, Sample, SampleRecord, Tick};
use brunt_wire::events::EventOrigin;
use brunt_wire::{Connections, Lease, OpeningPermit, Prepared, Reply, Stamps, Transport};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::coop::consume_budget;

/// The first pause after a connection could not be opened; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of attempts after the first for a request that a GOAWAY refuses.
const MAX_ATTEMPTS: u32 = 100;

/// One virtual user, or one of the exchanges that it has under way at once.
pub struct Actor<T: Transport> {
    pub population: Rc<WorkerPopulation<T>>,
    /// Those of its user.
    pub connections: Rc<Connections<T>>,
    /// The lane of the last request, for the next one to the same origin.
    pub lane: Option<Lease<T>>,
    /// The right to open a connection, where the user's exchanges share it.
    pub permit: Option<OpeningPermit>,
    /// A lane whose deadline passed, until its request has been recorded.
    expired: Option<Box<Lease<T>>>,
    /// Wakes for timeouts; between requests, whoever waits may set it.
    pub timer: Sleep,
    /// When the last request ended.
    pub ended: Tick,
    /// How long to leave the server alone, because it could not be reached.
    pub pause: Duration,
    pub user: Box<dyn VirtualUser>,
    /// The user does nothing more.
    pub leaves: bool,
    /// The user's number among those of all workers.
    pub number: u64,
    /// What is sent at once on a connection that owes no reply: the next request and those behind it. Empty: it alone.
    pub along: Vec<Rc<Prepared>>,
    /// None: it has had none yet.
    pub transactions: Option<Box<OpenTransactions>>,
}

/// A chain of redirects: its last request, and the records of those before it.
struct Redirects {
    last: Sample,
    records: Vec<SampleRecord>,
}

impl<T: Transport> Actor<T> {
    /// A user with connections of its own.
    pub fn new(population: &Rc<WorkerPopulation<T>>, number: u64) -> Self {
        Self::sharing(population, Rc::new(population.requests.new_connections()), number)
    }

    /// One that shares the connections of another.
    pub fn sharing(population: &Rc<WorkerPopulation<T>>, connections: Rc<Connections<T>>, number: u64) -> Self {
        Self::with_program(population, connections, number, population.requests.user(number))
    }

    /// One that carries out this program.
    pub fn with_program(
        population: &Rc<WorkerPopulation<T>>,
        connections: Rc<Connections<T>>,
        number: u64,
        user: Box<dyn VirtualUser>,
    ) -> Self {
        Self {
            connections,
            lane: None,
            permit: None,
            expired: None,
            timer: population.clock.time.timer(),
            ended: Tick::ZERO,
            pause: Duration::ZERO,
            leaves: false,
            user,
            number,
            along: Vec::new(),
            transactions: None,
            population: Rc::clone(population),
        }
    }

    /// Without a pause, a user that fails at once would fail for ever, and nobody else would have a turn.
    pub fn pause_longer(&mut self) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
    }

    /// Sends one request and follows its redirects. The chain is one sample of its label and of the totals; each hop is a sample of
    /// another label.
    pub async fn chain(&mut self, request: &Rc<Prepared>, mut due: RequestTiming) -> StepResult {
        if self.connections.are_shared() && !Box::pin(self.wait_for_lane(request, &mut due)).await {
            return self.drop_request(due);
        }
        let RequestTiming { planned, free, paced, iteration, .. } = due;
        let cohort = self.population.clock.cohort(planned);
        let begun = self.population.clock.now();
        self.begin(due, begun);
        let label = request.tags.label;
        let free = free.min(begun);
        let opening_lag = paced.min(begun.nanos_since(free));
        let mut sample = Sample { planned, free, begun, label, iteration, opening_lag, ..Sample::default() };
        let mut reply = self.ask(request, &mut sample, cohort).await;
        let mut at = Rc::clone(request);
        // Boxed: seldom there, and every idle connection would hold the room for it.
        let mut redirects: Option<Box<Redirects>> = None;
        for hops in 0.. {
            let led =
                reply.as_ref().filter(|reply| reply.kept.is_some()).and_then(|r| self.user.redirect(&at, r, hops));
            let Some(next) = led else { break };
            let records = self.end_hop(cohort, (&at, reply.as_ref()), redirects, &sample);
            let before = sample.last_byte;
            let begun = self.population.clock.now();
            let hop_label = self.population.shared.labels.hop(label, next.parts().map(|parts| parts.url.as_str()));
            let mut hop =
                Sample { planned: before, free: before, begun, label: hop_label, iteration, ..Sample::default() };
            reply = self.ask(&next, &mut hop, cohort).await;
            sample = whole_of(&sample, &hop);
            redirects = Some(Box::new(Redirects { last: hop, records }));
            at = next;
        }
        let failures = self.judge_chain(request, &at, reply.as_ref(), &mut sample, redirects.as_deref_mut());
        self.record_chain(cohort, &sample, redirects.as_deref(), failures);
        self.population.clock.time.catch_up(sample.last_byte);
        if let Some(lane) = self.expired.take() {
            // Closing a connection with megabytes of unread bytes takes a while: behind all whose deadline has passed, too.
            self.population.clock.time.yield_to_woken().await;
            drop(lane);
            self.population.clock.time.look();
        }
        // Without this, a server that replies at once would keep other tasks from running.
        consume_budget().await;
        let lost = sample.outcome.failure.filter(|_| reply.is_none());
        let written = sample.bytes_sent >= at.least_bytes();
        let lost = lost.map(|failure| FailedRequest { failure, sent: written && sample.bytes_sent > 0 });
        let failed = self.population.shared.check.has_failed(sample.outcome, at.tags.reply_policy);
        StepResult { last: reply, failed, lost, parallel: None }
    }

    /// Judges the last reply of a chain: a redirect that was followed is no failure. The last hop has the outcome of the chain.
    /// Returns the checks that failed.
    fn judge_chain(
        &mut self,
        first: &Prepared,
        last: &Prepared,
        reply: Option<&Reply>,
        sample: &mut Sample,
        mut redirects: Option<&mut Redirects>,
    ) -> Vec<CheckFailure> {
        let policy = last.tags.reply_policy;
        let mut failures = Vec::new();
        if let Some(reply) = reply {
            sample.outcome = self.population.shared.check.judge(reply, sample.label, policy);
            if sample.outcome.failure.is_some() {
                failures.push(self.population.shared.check.explain(reply, sample.label, policy));
            }
        }
        if let Some(redirects) = &mut redirects {
            redirects.last.outcome = sample.outcome;
        }
        if !self.population.shared.check.is_judged_by_user(policy) {
            return failures;
        }
        let hops = redirects.as_mut().map(|redirects| std::mem::take(&mut redirects.records)).unwrap_or_default();
        let last_hop = redirects.as_ref().map(|redirects| &redirects.last);
        let exchange = Exchange { first, request: last, reply, sample, last_hop, hops };
        let Some(verdict) = self.user.judge(exchange) else { return failures };
        sample.outcome = verdict.outcome;
        if let Some(redirects) = redirects {
            redirects.last.outcome = verdict.outcome;
        }
        failures.extend(verdict.failures);
        failures
    }

    fn record_chain(
        &mut self,
        cohort: Cohort,
        sample: &Sample,
        redirects: Option<&Redirects>,
        failures: Vec<CheckFailure>,
    ) {
        self.ended = sample.last_byte;
        let mut recorder = self.population.requests.recorder();
        // A user may accept a reply that failed the plan's checks.
        if sample.outcome.failure == Some(Failure::Check) {
            recorder.check_failures(cohort, sample.label, failures);
        }
        if let Some(redirects) = redirects {
            recorder.label(cohort, &redirects.last);
        }
        recorder.label(cohort, sample);
        recorder.end(cohort, sample);
    }

    /// A request ended whose reply redirects; `first` are the clocks of the first. The records of all requests so far.
    fn end_hop(
        &mut self,
        cohort: Cohort,
        (request, reply): (&Prepared, Option<&Reply>),
        before: Option<Box<Redirects>>,
        first: &Sample,
    ) -> Vec<SampleRecord> {
        let (hop, mut records) = match before {
            Some(before) => (before.last, before.records),
            None => (Sample { label: self.population.shared.labels.hop(first.label, None), ..*first }, Vec::new()),
        };
        if self.population.shared.check.is_judged_by_user(request.tags.reply_policy)
            && let Some(reply) = reply
        {
            records.extend(self.user.record_hop(request, reply, &hop));
        }
        let mut recorder = self.population.requests.recorder();
        recorder.label(cohort, &hop);
        recorder.redirected(cohort);
        records
    }

    pub fn begin(&self, due: RequestTiming, at: Tick) {
        let mut recorder = self.population.requests.recorder();
        recorder.begin(self.population.clock.cohort(due.planned), at);
        if due.arrives && self.population.shared.pool.is_some() {
            recorder.acted(at);
        }
    }

    /// One request, begun at the sample's instant: fills in its further steps, and what became of it.
    async fn ask(&mut self, request: &Prepared, sample: &mut Sample, cohort: Cohort) -> Option<Reply> {
        let mut stamps = self.stamps(sample, cohort);
        let mut result = self.attempt(request, sample, &mut stamps).await;
        for attempts in 1..=MAX_ATTEMPTS {
            let is_repeated = match result {
                Err(Failure::Stale) => self.population.requests.retries_stale() && attempts == 1,
                // The next connection may have room for a request that a GOAWAY left out. A server that refuses a request though it has
                // no other one may always refuse it.
                Err(Failure::Unprocessed) => !stamps.is_refused || attempts == 1,
                _ => false,
            };
            if !is_repeated {
                break;
            }
            self.population.requests.recorder().retried(cohort);
            stamps = self.stamps(sample, cohort);
            result = self.attempt(request, sample, &mut stamps).await;
        }
        self.fill(sample, &stamps, &result);
        result.ok()
    }

    /// Those of a request that begins. Made anew for a second attempt: an idle connection would hold the room for a copy.
    fn stamps(&self, sample: &Sample, cohort: Cohort) -> Stamps {
        let origin = EventOrigin {
            planned: sample.planned,
            is_measured: cohort == Cohort::Measured,
            population: self.population.shared.number,
        };
        Stamps { events: Some(origin), ..Stamps::default() }
    }

    async fn attempt(
        &mut self,
        request: &Prepared,
        sample: &mut Sample,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        if !self.lane.as_ref().is_some_and(|lane| lane.is_for(request)) {
            self.acquire_lane(request, sample).await?;
        }
        self.pause = Duration::ZERO;
        let Some(lane) = &mut self.lane else { return Err(Failure::System) };
        // One that was opened before the load may not have carried a request yet.
        sample.reused = lane.is_reused();
        self.timer.set(sample.begun + self.population.shared.check.timeout(request.tags.reply_policy));
        let transport = self.population.requests.transport();
        self.population.clock.time.exchange_begins();
        let sent = if self.along.is_empty() {
            Ok(())
        } else {
            // Boxed: seldom needed, and every idle connection would hold the room for it.
            let ahead = Box::pin(async {
                lane.send_ahead(transport, &self.along).await;
                Ok(())
            });
            within(&self.timer, &self.population.clock, Failure::Timeout, pin!(ahead)).await
        };
        let result = match sent {
            Ok(()) => {
                let exchange = pin!(lane.exchange(transport, request, stamps));
                within(&self.timer, &self.population.clock, Failure::Timeout, exchange).await
            }
            Err(failure) => Err(failure),
        };
        self.population.clock.time.exchange_ended();
        self.population.thread.step_done();
        let has_note = result.as_ref().map_or(true, |reply| reply.status >= CLOSE_STATUS);
        let alert = stamps.malformed.filter(|cause| cause.failure() == Failure::Tls).map(|cause| cause.to_string());
        if has_note && let Some(note) = transport.take_note().or(alert) {
            self.population.warn(note);
        }
        if !lane.settle(transport, &result) {
            self.connections.retire(lane);
            let lane = self.lane.take();
            if matches!(result, Err(Failure::Timeout | Failure::Cut)) {
                self.expired = lane.map(Box::new);
            }
        }
        result
    }

    /// Copies the clocks and counts of a request to its sample.
    fn fill(&self, sample: &mut Sample, stamps: &Stamps, result: &Result<Reply, Failure>) {
        sample.sent = stamps.sent.max(sample.begun);
        sample.first_byte = stamps.first_byte;
        sample.bytes_sent = stamps.bytes_sent;
        sample.bytes_received = stamps.bytes_received;
        sample.head_bytes = stamps.head_bytes;
        sample.extra_bytes = stamps.extra_bytes;
        sample.read_lag = stamps.read_lag;
        sample.user = self.number as u32;
        match result {
            Ok(reply) => {
                sample.last_byte = stamps.last_byte;
                sample.kept_alive = reply.keep_alive;
                sample.body_bytes = reply.body_bytes;
                if let Some(bytes) = reply.announced_bytes {
                    let came = stamps.bytes_received.saturating_sub(reply.head_bytes);
                    self.population.requests.recorder().announced(bytes, came);
                }
                sample.outcome = Outcome { status: Some(reply.status), failure: None, expected: true };
            }
            Err(failure) => {
                sample.last_byte = self.population.clock.now();
                sample.outcome = Outcome::failed(*failure);
                sample.malformed = stamps.malformed.filter(|cause| cause.failure() == *failure);
            }
        }
    }
}

/// A chain of redirects as one sample: from the first's plan to the last's last byte, and the bytes of all.
fn whole_of(first: &Sample, last: &Sample) -> Sample {
    Sample {
        first_byte: last.first_byte,
        last_byte: last.last_byte,
        read_lag: last.read_lag,
        bytes_sent: first.bytes_sent + last.bytes_sent,
        bytes_received: first.bytes_received + last.bytes_received,
        head_bytes: first.head_bytes + last.head_bytes,
        body_bytes: last.body_bytes,
        user: last.user,
        kept_alive: last.kept_alive,
        outcome: last.outcome,
        malformed: last.malformed,
        ..*first
    }
}
