//! Runs the program of a virtual user, step by step.

mod samples;

use super::{EndScope, ListOrder, WorkerScript};
use crate::program::memory::Memory;
use crate::program::{InternalOp, Op, Program, final_step, first_place};
use crate::replies::records::{self, Recording};
use crate::texts::context::{UserContext, WorkerContext};
use crate::texts::pending::PendingRequest;
use crate::texts::reply_view::ReplyView;
use crate::texts::template::Template;
use brunt_engine::{RequestAttempt, UserStep, UserTurn, UserVerdict, VirtualUser};
use brunt_model::reply_policy::Cookies;
use brunt_model::{Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use std::rc::Rc;
use std::time::Duration;

pub use samples::set_last_success;

/// Maximum number of operations without a request or a pause. Beyond it, the
/// scenario loops without effect.
const MAX_OPERATIONS: u32 = 1_000_000;

const ENDLESS_LOOP: &str =
    "the scenario loops without a request or a pause; add a request to the loop";

/// Duration of an iteration without an action.
const IDLE: Duration = Duration::from_millis(1);

/// One user: its position in the program, and its state.
pub struct Interpreter<T: Transport> {
    pub script: Rc<WorkerScript<T>>,
    /// Number among the users of all workers.
    pub number: u64,
    /// The request of each iteration, if it is always the same and its reply has no effect.
    only_request: Option<Rc<Prepared>>,
    /// The next operation.
    pub next: usize,
    /// True if the last step sent no request: the iteration continues, and there is no new reply.
    continues: bool,
    /// Number of iterations that it has begun.
    iterations: u64,
    /// Number of counted requests in this iteration.
    pub requests: u64,
    /// Number of requests, samples and pauses so far.
    pub actions: u64,
    /// Policy of the last request.
    pub policy: u32,
    /// True if the last requests were sent together.
    pub was_together: bool,
    pub walk: Walk,
    pub slots: Box<[u64]>,
    /// The last order drawn for each list in random order.
    pub orders: Box<[Vec<usize>]>,
    /// None: no text of the scenario needs one.
    pub context: Option<Box<UserContext>>,
    /// Header line of the newest cookie, if further requests send it.
    pub newest_cookie: Option<Box<str>>,
    /// The request that a script has read, with its number in the list.
    pub pending: Option<Box<(u32, PendingRequest)>>,
    /// Created by the first request with a reply that may lead to further requests.
    pub memory: Option<Box<Memory>>,
    /// None: the plan requests no records.
    pub recording: Option<Box<Recording>>,
    /// True if this iteration has done nothing so far.
    is_idle: bool,
    /// True if the last sample without a request failed. None: there was none
    /// since the last request.
    pub failed_sample: Option<bool>,
    /// Scope that a failed request ends, after the requests that belong to it.
    failure_ends: EndScope,
    /// The round or the loop that ends before the next step.
    pub ended_scope: EndScope,
}

/// Position of a user that goes through the list on its own.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    position: u64,
    begins: u64,
    round: u64,
}

impl<T: Transport> Interpreter<T> {
    /// Creates the user of this number.
    pub fn new(script: Rc<WorkerScript<T>>, number: u64) -> Self {
        let compiled = &script.compiled;
        let Program { slots, orders, walk, .. } = &compiled.program;
        let round = compiled.shares.last().copied().unwrap_or(1).max(1);
        let begins = if *walk == Some(ListOrder::Walk) {
            first_place(number, round, compiled.users)
        } else {
            0
        };
        Self {
            only_request: script.only_request(),
            number,
            next: 0,
            continues: false,
            iterations: 0,
            requests: 0,
            actions: 0,
            policy: 0,
            was_together: false,
            walk: Walk { position: begins, begins, round },
            slots: vec![0; *slots].into(),
            orders: vec![Vec::new(); *orders].into(),
            context: script.user_context(number),
            newest_cookie: None,
            pending: None,
            memory: None,
            recording: script
                .context
                .records
                .as_ref()
                .map(|_| Box::new(Recording::new(&script.context, number))),
            is_idle: true,
            failed_sample: None,
            failure_ends: EndScope::Nothing,
            ended_scope: EndScope::Nothing,
            script,
        }
    }

    fn begin(&mut self) {
        self.next = 0;
        self.requests = 0;
        self.newest_cookie = None;
        self.failed_sample = None;
        self.script.compiled.program.iteration_slots.iter().for_each(|slot| self.slots[*slot] = 0);
        self.pending = None;
        self.failure_ends = EndScope::Nothing;
        self.ended_scope = EndScope::Nothing;
        self.iterations += 1;
        self.is_idle = true;
        if let Some(user) = &self.context {
            user.locks.borrow_mut().clear();
            user.iteration.set(self.iterations - 1);
        }
        let Some(memory) = &mut self.memory else { return };
        memory.begin_iteration();
        if self.script.clears_pages_per_iteration {
            memory.clear_pages();
        }
        let Walk { position, begins, round } = self.walk;
        let has_finished_round = position > begins && position % round == 0;
        if self.script.clears_cookies_per_iteration
            || self.script.clears_cookies_per_round && has_finished_round
        {
            memory.clear_cookies();
        }
    }

    /// Returns the end that a script for the last reply, or a failure, requested.
    fn requested_end(&mut self) -> Option<UserStep> {
        let by_script = self.context.as_ref().map_or(EndScope::Nothing, |user| user.stop.take());
        let by_failure = std::mem::take(&mut self.failure_ends);
        self.end(if by_script == EndScope::Nothing { by_failure } else { by_script })
    }

    /// Returns the step that ends a scope. None: the program continues, and leaves the round or
    /// the loop that ended.
    pub fn end(&mut self, scope: EndScope) -> Option<UserStep> {
        let script = &self.script.compiled;
        let is_in_loop = matches!(
            script.program.ops.get(self.next),
            Some(Op::Internal(InternalOp::UnlessEnded(_)))
        );
        match scope {
            EndScope::Nothing => None,
            EndScope::Round | EndScope::Loop if is_in_loop => {
                self.ended_scope = scope;
                None
            }
            EndScope::Loop if script.dialect().has_loop_of_user() => {
                self.recording.iter_mut().for_each(|recording| recording.end_transactions());
                Some(UserStep::Leave)
            }
            scope => Some(final_step(scope)),
        }
    }

    /// Applies the last reply, or its absence. Returns the resulting step
    /// before the program continues.
    fn react(&mut self, turn: &UserTurn<'_>) -> Option<UserStep> {
        if self.script.inert[self.policy as usize] {
            return None;
        }
        let policy = self.script.policy(self.policy);
        let is_repeated =
            self.memory.as_ref().is_some_and(|memory| memory.will_repeat(&self.script, turn.last));
        // A request that is repeated with credentials has not failed yet.
        if turn.failed && !is_repeated && policy.failure_ends != EndScope::Nothing {
            self.failure_ends = policy.failure_ends;
        }
        if policy.cookies == Cookies::Newest {
            let cookie = turn.last.and_then(|reply| reply.details.as_ref()?.cookie.as_ref());
            self.newest_cookie = cookie
                .map(|cookie| format!("Cookie: {cookie}").into())
                .or(self.newest_cookie.take());
        }
        let memory = self.memory.as_mut()?;
        if memory.was_parallel() {
            memory.react_all(&self.script, turn.replies);
        } else if let Some(reply) = turn.last {
            memory.react(&self.script, reply);
        }
        let step = memory.follow_up(&self.script);
        if std::mem::take(&mut memory.has_elements) {
            self.recording.iter_mut().for_each(|recording| recording.divide_page());
        }
        if let (Some(UserStep::Parallel(requests, _)), Some(recording)) =
            (&step, &mut self.recording)
        {
            recording.send_together(
                requests.iter().map(|request| (Rc::clone(request), String::new())).collect(),
            );
        }
        step
    }

    /// Runs the program up to its next step.
    fn advance(&mut self, turn: &UserTurn<'_>) -> UserStep {
        let script = Rc::clone(&self.script);
        let ops = &script.compiled.program.ops;
        let has_texts = self.context.is_some();
        for _ in 0..MAX_OPERATIONS {
            let Some(op) = ops.get(self.next) else { return UserStep::Done };
            let position = self.next;
            if has_texts {
                script.note_position(position);
            }
            self.next += 1;
            self.actions += u64::from(op.does_something());
            let step = op.run(self, turn);
            if has_texts && let Some(why) = script.overlong_text(position) {
                return UserStep::Broken(why);
            }
            if let Some(step) = step {
                return step;
            }
            if has_texts && script.run_state().must_return() {
                break;
            }
        }
        UserStep::Broken(ENDLESS_LOOP.into())
    }

    /// Fills in the text of a template.
    pub fn text(&self, template: &Template, turn: &UserTurn<'_>) -> String {
        self.script.text(template, self.request_number(turn), self.context.as_deref())
    }

    /// Number of the next request in the run.
    pub fn request_number(&self, turn: &UserTurn<'_>) -> u64 {
        self.script.compiled.program.first_request(turn.number) + self.requests
    }

    pub fn set_variable(&self, variable: usize, value: &str) {
        if let Some(context) = &self.context {
            context.variables.borrow_mut().set_slot(variable, value);
        }
    }

    /// Milliseconds since 1970.
    pub fn now_millis(&self) -> f64 {
        self.script.context.run_state.unix_millis() as f64
    }

    /// Returns the count in a slot, and increments it.
    pub fn count(&mut self, slot: usize) -> u64 {
        let before = self.slots[slot];
        self.slots[slot] += 1;
        before
    }
}

impl Walk {
    /// Returns the position in the list, and advances it.
    pub fn advance(&mut self) -> u64 {
        let place = self.position;
        self.position += 1;
        place
    }
}

/// The first user passes its variables on to later stages when it ends.
impl<T: Transport> Drop for Interpreter<T> {
    fn drop(&mut self) {
        let Some(user) = self.context.as_deref().filter(|_| self.number == 0) else { return };
        let WorkerContext { population_number: 0, shared_state, .. } = &*user.worker else {
            return;
        };
        shared_state.store_variables(user.variables.borrow().all());
    }
}

impl<T: Transport> VirtualUser for Interpreter<T> {
    fn next(&mut self, turn: UserTurn<'_>) -> UserStep {
        if let Some(only) = &self.only_request {
            return UserStep::Last(Rc::clone(only));
        }
        // Only texts, scripts and pages can be endless.
        let is_noted = self.context.is_some() || self.memory.is_some();
        let _step_note = is_noted.then(|| self.script.note_step());
        let mut follow_up = None;
        if !self.continues {
            if turn.step > 0 {
                if is_noted {
                    self.script.note_reply(self.policy);
                }
                follow_up = self.react(&turn).or_else(|| self.requested_end());
            } else {
                self.begin();
            }
        }
        if !matches!(follow_up, Some(UserStep::Request(_) | UserStep::Parallel(..)))
            && let Some(recording) = &mut self.recording
        {
            recording.flush();
        }
        let mut step = follow_up.unwrap_or_else(|| self.advance(&turn));
        if matches!(step, UserStep::Done) && self.is_idle {
            // Conditions and fresh pages may leave an iteration empty. Without this pause, empty
            // iterations would repeat endlessly at one instant.
            step = UserStep::Think(IDLE);
            // Also if its first sample ended the iteration: the rest of it is skipped.
            self.next = self.script.compiled.program.ops.len();
        }
        self.is_idle &= matches!(step, UserStep::Done);
        if let (UserStep::Think(pause), Some(user)) = (&step, &self.context) {
            user.trace(|tracing| tracing.pause(*pause));
        }
        if matches!(step, UserStep::EndRun) {
            self.script.context.shared_state.end_test();
        }
        if let UserStep::Broken(why) | UserStep::Failing(why, _) = &step {
            self.judge_unsent(why, &turn);
        }
        if self.recording.is_some() {
            self.record_end(&step, &turn);
        }
        self.continues = matches!(
            step,
            UserStep::Think(_)
                | UserStep::Wait(_)
                | UserStep::Sample
                | UserStep::BeginTransaction(..)
                | UserStep::EndTransaction
                | UserStep::SuspendTransactions(..)
                | UserStep::ResumeTransactions(_)
        );
        step
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        let policy = self.script.policy(from.tags.reply_policy);
        // Without stored cookies and page elements, a redirect needs no memory.
        if !policy.cookies.are_kept() && policy.elements.is_none() {
            return self.script.redirect(from, reply, hops);
        }
        // The first request of a user may be in a parallel step, which creates no memory.
        let memory = memory_of(&mut self.memory, self.number, self.context.as_deref());
        memory.redirect(&self.script, from, reply, hops)
    }

    fn judge(&mut self, exchange: RequestAttempt<'_>) -> Option<UserVerdict> {
        self.context.as_ref()?;
        let _step_note = self.script.note_step();
        self.script.note_reply(exchange.request.tags.reply_policy);
        self.judge_exchange(exchange)
    }

    fn record_hop(
        &mut self,
        request: &Prepared,
        reply: &Reply,
        sample: &Sample,
    ) -> Option<SampleRecord> {
        let is_read = self.script.compiled.reactions[request.tags.reply_policy as usize].reads_hops;
        if self.recording.is_none() && !is_read {
            return None;
        }
        let reply_view = ReplyView::new(request, Some(reply), sample, self.context.as_deref()?);
        let mut record = records::of_request(&reply_view, sample);
        if is_read {
            record.details = records::all_details(&reply_view);
        }
        Some(record)
    }
}

/// Returns the memory of a user. A new one contains the cookies that scripts set.
pub fn memory_of<'m>(
    memory: &'m mut Option<Box<Memory>>,
    number: u64,
    user: Option<&UserContext>,
) -> &'m mut Memory {
    memory.get_or_insert_with(|| {
        let cookies = user.map(|user| Rc::clone(&user.cookies)).unwrap_or_default();
        Box::new(Memory::new(number, cookies))
    })
}
