//! A user's connections, one for each origin, and the requests on them: where a request's clocks are taken.

use crate::clock::Sleep;
use crate::iteration::{Asked, Due, Lost};
use crate::recorder::Cohort;
use crate::user::VirtualUser;
use crate::worker::Shared;
use brunt_model::plan::{Dialling, Keep};
use brunt_model::sample::Opening;
use brunt_model::{Clock, Failure, Outcome, Sample, Tick};
use brunt_wire::{Idle, Prepared, Reply, Stamps, Wire};
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

/// An open connection to another origin than that of the last request.
struct Parked<C> {
    conn: C,
    served: u64,
}

/// One permission to have a connection to each origin, and the virtual user on them.
pub struct Slot<W: Wire> {
    pub shared: Rc<Shared<W>>,
    /// The connection of the last request.
    pub conn: Option<W::Conn>,
    /// Those to other origins.
    parked: Vec<Parked<W::Conn>>,
    /// A connection whose deadline passed, until its request has been recorded.
    expired: Option<Box<W::Conn>>,
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
    served: u64,
    /// What is sent at once on a connection that owes no reply: the next request and those behind it. Empty: it alone.
    pub along: Vec<Rc<Prepared>>,
    /// Of those, how many replies the connection owes.
    owed: usize,
}

impl<W: Wire> Slot<W> {
    pub fn new(shared: &Rc<Shared<W>>, number: u64) -> Self {
        Self {
            conn: None,
            parked: Vec::new(),
            expired: None,
            timer: shared.time.timer(),
            ended: Tick::ZERO,
            pause: Duration::ZERO,
            leaves: false,
            user: shared.users.user(number),
            number,
            served: 0,
            along: Vec::new(),
            owed: 0,
            shared: Rc::clone(shared),
        }
    }

    /// Opens the connection before the load begins; whether that went well.
    pub async fn open_ahead(&mut self) -> bool {
        let request = self.shared.users.first();
        let mut opening = Opening::default();
        let opened = self.open(&request, &mut opening).await.is_ok();
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
    pub async fn chain(&mut self, request: &Rc<Prepared>, due: Due) -> Asked {
        let Due { planned, free, paced, iteration, .. } = due;
        let cohort = self.shared.cohort(planned);
        let begun = self.shared.time.now();
        self.begin(due, begun);
        let label = request.label;
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
            let label = next.label;
            let mut hop = Sample { planned: before, free: before, begun, label, iteration, ..Sample::default() };
            reply = self.ask(&next, &mut hop, cohort).await;
            sample = whole_of(&sample, &hop);
            at = next;
        }
        self.ended = sample.last_byte;
        self.shared.recorder.borrow_mut().end(cohort, &sample);
        self.shared.time.catch_up(sample.last_byte);
        if let Some(conn) = self.expired.take() {
            // Closing a connection with megabytes of unread bytes takes a while: behind all whose deadline has passed, too.
            self.shared.time.yield_to_woken().await;
            drop(conn);
            self.shared.time.look();
        }
        // Without this, a server that replies at once would keep other tasks from running.
        consume_budget().await;
        let lost = sample.outcome.failure.filter(|_| reply.is_none());
        let written = sample.bytes_sent >= at.bytes().len() as u64;
        let lost = lost.map(|failure| Lost { failure, sent: written && sample.bytes_sent > 0 });
        Asked { last: reply, failed: sample.outcome.failure.is_some(), lost }
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
        if self.conn.as_ref().is_some_and(|conn| self.shared.wire.leads_to(conn, request)) {
            sample.reused = self.served > 0;
        } else {
            self.park_connection();
            let resumed = !self.parked.is_empty() && Box::pin(self.resume_connection(request)).await;
            // One that was opened before the load may not have carried a request yet.
            sample.reused = resumed && self.served > 0;
            if !resumed {
                self.open_in_time(request, sample).await?;
            }
        }
        self.pause = Duration::ZERO;
        let Some(conn) = &mut self.conn else { return Err(Failure::System) };
        self.timer.set(sample.begun + self.shared.timeout);
        let (wire, along, owed) = (&self.shared.wire, &self.along, &mut self.owed);
        let result = {
            let exchange = pin!(async {
                if *owed == 0 && !along.is_empty() {
                    *owed = along.len();
                    wire.send_ahead(conn, along).await;
                }
                wire.exchange(conn, request, stamps).await
            });
            within(&self.timer, &self.shared, Failure::Timeout, exchange).await
        };
        self.shared.step_done();
        self.owed = self.owed.saturating_sub(1);
        self.served += 1;
        if matches!(result, Err(Failure::Timeout | Failure::Cut)) {
            self.expired = self.conn.take().map(Box::new);
            self.shared.recorder.borrow_mut().closed();
        } else if !result.as_ref().is_ok_and(|reply| self.keeps(reply)) {
            self.drop_connection();
        }
        result
    }

    /// Whether the connection is there for the next request.
    fn keeps(&self, reply: &Reply) -> bool {
        let leaves_open = reply.keep_alive || self.shared.keep == Keep::Iteration;
        let keeps = leaves_open && self.served < self.shared.requests_per_connection;
        if keeps && reply.unsolicited {
            self.shared.recorder.borrow_mut().unsolicited();
        }
        keeps && !reply.unsolicited
    }

    async fn open_in_time(&mut self, request: &Prepared, sample: &mut Sample) -> Result<(), Failure> {
        let opened = self.open(request, &mut sample.opening).await;
        sample.opened = opened.is_ok();
        if opened.is_err() {
            self.leave_alone().await;
        }
        opened?;
        self.shared.recorder.borrow_mut().opened();
        Ok(())
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
        // Boxed, so that a connection that is open does not hold the room that opening it took.
        let mut open = Box::pin(shared.wire.open(request, opening));
        let opened = within(&self.timer, shared, Failure::ConnectTimeout, open.as_mut()).await;
        drop(open);
        shared.time.look();
        shared.step_done();
        if let Err(failure) = &opened {
            let note = shared.wire.take_note();
            shared.first_open_failure(*failure, note.as_deref());
            if let Some(note) = note {
                shared.warn(note);
            }
        }
        self.conn = Some(opened?);
        (self.served, self.owed) = (0, 0);
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
                sample.outcome = self.shared.check.judge(reply, sample.label, request.reply_policy);
            }
            Err(failure) => {
                sample.last_byte = self.shared.time.now();
                sample.outcome = Outcome::failed(*failure);
                sample.malformed = stamps.malformed.filter(|_| *failure == Failure::Protocol);
            }
        }
    }

    /// Closes the connection of the last request.
    fn drop_connection(&mut self) {
        if self.conn.take().is_some() {
            self.shared.recorder.borrow_mut().closed();
        }
    }

    /// Closes all connections.
    pub fn drop_connections(&mut self) {
        self.drop_connection();
        self.parked.drain(..).for_each(|_| self.shared.recorder.borrow_mut().closed());
    }

    /// Keeps the connection of the last request for later requests to its origin, where the plan permits that.
    fn park_connection(&mut self) {
        let most = self.shared.plan.connection.other_origins as usize;
        if self.owed > 0 || most == 0 {
            return self.drop_connection();
        }
        let served = self.served;
        self.parked.extend(self.conn.take().map(|conn| Parked { conn, served }));
        if self.parked.len() > most {
            self.parked.remove(0);
            self.shared.recorder.borrow_mut().closed();
        }
    }

    /// Takes up the connection to the origin of `request`, if it is still open.
    async fn resume_connection(&mut self, request: &Prepared) -> bool {
        let wire = Rc::clone(&self.shared.wire);
        while let Some(at) = self.parked.iter().position(|parked| wire.leads_to(&parked.conn, request)) {
            let Parked { mut conn, served } = self.parked.swap_remove(at);
            let lost = {
                let mut closed = pin!(wire.closed(&mut conn));
                std::future::poll_fn(|cx| match closed.as_mut().poll(cx) {
                    Poll::Ready(idle) => Poll::Ready(Some(idle)),
                    Poll::Pending => Poll::Ready(None),
                })
                .await
            };
            let Some(idle) = lost else {
                (self.conn, self.served, self.owed) = (Some(conn), served, 0);
                return true;
            };
            self.record_lost(idle);
        }
        false
    }

    /// The idle connection is of no more use.
    pub fn lost_idle(&mut self, idle: Idle) {
        if self.conn.take().is_some() {
            self.record_lost(idle);
        }
    }

    /// Whether it holds an open connection.
    pub fn is_connected(&self) -> bool {
        self.conn.is_some() || !self.parked.is_empty()
    }

    fn record_lost(&self, idle: Idle) {
        let mut recorder = self.shared.recorder.borrow_mut();
        match idle {
            Idle::Closed => recorder.closed_idle(),
            Idle::Unsolicited => {
                recorder.unsolicited();
                recorder.closed();
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

/// Waits for `work` no longer than until the timer fires: then it is a failure of kind `late`, or cut off where the
/// run is over. The caller drops the work.
async fn within<W: Wire, T>(
    timer: &Sleep,
    shared: &Shared<W>,
    late: Failure,
    mut work: Pin<&mut impl Future<Output = Result<T, Failure>>>,
) -> Result<T, Failure> {
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
