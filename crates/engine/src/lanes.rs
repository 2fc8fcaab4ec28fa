//! How an actor comes by a lane: one that is kept, one that is shared, or one of a new connection; and deadlines.

use crate::actor::Actor;
use crate::clock::Sleep;
use crate::iteration::{RequestTiming, StepResult};
use crate::race::{First, race};
use crate::run_clock::RunClock;
use brunt_model::plan::Dialling;
use brunt_model::sample::Opening;
use brunt_model::{Failure, Sample, Tick};
use brunt_wire::{Idle, Prepared, QueueOrder, Transport};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::task::coop::has_budget_remaining;

/// How long after the cut replies that have arrived are read.
const LONGEST_READING: Duration = Duration::from_millis(5);

impl<T: Transport> Actor<T> {
    /// Opens the connection before the load begins; whether that went well.
    pub async fn open_ahead(&mut self) -> bool {
        let request = self.population.requests.first_request();
        let mut opening = Opening::default();
        let opened = Box::pin(self.open(&request, &mut opening)).await.is_ok();
        if opened {
            self.population.requests.recorder().opened_ahead(&opening);
        }
        opened
    }

    /// Takes a lane to where the request goes: on a connection that is there, or on a new one. Each step is boxed, so that a
    /// connection that is open does not hold the room that opening it took.
    pub async fn acquire_lane(&mut self, request: &Prepared, sample: &mut Sample) -> Result<(), Failure> {
        if self.connections.are_shared() {
            Box::pin(self.claim_in_time(request)).await?;
        } else {
            self.lane.take().into_iter().for_each(|lane| self.connections.give_back(lane));
            if self.connections.has_idle(request) {
                self.lane = Box::pin(self.connections.resume(self.population.requests.transport(), request)).await;
            }
        }
        if self.lane.is_some() {
            return Ok(());
        }
        let opened = Box::pin(self.open(request, &mut sample.opening)).await;
        sample.opened = opened.is_ok();
        match (&opened, &mut self.lane) {
            (Ok(()), Some(lane)) => lane.claim_first(),
            _ => Box::pin(self.leave_alone()).await,
        }
        opened
    }

    /// Waits for a lane as long as opening a connection may take, unless one is held, or may be opened, already. A request that
    /// waits here goes before the others: at the end of the queue, a GOAWAY would refuse the same request on each connection.
    async fn claim_in_time(&mut self, request: &Prepared) -> Result<(), Failure> {
        if self.permit.is_some() {
            return Ok(());
        }
        let Self { population, connections, lane, timer, .. } = self;
        timer.set(population.clock.now() + population.requests.connect_timeout());
        let mut place = None;
        let claim = pin!(std::future::poll_fn(|cx| {
            connections
                .poll_claim(population.requests.transport(), request, (lane, &mut place), QueueOrder::First, cx)
                .map(Ok)
        }));
        self.permit = within(timer, &population.clock, Failure::ConnectTimeout, claim).await?;
        Ok(())
    }

    /// Waits until there is a lane for the request, or a connection may be opened for it: queue wait. False: the run was
    /// cut off before.
    pub async fn wait_for_lane(&mut self, request: &Prepared, due: &mut RequestTiming) -> bool {
        let Self { population, connections, lane, permit, timer, .. } = self;
        let (mut place, mut has_waited, mut timer) = (None, false, &*timer);
        let look_again = || population.clock.now() + population.shared.connection().timeout;
        timer.set(look_again());
        std::future::poll_fn(|cx| {
            let is_cut = population.clock.is_cut();
            // Lanes that come free by the cut are no use.
            if !(is_cut && has_waited)
                && let Poll::Ready(claimed) = connections.poll_claim(
                    population.requests.transport(),
                    request,
                    (lane, &mut place),
                    QueueOrder::Last,
                    cx,
                )
            {
                *permit = claimed;
                if has_waited {
                    due.free = due.free.max(population.clock.now());
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
    pub fn drop_request(&mut self, due: RequestTiming) -> StepResult {
        self.ended = self.population.clock.now();
        let mut recorder = self.population.requests.recorder();
        if due.arrives && self.population.shared.pool.is_some() {
            recorder.acted(self.ended);
        }
        recorder.dropped(self.population.clock.cohort(due.planned));
        StepResult { failed: true, ..StepResult::default() }
    }

    /// The server could not be reached: it gets a pause, or, where the plan wants it asked again at once, the others get
    /// their turn.
    async fn leave_alone(&mut self) {
        match self.population.shared.connection().dialling {
            Dialling::Patient => self.pause_longer(),
            Dialling::Eager => tokio::task::yield_now().await,
        }
    }

    async fn open(&mut self, request: &Prepared, opening: &mut Opening) -> Result<(), Failure> {
        let population = &self.population;
        self.timer.set(population.clock.now() + population.requests.connect_timeout());
        let opened = {
            let open = pin!(population.requests.transport().open(request, self.number, opening));
            within(&self.timer, &population.clock, Failure::ConnectTimeout, open).await
        };
        population.clock.time.look();
        population.thread.step_done();
        if let Err(failure) = &opened {
            let note = population.requests.transport().take_note();
            population.tasks.fail_opening(*failure, note.as_deref());
            if let Some(note) = note {
                population.warn(note);
            }
        }
        let opened = opened.map(|lane| self.connections.opened(population.requests.transport(), lane, request.origin));
        // Others that wait find the connection there, or open one themselves.
        self.permit = None;
        self.lane = Some(opened?);
        Ok(())
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

    /// Waits until `due`; a connection that the server closes meanwhile is given up.
    pub async fn wait_idle(&mut self, due: Tick) {
        loop {
            self.timer.set(due);
            match &mut self.lane {
                Some(lane) => {
                    let closed = lane.closed(self.population.requests.transport());
                    if let First::B(idle) = race(&self.timer, closed).await {
                        self.lost_idle(idle);
                        continue;
                    }
                }
                None => (&self.timer).await,
            }
            if self.population.clock.is_wait_over(due) {
                return;
            }
        }
    }

    /// Whether there is an open connection for it.
    pub fn is_connected(&self) -> bool {
        self.lane.is_some() || self.connections.has_any()
    }
}

/// Waits for `work` no longer than until the timer fires: then it is a failure of kind `late`, or cut off where the
/// run is over. The caller drops the work.
pub async fn within<O>(
    timer: &Sleep,
    clock: &RunClock,
    late: Failure,
    mut work: Pin<&mut impl Future<Output = Result<O, Failure>>>,
) -> Result<O, Failure> {
    let mut timer = timer;
    std::future::poll_fn(|cx| {
        let cut = clock.cut();
        // What came before the cut is read, for a while: thousands that read on would keep each other from ending.
        let ends_unread = cut.is_some_and(|cut| clock.now() > cut + LONGEST_READING);
        if !ends_unread && let Poll::Ready(result) = work.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        // It was busy, and may be so for ever: a handshake, or TLS records without a byte of the reply.
        if !has_budget_remaining() {
            clock.time.look();
        }
        if let Some(cut) = cut {
            // Its own time may have been up before the run's.
            return Poll::Ready(Err(if cut > timer.due() { late } else { Failure::Cut }));
        }
        while Pin::new(&mut timer).poll(cx).is_ready() {
            if clock.now() >= timer.due() {
                return Poll::Ready(Err(late));
            }
            // Everybody was woken because the run ends early; what is under way may still finish.
            timer.set(timer.due());
        }
        Poll::Pending
    })
    .await
}
