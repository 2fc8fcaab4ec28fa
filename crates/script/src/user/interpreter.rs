//! The virtual user: it carries out the program of its scenario, step by step.

mod acts;
mod choices;
mod samples;

use super::{Order, Scope, WorkerScript};
use crate::context::{UserContext, WorkerContext};
use crate::data::RowTaken;
use crate::pending::PendingRequest;
use crate::program::{Op, Program, Test};
use crate::records::{self, Recording};
use crate::replies::Memory;
use crate::searched::Searched;
use crate::template::Template;
use brunt_engine::{Exchange, Step, Turn, UserVerdict, VirtualUser};
use brunt_model::load::Think;
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::{Manner, TextRules};
use brunt_model::{Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use choices::walk_begins;
use rand::RngExt;
use std::rc::Rc;
use std::time::Duration;

/// So many operations without a request or a pause are a scenario that goes round for nothing.
const MOST_OPERATIONS: u32 = 1_000_000;

/// How long an iteration takes that does nothing.
const IDLE: Duration = Duration::from_millis(1);

/// One user: where it is in its program, and what it remembers.
pub struct Interpreter<T: Transport> {
    script: Rc<WorkerScript<T>>,
    /// Its number among those of all workers.
    number: u64,
    /// The request of each iteration, where it is always this one and nothing follows from its reply.
    only: Option<Rc<Prepared>>,
    /// The operation that is next.
    next: usize,
    /// Its last step asked for nothing: the iteration goes on, and there is no new reply.
    goes_on: bool,
    /// Iterations that it has begun.
    begun: u64,
    /// Requests of this iteration that were asked, those that count.
    asked: u64,
    /// Requests, samples and pauses that it has come to.
    done: u64,
    /// The policy of the last request.
    policy: u32,
    /// The last requests were sent together.
    was_together: bool,
    walk: Walk,
    slots: Box<[u64]>,
    /// For each list in random order, the one that was drawn last.
    orders: Box<[Vec<usize>]>,
    /// None: no text of the scenario needs one.
    user: Option<Box<UserContext>>,
    /// The header line of the newest cookie, where such a cookie goes with further requests.
    newest_cookie: Option<Box<str>>,
    /// The request that a script has looked at, by its number in the list.
    pending: Option<Box<(u32, PendingRequest)>>,
    /// Made by the first request whose reply may lead further.
    memory: Option<Box<Memory>>,
    /// None: the plan asks for no records.
    recording: Option<Box<Recording>>,
    /// This iteration has done nothing so far.
    is_idle: bool,
    /// Whether the last sample that was no request failed; None: there was none since the last request.
    failed_sample: Option<bool>,
    /// The scope that a failed request ends, after the requests that belong to it.
    failure_ends: Scope,
    /// The round or the loop that ends before the next step.
    leaves: Scope,
}

/// Where in the list a user is, where each goes through it by itself.
#[derive(Debug, Clone, Copy)]
struct Walk {
    at: u64,
    begins: u64,
    round: u64,
}

/// A request that an operation asks for.
#[derive(Clone, Copy)]
struct Wanted {
    entry: usize,
    /// Its number among all of the run.
    number: u64,
}

impl<T: Transport> Interpreter<T> {
    /// The user of this number.
    pub fn new(script: Rc<WorkerScript<T>>, number: u64) -> Self {
        let compiled = &script.compiled;
        let Program { slots, orders, walk, .. } = &compiled.program;
        let round = compiled.shares.last().copied().unwrap_or(1).max(1);
        let begins = if *walk == Some(Order::Walk) { walk_begins(number, round, compiled.users) } else { 0 };
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
            user: script.user_context(number),
            newest_cookie: None,
            pending: None,
            memory: None,
            recording: script.context.records.as_ref().map(|_| Box::new(Recording::new(&script.context, number))),
            is_idle: true,
            failed_sample: None,
            failure_ends: Scope::Nothing,
            leaves: Scope::Nothing,
            script,
        }
    }

    fn begin(&mut self) {
        (self.next, self.asked, self.newest_cookie, self.failed_sample) = (0, 0, None, None);
        self.script.compiled.program.fresh.iter().for_each(|slot| self.slots[*slot] = 0);
        self.pending = None;
        (self.failure_ends, self.leaves) = (Scope::Nothing, Scope::Nothing);
        self.begun += 1;
        self.is_idle = true;
        if let Some(user) = &self.user {
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
        let by_script = self.user.as_ref().map_or(Scope::Nothing, |user| user.stop.take());
        let by_failure = std::mem::take(&mut self.failure_ends);
        self.end(if by_script == Scope::Nothing { by_failure } else { by_script })
    }

    /// The step that ends a scope. None: the program continues, and leaves the round or the loop that ended.
    fn end(&mut self, scope: Scope) -> Option<Step> {
        let script = &self.script.compiled;
        let is_in_loop = matches!(script.program.ops.get(self.next), Some(Op::Unless(Test::Leaves(_), _)));
        match scope {
            Scope::Nothing => None,
            Scope::Round | Scope::Loop if is_in_loop => {
                self.leaves = scope;
                None
            }
            // JMeter's thread group is itself a loop.
            Scope::Loop if script.feeds.rules == TextRules::Jmeter => {
                self.recording.iter_mut().for_each(|recording| recording.end_transactions());
                Some(Step::Leave)
            }
            scope => Some(stop(scope)),
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
            match op {
                Op::Request { .. } | Op::Next { .. } => {
                    let wanted = self.wanted(op, turn);
                    if let Some(step) = wanted.and_then(|wanted| self.ask(wanted, ops.len())) {
                        return step;
                    }
                }
                Op::BeginTogether => return self.together(ops, turn),
                Op::Think(think) => return Step::Think(self.draw(think)),
                Op::Pause(_) | Op::Pace { .. } | Op::Shape { .. } | Op::Meet { .. } | Op::Lock(_) => {
                    if let Some(step) = self.wait(op, turn) {
                        return step;
                    }
                }
                Op::Script(script, request) => {
                    if let Some(step) = self.script(script, *request, turn) {
                        return step;
                    }
                }
                Op::Modify(modifier, request) => self.modify(modifier, *request, turn),
                Op::Row(number) => {
                    match self.user.as_ref().map(|user| script.compiled.program.data[*number].take(user)) {
                        Some(RowTaken::StopUser) => return stop(Scope::User),
                        Some(RowTaken::StopRun) => return stop(Scope::Run),
                        Some(RowTaken::Set) | None => {}
                    }
                }
                Op::Sample(sample) => return self.make_sample(sample, turn),
                Op::BeginTransaction(name, text, pauses, is_parent) => {
                    let name = self.begin_transaction((name, text.as_deref()), *pauses, *is_parent, turn);
                    return Step::BeginTransaction(name, *pauses);
                }
                Op::EndTransaction => {
                    self.recording.iter_mut().for_each(|recording| recording.end_transaction());
                    return Step::EndTransaction;
                }
                Op::BreakTransaction => {
                    self.recording.iter_mut().for_each(|recording| recording.break_transaction());
                    return Step::EndTransaction;
                }
                Op::EndTurn { slot, transactions, end } => {
                    (self.slots[*slot], self.next) = (self.next as u64, *end);
                    if *transactions > 0 {
                        let recording = self.recording.iter_mut();
                        recording.for_each(|recording| recording.suspend_transactions(*slot, *transactions));
                        return Step::SuspendTransactions(*slot, *transactions);
                    }
                }
                Op::ResumeTransactions(slot) => {
                    self.recording.iter_mut().for_each(|recording| recording.resume_transactions(*slot));
                    return Step::ResumeTransactions(*slot);
                }
                Op::CountInTransactions(counted) => {
                    self.recording.iter_mut().for_each(|recording| recording.count(*counted));
                }
                Op::Stop(Scope::Nothing) | Op::EndTogether(_) => {}
                Op::Stop(scope) => return self.end(*scope).unwrap_or(Step::Done),
                other => {
                    self.jump(other, turn);
                }
            }
        }
        Step::Broken("the scenario loops without a request or a pause; add a request to the loop".into())
    }

    /// What is only about where the program goes on, and about variables; false: it is another operation.
    fn jump(&mut self, op: &Op, turn: &Turn<'_>) -> bool {
        match op {
            Op::BeginLoop { slot, times, end } => {
                self.slots[*slot] = *times;
                self.next = if *times == 0 { *end } else { self.next };
            }
            Op::EndLoop { slot, begin } => {
                self.slots[*slot] -= 1;
                self.next = if self.slots[*slot] > 0 { *begin } else { self.next };
            }
            Op::NextValue { slot, variable, values, end } => {
                let at = count(&mut self.slots[*slot]);
                if let (Some(value), Some(user)) = (values.get(at as usize), &self.user) {
                    user.variables.borrow_mut().set_slot(*variable, value);
                } else {
                    (self.slots[*slot], self.next) = (0, *end);
                }
            }
            Op::BeginLoopText { .. }
            | Op::NextNumbered { .. }
            | Op::BeginDuring { .. }
            | Op::WhenOver { .. }
            | Op::Switch { .. }
            | Op::Shuffle { .. }
            | Op::Set(..)
            | Op::Count(_)
            | Op::Unlock
            | Op::Reset(_) => self.act(op, turn),
            Op::Jump(to) => self.next = *to,
            Op::Unless(Test::Leaves(scope), to) => {
                if self.leaves == *scope {
                    self.leaves = Scope::Nothing;
                } else {
                    self.next = *to;
                }
            }
            Op::Unless(test, to) => self.next = if self.holds(test, turn) { self.next } else { *to },
            Op::Choose(choice) => self.next = self.choose(choice, turn.number),
            Op::EndBranch(choice) => self.end_branch(*choice, turn.number),
            Op::Resume { slot } => {
                let behind = std::mem::take(&mut self.slots[*slot]) as usize;
                self.next = if behind > 0 { behind } else { self.next };
            }
            Op::Once { slot, end } => self.next = if self.slots[*slot] > 0 { *end } else { self.next },
            Op::Request { .. }
            | Op::Next { .. }
            | Op::BeginTogether
            | Op::EndTogether(_)
            | Op::Think(_)
            | Op::Pause(_)
            | Op::Pace { .. }
            | Op::Shape { .. }
            | Op::Meet { .. }
            | Op::Lock(_)
            | Op::Row(_)
            | Op::Script(..)
            | Op::Modify(..)
            | Op::Sample(_)
            | Op::BeginTransaction(..)
            | Op::EndTransaction
            | Op::BreakTransaction
            | Op::EndTurn { .. }
            | Op::ResumeTransactions(_)
            | Op::CountInTransactions(_)
            | Op::Stop(_) => return false,
        }
        true
    }

    /// The text of a template, now.
    fn text(&self, template: &Template, turn: &Turn<'_>) -> String {
        let n = self.script.compiled.program.first_request(turn.number) + self.asked;
        self.script.text(template, n, self.user.as_deref())
    }

    fn holds(&self, test: &Test, turn: &Turn<'_>) -> bool {
        match test {
            Test::Failed => self.failed_sample.unwrap_or(turn.failed),
            Test::Succeeded => !self.failed_sample.unwrap_or(turn.failed),
            Test::Status(least, most) => turn.last.is_some_and(|reply| (*least..=*most).contains(&reply.status)),
            Test::Equals(variable, value) => self
                .user
                .as_ref()
                .is_some_and(|user| user.variables.borrow().slot(*variable).unwrap_or_default() == value),
            Test::Same(one, other) => self.text(one, turn) == self.text(other, turn),
            Test::Any(all) => all.iter().any(|test| self.holds(test, turn)),
            Test::True(text) => self.text(text, turn).trim().eq_ignore_ascii_case("true"),
            Test::False(text) => self.text(text, turn).trim().eq_ignore_ascii_case("false"),
            Test::Matches(..) | Test::Share { .. } => self.passes(test, turn),
            Test::Not(other) => !self.holds(other, turn),
            Test::Leaves(scope) => self.leaves == *scope,
        }
    }

    /// The request of an operation; None where it is none.
    fn wanted(&mut self, op: &Op, turn: &Turn<'_>) -> Option<Wanted> {
        let (Op::Request { counts, .. } | Op::Next { counts, .. }) = op else { return None };
        let mut number = self.script.compiled.program.first_request(turn.number) + self.asked;
        self.asked += u64::from(*counts);
        let entry = match op {
            Op::Next { order, .. } => {
                if matches!(order, Order::Walk | Order::WalkTogether) {
                    number = self.walk.at;
                    self.walk.at += 1;
                }
                self.script.pick(*order, number, self.number)
            }
            Op::Request { number: entry, .. } => *entry as usize,
            _ => return None,
        };
        self.policy = self.script.policy_of(entry);
        Some(Wanted { entry, number })
    }

    /// The step of a request; None: the user has the page, and it is fresh.
    fn ask(&mut self, wanted: Wanted, end: usize) -> Option<Step> {
        let Wanted { entry, number } = wanted;
        (self.was_together, self.failed_sample) = (false, None);
        let is_inert = self.script.inert[self.policy as usize];
        if !is_inert && self.script.policy(self.policy).looks_at_head() {
            let memory = memory_of(&mut self.memory, self.number, self.user.as_deref());
            if self.script.compiled.is_jmeter() {
                memory.forget_identity();
            }
            let ask = match self.pending.take().filter(|pending| pending.0 as usize == entry) {
                Some(pending) => self.script.ask_changed(entry, number, self.user.as_deref(), pending.1),
                None => self.script.ask(entry, number, self.user.as_deref()),
            };
            return match ask {
                Ok(ask) if memory.is_fresh(&self.script, &ask) => {
                    let note = format!("{} is fresh: it is not asked for again", ask.parts.url);
                    self.user.iter().for_each(|user| user.trace(|tracing| tracing.note(&note)));
                    None
                }
                Ok(ask) => Some(memory.ask(&self.script, ask)),
                Err(why) => Some(self.script.refused(entry, why)),
            };
        }
        let is_last = self.next == end && is_inert;
        let step = if is_last { Step::Last } else { Step::Request };
        Some(self.prepared(wanted).map_or_else(|why| self.script.refused(entry, why), step))
    }

    /// A request in bytes, with the newest cookie where there is one.
    fn prepared(&mut self, wanted: Wanted) -> Result<Rc<Prepared>, String> {
        let Wanted { entry, number } = wanted;
        let request = match self.pending.take().filter(|pending| pending.0 as usize == entry) {
            Some(pending) => self.script.prepared_changed(entry, number, self.user.as_deref(), pending.1)?,
            None => self.script.prepared(entry, number, self.user.as_deref())?,
        };
        Ok(match &self.newest_cookie {
            Some(line) => Rc::new(request.with_line(line)),
            None => request,
        })
    }

    /// All requests up to the end of those that are sent together.
    fn together(&mut self, ops: &[Op], turn: &Turn<'_>) -> Step {
        let (mut requests, mut labels, mut manner) = (Vec::new(), Vec::new(), Manner::Pipelined);
        while let Some(op) = ops.get(self.next) {
            self.next += 1;
            self.done += u64::from(op.does_something());
            match op {
                Op::EndTogether(end) => {
                    manner = *end;
                    break;
                }
                Op::Request { .. } | Op::Next { .. } => match self.wanted(op, turn).map(|wanted| self.prepared(wanted))
                {
                    Some(Ok(request)) => {
                        requests.push(request);
                        if self.recording.is_some() {
                            labels.push(self.label());
                        }
                    }
                    Some(Err(why)) => return Step::Broken(why),
                    None => {}
                },
                Op::Row(number) => {
                    if let Some(user) = &self.user {
                        let _ = self.script.compiled.program.data[*number].take(user);
                    }
                }
                other => {
                    self.jump(other, turn);
                }
            }
        }
        (self.was_together, self.failed_sample) = (requests.len() > 1, None);
        if let Some(recording) = &mut self.recording {
            recording.send_together(requests.iter().cloned().zip(labels).collect());
        }
        match requests.len() {
            0 => self.advance(turn),
            1 => requests.pop().map_or(Step::Done, Step::Request),
            _ => match manner {
                Manner::Pipelined => Step::Together(requests),
                Manner::Parallel(most) => Step::Parallel(requests, most.max(1) as usize),
            },
        }
    }

    fn draw(&self, think: &Think) -> Duration {
        if think.least == think.most {
            return think.most;
        }
        self.script.context.random.borrow_mut().random_range(think.least..=think.most)
    }
}

/// What a slot has counted so far; one more from now on.
fn count(slot: &mut u64) -> u64 {
    let before = *slot;
    *slot += 1;
    before
}

fn stop(scope: Scope) -> Step {
    match scope {
        Scope::Nothing | Scope::Turn | Scope::Round | Scope::Loop | Scope::Iteration => Step::Done,
        Scope::User => Step::Leave,
        Scope::Run => Step::EndRun,
    }
}

/// A user that is done hands its variables on, where it is the first.
impl<T: Transport> Drop for Interpreter<T> {
    fn drop(&mut self) {
        let Some(user) = self.user.as_deref().filter(|_| self.number == 0) else { return };
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
        if let (Step::Think(pause), Some(user)) = (&step, &self.user) {
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
        let memory = memory_of(&mut self.memory, self.number, self.user.as_deref());
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
        let searched = Searched::new(request, Some(reply), sample, self.user.as_deref()?);
        let mut record = records::of_request(&searched, sample);
        if is_read {
            record.details = records::all_details(&searched);
        }
        Some(record)
    }
}

/// What a user remembers, which begins with the cookies that scripts gave it.
fn memory_of<'m>(memory: &'m mut Option<Box<Memory>>, number: u64, user: Option<&UserContext>) -> &'m mut Memory {
    let cookies = || user.map(|user| Rc::clone(&user.cookies)).unwrap_or_default();
    memory.get_or_insert_with(|| Box::new(Memory::new(number, cookies())))
}
