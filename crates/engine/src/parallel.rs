//! A parallel step: requests of one user at the same time, each over a lane of its own.
//!
//! Each lane is an actor in a task of its own that shares the user's connections, and carries out one request after the other
//! until none is left. The connections stay with the user for its next parallel step.

use crate::actor::Actor;
use crate::iteration::{ParallelReplies, RequestTiming, StepResult};
use crate::user::{Exchange, Step, Turn, UserVerdict, VirtualUser};
use brunt_model::{Sample, SampleRecord, Tick};
use brunt_wire::{Connections, Prepared, Reply, Transport};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// What the lanes of one parallel step share.
struct ParallelStep {
    requests: Vec<Rc<Prepared>>,
    due: RequestTiming,
    /// The next request to be begun.
    next: Cell<usize>,
    /// Requests that have not ended.
    left: Cell<usize>,
    /// By request.
    outcomes: RefCell<Vec<StepResult>>,
    /// Whose requests they are: redirects within the step are its own.
    user: RefCell<Box<dyn VirtualUser>>,
    /// When the last of them ended, and how long to leave the server alone then.
    ended: Cell<Tick>,
    pause: Cell<Duration>,
}

/// The program of a lane: what it asks is the step's.
struct LaneProgram(Rc<ParallelStep>);

impl VirtualUser for LaneProgram {
    fn next(&mut self, _: Turn<'_>) -> Step {
        Step::Done
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        self.0.user.borrow_mut().redirect(from, reply, hops)
    }

    fn judge(&mut self, exchange: Exchange<'_>) -> Option<UserVerdict> {
        self.0.user.borrow_mut().judge(exchange)
    }

    fn record_hop(&mut self, request: &Prepared, reply: &Reply, sample: &Sample) -> Option<SampleRecord> {
        self.0.user.borrow_mut().record_hop(request, reply, sample)
    }
}

/// Stands for a user while its parallel step has it.
struct Lent;

impl VirtualUser for Lent {
    fn next(&mut self, _: Turn<'_>) -> Step {
        Step::Done
    }

    fn redirect(&mut self, _: &Prepared, _: &Reply, _: u32) -> Option<Rc<Prepared>> {
        None
    }
}

impl<T: Transport> Actor<T> {
    /// Asks all of these, at most `most` under way at a time. All are due now; those that wait for a lane wait in a queue.
    pub async fn parallel(&mut self, requests: Vec<Rc<Prepared>>, most: usize, due: RequestTiming) -> StepResult {
        let count = requests.len();
        let lanes = most.clamp(1, count);
        self.record_step(count, due);
        self.connections.keep_for(lanes);
        // The lanes of the step use this connection, too.
        self.lane.take().into_iter().for_each(|lane| self.connections.keep(lane));
        let step = Rc::new(ParallelStep {
            requests,
            due,
            user: RefCell::new(std::mem::replace(&mut self.user, Box::new(Lent))),
            next: Cell::new(0),
            left: Cell::new(count),
            outcomes: RefCell::new((0..count).map(|_| StepResult::default()).collect()),
            ended: Cell::new(Tick::ZERO),
            pause: Cell::new(Duration::ZERO),
        });
        let start = |_| {
            let connections: Rc<Connections<T>> = Rc::clone(&self.connections);
            let lane = Actor::with_program(
                &self.population,
                connections,
                self.number,
                Box::new(LaneProgram(Rc::clone(&step))),
            );
            tokio::task::spawn_local(carry_lane(lane, Rc::clone(&step)))
        };
        let tasks: Vec<_> = (0..lanes).map(start).collect();
        for task in tasks {
            if let Err(error) = task.await
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        std::mem::swap(&mut self.user, &mut *step.user.borrow_mut());
        (self.ended, self.pause) = (step.ended.get(), step.pause.get());
        let outcomes = step.outcomes.take();
        let failures = outcomes.iter().filter(|asked| asked.failed).count() as u32;
        let replies = outcomes.into_iter().map(|asked| asked.last).collect();
        let parallel = Some(Box::new(ParallelReplies { replies, failures }));
        StepResult { failed: failures > 0, parallel, ..StepResult::default() }
    }

    /// Records that so many requests of one user are due at once.
    pub fn record_step(&self, count: usize, due: RequestTiming) {
        let cohort = self.population.clock.cohort(due.planned);
        let extra = count as u64 - 1;
        let mut recorder = self.population.requests.recorder();
        (0..extra).for_each(|_| recorder.due(cohort));
        recorder.overlap_begins(due.planned, self.population.clock.now(), extra);
    }
}

/// One lane: requests of the step, one after the other, until all are begun.
async fn carry_lane<T: Transport>(mut lane: Actor<T>, step: Rc<ParallelStep>) {
    while let Some((number, request)) = step.take_next() {
        let asked = match lane.due_of(number, &step) {
            Some(due) => lane.chain(request, due).await,
            None => lane.drop_request(RequestTiming { arrives: step.due.arrives && number == 0, ..step.due }),
        };
        step.outcomes.borrow_mut()[number] = asked;
        lane.end_request(&step);
        if !lane.pause.is_zero() {
            lane.population.clock.wait_until(&lane.timer, lane.ended + lane.pause).await;
        }
    }
    step.pause.set(step.pause.get().max(lane.pause));
    lane.lane.take().into_iter().for_each(|held| lane.connections.keep(held));
}

impl ParallelStep {
    fn take_next(&self) -> Option<(usize, &Rc<Prepared>)> {
        let number = self.next.get();
        self.next.set(number + 1);
        Some((number, self.requests.get(number)?))
    }
}

impl<T: Transport> Actor<T> {
    /// When a request is due on this lane; None: the run was cut off while it waited for the lane.
    fn due_of(&self, number: usize, step: &ParallelStep) -> Option<RequestTiming> {
        let due = RequestTiming { arrives: step.due.arrives && number == 0, ..step.due };
        if self.ended == Tick::ZERO {
            return Some(due);
        }
        let free = due.free.max(self.ended + self.pause);
        self.population.clock.cut().is_none().then_some(RequestTiming { free, ..due })
    }

    fn end_request(&self, step: &ParallelStep) {
        step.ended.set(step.ended.get().max(self.ended));
        step.left.set(step.left.get() - 1);
        if step.left.get() > 0 {
            self.population.requests.recorder().overlap_ends(self.ended);
        }
    }
}
