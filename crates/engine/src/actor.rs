//! A virtual user that makes requests over lanes of its connections: where a request's clocks are taken.

use crate::clock::Sleep;
use crate::iteration::{Asked, Due, Lost};
use crate::recorder::Cohort;
use crate::user::VirtualUser;
use crate::worker::Shared;
use brunt_model::plan::Dialling;
use brunt_model::sample::Opening;
use brunt_model::{Clock, Failure, Outcome, Sample, Tick};
use brunt_wire::{Connections, Idle, Lease, OpeningPermit, Prepared, Reply, Stamps, Transport};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tokio::task::coop::{consume_budget, has_budget_remaining};

/// The first pause after a connection could not be opened; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long after the cut replies that have arrived are read.
const LONGEST_READING: Duration = Duration::from_millis(5);

/// One virtual user, or one of the exchanges that it has under way at once.
pub struct Actor<T: Transport> {
    pub shared: Rc<Shared<T>>,
    /// Those of its user.
    pub connections: Rc<Connections<T>>,
    /// The lane of the last request, for the next one to the same origin.
    pub lane: Option<Lease<T>>,
    /// The right to open a connection, where the user's exchanges share it.
    permit: Option<OpeningPermit>,
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
}

impl<T: Transport> Actor<T> {
    /// A user with connections of its own.
    pub fn new(shared: &Rc<Shared<T>>, number: u64) -> Self {
        let connections = Connections::new(&shared.connection_rules, &*shared.transport);
        Self::sharing(shared, Rc::new(connections), number)
    }

    /// One that shares the connections of another.
    pub fn sharing(shared: &Rc<Shared<T>>, connections: Rc<Connections<T>>, number: u64) -> Self {
        Self::with_program(shared, connections, number, shared.users.user(number))
    }

    /// One that carries out this program.
    pub fn with_program(
        shared: &Rc<Shared<T>>,
        connections: Rc<Connections<T>>,
        number: u64,
        user: Box<dyn VirtualUser>,
    ) -> Self {
        Self {
            connections,
            lane: None,
            permit: None,
            expired: None,
            timer: shared.time.timer(),
            ended: Tick::ZERO,
            pause: Duration::ZERO,
            leaves: false,
            user,
            number,
            along: Vec::new(),
            shared: Rc::clone(shared),
        }
    }

    /// Opens the connection before the load begins; whether that went well.
    pub async fn open_ahead(&mut self) -> bool {
        let request = self.shared.users.first();
        let mut opening = Opening::default();
        let opened = Box::pin(self.open(&request, &mut opening)).await.is_ok();
        if opened {
            self.shared.recorder.borrow_mut().opened_ahead(&opening);
        }
        opened
    }

    /// Without a pause, a user that fails at once would fail for ever, and nobody else would have a turn.
    pub fn pause_longer(&mut self) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
    }

    /// One request and the redirects that its reply leads to: a sample a hop under its label, one for all of it in the
    /// totals.
    pub async fn chain(&mut self, request: &Rc<Prepared>, mut due: Due) -> Asked {
        if self.connections.are_shared() && !Box::pin(self.wait_for_lane(request, &mut due)).await {
            return self.drop_request(due);
        }
        let Due { planned, free, paced, iteration, .. } = due;
        let cohort = self.shared.cohort(planned);
        let begun = self.shared.time.now();
        self.begin(due, begun);
        let label = request.tags.label;
        let free = free.min(begun);
        let opening_lag = paced.min(begun.nanos_since(free));
        let mut sample = Sample { planned, free, begun, label, iteration, opening_lag, ..Sample::default() };
        let mut reply = self.ask(request, &mut sample, cohort).await;
        let mut at = Rc::clone(request);
        for hops in 0.. {
            let led =
                reply.as_ref().filter(|reply| reply.kept.is_some()).and_then(|r| self.user.redirect(&at, r, hops));
            let Some(next) = led else { break };
            self.shared.recorder.borrow_mut().redirected(cohort);
            let before = sample.last_byte;
            let begun = self.shared.time.now();
            let label = next.tags.label;
            let mut hop = Sample { planned: before, free: before, begun, label, iteration, ..Sample::default() };
            reply = self.ask(&next, &mut hop, cohort).await;
            sample = whole_of(&sample, &hop);
            at = next;
        }
        self.ended = sample.last_byte;
        self.shared.recorder.borrow_mut().end(cohort, &sample);
        self.shared.time.catch_up(sample.last_byte);
        if let Some(lane) = self.expired.take() {
            // Closing a connection with megabytes of unread bytes takes a while: behind all whose deadline has passed, too.
            self.shared.time.yield_to_woken().await;
            drop(lane);
            self.shared.time.look();
        }
        // Without this, a server that replies at once would keep other tasks from running.
        consume_budget().await;
        let lost = sample.outcome.failure.filter(|_| reply.is_none());
        let written = sample.bytes_sent >= at.bytes().len() as u64;
        let lost = lost.map(|failure| Lost { failure, sent: written && sample.bytes_sent > 0 });
        Asked { last: reply, failed: sample.outcome.failure.is_some(), lost, parallel: None }
    }

    pub fn begin(&self, due: Due, at: Tick) {
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.begin(self.shared.cohort(due.planned), at);
        if due.arrives && self.shared.common.pool.is_some() {
            recorder.acted(at);
        }
    }

    /// One request, begun at the sample's instant: fills in its further steps, and what became of it.
    async fn ask(&mut self, request: &Prepared, sample: &mut Sample, cohort: Cohort) -> Option<Reply> {
        let mut stamps = Stamps::default();
        let mut result = self.attempt(request, sample, &mut stamps).await;
        if self.shared.retry_stale && matches!(result, Err(Failure::Stale)) {
            self.shared.recorder.borrow_mut().retried(cohort);
            stamps = Stamps::default();
            result = self.attempt(request, sample, &mut stamps).await;
        }
        self.fill(sample, request, &stamps, &result);
        self.shared.recorder.borrow_mut().label(cohort, sample);
        result.ok()
    }

    async fn attempt(
        &mut self,
        request: &Prepared,
        sample: &mut Sample,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        if !self.lane.as_ref().is_some_and(|lane| lane.is_for(request)) {
            // Boxed, so that a connection that is open does not hold the room that opening it took.
            Box::pin(self.acquire_lane(request, sample)).await?;
        }
        self.pause = Duration::ZERO;
        let Some(lane) = &mut self.lane else { return Err(Failure::System) };
        // One that was opened before the load may not have carried a request yet.
        sample.reused = lane.is_reused();
        self.timer.set(sample.begun + self.shared.timeout);
        let transport = &*self.shared.transport;
        let result = {
            let exchange = pin!(lane.exchange(transport, request, &self.along, stamps));
            within(&self.timer, &self.shared, Failure::Timeout, exchange).await
        };
        self.shared.step_done();
        if !lane.settle(transport, &result) {
            self.connections.retire(lane);
            let lane = self.lane.take();
            if matches!(result, Err(Failure::Timeout | Failure::Cut)) {
                self.expired = lane.map(Box::new);
            }
        }
        result
    }

    /// Takes a lane to where the request goes: on a connection that is there, or on a new one.
    async fn acquire_lane(&mut self, request: &Prepared, sample: &mut Sample) -> Result<(), Failure> {
        if self.connections.are_shared() {
            self.claim_in_time(request).await?;
        } else {
            self.lane.take().into_iter().for_each(|lane| self.connections.give_back(lane));
            self.lane = self.connections.resume(&*self.shared.transport, request).await;
        }
        if self.lane.is_some() {
            return Ok(());
        }
        let opened = self.open(request, &mut sample.opening).await;
        sample.opened = opened.is_ok();
        match (&opened, &mut self.lane) {
            (Ok(()), Some(lane)) => lane.claim_first(),
            _ => self.leave_alone().await,
        }
        opened
    }

    /// Waits for a lane as long as opening a connection may take, unless one is held, or may be opened, already.
    async fn claim_in_time(&mut self, request: &Prepared) -> Result<(), Failure> {
        if self.permit.is_some() {
            return Ok(());
        }
        let Self { shared, connections, lane, timer, .. } = self;
        timer.set(shared.time.now() + shared.connect_timeout);
        let mut place = None;
        let claim = pin!(std::future::poll_fn(|cx| {
            connections.poll_claim(&*shared.transport, request, (lane, &mut place), cx).map(Ok)
        }));
        self.permit = within(timer, shared, Failure::ConnectTimeout, claim).await?;
        Ok(())
    }

    /// Waits until there is a lane for the request, or a connection may be opened for it: queue wait. False: the run was
    /// cut off before.
    async fn wait_for_lane(&mut self, request: &Prepared, due: &mut Due) -> bool {
        let Self { shared, connections, lane, permit, timer, .. } = self;
        let (mut place, mut has_waited, mut timer) = (None, false, &*timer);
        let look_again = || shared.time.now() + shared.timeout;
        timer.set(look_again());
        std::future::poll_fn(|cx| {
            let is_cut = shared.cut.get().is_some();
            // Lanes that come free by the cut are no use.
            if !(is_cut && has_waited)
                && let Poll::Ready(claimed) =
                    connections.poll_claim(&*shared.transport, request, (lane, &mut place), cx)
            {
                *permit = claimed;
                if has_waited {
                    due.free = due.free.max(shared.time.now());
                }
                return Poll::Ready(true);
            }
            if is_cut {
                return Poll::Ready(false);
            }
            // The cut wakes those that have a timer.
            while Pin::new(&mut timer).poll(cx).is_ready() {
                timer.set(look_again());
            }
            has_waited = true;
            Poll::Pending
        })
        .await
    }

    /// The run was cut off before the request could be begun.
    pub fn drop_request(&mut self, due: Due) -> Asked {
        self.ended = self.shared.time.now();
        let mut recorder = self.shared.recorder.borrow_mut();
        if due.arrives && self.shared.common.pool.is_some() {
            recorder.acted(self.ended);
        }
        recorder.dropped(self.shared.cohort(due.planned));
        Asked { failed: true, ..Asked::default() }
    }

    /// The server could not be reached: it gets a pause, or, where the plan wants it asked again at once, the others get
    /// their turn.
    async fn leave_alone(&mut self) {
        match self.shared.plan.connection.dialling {
            Dialling::Patient => self.pause_longer(),
            Dialling::Eager => tokio::task::yield_now().await,
        }
    }

    async fn open(&mut self, request: &Prepared, opening: &mut Opening) -> Result<(), Failure> {
        let shared = &self.shared;
        self.timer.set(shared.time.now() + shared.connect_timeout);
        let opened = {
            let open = pin!(shared.transport.open(request, opening));
            within(&self.timer, shared, Failure::ConnectTimeout, open).await
        };
        shared.time.look();
        shared.step_done();
        if let Err(failure) = &opened {
            let note = shared.transport.take_note();
            shared.first_open_failure(*failure, note.as_deref());
            if let Some(note) = note {
                shared.warn(note);
            }
        }
        let opened = opened.map(|lane| self.connections.opened(&*shared.transport, lane, request.origin));
        // Others that wait find the connection there, or open one themselves.
        self.permit = None;
        self.lane = Some(opened?);
        Ok(())
    }

    fn fill(&self, sample: &mut Sample, request: &Prepared, stamps: &Stamps, result: &Result<Reply, Failure>) {
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
                    self.shared.recorder.borrow_mut().announced(bytes, came);
                }
                sample.outcome = self.shared.check.judge(reply, sample.label, request.tags.reply_policy);
            }
            Err(failure) => {
                sample.last_byte = self.shared.time.now();
                sample.outcome = Outcome::failed(*failure);
                sample.malformed = stamps.malformed.filter(|_| *failure == Failure::Protocol);
            }
        }
    }

    /// Closes all connections.
    pub fn drop_connections(&mut self) {
        self.lane = None;
        self.connections.close_all();
    }

    /// The idle connection is of no more use.
    pub fn lost_idle(&mut self, idle: Idle) {
        if let Some(lane) = self.lane.take() {
            self.connections.lost_idle(&lane, idle);
        }
    }

    /// Whether there is an open connection for it.
    pub fn is_connected(&self) -> bool {
        self.lane.is_some() || self.connections.has_any()
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

/// Waits for `work` no longer than until the timer fires: then it is a failure of kind `late`, or cut off where the
/// run is over. The caller drops the work.
async fn within<T: Transport, O>(
    timer: &Sleep,
    shared: &Shared<T>,
    late: Failure,
    mut work: Pin<&mut impl Future<Output = Result<O, Failure>>>,
) -> Result<O, Failure> {
    let mut timer = timer;
    std::future::poll_fn(|cx| {
        let cut = shared.cut.get();
        // What came before the cut is read, for a while: thousands that read on would keep each other from ending.
        let ends_unread = cut.is_some_and(|cut| shared.time.now() > cut + LONGEST_READING);
        if !ends_unread && let Poll::Ready(result) = work.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        // It was busy, and may be so for ever: a handshake, or TLS records without a byte of the reply.
        if !has_budget_remaining() {
            shared.time.look();
        }
        if let Some(cut) = cut {
            // Its own time may have been up before the run's.
            return Poll::Ready(Err(if cut > timer.due() { late } else { Failure::Cut }));
        }
        while Pin::new(&mut timer).poll(cx).is_ready() {
            if shared.time.now() >= timer.due() {
                return Poll::Ready(Err(late));
            }
            // Everybody was woken because the run ends early; what is under way may still finish.
            timer.set(timer.due());
        }
        Poll::Pending
    })
    .await
}
