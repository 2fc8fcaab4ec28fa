//! One iteration: the requests that a virtual user makes of one arrival, and its pauses between them.

use crate::actor::Actor;
use crate::pool::Job;
use crate::race::{First, race};
use crate::user::{Exchange, Step, Turn, Waiting};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::time::nanos;
use brunt_model::{Failure, Outcome, Sample, Tick};
use brunt_wire::{Prepared, Reply, Transport};
use std::rc::Rc;
use std::time::Duration;
use tokio::task::coop::consume_budget;

/// Between two requests of which the first could not be made.
const FAILING_PAUSE: Duration = Duration::from_millis(1);

/// When a request is due.
#[derive(Clone, Copy)]
pub struct RequestTiming {
    pub planned: Tick,
    /// A permitted connection was there.
    pub free: Tick,
    /// Nanoseconds for which it waited because connections are opened at a bounded rate.
    pub paced: u64,
    /// Number of its iteration.
    pub iteration: u64,
    /// It is the first of its arrival.
    pub arrives: bool,
}

impl RequestTiming {
    /// The first request of an arrival.
    pub fn of(Job { arrival, free, paced }: Job) -> Self {
        Self { planned: arrival.planned, free, paced, iteration: arrival.number, arrives: true }
    }

    /// A further request of the same iteration.
    fn behind(self, planned: Tick) -> Self {
        Self { planned, free: planned, paced: 0, arrives: false, ..self }
    }
}

/// What a step of the user came to.
#[derive(Default)]
pub struct StepResult {
    /// The last whole reply.
    pub last: Option<Reply>,
    /// No whole reply came, or a check on it failed.
    pub failed: bool,
    /// No whole reply came.
    pub lost: Option<FailedRequest>,
    /// What became of the requests of a parallel step.
    pub parallel: Option<Box<ParallelReplies>>,
}

/// What became of the requests of a parallel step.
#[derive(Default)]
pub struct ParallelReplies {
    /// In the order of the requests; None where no whole reply came.
    pub replies: Vec<Option<Reply>>,
    /// How many requests failed.
    pub failures: u32,
}

impl StepResult {
    /// What the user knows when it decides on its next step.
    pub fn turn(&self, number: u64, step: u32) -> Turn<'_> {
        let one = Turn { number, last: self.last.as_ref(), step, failed: self.failed, ..Turn::default() };
        match self.parallel.as_deref() {
            None => Turn { failures: u32::from(self.failed), ..one },
            Some(ParallelReplies { replies, failures }) => {
                Turn { last: replies.last().and_then(Option::as_ref), replies, failures: *failures, ..one }
            }
        }
    }
}

/// A request that has no reply.
#[derive(Clone, Copy)]
pub struct FailedRequest {
    pub failure: Failure,
    /// It was written, and with it what was to go along.
    pub sent: bool,
}

/// Whether a step asks for something, or was to.
fn asks(step: &Step) -> bool {
    use Step::{Broken, Failing, Last, Parallel, Request, Together};
    matches!(step, Request(_) | Last(_) | Together(_) | Parallel(..) | Broken(_) | Failing(..))
}

impl<T: Transport> Actor<T> {
    /// Carries out one arrival: all the requests that its user makes of it.
    pub async fn carry_out(&mut self, mut due: RequestTiming) {
        let (mut step, mut asked) = (0, StepResult::default());
        let mut is_idle = true;
        loop {
            let next = self.user.next(asked.turn(due.iteration, step));
            // That of an arrival of the open loop was counted when the arrival was due.
            if (step > 0 || self.population.shared.pool.is_none()) && asks(&next) {
                self.population.requests.recorder().due(self.population.clock.cohort(due.planned));
            }
            asked = match next {
                Step::Done if step > 0 => return self.end_transactions(),
                Step::Done if !is_idle => return self.asked_nothing(due),
                Step::Done => return self.without_request(due),
                Step::Leave | Step::EndRun => return self.leave(due, step, matches!(next, Step::EndRun)),
                Step::Broken(why) => return self.broken(due, why),
                Step::Failing(why, label) => {
                    self.failing(due, why, Some(label));
                    self.reply_in_transactions(true);
                    // Users whose requests all fail leave a turn to others.
                    self.pause = FAILING_PAUSE;
                    StepResult { failed: true, ..StepResult::default() }
                }
                Step::Last(request) => {
                    self.chain(&request, due).await;
                    return;
                }
                Step::Request(request) => {
                    self.request_in_transactions(due.planned);
                    self.chain(&request, due).await
                }
                Step::Together(requests) => {
                    self.request_in_transactions(due.planned);
                    step += (requests.len() as u32).saturating_sub(1);
                    self.together(&requests, due).await
                }
                Step::Parallel(requests, _) if requests.is_empty() => {
                    return self.broken(due, "a parallel step has no requests".into());
                }
                Step::Parallel(requests, most) => {
                    self.request_in_transactions(due.planned);
                    step += (requests.len() as u32).saturating_sub(1);
                    // Boxed: an idle connection would hold the room for it.
                    Box::pin(self.parallel(requests, most, due)).await
                }
                Step::Think(time) => {
                    self.pause_in_transactions(nanos(time));
                    due = due.behind(due.planned + time);
                    is_idle = false;
                    if !self.think_until(due.planned).await {
                        return self.end_run(&asked, due, step);
                    }
                    continue;
                }
                Step::Sample => {
                    is_idle = false;
                    due = due.behind(self.made_sample().max(due.planned));
                    if !self.let_others_run(self.ended).await {
                        return self.end_run(&asked, due, step);
                    }
                    continue;
                }
                Step::Wait(waiting) => {
                    is_idle = false;
                    let Some(waited) = self.wait_for(waiting).await else {
                        return self.end_run(&asked, due, step);
                    };
                    self.pause_in_transactions(waited);
                    due = due.behind(self.ended.max(due.planned));
                    continue;
                }
                Step::BeginTransaction(name, pauses) => {
                    self.begin_transaction(name, pauses);
                    continue;
                }
                Step::EndTransaction => {
                    self.end_transaction();
                    if !self.let_others_run(self.population.clock.now()).await {
                        return self.end_run(&asked, due, step);
                    }
                    continue;
                }
                Step::SuspendTransactions(key, count) => {
                    self.suspend_transactions(key, count);
                    continue;
                }
                Step::ResumeTransactions(key) => {
                    self.resume_transactions(key);
                    continue;
                }
            };
            step += 1;
            self.reply_in_transactions(asked.failed);
            // Further requests of the same arrival are due when the last was answered.
            due = due.behind(self.ended + self.pause);
            if due.planned >= self.population.clock.ends() {
                return self.end_run(&asked, due, step);
            }
            if !self.pause.is_zero() {
                self.population.clock.wait_until(&self.timer, due.planned).await;
            }
        }
    }

    /// Lets other tasks and timers run; false if the run is over. A user that makes samples or transactions without requests never
    /// waits, so that the runtime would not park and no timer would fire.
    async fn let_others_run(&self, now: Tick) -> bool {
        self.population.clock.time.catch_up(now);
        consume_budget().await;
        now < self.population.clock.ends()
    }

    /// A sample that is no request was made: what follows is due now.
    fn made_sample(&mut self) -> Tick {
        let from = self.ended.max(self.population.clock.begins());
        let now = self.population.clock.now().max(from);
        self.population.requests.recorder().thought(from, now.min(self.population.clock.ends()));
        self.ended = now;
        now
    }

    /// The iteration is over, and nothing was asked.
    fn asked_nothing(&mut self, due: RequestTiming) {
        self.drop_arrival(due, 0);
        self.end_transactions();
    }

    /// The user did nothing at all.
    fn without_request(&mut self, due: RequestTiming) {
        if self.population.shared.pool.is_none() {
            self.population.requests.recorder().due(self.population.clock.cohort(due.planned));
        }
        self.broken(due, "a virtual user has no request".into());
    }

    /// An arrival of the open loop for which nothing was asked is dropped.
    fn drop_arrival(&self, due: RequestTiming, step: u32) {
        if step == 0 && self.population.shared.pool.is_some() {
            let mut recorder = self.population.requests.recorder();
            recorder.acted(self.ended.max(due.free));
            recorder.dropped(self.population.clock.cohort(due.planned));
        }
    }

    /// The run is over behind a request, or in a pause.
    fn end_run(&mut self, asked: &StepResult, due: RequestTiming, step: u32) {
        self.drop_arrival(due, step);
        self.end_run_in_transactions(asked, due, step);
        // A connection of the open loop may get an arrival that was due before the end: it is not within these transactions.
        self.leave_transactions();
    }

    /// The user does nothing more, of its own will; an arrival that it asked nothing for is dropped.
    fn leave(&mut self, due: RequestTiming, step: u32, ends_run: bool) {
        self.drop_arrival(due, step);
        self.leaves = true;
        self.end_transactions();
        if ends_run {
            (self.population.shared.end_run)();
        }
    }

    /// Waits as long as the user thinks; whether there is time for a request behind it.
    async fn think_until(&mut self, until: Tick) -> bool {
        let from = self.ended.max(self.population.clock.begins());
        let due = until.min(self.population.clock.ends());
        match self.population.requests.lifetime() {
            ConnectionLifetime::Run | ConnectionLifetime::IterationOrClose => self.wait_idle(due).await,
            // Whether it is still of use shows when it is used.
            ConnectionLifetime::Iteration => self.population.clock.wait_until(&self.timer, due).await,
        }
        self.population.requests.recorder().thought(from, until.min(self.population.clock.ends()));
        // What comes next is due behind the pause, be it another pause or the next iteration.
        self.ended = due;
        until < self.population.clock.ends()
    }

    /// Waits for something that others of the run do; the nanoseconds that it took. None: the load ended before.
    async fn wait_for(&mut self, Waiting { mut until, limit }: Waiting) -> Option<u64> {
        let from = self.ended.max(self.population.clock.begins());
        let ends = self.population.clock.ends();
        let limit = limit.map_or(Tick::NEVER, |limit| self.population.clock.now() + limit);
        let due = limit.min(ends);
        let came = loop {
            self.timer.set(due);
            if matches!(race(&mut until, &self.timer).await, First::A(())) {
                break true;
            }
            if self.population.clock.is_wait_over(due) {
                break limit < self.population.clock.ends();
            }
        };
        let now = self.population.clock.now();
        self.population.requests.recorder().thought(from, now.min(ends));
        self.ended = self.ended.max(now);
        came.then(|| now.nanos_since(from))
    }

    /// Requests that are sent at once. Where one of them has no reply, those behind it have none either.
    async fn together(&mut self, requests: &[Rc<Prepared>], due: RequestTiming) -> StepResult {
        self.record_step(requests.len(), due);
        let mut asked = StepResult::default();
        for (n, request) in requests.iter().enumerate() {
            // Those behind the first wait in a queue: their connection owes the replies to the requests before them.
            let due = if n == 0 { due } else { self.queued(due) };
            self.along = requests[n..].to_vec();
            let failed = asked.failed;
            asked = self.chain(request, due).await;
            asked.failed |= failed;
            let rest = &requests[n + 1..];
            self.end_overlap(rest.len());
            if let Some(failure) = asked.lost {
                for (n, request) in rest.iter().enumerate() {
                    self.lost_with(request, failure, self.queued(due));
                    self.end_overlap(rest.len() - n - 1);
                }
                break;
            }
        }
        self.along.clear();
        asked
    }

    /// The timing of a request that was due with others and waited until they had ended.
    fn queued(&self, due: RequestTiming) -> RequestTiming {
        RequestTiming { free: due.free.max(self.ended), arrives: false, ..due }
    }

    /// A request of a step ended, and so many of the step have not.
    fn end_overlap(&self, left: usize) {
        if left > 0 {
            self.population.requests.recorder().overlap_ends(self.ended);
        }
    }

    /// A request whose connection was lost before its reply began.
    fn lost_with(&mut self, request: &Prepared, lost: FailedRequest, due: RequestTiming) {
        let cohort = self.population.clock.cohort(due.planned);
        self.begin(RequestTiming { arrives: false, ..due }, self.ended);
        let sample = Sample {
            planned: due.planned,
            free: due.free.min(self.ended),
            begun: self.ended,
            sent: self.ended,
            last_byte: self.ended,
            bytes_sent: if lost.sent { request.least_bytes() } else { 0 },
            reused: lost.sent,
            label: request.tags.label,
            iteration: due.iteration,
            outcome: Outcome::failed(lost.failure),
            user: self.number as u32,
            ..Sample::default()
        };
        if self.population.shared.check.is_judged_by_user(request.tags.reply_policy) {
            let (sample, last_hop, hops) = (&sample, None, Vec::new());
            let _ = self.user.judge(Exchange { first: request, request, reply: None, sample, last_hop, hops });
        }
        let mut recorder = self.population.requests.recorder();
        recorder.label(cohort, &sample);
        recorder.end(cohort, &sample);
    }

    fn broken(&mut self, due: RequestTiming, why: String) {
        self.failing(due, why, None);
        self.reply_in_transactions(true);
        self.end_transactions();
        self.pause_longer();
    }

    /// A request that was not made.
    fn failing(&mut self, due: RequestTiming, why: String, label: Option<u32>) {
        let RequestTiming { planned, free, .. } = due;
        let now = self.population.clock.now();
        let cohort = self.population.clock.cohort(planned);
        let sample = Sample {
            planned,
            free: free.min(now),
            begun: now,
            sent: now,
            last_byte: now,
            iteration: due.iteration,
            outcome: Outcome::failed(Failure::System),
            user: self.number as u32,
            label: label.unwrap_or_default(),
            ..Sample::default()
        };
        self.population.warn(why);
        self.begin(due, now);
        let mut recorder = self.population.requests.recorder();
        if label.is_some() {
            recorder.label(cohort, &sample);
        }
        recorder.end(cohort, &sample);
        drop(recorder);
        self.ended = now;
        self.request_in_transactions(planned);
    }
}
