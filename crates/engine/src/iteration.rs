//! Runs one iteration: the requests that a virtual user sends for one arrival, and
//! the pauses between them.

use crate::actor::Actor;
use crate::pool::AssignedArrival;
use crate::race::{First, race};
use crate::user::{RequestAttempt, UserStep, UserTurn, Waiting};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::time::nanos;
use brunt_model::transaction::TransactionEnd;
use brunt_model::{Failure, Outcome, Sample, Tick};
use brunt_wire::{Prepared, Reply, Transport};
use std::rc::Rc;
use std::time::Duration;
use tokio::task::coop::consume_budget;

/// Pause after a request that could not be prepared.
const FAILING_PAUSE: Duration = Duration::from_millis(1);

/// Instants at which a request was due and could begin.
#[derive(Clone, Copy)]
pub struct RequestTiming {
    pub planned: Tick,
    /// When a permitted connection was available.
    pub free: Tick,
    /// Nanoseconds for which the request waited because connections are opened at a bounded rate.
    pub paced: u64,
    pub iteration: u64,
    /// True for the first request of an arrival.
    pub arrives: bool,
}

impl RequestTiming {
    /// Timing of the first request of an arrival.
    pub fn first(AssignedArrival { arrival, free, paced }: AssignedArrival) -> Self {
        Self { planned: arrival.planned, free, paced, iteration: arrival.number, arrives: true }
    }

    /// Timing of a further request of the same iteration.
    fn following(self, planned: Tick) -> Self {
        Self { planned, free: planned, paced: 0, arrives: false, ..self }
    }
}

/// Result of a step of the user.
#[derive(Default)]
pub struct StepResult {
    /// The last complete reply.
    pub last: Option<Reply>,
    /// True if no complete reply arrived, or a check on it failed.
    pub failed: bool,
    /// The failure, if no complete reply arrived.
    pub failed_request: Option<FailedRequest>,
    /// Replies of a parallel step.
    pub parallel: Option<Box<ParallelReplies>>,
}

/// Replies to the requests of a parallel step.
#[derive(Default)]
pub struct ParallelReplies {
    /// In the order of the requests; None without a complete reply.
    pub replies: Vec<Option<Reply>>,
    /// Number of requests that failed.
    pub failures: u32,
}

impl StepResult {
    /// Returns the information for the user's next decision.
    pub fn turn(&self, number: u64, step: u32) -> UserTurn<'_> {
        let base = UserTurn {
            number,
            last: self.last.as_ref(),
            step,
            failed: self.failed,
            ..UserTurn::default()
        };
        match self.parallel.as_deref() {
            None => UserTurn { failures: u32::from(self.failed), ..base },
            Some(ParallelReplies { replies, failures }) => UserTurn {
                last: replies.last().and_then(Option::as_ref),
                replies,
                failures: *failures,
                ..base
            },
        }
    }
}

/// A request without a reply.
#[derive(Clone, Copy)]
pub struct FailedRequest {
    pub failure: Failure,
    /// True if it was written, with the requests pipelined after it.
    pub is_sent: bool,
}

/// True if a step sends a request, or fails to send one.
fn is_request(step: &UserStep) -> bool {
    use UserStep::{Broken, Failing, Last, Parallel, Request, Together};
    matches!(step, Request(_) | Last(_) | Together(_) | Parallel(..) | Broken(_) | Failing(..))
}

/// Returns the result of an iteration that performed all its steps.
fn end_of_iteration(has_failed: bool) -> TransactionEnd {
    if has_failed { TransactionEnd::Failed } else { TransactionEnd::Succeeded }
}

impl<T: Transport> Actor<T> {
    /// Carries out one arrival: all requests that its user sends for it.
    pub async fn carry_out(&mut self, due: RequestTiming) {
        let cohort = self.population.clock.cohort(due.planned);
        if let Some(end) = self.perform_steps(due).await {
            self.population.requests.recorder().record_iteration(cohort, end);
        }
    }

    /// Performs the steps of an iteration. None if its user left without a request.
    async fn perform_steps(&mut self, mut due: RequestTiming) -> Option<TransactionEnd> {
        let mut step = 0;
        let mut result = StepResult::default();
        let mut is_idle = true;
        let mut has_failed = false;
        loop {
            let next = self.user.next(result.turn(due.iteration, step));
            // In an open loop, the first request was counted when its arrival was due.
            if (step > 0 || self.population.shared.pool.is_none()) && is_request(&next) {
                self.population
                    .requests
                    .recorder()
                    .record_due(self.population.clock.cohort(due.planned));
            }
            result = match next {
                UserStep::Done if step > 0 => {
                    self.end_transactions();
                    return Some(end_of_iteration(has_failed));
                }
                UserStep::Done if !is_idle => {
                    self.end_without_request(due);
                    return Some(end_of_iteration(has_failed));
                }
                UserStep::Done => return Some(self.fail_without_step(due)),
                UserStep::Leave | UserStep::EndRun => {
                    self.leave_run(due, step, matches!(next, UserStep::EndRun));
                    return (step > 0).then(|| end_of_iteration(has_failed));
                }
                UserStep::Broken(why) => return Some(self.fail_iteration(due, why)),
                UserStep::Failing(why, label) => {
                    self.fail_request(due, why, Some(label));
                    self.reply_in_transactions(true);
                    // A user with only failing requests must not starve the others.
                    self.pause = FAILING_PAUSE;
                    StepResult { failed: true, ..StepResult::default() }
                }
                UserStep::Last(request) => {
                    let failed = self.chain(&request, due).await.failed;
                    let is_cut = self.is_cut_off();
                    return Some(if is_cut {
                        TransactionEnd::Unfinished
                    } else {
                        end_of_iteration(failed)
                    });
                }
                UserStep::Request(request) => {
                    self.request_in_transactions(due.planned);
                    self.chain(&request, due).await
                }
                UserStep::Together(requests) => {
                    self.request_in_transactions(due.planned);
                    // `step` counts requests; the loop adds one more below.
                    step += (requests.len() as u32).saturating_sub(1);
                    self.send_pipelined(&requests, due).await
                }
                UserStep::Parallel(requests, _) if requests.is_empty() => {
                    let why = "a parallel step has no requests".into();
                    return Some(self.fail_iteration(due, why));
                }
                UserStep::Parallel(requests, most) => {
                    self.request_in_transactions(due.planned);
                    step += (requests.len() as u32).saturating_sub(1);
                    // Boxed because parallel steps are rare; inline it would
                    // enlarge every idle connection.
                    Box::pin(self.send_parallel(requests, most, due)).await
                }
                UserStep::Think(time) => {
                    self.pause_in_transactions(nanos(time));
                    due = due.following(due.planned + time);
                    is_idle = false;
                    if !self.think_until(due.planned).await {
                        return Some(self.end_run(&result, due, step, has_failed));
                    }
                    continue;
                }
                UserStep::Sample => {
                    is_idle = false;
                    due = due.following(self.end_own_sample().max(due.planned));
                    if !self.let_others_run(self.ended_at).await {
                        return Some(self.end_run(&result, due, step, has_failed));
                    }
                    continue;
                }
                UserStep::Wait(waiting) => {
                    is_idle = false;
                    let Some(waited) = self.wait_for(waiting).await else {
                        return Some(self.end_run(&result, due, step, has_failed));
                    };
                    self.pause_in_transactions(waited);
                    due = due.following(self.ended_at.max(due.planned));
                    continue;
                }
                UserStep::BeginTransaction(name, pauses) => {
                    self.begin_transaction(name, pauses);
                    continue;
                }
                UserStep::EndTransaction => {
                    self.end_transaction();
                    if !self.let_others_run(self.population.clock.now()).await {
                        return Some(self.end_run(&result, due, step, has_failed));
                    }
                    continue;
                }
                UserStep::SuspendTransactions(key, count) => {
                    self.suspend_transactions(key, count);
                    continue;
                }
                UserStep::ResumeTransactions(key) => {
                    self.resume_transactions(key);
                    continue;
                }
            };
            step += 1;
            has_failed |= result.failed;
            self.reply_in_transactions(result.failed);
            // Further requests of the same arrival are due when the last one was answered.
            due = due.following(self.ended_at + self.pause);
            if due.planned >= self.population.clock.ends() {
                return Some(self.end_run(&result, due, step, has_failed));
            }
            if !self.pause.is_zero() {
                self.population.clock.wait_until(&self.timer, due.planned).await;
                self.population.requests.recorder().record_idle(self.ended_at, due.planned);
            }
        }
    }

    /// Lets other tasks and timers run; false if the run is over. A user that makes samples or
    /// transactions without requests never waits. Without this call, the runtime would not park,
    /// and no timer would fire.
    async fn let_others_run(&self, now: Tick) -> bool {
        self.population.clock.time.catch_up(now);
        consume_budget().await;
        now < self.population.clock.ends()
    }

    /// Ends a sample that the user made itself. Returns when the next step is due, which is now.
    fn end_own_sample(&mut self) -> Tick {
        let from = self.ended_at.max(self.population.clock.from());
        let now = self.population.clock.now().max(from);
        self.population
            .requests
            .recorder()
            .record_idle(from, now.min(self.population.clock.ends()));
        self.ended_at = now;
        now
    }

    /// Ends an iteration in which no request was sent.
    fn end_without_request(&mut self, due: RequestTiming) {
        self.drop_arrival(due, 0);
        self.end_transactions();
    }

    /// Records a failure of a user that did nothing at all.
    fn fail_without_step(&mut self, due: RequestTiming) -> TransactionEnd {
        if self.population.shared.pool.is_none() {
            self.population
                .requests
                .recorder()
                .record_due(self.population.clock.cohort(due.planned));
        }
        self.fail_iteration(due, "a virtual user has no request".into())
    }

    /// Drops an arrival of the open loop for which no request was sent.
    fn drop_arrival(&self, due: RequestTiming, step: u32) {
        if step == 0 && self.population.shared.pool.is_some() {
            let mut recorder = self.population.requests.recorder();
            recorder.record_first_action(self.ended_at.max(due.free));
            recorder.record_drop(self.population.clock.cohort(due.planned));
        }
    }

    /// Ends the iteration because the run is over, after a request or in a pause. It is finished if
    /// it has no further step.
    fn end_run(
        &mut self,
        result: &StepResult,
        due: RequestTiming,
        step: u32,
        has_failed: bool,
    ) -> TransactionEnd {
        self.drop_arrival(due, step);
        let is_finished =
            step > 0 && !self.is_cut_off() && self.has_no_further_step(result, due, step);
        // A connection of the open loop may get another arrival that was due before the end; it is
        // not part of these transactions.
        self.leave_transactions();
        if is_finished { end_of_iteration(has_failed) } else { TransactionEnd::Unfinished }
    }

    /// True if the last request ended because the run was cut off.
    fn is_cut_off(&self) -> bool {
        self.population.clock.cut().is_some_and(|cut| self.ended_at >= cut)
    }

    /// Ends the user by its scenario. An arrival without a request is dropped.
    fn leave_run(&mut self, due: RequestTiming, step: u32, ends_run: bool) {
        self.drop_arrival(due, step);
        self.has_left = true;
        self.end_transactions();
        if ends_run {
            (self.population.shared.end_run)();
        }
    }

    /// Waits until the think time is over. True if the load has not ended then.
    async fn think_until(&mut self, until: Tick) -> bool {
        let from = self.ended_at.max(self.population.clock.from());
        let due = until.min(self.population.clock.ends());
        match self.population.requests.lifetime() {
            // Detects a connection that the server closes during the pause.
            ConnectionLifetime::Run | ConnectionLifetime::IterationOrClose => {
                self.wait_idle(due).await;
            }
            // The next request detects whether the connection is still usable.
            ConnectionLifetime::Iteration => {
                self.population.clock.wait_until(&self.timer, due).await;
            }
        }
        self.population
            .requests
            .recorder()
            .record_idle(from, until.min(self.population.clock.ends()));
        // The next step is due after the pause, be it another pause or the next iteration.
        self.ended_at = due;
        until < self.population.clock.ends()
    }

    /// Waits for an action of other users. Returns the nanoseconds of the wait; None if
    /// the load ended first.
    async fn wait_for(&mut self, Waiting { mut until, limit }: Waiting) -> Option<u64> {
        let from = self.ended_at.max(self.population.clock.from());
        let ends = self.population.clock.ends();
        let limit = limit.map_or(Tick::NEVER, |limit| self.population.clock.now() + limit);
        let due = limit.min(ends);
        let has_ended_in_time = loop {
            self.timer.set(due);
            if matches!(race(&mut until, &self.timer).await, First::A(())) {
                break true;
            }
            if self.population.clock.is_wait_over(due) {
                break limit < self.population.clock.ends();
            }
        };
        let now = self.population.clock.now();
        self.population.requests.recorder().record_idle(from, now.min(ends));
        self.ended_at = self.ended_at.max(now);
        has_ended_in_time.then(|| now.nanos_since(from))
    }

    /// Sends requests at once on one connection. If one has no reply, the later
    /// ones have none either.
    async fn send_pipelined(
        &mut self,
        requests: &[Rc<Prepared>],
        due: RequestTiming,
    ) -> StepResult {
        self.record_step(requests.len(), due);
        let mut result = StepResult::default();
        for (n, request) in requests.iter().enumerate() {
            // The later requests wait in a queue: their connection owes the replies to
            // the requests before them.
            let due = if n == 0 { due } else { self.queued_timing(due) };
            self.pipelined = requests[n..].to_vec();
            let failed = result.failed;
            result = self.chain(request, due).await;
            result.failed |= failed;
            let rest = &requests[n + 1..];
            self.end_overlap(rest.len());
            if let Some(failure) = result.failed_request {
                for (n, request) in rest.iter().enumerate() {
                    self.fail_with_connection(request, failure, self.queued_timing(due));
                    self.end_overlap(rest.len() - n - 1);
                }
                break;
            }
        }
        self.pipelined.clear();
        result
    }

    /// Returns the timing of a request that was due with others and waited until they ended.
    fn queued_timing(&self, due: RequestTiming) -> RequestTiming {
        RequestTiming { free: due.free.max(self.ended_at), arrives: false, ..due }
    }

    /// Records the end of a request of a step, if `left` others of the step have not ended.
    fn end_overlap(&self, left: usize) {
        if left > 0 {
            self.population.requests.recorder().overlap_ends(self.ended_at);
        }
    }

    /// Records a request that lost its connection before its reply began.
    fn fail_with_connection(
        &mut self,
        request: &Prepared,
        failed_request: FailedRequest,
        due: RequestTiming,
    ) {
        let cohort = self.population.clock.cohort(due.planned);
        self.begin(RequestTiming { arrives: false, ..due }, self.ended_at);
        let sample = Sample {
            planned: due.planned,
            free: due.free.min(self.ended_at),
            begun: self.ended_at,
            sent: self.ended_at,
            last_byte: self.ended_at,
            bytes_sent: if failed_request.is_sent { request.least_bytes() } else { 0 },
            reused: failed_request.is_sent,
            label: request.tags.label,
            iteration: due.iteration,
            outcome: Outcome::failed(failed_request.failure),
            user: self.number as u32,
            ..Sample::default()
        };
        if self.population.shared.check.is_judged_by_user(request.tags.reply_policy) {
            let exchange = RequestAttempt {
                first: request,
                request,
                reply: None,
                sample: &sample,
                last_hop: None,
                hops: Vec::new(),
                skipped: Vec::new(),
            };
            let _ = self.user.judge(exchange);
        }
        let mut recorder = self.population.requests.recorder();
        recorder.label(cohort, &sample);
        recorder.end(cohort, &sample);
    }

    fn fail_iteration(&mut self, due: RequestTiming, why: String) -> TransactionEnd {
        self.fail_request(due, why, None);
        self.reply_in_transactions(true);
        self.end_transactions();
        self.pause_longer();
        TransactionEnd::Failed
    }

    /// Records a request that could not be prepared.
    fn fail_request(&mut self, due: RequestTiming, why: String, label: Option<u32>) {
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
        self.population.warn(why.into());
        self.begin(due, now);
        let mut recorder = self.population.requests.recorder();
        if label.is_some() {
            recorder.label(cohort, &sample);
        }
        recorder.end(cohort, &sample);
        drop(recorder);
        self.ended_at = now;
        self.request_in_transactions(planned);
    }
}
