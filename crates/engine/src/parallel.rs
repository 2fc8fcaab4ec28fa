//! Runs a parallel step: requests of one user at the same time, each over its own lane.
//!
//! Each lane is an actor in its own task. It shares the user's connections, and sends one request
//! after the other until none is left. The connections stay open for the user's next parallel step.

use crate::actor::Actor;
use crate::iteration::{ParallelReplies, RequestTiming, StepResult};
use crate::user::{RequestAttempt, UserStep, UserTurn, UserVerdict, VirtualUser};
use brunt_model::{Sample, SampleRecord, Tick};
use brunt_wire::{ConnectionPool, Prepared, Reply, Transport};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// State that the lanes of one parallel step share.
struct ParallelStep {
    requests: Vec<Rc<Prepared>>,
    due: RequestTiming,
    /// Index of the next request to begin.
    next: Cell<usize>,
    /// Number of requests that have not ended.
    unended: Cell<usize>,
    /// By request.
    outcomes: RefCell<Vec<StepResult>>,
    /// The user of the requests, which decides about redirects and verdicts within the step.
    user: RefCell<Box<dyn VirtualUser>>,
    /// When the last request ended, and the longest pause after a connection failure.
    ended: Cell<Tick>,
    pause: Cell<Duration>,
}

/// The program of a lane: it has no steps, and passes redirects and verdicts to the user.
struct LaneProgram(Rc<ParallelStep>);

impl VirtualUser for LaneProgram {
    fn next(&mut self, _: UserTurn<'_>) -> UserStep {
        UserStep::Done
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        self.0.user.borrow_mut().redirect(from, reply, hops)
    }

    fn judge(&mut self, exchange: RequestAttempt<'_>) -> Option<UserVerdict> {
        self.0.user.borrow_mut().judge(exchange)
    }

    fn record_hop(
        &mut self,
        request: &Prepared,
        reply: &Reply,
        sample: &Sample,
    ) -> Option<SampleRecord> {
        self.0.user.borrow_mut().record_hop(request, reply, sample)
    }
}

/// Placeholder for a user while its parallel step borrows it.
struct LentUser;

impl VirtualUser for LentUser {
    fn next(&mut self, _: UserTurn<'_>) -> UserStep {
        UserStep::Done
    }

    fn redirect(&mut self, _: &Prepared, _: &Reply, _: u32) -> Option<Rc<Prepared>> {
        None
    }
}

impl<T: Transport> Actor<T> {
    /// Sends all these requests, at most `most` in flight at a time. All are due now; those without
    /// a lane wait in a queue.
    pub async fn send_parallel(
        &mut self,
        requests: Vec<Rc<Prepared>>,
        most: usize,
        due: RequestTiming,
    ) -> StepResult {
        let count = requests.len();
        let lanes = most.clamp(1, count);
        self.record_step(count, due);
        self.connections.keep_for(lanes);
        // The lanes of the step use this connection, too.
        self.lane.take().into_iter().for_each(|lane| self.connections.keep(lane));
        let step = Rc::new(ParallelStep {
            requests,
            due,
            user: RefCell::new(std::mem::replace(&mut self.user, Box::new(LentUser))),
            next: Cell::new(0),
            unended: Cell::new(count),
            outcomes: RefCell::new((0..count).map(|_| StepResult::default()).collect()),
            ended: Cell::new(Tick::ZERO),
            pause: Cell::new(Duration::ZERO),
        });
        let tasks: Vec<_> = (0..lanes).map(|_| self.spawn_lane(&step)).collect();
        for task in tasks {
            // A panic in a lane is a panic of the worker.
            if let Err(error) = task.await
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        std::mem::swap(&mut self.user, &mut *step.user.borrow_mut());
        self.ended_at = step.ended.get();
        self.pause = step.pause.get();
        let outcomes = step.outcomes.take();
        let failures = outcomes.iter().filter(|result| result.failed).count() as u32;
        let replies = outcomes.into_iter().map(|result| result.last).collect();
        let parallel = Some(Box::new(ParallelReplies { replies, failures }));
        StepResult { failed: failures > 0, parallel, ..StepResult::default() }
    }

    fn spawn_lane(&self, step: &Rc<ParallelStep>) -> JoinHandle<()> {
        let connections: Rc<ConnectionPool<T>> = Rc::clone(&self.connections);
        let program = Box::new(LaneProgram(Rc::clone(step)));
        let lane = Actor::with_program(&self.population, connections, self.number, program);
        tokio::task::spawn_local(carry_lane(lane, Rc::clone(step)))
    }

    /// Records that `count` requests of one user are due at once.
    pub fn record_step(&self, count: usize, due: RequestTiming) {
        let cohort = self.population.clock.cohort(due.planned);
        // Each user has one request in flight; only the others overlap.
        let extra = count as u64 - 1;
        let mut recorder = self.population.requests.recorder();
        (0..extra).for_each(|_| recorder.record_due(cohort));
        recorder.overlap_begins(due.planned, self.population.clock.now(), extra);
    }
}

/// Sends requests of the step over one lane, one after the other, until all are begun.
async fn carry_lane<T: Transport>(mut lane: Actor<T>, step: Rc<ParallelStep>) {
    while let Some((number, request)) = step.take_next() {
        let result = match lane.request_timing(number, &step) {
            Some(due) => lane.chain(request, due).await,
            None => lane.drop_request(RequestTiming {
                arrives: step.due.arrives && number == 0,
                ..step.due
            }),
        };
        step.outcomes.borrow_mut()[number] = result;
        lane.end_request(&step);
        if !lane.pause.is_zero() {
            lane.population.clock.wait_until(&lane.timer, lane.ended_at + lane.pause).await;
        }
    }
    step.pause.set(step.pause.get().max(lane.pause));
    lane.lane.take().into_iter().for_each(|lease| lane.connections.keep(lease));
}

impl ParallelStep {
    fn take_next(&self) -> Option<(usize, &Rc<Prepared>)> {
        let number = self.next.get();
        self.next.set(number + 1);
        Some((number, self.requests.get(number)?))
    }
}

impl<T: Transport> Actor<T> {
    /// Returns the timing of a request on this lane. None: the run was cut off while it
    /// waited for the lane.
    fn request_timing(&self, number: usize, step: &ParallelStep) -> Option<RequestTiming> {
        let due = RequestTiming { arrives: step.due.arrives && number == 0, ..step.due };
        // The first request of a lane is due with the step.
        if self.ended_at == Tick::ZERO {
            return Some(due);
        }
        let free = due.free.max(self.ended_at + self.pause);
        self.population.clock.cut().is_none().then_some(RequestTiming { free, ..due })
    }

    fn end_request(&self, step: &ParallelStep) {
        step.ended.set(step.ended.get().max(self.ended_at));
        step.unended.set(step.unended.get() - 1);
        if step.unended.get() > 0 {
            self.population.requests.recorder().overlap_ends(self.ended_at);
        }
    }
}
