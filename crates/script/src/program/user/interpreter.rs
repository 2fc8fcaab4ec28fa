//! The virtual user: it carries out the program of its scenario, step by step.

mod samples;

use super::{Order, Scope, WorkerScript};
use crate::program::memory::Memory;
use crate::program::{InternalOp, Op, Program, final_step, first_place};
use crate::replies::records::{self, Recording};
use crate::texts::context::{UserContext, WorkerContext};
use crate::texts::pending::PendingRequest;
use crate::texts::searched::Searched;
use crate::texts::template::Template;
use brunt_engine::{Exchange, Step, Turn, UserVerdict, VirtualUser};
use brunt_model::reply_policy::Cookies;
use brunt_model::{Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use std::rc::Rc;
use std::time::Duration;

pub use samples::set_last_success;

/// So many operations without a request or a pause are a scenario that goes round for nothing.
const MOST_OPERATIONS: u32 = 1_000_000;

/// How long an iteration takes that does nothing.
const IDLE: Duration = Duration::from_millis(1);

/// One user: where it is in its program, and what it remembers.
pub struct Interpreter<T: Transport> {
    pub script: Rc<WorkerScript<T>>,
    /// Its number among those of all workers.
    pub number: u64,
    /// The request of each iteration, where it is always this one and nothing follows from its reply.
    only: Option<Rc<Prepared>>,
    /// The operation that is next.
    pub next: usize,
    /// Its last step asked for nothing: the iteration goes on, and there is no new reply.
    goes_on: bool,
    /// Iterations that it has begun.
    begun: u64,
    /// Requests of this iteration that were asked, those that count.
    pub asked: u64,
    /// Requests, samples and pauses that it has come to.
    pub done: u64,
    /// The policy of the last request.
    pub policy: u32,
    /// The last requests were sent together.
    pub was_together: bool,
    pub walk: Walk,
    pub slots: Box<[u64]>,
    /// For each list in random order, the one that was drawn last.
    pub orders: Box<[Vec<usize>]>,
    /// None: no text of the scenario needs one.
    pub context: Option<Box<UserContext>>,
    /// The header line of the newest cookie, where such a cookie goes with further requests.
    pub newest_cookie: Option<Box<str>>,
    /// The request that a script has looked at, by its number in the list.
    pub pending: Option<Box<(u32, PendingRequest)>>,
    /// Made by the first request whose reply may lead further.
    pub memory: Option<Box<Memory>>,
    /// None: the plan asks for no records.
    pub recording: Option<Box<Recording>>,
    /// This iteration has done nothing so far.
    is_idle: bool,
    /// Whether the last sample that was no request failed; None: there was none since the last request.
    pub failed_sample: Option<bool>,
    /// The scope that a failed request ends, after the requests that belong to it.
    failure_ends: Scope,
    /// The round or the loop that ends before the next step.
    pub ended_scope: Scope,
}

/// Where in the list a user is, where each goes through it by itself.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    at: u64,
    begins: u64,
    round: u64,
}

impl<T: Transport> Interpreter<T> {
    /// The user of this number.
    pub fn new(script: Rc<WorkerScript<T>>, number: u64) -> Self {
        let compiled = &script.compiled;
        let Program { slots, orders, walk, .. } = &compiled.program;
        let round = compiled.shares.last().copied().unwrap_or(1).max(1);
        let begins = if *walk == Some(Order::Walk) { first_place(number, round, compiled.users) } else { 0 };
        Self {
            only: script.only_request(),
            number,
            next: 0,
            goes_on: false,
            begun: 0,
            asked: 0,
            done: 0,
            policy: 0,
            was_together: false,
            walk: Walk { at: begins, begins, round },
            slots: vec![0; *slots].into(),
            orders: vec![Vec::new(); *orders].into(),
            context: script.user_context(number),
            newest_cookie: None,
            pending: None,
            memory: None,
            recording: script.context.records.as_ref().map(|_| Box::new(Recording::new(&script.context, number))),
            is_idle: true,
            failed_sample: None,
            failure_ends: Scope::Nothing,
            ended_scope: Scope::Nothing,
            script,
        }
    }

    fn begin(&mut self) {
        (self.next, self.asked, self.newest_cookie, self.failed_sample) = (0, 0, None, None);
        self.script.compiled.program.fresh.iter().for_each(|slot| self.slots[*slot] = 0);
        self.pending = None;
        (self.failure_ends, self.ended_scope) = (Scope::Nothing, Scope::Nothing);
        self.begun += 1;
        self.is_idle = true;
        if let Some(user) = &self.context {
            user.locks.borrow_mut().clear();
            user.iteration.set(self.begun - 1);
        }
        let Some(memory) = &mut self.memory else { return };
        memory.begin_iteration();
        if self.script.forgets_pages {
            memory.forget_pages();
        }
        let Walk { at, begins, round } = self.walk;
        if self.script.forgets_soon || self.script.forgets && at > begins && at % round == 0 {
            memory.forget_cookies();
        }
    }

    /// The end that a script which looked at the last reply, or a failure asked for.
    fn requested_end(&mut self) -> Option<Step> {
        let by_script = self.context.as_ref().map_or(Scope::Nothing, |user| user.stop.take());
        let by_failure = std::mem::take(&mut self.failure_ends);
        self.end(if by_script == Scope::Nothing { by_failure } else { by_script })
    }

    /// The step that ends a scope. None: the program continues, and leaves the round or the loop that ended.
    pub fn end(&mut self, scope: Scope) -> Option<Step> {
        let script = &self.script.compiled;
        let is_in_loop = matches!(script.program.ops.get(self.next), Some(Op::Internal(InternalOp::UnlessEnded(_))));
        match scope {
            Scope::Nothing => None,
            Scope::Round | Scope::Loop if is_in_loop => {
                self.ended_scope = scope;
                None
            }
            Scope::Loop if script.dialect().has_loop_of_user() => {
                self.recording.iter_mut().for_each(|recording| recording.end_transactions());
                Some(Step::Leave)
            }
            scope => Some(final_step(scope)),
        }
    }

    /// What the last reply, or that there was none, leads to before the program goes on.
    fn react(&mut self, turn: &Turn<'_>) -> Option<Step> {
        if self.script.inert[self.policy as usize] {
            return None;
        }
        let policy = self.script.policy(self.policy);
        let is_repeated = self.memory.as_ref().is_some_and(|memory| memory.repeats(&self.script, turn.last));
        if turn.failed && !is_repeated && policy.failure_ends != Scope::Nothing {
            self.failure_ends = policy.failure_ends;
        }
        if policy.cookies == Cookies::Newest {
            let cookie = turn.last.and_then(|reply| reply.kept.as_ref()?.cookie.as_ref());
            self.newest_cookie = cookie.map(|cookie| format!("Cookie: {cookie}").into()).or(self.newest_cookie.take());
        }
        let memory = self.memory.as_mut()?;
        if memory.was_at_once() {
            memory.react_all(&self.script, turn.replies);
        } else if let Some(reply) = turn.last {
            memory.react(&self.script, reply);
        }
        let step = memory.follow_up(&self.script);
        if std::mem::take(&mut memory.has_elements) {
            self.recording.iter_mut().for_each(|recording| recording.divide_page());
        }
        if let (Some(Step::Parallel(requests, _)), Some(recording)) = (&step, &mut self.recording) {
            recording.send_together(requests.iter().map(|request| (Rc::clone(request), String::new())).collect());
        }
        step
    }

    /// Carries the program out up to its next step.
    fn advance(&mut self, turn: &Turn<'_>) -> Step {
        let script = Rc::clone(&self.script);
        let ops = &script.compiled.program.ops;
        for _ in 0..MOST_OPERATIONS {
            let Some(op) = ops.get(self.next) else { return Step::Done };
            self.next += 1;
            self.done += u64::from(op.does_something());
            if let Some(step) = op.run(self, turn) {
                return step;
            }
        }
        Step::Broken("the scenario loops without a request or a pause; add a request to the loop".into())
    }

    /// The text of a template, now.
    pub fn text(&self, template: &Template, turn: &Turn<'_>) -> String {
        self.script.text(template, self.request_number(turn), self.context.as_deref())
    }

    /// Number in the run of the next request.
    pub fn request_number(&self, turn: &Turn<'_>) -> u64 {
        self.script.compiled.program.first_request(turn.number) + self.asked
    }

    /// Sets a variable.
    pub fn set_variable(&self, variable: usize, value: &str) {
        if let Some(context) = &self.context {
            context.variables.borrow_mut().set_slot(variable, value);
        }
    }

    /// Milliseconds since 1970.
    pub fn now_millis(&self) -> f64 {
        self.script.context.surroundings.unix_millis() as f64
    }

    /// The count in a slot, which is then one higher.
    pub fn count(&mut self, slot: usize) -> u64 {
        let before = self.slots[slot];
        self.slots[slot] += 1;
        before
    }
}

impl Walk {
    /// The place in the list, which is then the next one.
    pub fn advance(&mut self) -> u64 {
        let place = self.at;
        self.at += 1;
        place
    }
}

/// A user that is done hands its variables on, where it is the first.
impl<T: Transport> Drop for Interpreter<T> {
    fn drop(&mut self) {
        let Some(user) = self.context.as_deref().filter(|_| self.number == 0) else { return };
        let WorkerContext { population_number: 0, commons, .. } = &*user.worker else { return };
        commons.hand_on(user.variables.borrow().all());
    }
}

impl<T: Transport> VirtualUser for Interpreter<T> {
    fn next(&mut self, turn: Turn<'_>) -> Step {
        if let Some(only) = &self.only {
            return Step::Last(Rc::clone(only));
        }
        let mut follows = None;
        if !self.goes_on {
            if turn.step > 0 {
                follows = self.react(&turn).or_else(|| self.requested_end());
            } else {
                self.begin();
            }
        }
        if !matches!(follows, Some(Step::Request(_) | Step::Parallel(..)))
            && let Some(recording) = &mut self.recording
        {
            recording.flush();
        }
        let mut step = follows.unwrap_or_else(|| self.advance(&turn));
        if matches!(step, Step::Done) && self.is_idle {
            // Conditions and fresh pages may leave nothing of an iteration. One that takes no time would go on for ever.
            step = Step::Think(IDLE);
            // Also where its first sample ended it: nothing of it follows.
            self.next = self.script.compiled.program.ops.len();
        }
        self.is_idle &= matches!(step, Step::Done);
        if let (Step::Think(pause), Some(user)) = (&step, &self.context) {
            user.trace(|tracing| tracing.pause(*pause));
        }
        if matches!(step, Step::EndRun) {
            self.script.context.commons.end_test();
        }
        if let Step::Broken(why) | Step::Failing(why, _) = &step {
            self.judge_unsent(why, &turn);
        }
        if self.recording.is_some() {
            self.record_end(&step, &turn);
        }
        self.goes_on = matches!(
            step,
            Step::Think(_)
                | Step::Wait(_)
                | Step::Sample
                | Step::BeginTransaction(..)
                | Step::EndTransaction
                | Step::SuspendTransactions(..)
                | Step::ResumeTransactions(_)
        );
        step
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        let policy = self.script.policy(from.tags.reply_policy);
        if !policy.cookies.are_kept() && policy.elements.is_none() {
            return self.script.redirect(from, reply, hops);
        }
        // The first request of a user may be one of a parallel step, of which nothing else is remembered.
        let memory = memory_of(&mut self.memory, self.number, self.context.as_deref());
        memory.redirect(&self.script, from, reply, hops)
    }

    fn judge(&mut self, exchange: Exchange<'_>) -> Option<UserVerdict> {
        self.judge_exchange(exchange)
    }

    fn record_hop(&mut self, request: &Prepared, reply: &Reply, sample: &Sample) -> Option<SampleRecord> {
        let is_read = self.script.compiled.reactions[request.tags.reply_policy as usize].reads_hops;
        if self.recording.is_none() && !is_read {
            return None;
        }
        let searched = Searched::new(request, Some(reply), sample, self.context.as_deref()?);
        let mut record = records::of_request(&searched, sample);
        if is_read {
            record.details = records::all_details(&searched);
        }
        Some(record)
    }
}

/// What a user remembers, which begins with the cookies that scripts gave it.
pub fn memory_of<'m>(memory: &'m mut Option<Box<Memory>>, number: u64, user: Option<&UserContext>) -> &'m mut Memory {
    let cookies = || user.map(|user| Rc::clone(&user.cookies)).unwrap_or_default();
    memory.get_or_insert_with(|| Box::new(Memory::new(number, cookies())))
}
