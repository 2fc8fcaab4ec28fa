//! Sends the requests of a virtual user over lanes of its connections, and stamps their clocks.

use crate::clock::Sleep;
use crate::iteration::{FailedRequest, RequestTiming, StepResult};
use crate::lanes::with_deadline;
use crate::population::WorkerPopulation;
use crate::recorder::Cohort;
use crate::transactions::OpenTransactions;
use crate::user::{RequestAttempt, VirtualUser};
use brunt_model::outcome::{CANCELLED_STATUS, CLOSE_STATUS, DEADLINE_STATUS, MalformedReply};
use brunt_model::{CheckFailure, Failure, Outcome, Sample, SampleRecord, Tick};
use brunt_wire::events::EventOrigin;
use brunt_wire::{ConnectionPool, Lease, OpeningPermit, Prepared, Reply, Stamps, Transport};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::coop::consume_budget;

/// The first pause after a connection could not be opened; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Maximum of the pause.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of attempts after the first for a request that a GOAWAY refuses.
const MAX_ATTEMPTS: u32 = 100;

/// One virtual user, or one of the exchanges that it has in flight at once.
pub struct Actor<T: Transport> {
    pub population: Rc<WorkerPopulation<T>>,
    /// Connections of the user; its actors share them.
    pub connections: Rc<ConnectionPool<T>>,
    /// The lane of the last request, for the next one to the same origin.
    pub lane: Option<Lease<T>>,
    /// The right to open a connection, if the user's actors share connections.
    pub permit: Option<OpeningPermit>,
    /// Messages that the last exchange skipped, if the plan traces its user.
    skipped: Vec<Vec<u8>>,
    /// A timed-out lane. Closed after its request is recorded, because `close(2)` can take 200 µs.
    expired: Option<Box<Lease<T>>>,
    /// Wakes the actor for timeouts; between requests, any wait may set it.
    pub timer: Sleep,
    /// End of the last request.
    pub ended_at: Tick,
    /// Pause before the next attempt, because the server could not be reached.
    pub pause: Duration,
    pub user: Box<dyn VirtualUser>,
    /// True if the user makes no further requests.
    pub has_left: bool,
    /// The user's number among those of all workers.
    pub number: u64,
    /// Requests to send at once on a connection that owes no reply: the next one and its
    /// successors. Empty without pipelining.
    pub pipelined: Vec<Rc<Prepared>>,
    /// Transactions in progress; None until the first one begins.
    pub transactions: Option<Box<OpenTransactions>>,
}

/// The followed part of a redirect chain: its last request, and the records of the earlier ones.
struct Redirects {
    last: Sample,
    records: Vec<SampleRecord>,
}

impl<T: Transport> Actor<T> {
    /// Creates a user with its own connections.
    pub fn new(population: &Rc<WorkerPopulation<T>>, number: u64) -> Self {
        Self::sharing(population, Rc::new(population.requests.new_connections()), number)
    }

    /// Creates an actor that shares the connections of another.
    pub fn sharing(
        population: &Rc<WorkerPopulation<T>>,
        connections: Rc<ConnectionPool<T>>,
        number: u64,
    ) -> Self {
        Self::with_program(population, connections, number, population.requests.user(number))
    }

    /// Creates an actor that runs the given program.
    pub fn with_program(
        population: &Rc<WorkerPopulation<T>>,
        connections: Rc<ConnectionPool<T>>,
        number: u64,
        user: Box<dyn VirtualUser>,
    ) -> Self {
        Self {
            connections,
            lane: None,
            permit: None,
            skipped: Vec::new(),
            expired: None,
            timer: population.clock.time.timer(),
            ended_at: Tick::ZERO,
            pause: Duration::ZERO,
            has_left: false,
            user,
            number,
            pipelined: Vec::new(),
            transactions: None,
            population: Rc::clone(population),
        }
    }

    /// Doubles the pause before the next attempt. Without it, a user that fails at once would fail
    /// in a loop and starve the other tasks.
    pub fn pause_longer(&mut self) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, MAX_PAUSE);
    }

    /// Sends one request and follows its redirects. The chain is one sample of its label and of the
    /// totals; each hop is a sample of another label.
    pub async fn chain(&mut self, request: &Rc<Prepared>, mut due: RequestTiming) -> StepResult {
        // If the user's actors share connections, all lanes may be busy. The wait for a lane is
        // queue wait, so it comes before the begin of the request.
        if self.connections.are_shared() && !Box::pin(self.wait_for_lane(request, &mut due)).await {
            return self.drop_request(due);
        }
        let RequestTiming { planned, free, paced, iteration, .. } = due;
        let cohort = self.population.clock.cohort(planned);
        let begin_time = self.population.clock.now();
        self.begin(due, begin_time);
        let label = request.tags.label;
        let free = free.min(begin_time);
        let opening_lag = paced.min(begin_time.nanos_since(free));
        let mut sample = Sample {
            planned,
            free,
            begun: begin_time,
            label,
            iteration,
            opening_lag,
            ..Sample::default()
        };
        let mut reply = self.send(request, &mut sample, cohort).await;
        let mut current = Rc::clone(request);
        // Boxed because redirects are rare; inline they would enlarge every idle connection.
        let mut redirects: Option<Box<Redirects>> = None;
        for hops in 0.. {
            let answered = reply.as_ref().filter(|reply| reply.details.is_some());
            let Some(next) = answered.and_then(|reply| self.user.redirect(&current, reply, hops))
            else {
                break;
            };
            let records = self.end_hop(cohort, &current, reply.as_ref(), redirects, &sample);
            let before = sample.last_byte;
            let begin_time = self.population.clock.now();
            let hop_label = self
                .population
                .shared
                .labels
                .hop(label, next.parts().map(|parts| parts.url.as_str()));
            let mut hop = Sample {
                planned: before,
                free: before,
                begun: begin_time,
                label: hop_label,
                iteration,
                ..Sample::default()
            };
            reply = self.send(&next, &mut hop, cohort).await;
            sample = chain_sample(&sample, &hop);
            redirects = Some(Box::new(Redirects { last: hop, records }));
            current = next;
        }
        let failures = self.judge_chain(
            request,
            &current,
            reply.as_ref(),
            &mut sample,
            redirects.as_deref_mut(),
        );
        if let Some(reply) = reply.as_ref().filter(|_| !sample.outcome.is_good())
            && let Some(error) = &reply.call_error
        {
            self.population.show_call_error(reply.status, error);
        }
        self.record_chain(cohort, &sample, redirects.as_deref(), failures);
        self.population.clock.time.catch_up(sample.last_byte);
        if let Some(lane) = self.expired.take() {
            // Closing a connection with megabytes of unread bytes takes time: first run
            // the other timed-out tasks.
            self.population.clock.time.yield_to_woken().await;
            drop(lane);
            self.population.clock.time.fire_due_now();
        }
        // Without this, a server that replies at once would keep other tasks from running.
        consume_budget().await;
        let failed_request = sample.outcome.failure.filter(|_| !sample.outcome.is_completed());
        let written = sample.bytes_sent >= current.least_bytes();
        let failed_request = failed_request
            .map(|failure| FailedRequest { failure, is_sent: written && sample.bytes_sent > 0 });
        let failed =
            self.population.shared.check.has_failed(sample.outcome, current.tags.reply_policy);
        StepResult { last: reply, failed, failed_request, parallel: None }
    }

    /// Judges the last reply of a chain, and returns the failed checks. A redirect that was
    /// followed is no failure. The last hop gets the outcome of the chain.
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
            if sample.outcome.failure == Some(Failure::Check) {
                failures.push(self.population.shared.check.explain(reply, sample.label, policy));
            }
        }
        if let Some(redirects) = &mut redirects {
            redirects.last.outcome = sample.outcome;
        }
        if !self.population.shared.check.is_judged_by_user(policy) {
            return failures;
        }
        let hops = redirects
            .as_mut()
            .map(|redirects| std::mem::take(&mut redirects.records))
            .unwrap_or_default();
        let last_hop = redirects.as_ref().map(|redirects| &redirects.last);
        let skipped = std::mem::take(&mut self.skipped);
        let exchange =
            RequestAttempt { first, request: last, reply, sample, last_hop, hops, skipped };
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
        self.ended_at = sample.last_byte;
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

    /// Records a request of which the reply is a redirect. `first` is the sample of the chain's
    /// first request. Returns the records of all requests so far.
    fn end_hop(
        &mut self,
        cohort: Cohort,
        request: &Prepared,
        reply: Option<&Reply>,
        before: Option<Box<Redirects>>,
        first: &Sample,
    ) -> Vec<SampleRecord> {
        let (hop, mut records) = match before {
            Some(before) => (before.last, before.records),
            None => (
                Sample { label: self.population.shared.labels.hop(first.label, None), ..*first },
                Vec::new(),
            ),
        };
        if self.population.shared.check.is_judged_by_user(request.tags.reply_policy)
            && let Some(reply) = reply
        {
            records.extend(self.user.record_hop(request, reply, &hop));
        }
        let mut recorder = self.population.requests.recorder();
        recorder.label(cohort, &hop);
        recorder.record_redirect(cohort);
        records
    }

    pub fn begin(&self, due: RequestTiming, instant: Tick) {
        let mut recorder = self.population.requests.recorder();
        recorder.begin(self.population.clock.cohort(due.planned), instant);
        if due.arrives && self.population.shared.pool.is_some() {
            recorder.record_first_action(instant);
        }
    }

    /// Sends one request that began at the sample's instant; fills in the sample's other
    /// instants and its outcome.
    async fn send(
        &mut self,
        request: &Prepared,
        sample: &mut Sample,
        cohort: Cohort,
    ) -> Option<Reply> {
        let mut stamps = self.stamps(sample, cohort);
        let mut result = self.attempt(request, sample, &mut stamps).await;
        for attempts in 1..=MAX_ATTEMPTS {
            let is_repeated = match result {
                Err(Failure::Stale) => self.population.requests.retries_stale() && attempts == 1,
                // A GOAWAY may have refused the request; the next connection may have room
                // for it. A server that refuses a request on an otherwise idle connection
                // may always refuse it.
                Err(Failure::Unprocessed) => !stamps.is_refused || attempts == 1,
                _ => false,
            };
            if !is_repeated {
                break;
            }
            self.population.requests.recorder().record_retry(cohort);
            stamps = self.stamps(sample, cohort);
            result = self.attempt(request, sample, &mut stamps).await;
        }
        if request.is_call() {
            result = self.end_by_deadline(result, request, sample.begun, &mut stamps);
        }
        self.fill(sample, &stamps, &result);
        result.ok()
    }

    /// Returns the result of a gRPC call. If its deadline passed, this is the status
    /// `DEADLINE_EXCEEDED`, whether the client's clock or the server ended the call.
    fn end_by_deadline(
        &self,
        result: Result<Reply, Failure>,
        request: &Prepared,
        begun: Tick,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let now = self.population.clock.now();
        let limit = self.timeout(request);
        let waited = Duration::from_nanos(now.nanos_since(begun));
        let is_canceled = match &result {
            Err(Failure::Timeout) => true,
            // Go's servers reset a stream whose deadline has passed, and tonic cancels it.
            Err(Failure::StreamReset) => stamps.malformed == Some(MalformedReply::ResetCancel),
            Ok(reply) => reply.status == CANCELLED_STATUS,
            Err(_) => false,
        };
        let deadline = request.announced_deadline().map_or(limit, |deadline| deadline.min(limit));
        // The system also reports a lost connection as a timeout.
        if !is_canceled || waited < deadline {
            return result;
        }
        stamps.last_byte = now;
        stamps.malformed = None;
        let body_bytes = result.map_or(0, |reply| reply.body_bytes);
        Ok(Reply { status: DEADLINE_STATUS, keep_alive: true, body_bytes, ..Reply::default() })
    }

    /// Time limit of a request, from begun to last byte.
    fn timeout(&self, request: &Prepared) -> Duration {
        let of_policy = self.population.shared.check.timeout(request.tags.reply_policy);
        request.timeout.unwrap_or(of_policy)
    }

    /// Returns the stamps of a request that begins. A retry creates new ones, because a stored copy
    /// would enlarge every idle connection.
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
        let limit = self.timeout(request);
        let Some(lane) = &mut self.lane else { return Err(Failure::System) };
        // A connection that was opened before the load may not have carried a request yet.
        sample.reused = lane.is_reused();
        // The time limit covers all attempts, from the begin of the request.
        self.timer.set(sample.begun + limit);
        let transport = self.population.requests.transport();
        self.population.clock.time.exchange_begins();
        let sent = if self.pipelined.is_empty() {
            Ok(())
        } else {
            // Boxed because pipelining is rare; inline it would enlarge every idle connection.
            let ahead = Box::pin(async {
                lane.send_ahead(transport, &self.pipelined).await;
                Ok(())
            });
            with_deadline(&self.timer, &self.population.clock, Failure::Timeout, pin!(ahead)).await
        };
        let result = match sent {
            Ok(()) => {
                let exchange = pin!(lane.exchange(transport, request, stamps));
                with_deadline(&self.timer, &self.population.clock, Failure::Timeout, exchange).await
            }
            Err(failure) => Err(failure),
        };
        self.population.clock.time.exchange_ended();
        self.population.thread.count_step();
        if self.population.shared.check.is_traced() {
            self.skipped = lane.take_skipped(transport);
        }
        let has_note =
            result.as_ref().map_or(true, |reply| reply.status >= CLOSE_STATUS || reply.is_refusal);
        let alert = stamps
            .malformed
            .filter(|cause| cause.failure() == Failure::Tls)
            .map(MalformedReply::text);
        if has_note && let Some(note) = transport.take_note().or(alert) {
            self.population.warn(note);
        }
        if !lane.settle(transport, &result) {
            self.connections.retire(lane);
            let lane = self.lane.take();
            // The rest of the reply may be unread, so that closing is slow; see `chain`.
            if matches!(result, Err(Failure::Timeout | Failure::Cut)) {
                self.expired = lane.map(Box::new);
            }
        }
        result
    }

    /// Copies the clocks and counts of a request into its sample.
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
                    let received = stamps.bytes_received.saturating_sub(reply.head_bytes);
                    self.population.requests.recorder().record_announced(bytes, received);
                }
                sample.outcome =
                    Outcome { status: Some(reply.status), failure: None, expected: true };
            }
            Err(failure) => {
                sample.last_byte = self.population.clock.now();
                sample.outcome = Outcome::failed(*failure);
                sample.malformed = stamps.malformed.filter(|cause| cause.failure() == *failure);
            }
        }
    }
}

/// Combines the requests of a redirect chain into one sample: clocks from the first request to the
/// last reply, and the bytes of all.
fn chain_sample(first: &Sample, last: &Sample) -> Sample {
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
