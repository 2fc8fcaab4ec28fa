//! Gets a lane for a request (an existing, a shared or a new connection), and applies deadlines.

use crate::actor::Actor;
use crate::clock::Sleep;
use crate::iteration::{RequestTiming, StepResult};
use crate::population::WorkerPopulation;
use crate::race::{First, race};
use crate::run_clock::RunClock;
use brunt_model::plan::Dialling;
use brunt_model::sample::ConnectTimes;
use brunt_model::{Failure, Sample, Tick};
use brunt_wire::{IdleEnd, Prepared, QueueOrder, Transport};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::task::coop::has_budget_remaining;

/// Time after the cut for which replies that have arrived are read.
const MAX_READ_AFTER_CUT: Duration = Duration::from_millis(5);

impl<T: Transport> Actor<T> {
    /// Opens the connection before the load begins. True if this succeeded, or if the origin is not known yet.
    pub async fn open_ahead(&mut self) -> bool {
        let Some(request) = self.population.requests.first_request() else { return true };
        let mut opening = ConnectTimes::default();
        let opened = Box::pin(self.open(&request, &mut opening)).await.is_ok();
        if opened {
            self.population.requests.recorder().record_early_opening(&opening);
        }
        opened
    }

    /// Gets a lane to the origin of the request: on an open connection, or on a new one. Each step
    /// is boxed, so that an open connection does not hold the memory that its opening took.
    pub async fn acquire_lane(
        &mut self,
        request: &Prepared,
        sample: &mut Sample,
    ) -> Result<(), Failure> {
        if self.connections.are_shared() {
            Box::pin(self.claim_in_time(request)).await?;
        } else {
            // The current lane belongs to another origin.
            self.lane.take().into_iter().for_each(|lane| self.connections.give_back(lane));
            if self.connections.has_idle(request) {
                self.lane = Box::pin(
                    self.connections.resume(self.population.requests.transport(), request),
                )
                .await;
            }
        }
        if self.lane.is_some() {
            return Ok(());
        }
        let opened = Box::pin(self.open(request, &mut sample.opening)).await;
        sample.opened = opened.is_ok();
        match (&opened, &mut self.lane) {
            (Ok(()), Some(lane)) => lane.claim_first(),
            _ => Box::pin(self.back_off()).await,
        }
        opened
    }

    /// Waits for a lane, at most for the connect timeout. Returns at once if the actor has a lane,
    /// or the right to open one. This request goes to the front of the queue: at the end, a GOAWAY
    /// would refuse it on each connection.
    async fn claim_in_time(&mut self, request: &Prepared) -> Result<(), Failure> {
        if self.permit.is_some() {
            return Ok(());
        }
        let Self { population, connections, lane, timer, .. } = self;
        timer.set(population.clock.now() + population.requests.connect_timeout());
        let mut queue_place = None;
        let claim = pin!(std::future::poll_fn(|cx| {
            connections
                .poll_claim(
                    population.requests.transport(),
                    request,
                    (lane, &mut queue_place),
                    QueueOrder::First,
                    cx,
                )
                .map(Ok)
        }));
        self.permit =
            with_deadline(timer, &population.clock, Failure::ConnectTimeout, claim).await?;
        Ok(())
    }

    /// Waits until there is a lane for the request, or a connection may be opened for it; this is
    /// queue wait. False if the run was cut off first.
    pub async fn wait_for_lane(&mut self, request: &Prepared, due: &mut RequestTiming) -> bool {
        let Self { population, connections, lane, permit, timer, .. } = self;
        let mut queue_place = None;
        let mut has_waited = false;
        let mut timer = &*timer;
        timer.set(wait_limit(population));
        std::future::poll_fn(|cx| {
            let is_cut = population.clock.is_cut();
            // A lane that becomes free because of the cut is useless.
            if !(is_cut && has_waited)
                && let Poll::Ready(claimed) = connections.poll_claim(
                    population.requests.transport(),
                    request,
                    (lane, &mut queue_place),
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
            // The cut wakes only tasks that have a timer.
            while Pin::new(&mut timer).poll(cx).is_ready() {
                timer.set(wait_limit(population));
            }
            has_waited = true;
            Poll::Pending
        })
        .await
    }

    /// Drops a request, because the run was cut off before it could begin.
    pub fn drop_request(&mut self, due: RequestTiming) -> StepResult {
        self.ended_at = self.population.clock.now();
        let mut recorder = self.population.requests.recorder();
        if due.arrives && self.population.shared.pool.is_some() {
            recorder.record_first_action(self.ended_at);
        }
        recorder.record_drop(self.population.clock.cohort(due.planned));
        StepResult { failed: true, ..StepResult::default() }
    }

    /// Reacts to an unreachable server: pauses, or, if the plan wants an immediate retry, lets
    /// the other tasks run.
    async fn back_off(&mut self) {
        match self.population.shared.connection().dialling {
            Dialling::Patient => self.pause_longer(),
            Dialling::Eager => tokio::task::yield_now().await,
        }
    }

    async fn open(
        &mut self,
        request: &Prepared,
        opening: &mut ConnectTimes,
    ) -> Result<(), Failure> {
        let population = &self.population;
        self.timer.set(population.clock.now() + population.requests.connect_timeout());
        let opened = {
            let open = pin!(population.requests.transport().open(request, self.number, opening));
            with_deadline(&self.timer, &population.clock, Failure::ConnectTimeout, open).await
        };
        // A handshake may have kept the worker busy for long.
        population.clock.time.fire_due_now();
        population.thread.count_step();
        if let Err(failure) = &opened {
            let note = population.requests.transport().take_note();
            population.tasks.fail_opening(*failure, note.as_ref());
            if let Some(note) = note {
                population.warn(note);
            }
        }
        let opened = opened.map(|lane| {
            self.connections.add_opened(population.requests.transport(), lane, request.origin)
        });
        // Actors that wait for a lane find this connection, or open one themselves.
        self.permit = None;
        self.lane = Some(opened?);
        Ok(())
    }

    /// Closes all connections.
    pub fn drop_connections(&mut self) {
        self.lane = None;
        self.connections.close_all();
    }

    /// Gives up the idle connection.
    pub fn drop_idle(&mut self, idle: IdleEnd) {
        if let Some(lane) = self.lane.take() {
            self.connections.count_lost_idle(&lane, idle);
        }
    }

    /// Waits until `due`. A connection that the server closes meanwhile is given up.
    pub async fn wait_idle(&mut self, due: Tick) {
        loop {
            self.timer.set(due);
            match &mut self.lane {
                Some(lane) => {
                    let closed = lane.closed(self.population.requests.transport());
                    if let First::B(idle) = race(&self.timer, closed).await {
                        self.drop_idle(idle);
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

    /// True if the user has an open connection.
    pub fn is_connected(&self) -> bool {
        self.lane.is_some() || self.connections.has_any()
    }
}

/// Returns the instant of the next check for the cut by an actor that waits for a lane.
fn wait_limit<T: Transport>(population: &WorkerPopulation<T>) -> Tick {
    population.clock.now() + population.shared.connection().timeout
}

/// Waits for `work` until the timer fires. The failure is then `late`, or [`Failure::Cut`] if the
/// run is over. The caller drops the work.
pub async fn with_deadline<O>(
    timer: &Sleep,
    clock: &RunClock,
    late: Failure,
    mut work: Pin<&mut impl Future<Output = Result<O, Failure>>>,
) -> Result<O, Failure> {
    let mut timer = timer;
    std::future::poll_fn(|cx| {
        let cut = clock.cut();
        // Replies that arrived before the cut are read, for a limited time: otherwise thousands of
        // readers would keep each other from ending.
        let ends_unread = cut.is_some_and(|cut| clock.now() > cut + MAX_READ_AFTER_CUT);
        if !ends_unread && let Poll::Ready(result) = work.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        // The work was busy, and may stay busy: a handshake, or TLS records without a
        // byte of the reply.
        if !has_budget_remaining() {
            clock.time.fire_due_now();
        }
        if let Some(cut) = cut {
            // Its own time limit may have passed before the run's.
            return Poll::Ready(Err(if cut > timer.due() { late } else { Failure::Cut }));
        }
        while Pin::new(&mut timer).poll(cx).is_ready() {
            if clock.now() >= timer.due() {
                return Poll::Ready(Err(late));
            }
            // All tasks were woken because the run ends early; requests in flight may still finish.
            timer.set(timer.due());
        }
        Poll::Pending
    })
    .await
}
