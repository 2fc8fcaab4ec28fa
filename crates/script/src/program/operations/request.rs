//! Requests of the scenario's list.

use super::{Op, StepFacts, during, stop};
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::{Interpreter, memory_of};
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::ListOrder;
use brunt_wire::{Prepared, Transport};
use std::rc::Rc;

pub const LISTED_FACTS: StepFacts<'_> = StepFacts { is_sampler: true, ..StepFacts::new(1, None) };
pub const NEXT_FACTS: StepFacts<'_> = StepFacts::new(1, None);

/// Sends the request of this number in the list.
#[derive(Debug)]
pub struct ListedRequest {
    pub number: u32,
    /// True if it counts among the requests of an iteration.
    counts: bool,
}

/// The next request of the list.
#[derive(Debug)]
pub struct NextRequest {
    order: ListOrder,
    /// True if it counts among the requests of an iteration.
    counts: bool,
}

/// An entry of the list that an operation has chosen.
#[derive(Clone, Copy)]
pub struct ChosenRequest {
    entry: usize,
    /// Number of the request in the run.
    number: u64,
}

pub fn compile_listed(compiler: &mut Compiler<'_>, number: u32, position: StepPosition) {
    during::compile_end_by_time(compiler);
    compiler.push(Op::Request(ListedRequest { number, counts: position.counts }));
    stop::compile_end_by_sample(compiler);
}

pub fn compile_next(compiler: &mut Compiler<'_>, order: ListOrder, position: StepPosition) {
    during::compile_end_by_time(compiler);
    if is_walk(order) {
        compiler.walk.get_or_insert(order);
    }
    compiler.push(Op::Next(NextRequest { order, counts: position.counts }));
    stop::compile_end_by_sample(compiler);
}

/// True if each user goes through the list on its own.
fn is_walk(order: ListOrder) -> bool {
    match order {
        ListOrder::Walk | ListOrder::WalkTogether => true,
        ListOrder::Sequence | ListOrder::Random | ListOrder::User | ListOrder::Slow(_) => false,
    }
}

impl ListedRequest {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        self.choose(user, turn).send(user)
    }

    /// Returns the request, and makes it the user's last one.
    pub fn choose<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> ChosenRequest {
        let number = user.request_number(turn);
        ChosenRequest::new(user, self.number as usize, number, self.counts)
    }
}

impl NextRequest {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        self.choose(user, turn).send(user)
    }

    /// Returns the request, and makes it the user's last one.
    pub fn choose<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> ChosenRequest {
        let number =
            if is_walk(self.order) { user.walk.advance() } else { user.request_number(turn) };
        let entry = user.script.pick(self.order, number, user.number);
        ChosenRequest::new(user, entry, number, self.counts)
    }
}

impl ChosenRequest {
    fn new<T: Transport>(
        user: &mut Interpreter<T>,
        entry: usize,
        number: u64,
        counts: bool,
    ) -> Self {
        // Only counted requests advance the number of the next request.
        user.requests += u64::from(counts);
        user.policy = user.script.policy_of(entry);
        Self { entry, number }
    }

    /// Returns the step of the request. None: the user's cached page is fresh.
    fn send<T: Transport>(self, user: &mut Interpreter<T>) -> Option<UserStep> {
        user.was_together = false;
        user.failed_sample = None;
        let is_inert = user.script.inert[user.policy as usize];
        if !is_inert && user.script.policy(user.policy).needs_head() {
            return self.send_remembered(user);
        }
        // The engine then ends the iteration without another call of the user.
        let is_last = is_inert && user.next == user.script.compiled.program.ops.len();
        let step = if is_last { UserStep::Last } else { UserStep::Request };
        Some(self.prepare(user).map_or_else(|why| user.script.refused(self.entry, why), step))
    }

    /// Returns the step of a request with a reply that may lead to further requests.
    fn send_remembered<T: Transport>(self, user: &mut Interpreter<T>) -> Option<UserStep> {
        let Self { entry, number } = self;
        let memory = memory_of(&mut user.memory, user.number, user.context.as_deref());
        // JMeter applies the credentials of a challenge to one request only.
        if user.script.compiled.dialect().forgets_challenges() {
            memory.clear_identity();
        }
        // Changes of a request that was not sent are dropped.
        let user_request = match user.pending.take().filter(|pending| pending.0 as usize == entry) {
            Some(pending) => {
                user.script.changed_request(entry, number, user.context.as_deref(), pending.1)
            }
            None => user.script.listed_request(entry, number, user.context.as_deref()),
        };
        match user_request {
            Ok(user_request) if memory.is_fresh(&user.script, &user_request) => {
                let note =
                    format!("{} is fresh: it is not asked for again", user_request.parts.url);
                user.context
                    .iter()
                    .for_each(|context| context.trace(|tracing| tracing.note(&note)));
                None
            }
            Ok(user_request) => Some(memory.request_step(&user.script, user_request)),
            Err(why) => Some(user.script.refused(entry, why)),
        }
    }

    /// Prepares the bytes of the request, with the newest cookie if there is one.
    pub fn prepare<T: Transport>(self, user: &mut Interpreter<T>) -> Result<Rc<Prepared>, String> {
        let Self { entry, number } = self;
        let context = user.context.as_deref();
        let request = match user.pending.take().filter(|pending| pending.0 as usize == entry) {
            Some(pending) => user.script.prepare_changed(entry, number, context, pending.1)?,
            None => user.script.prepare_entry(entry, number, context)?,
        };
        Ok(match &user.newest_cookie {
            Some(line) => Rc::new(request.with_line(line)),
            None => request,
        })
    }
}
