//! Registers the kinds of steps, and the operations that they are compiled to.
//!
//! Each kind of step has a file, which compiles the step, runs its operations, and states the
//! facts that other steps need. A new kind needs its file, and the rows that are then missing
//! in the matches below.

mod choice;
mod condition;
mod data;
mod during;
mod fixed_sample;
mod for_each;
mod jump;
mod lock;
mod once;
mod pause;
mod repeat;
mod request;
mod sample;
mod script;
mod shuffle;
mod stop;
mod switch;
mod together;
mod transaction;
mod turns;

use super::compiler::{Compiler, StepPosition};
use crate::ScriptError;
use crate::program::user::interpreter::Interpreter;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::{ConcurrencyMode, EndScope, ScenarioStep, TransactionCount};
use brunt_wire::Transport;

pub use choice::{RequestCount, first_place, shares};
pub use jump::Reset;
pub use request::{ListedRequest, NextRequest};
pub use stop::final_step;
pub use turns::TurnScope;

/// One operation of a program.
#[derive(Debug)]
pub enum Op {
    Request(ListedRequest),
    Next(NextRequest),
    BeginTogether,
    EndTogether(ConcurrencyMode),
    Think(pause::ThinkOperation),
    Pause(pause::PauseOperation),
    Pace(pause::RatePauseOperation),
    FollowRates(pause::FollowRates),
    Meet(pause::Meet),
    Lock(lock::Lock),
    Row(data::ReadRow),
    Script(script::RunScript),
    Change(script::ChangeRequest),
    Sample(Box<sample::MakeSample>),
    BeginTransaction(transaction::BeginTransaction),
    EndTransaction,
    /// Leaves a transaction before its end.
    BreakTransaction,
    CountInTransactions(TransactionCount),
    EndTurn(turns::EndTurn),
    ResumeTransactions(turns::ResumeTransactions),
    Stop(EndScope),
    Internal(InternalOp),
}

/// An operation that the engine does not see. It changes only the next operation,
/// slots, variables and locks.
#[derive(Debug)]
pub enum InternalOp {
    Jump(jump::Jump),
    Reset(jump::Reset),
    Set(data::SetVariable),
    Count(Box<data::CountVariable>),
    Unlock,
    BeginLoop(repeat::BeginLoop),
    BeginLoopText(repeat::BeginLoopText),
    EndLoop(repeat::EndLoop),
    BeginDuring(during::BeginDuring),
    WhenOver(during::WhenOver),
    NextValue(for_each::NextValue),
    NextNumbered(for_each::NextNumbered),
    Unless(condition::Unless),
    UnlessEnded(stop::UnlessEnded),
    Switch(switch::Switch),
    Shuffle(shuffle::Shuffle),
    Choose(choice::Choose),
    EndBranch(choice::EndBranch),
    Resume(turns::Resume),
    Once(once::Once),
}

/// The variables that a step sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SetVariables<'s> {
    None,
    One(&'s str),
    /// Any variable, because the step runs a script.
    Any,
}

/// Facts about a step that other steps need.
pub struct StepFacts<'s> {
    /// Maximum number of requests in an iteration.
    pub requests: u64,
    /// The reason why requests that are sent together cannot contain the step.
    pub obstacle: Option<&'static str>,
    /// True if the step may be between a script or change and the request that these affect.
    pub is_preparation: bool,
    /// True if the step stores its position when an iteration ends.
    pub has_memory: bool,
    /// True if the step is a sampler of JMeter, and no controller.
    pub is_sampler: bool,
    pub variables: SetVariables<'s>,
}

impl<'s> StepFacts<'s> {
    /// Creates the facts of a step with this number of requests and this obstacle.
    pub const fn new(requests: u64, obstacle: Option<&'static str>) -> Self {
        Self {
            requests,
            obstacle,
            is_preparation: false,
            has_memory: false,
            is_sampler: false,
            variables: SetVariables::None,
        }
    }

    /// Creates the facts of a step that may be between a change of a request and the request.
    pub const fn preparation(obstacle: Option<&'static str>) -> Self {
        Self { is_preparation: true, ..Self::new(0, obstacle) }
    }

    /// Combines the facts of steps that run in order.
    pub fn of_all(steps: &'s [ScenarioStep]) -> Self {
        let mut all = Self::new(0, None);
        for step in steps {
            let facts = Self::of_step(step);
            all.requests = all.requests.saturating_add(facts.requests);
            all.obstacle = all.obstacle.or(facts.obstacle);
        }
        all
    }

    /// Returns the facts about a step.
    pub fn of_step(step: &'s ScenarioStep) -> Self {
        match step {
            ScenarioStep::Request(_) => request::LISTED_FACTS,
            ScenarioStep::Next(_) => request::NEXT_FACTS,
            ScenarioStep::Together { steps, .. } => together::facts(steps),
            ScenarioStep::Group { steps, .. } => Self::of_all(steps),
            ScenarioStep::Transaction { steps, .. } => transaction::facts(steps),
            ScenarioStep::CountInTransactions(counted) => transaction::counting_facts(*counted),
            ScenarioStep::Loop { times, steps } => repeat::facts(times.as_ref(), steps),
            ScenarioStep::While { steps, .. } => condition::while_facts(steps),
            ScenarioStep::If { then, otherwise, .. } => condition::facts(then, otherwise),
            ScenarioStep::ForEach { variable, values, steps } => {
                for_each::facts(variable, values, steps)
            }
            ScenarioStep::Switch { cases, .. } => switch::facts(cases),
            ScenarioStep::Shuffle(branches) => shuffle::facts(branches),
            ScenarioStep::During { steps, .. } => during::facts(steps),
            ScenarioStep::Lock { steps, .. } => lock::facts(steps),
            ScenarioStep::Choose { branches, .. } => choice::facts(branches),
            ScenarioStep::Resumable(steps) => turns::facts(steps),
            ScenarioStep::Think(_)
            | ScenarioStep::Pause(_)
            | ScenarioStep::Pace(_)
            | ScenarioStep::Meet { .. } => pause::FACTS,
            ScenarioStep::Set { variable, .. } => data::setting_facts(variable),
            ScenarioStep::Row(_) => data::ROW_FACTS,
            ScenarioStep::Count(counter) => data::counting_facts(counter),
            ScenarioStep::Script(_) | ScenarioStep::PauseByScript(_) => script::FACTS,
            ScenarioStep::Modify(_) => script::CHANGE_FACTS,
            ScenarioStep::Sample(_) => sample::FACTS,
            ScenarioStep::Once(_) => once::FACTS,
            ScenarioStep::OncePerLoop(_) => once::PER_LOOP_FACTS,
            ScenarioStep::Stop(_) => stop::FACTS,
        }
    }
}

/// Compiles a step. `following` are the steps after it in the same list.
///
/// # Errors
///
/// The step is not allowed at its position, or a text is malformed.
pub fn compile(
    compiler: &mut Compiler<'_>,
    step: &ScenarioStep,
    following: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    match step {
        ScenarioStep::Request(number) => request::compile_listed(compiler, *number, position),
        ScenarioStep::Next(order) => request::compile_next(compiler, *order, position),
        ScenarioStep::Together { manner, steps } => {
            together::compile(compiler, *manner, steps, position)?;
        }
        ScenarioStep::Group { steps, .. } => compiler.steps(steps, position)?,
        ScenarioStep::Transaction { name, pauses, parent, steps } => {
            transaction::compile(compiler, name, *pauses, *parent, steps, position)?;
        }
        ScenarioStep::CountInTransactions(counted) => {
            transaction::compile_counting(compiler, *counted);
        }
        ScenarioStep::Loop { times, steps } => {
            repeat::compile(compiler, times.as_ref(), steps, position)?;
        }
        ScenarioStep::While { condition, twice: false, steps } => {
            condition::compile_while(compiler, condition, steps, position)?;
        }
        ScenarioStep::While { condition, twice: true, steps } => {
            condition::compile_while_twice(compiler, condition, steps, position)?;
        }
        ScenarioStep::If { condition, then, otherwise } => {
            condition::compile(compiler, condition, then, otherwise, position)?;
        }
        ScenarioStep::ForEach { variable, values, steps } => {
            for_each::compile(compiler, variable, values, steps, position)?;
        }
        ScenarioStep::Switch { value, cases } => switch::compile(compiler, value, cases, position)?,
        ScenarioStep::Shuffle(branches) => shuffle::compile(compiler, branches, position)?,
        ScenarioStep::During { seconds, steps } => {
            during::compile(compiler, seconds, steps, position)?;
        }
        ScenarioStep::Lock { name, steps } => lock::compile(compiler, name, steps, position)?,
        ScenarioStep::Choose { order, portion, branches } => {
            choice::compile(compiler, *order, *portion, branches, position)?;
        }
        ScenarioStep::Resumable(steps) => turns::compile(compiler, steps, position)?,
        ScenarioStep::Think(think) => pause::compile_think(compiler, *think),
        ScenarioStep::Pause(millis) => pause::compile(compiler, millis)?,
        ScenarioStep::Pace(pace) => pause::compile_pace(compiler, pace)?,
        ScenarioStep::Meet { users, timeout } => pause::compile_meeting(compiler, users, timeout)?,
        ScenarioStep::Set { variable, value } => data::compile_set(compiler, variable, value)?,
        ScenarioStep::Row(file) => data::compile_row(compiler, *file)?,
        ScenarioStep::Count(counter) => data::compile_counter(compiler, counter)?,
        ScenarioStep::Script(script) => script::compile(compiler, script, following)?,
        ScenarioStep::PauseByScript(script) => script::compile_pause(compiler, script, following)?,
        ScenarioStep::Modify(modifier) => script::compile_change(compiler, modifier, following)?,
        ScenarioStep::Sample(sample) => sample::compile(compiler, sample)?,
        ScenarioStep::Once(steps) => once::compile(compiler, steps)?,
        ScenarioStep::OncePerLoop(steps) => once::compile_per_loop(compiler, steps)?,
        ScenarioStep::Stop(scope) => stop::compile(compiler, *scope)?,
    }
    Ok(())
}

impl Op {
    /// Runs the operation. None: the program continues.
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        match self {
            Self::Request(op) => op.run(user, turn),
            Self::Next(op) => op.run(user, turn),
            Self::BeginTogether => together::run(user, turn),
            Self::EndTogether(_) => None,
            Self::Think(op) => Some(op.run(user)),
            Self::Pause(op) => op.run(user, turn),
            Self::Pace(op) => op.run(user, turn),
            Self::FollowRates(op) => op.run(user),
            Self::Meet(op) => op.run(user, turn),
            Self::Lock(op) => op.run(user, turn),
            Self::Row(op) => op.run(user),
            Self::Script(op) => op.run(user, turn),
            Self::Change(op) => {
                op.run(user, turn);
                None
            }
            Self::Sample(op) => Some(op.run(user, turn)),
            Self::BeginTransaction(op) => Some(op.run(user, turn)),
            Self::EndTransaction => Some(transaction::end(user)),
            Self::BreakTransaction => Some(transaction::leave(user)),
            Self::CountInTransactions(counted) => {
                transaction::count(user, *counted);
                None
            }
            Self::EndTurn(op) => op.run(user),
            Self::ResumeTransactions(op) => Some(op.run(user)),
            Self::Stop(scope) => stop::run(user, *scope),
            Self::Internal(op) => {
                op.run(user, turn);
                None
            }
        }
    }

    /// Runs the operation among requests that are sent together. At their end, returns
    /// how they are sent.
    pub fn collect<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
        requests: &mut together::Collection,
    ) -> Result<Option<ConcurrencyMode>, String> {
        match self {
            Self::EndTogether(manner) => return Ok(Some(*manner)),
            Self::Request(op) => {
                let request = op.choose(user, turn);
                requests.add(user, request)?;
            }
            Self::Next(op) => {
                let request = op.choose(user, turn);
                requests.add(user, request)?;
            }
            // A file without a further row ends nothing here.
            Self::Row(op) => drop(op.run(user)),
            Self::Internal(op) => op.run(user, turn),
            // Steps of these operations are refused at compile time; see `Facts::obstacle`.
            Self::BeginTogether
            | Self::Think(_)
            | Self::Pause(_)
            | Self::Pace(_)
            | Self::FollowRates(_)
            | Self::Meet(_)
            | Self::Lock(_)
            | Self::Script(_)
            | Self::Change(_)
            | Self::Sample(_)
            | Self::BeginTransaction(_)
            | Self::EndTransaction
            | Self::BreakTransaction
            | Self::CountInTransactions(_)
            | Self::EndTurn(_)
            | Self::ResumeTransactions(_)
            | Self::Stop(_) => {}
        }
        Ok(None)
    }

    /// Runs the operation for a user that has stopped. Returns false at the next sampler,
    /// where JMeter's users end.
    pub fn run_after_stop<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> bool {
        match self {
            Self::BeginTransaction(op) => return op.begin_after_stop(user, turn),
            Self::EndTransaction => drop(transaction::end(user)),
            Self::CountInTransactions(counted @ TransactionCount::ControllerEnd) => {
                transaction::count(user, *counted);
            }
            Self::Internal(op) => op.run(user, turn),
            Self::Request(_)
            | Self::Next(_)
            | Self::BeginTogether
            | Self::EndTogether(_)
            | Self::Think(_)
            | Self::Pause(_)
            | Self::Pace(_)
            | Self::FollowRates(_)
            | Self::Meet(_)
            | Self::Lock(_)
            | Self::Row(_)
            | Self::Script(_)
            | Self::Change(_)
            | Self::Sample(_)
            | Self::BreakTransaction
            | Self::CountInTransactions(TransactionCount::Sampler)
            | Self::EndTurn(_)
            | Self::ResumeTransactions(_)
            | Self::Stop(_) => return false,
        }
        true
    }

    /// Describes the operation as the subject of a sentence, if it evaluates texts or a script.
    pub fn subject(
        &self,
        label_of: &dyn Fn(usize) -> Option<String>,
        variables: &[String],
    ) -> Option<String> {
        match self {
            Self::Request(op) => {
                Some(format!("the text of request `{}`", label_of(op.number as usize)?))
            }
            Self::Next(_) => Some("the text of a request of the list".to_owned()),
            Self::Script(op) => Some(format!("script `{}`", op.name())),
            Self::Change(op) => {
                Some(format!("the change of request `{}`", label_of(op.request())?))
            }
            Self::Sample(_) => Some("a sample without a request".to_owned()),
            Self::BeginTransaction(_) => Some("the name of a transaction".to_owned()),
            Self::Internal(InternalOp::Set(op)) => {
                Some(format!("the text of variable `{}`", variables.get(op.variable())?))
            }
            _ => None,
        }
    }

    /// True if the operation is a request, a sample or a pause.
    pub fn does_something(&self) -> bool {
        match self {
            Self::Request(_)
            | Self::Next(_)
            | Self::BeginTogether
            | Self::Think(_)
            | Self::Pause(_)
            | Self::Sample(_)
            | Self::CountInTransactions(TransactionCount::Sampler) => true,
            // A transaction that contains its samples in the records is itself a sample.
            Self::BeginTransaction(op) => op.is_parent,
            Self::EndTogether(_)
            | Self::Pace(_)
            | Self::FollowRates(_)
            | Self::Meet(_)
            | Self::Lock(_)
            | Self::Row(_)
            | Self::Script(_)
            | Self::Change(_)
            | Self::EndTransaction
            | Self::BreakTransaction
            | Self::CountInTransactions(TransactionCount::ControllerEnd)
            | Self::EndTurn(_)
            | Self::ResumeTransactions(_)
            | Self::Stop(_)
            | Self::Internal(_) => false,
        }
    }

    /// Returns the operation to which this one jumps.
    pub fn target(&mut self) -> Option<&mut usize> {
        match self {
            Self::EndTurn(op) => Some(&mut op.end),
            Self::Internal(op) => op.target(),
            Self::Request(_)
            | Self::Next(_)
            | Self::BeginTogether
            | Self::EndTogether(_)
            | Self::Think(_)
            | Self::Pause(_)
            | Self::Pace(_)
            | Self::FollowRates(_)
            | Self::Meet(_)
            | Self::Lock(_)
            | Self::Row(_)
            | Self::Script(_)
            | Self::Change(_)
            | Self::Sample(_)
            | Self::BeginTransaction(_)
            | Self::EndTransaction
            | Self::BreakTransaction
            | Self::CountInTransactions(_)
            | Self::ResumeTransactions(_)
            | Self::Stop(_) => None,
        }
    }
}

impl InternalOp {
    /// Runs the operation for a user.
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        match self {
            Self::Jump(op) => op.run(user),
            Self::Reset(op) => op.run(user),
            Self::Set(op) => op.run(user, turn),
            Self::Count(op) => op.run(user, turn),
            Self::Unlock => lock::release(user),
            Self::BeginLoop(op) => op.run(user),
            Self::BeginLoopText(op) => op.run(user, turn),
            Self::EndLoop(op) => op.run(user),
            Self::BeginDuring(op) => op.run(user, turn),
            Self::WhenOver(op) => op.run(user),
            Self::NextValue(op) => op.run(user),
            Self::NextNumbered(op) => op.run(user, turn),
            Self::Unless(op) => op.run(user, turn),
            Self::UnlessEnded(op) => op.run(user),
            Self::Switch(op) => op.run(user, turn),
            Self::Shuffle(op) => op.run(user),
            Self::Choose(op) => op.run(user, turn),
            Self::EndBranch(op) => op.run(user, turn),
            Self::Resume(op) => op.run(user),
            Self::Once(op) => op.run(user),
        }
    }

    fn target(&mut self) -> Option<&mut usize> {
        match self {
            Self::Jump(op) => Some(&mut op.target),
            Self::BeginLoop(op) => Some(&mut op.end),
            Self::BeginLoopText(op) => Some(&mut op.end),
            Self::WhenOver(op) => Some(&mut op.end),
            Self::NextValue(op) => Some(&mut op.end),
            Self::NextNumbered(op) => Some(&mut op.end),
            Self::Unless(op) => Some(&mut op.end),
            Self::UnlessEnded(op) => Some(&mut op.end),
            Self::Switch(op) => Some(&mut op.end),
            Self::Shuffle(op) => Some(&mut op.end),
            Self::Choose(op) => op.passing.as_mut().map(|passing| &mut passing.end),
            Self::Once(op) => Some(&mut op.end),
            // `EndLoop` and `EndBranch` jump to earlier operations, and `Resume` to an operation
            // in a user's slot.
            Self::EndLoop(_)
            | Self::EndBranch(_)
            | Self::Resume(_)
            | Self::Reset(_)
            | Self::Set(_)
            | Self::Count(_)
            | Self::Unlock
            | Self::BeginDuring(_) => None,
        }
    }
}

impl From<InternalOp> for Op {
    fn from(op: InternalOp) -> Self {
        Self::Internal(op)
    }
}
