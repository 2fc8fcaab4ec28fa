//! A scenario's tree of steps, compiled to one flat program.
//!
//! Loops and branches become jumps; what they remember is in numbered slots of a user, some for an iteration and some for the
//! user's whole life. Steps that take turns remember the operation behind their last turn in such a slot, too. How many requests
//! an iteration has is known beforehand, so that each request of a run has a number, whoever makes it: the number of the iteration
//! and those before it tell.

mod compiler;

use crate::data::Rows;
use crate::modifier::CompiledModifier;
use crate::pattern::Pattern;
use crate::script_call::ScriptCall;
use crate::template::Template;
use crate::{Feeds, ScriptError};
use brunt_engine::pace::Cumulative;
use brunt_model::load::Think;
use brunt_model::scenario::{Counted, Manner, Order, PaceOf, Pauses, Portion, Rounds, Scenario, Scope, Step, Values};
use compiler::{Compiler, Context};
use std::sync::Arc;

/// One operation. Jumps go to the number of an operation.
#[derive(Debug)]
pub enum Op {
    /// The request of this number is asked.
    Request {
        /// Its number in the list.
        number: u32,
        /// Whether it counts among the requests of an iteration.
        counts: bool,
    },
    /// The next request of the list is asked.
    Next {
        /// Which is next.
        order: Order,
        /// Whether it counts among the requests of an iteration.
        counts: bool,
    },
    /// Requests are collected from here on.
    BeginTogether,
    /// Those that were collected are sent.
    EndTogether(Manner),
    /// A pause.
    Think(Think),
    /// A pause of as many milliseconds as a text says.
    Pause(Template),
    /// A pause that keeps users to a rate: how often a minute, and the place that is passed.
    Pace {
        /// How often a minute.
        per_minute: Template,
        /// By whom.
        by: PaceOf,
        /// The place, the same for all users.
        site: String,
    },
    /// A pause that keeps all users to a schedule of rates; behind it the run is over.
    Shape {
        /// Turns over time.
        rates: Cumulative,
        /// How long the schedule is.
        seconds: f64,
        /// The place, the same for all users.
        site: String,
    },
    /// Waits for other users.
    Meet {
        /// How many; 0: all of the population.
        users: Template,
        /// Milliseconds, at most; 0: for ever.
        timeout: Template,
        /// The place, the same for all users.
        site: String,
    },
    /// A variable gets a text.
    Set(usize, Template),
    /// Variables get the next row of a data file.
    Row(usize),
    /// A variable gets the next number of a counter.
    Count(Box<CompiledCounter>),
    /// A script is run; the number of the request behind it, where it may change that.
    Script(Box<ScriptCall>, Option<u32>),
    /// The request of this number, which is next, is changed.
    Modify(Box<CompiledModifier>, u32),
    /// A sample is made that is no request.
    Sample(Box<CompiledSample>),
    /// A lock is taken, as soon as nobody else has it.
    Lock(Template),
    /// The lock that was taken last is given back.
    Unlock,
    /// A slot is set to zero.
    Reset(usize),
    /// A slot is set to how often a text says; see `BeginLoop`.
    BeginLoopText {
        /// The slot.
        slot: usize,
        /// How often it is carried out.
        times: Template,
        /// Behind it.
        end: usize,
    },
    /// The variable of a loop gets the value of the next numbered variable; where that has none, the loop is left.
    NextNumbered {
        /// The slot: how many values there were.
        slot: usize,
        /// The variable.
        variable: usize,
        /// What stands before the number.
        prefix: Template,
        /// The number before the first.
        after: Template,
        /// The last number.
        last: Template,
        /// Behind the loop.
        end: usize,
    },
    /// A slot is set to when the loop is over.
    BeginDuring {
        /// The slot: milliseconds since 1970.
        slot: usize,
        /// How long.
        seconds: Template,
    },
    /// To another operation, where the time of a slot has come.
    WhenOver {
        /// The slot.
        slot: usize,
        /// Behind the loop.
        end: usize,
    },
    /// To the case of a text.
    Switch {
        /// The text.
        value: Template,
        /// The first operation of each case, and its names.
        cases: Vec<(Vec<Template>, usize)>,
        /// Behind them.
        end: usize,
    },
    /// To the next of branches in an order that is drawn when the first is due.
    Shuffle {
        /// The slot: how many were carried out.
        slot: usize,
        /// The number of the order among those of a user.
        order: usize,
        /// The first operation of each.
        branches: Vec<usize>,
        /// Behind them.
        end: usize,
    },
    /// A slot is set to a number; a loop that is carried out not once is left.
    BeginLoop {
        /// The slot.
        slot: usize,
        /// How often it is carried out.
        times: u64,
        /// Behind it.
        end: usize,
    },
    /// The slot is counted down, and the loop begins again while it is above zero.
    EndLoop {
        /// The slot.
        slot: usize,
        /// Its first operation.
        begin: usize,
    },
    /// The variable of a loop over values gets the next one; behind the last the loop is left.
    NextValue {
        /// The slot: how many values there were.
        slot: usize,
        /// The variable.
        variable: usize,
        /// Its values.
        values: Vec<String>,
        /// Behind the loop.
        end: usize,
    },
    /// To another operation.
    Jump(usize),
    /// To another operation where the condition does not hold.
    Unless(Test, usize),
    /// To the branch that is next.
    Choose(Choice),
    /// A branch of the choice at this operation is over: behind the choice where the branch did something, else to the next.
    EndBranch(usize),
    /// To another operation, where the slot is set.
    Once {
        /// The slot.
        slot: usize,
        /// Behind the steps.
        end: usize,
    },
    /// To the operation behind the end of the turn that was taken last, which the slot has; then it is zero. Onward where it is zero.
    Resume {
        /// The slot.
        slot: usize,
    },
    /// A turn is over: the slot gets the operation behind this one, and transactions within rest.
    EndTurn {
        /// The slot.
        slot: usize,
        /// How many transactions rest.
        transactions: usize,
        /// Behind the choice.
        end: usize,
    },
    /// The transactions go on that rest with the turn of this slot.
    ResumeTransactions(usize),
    /// Steps begin that are timed together, under this name, whose text is made then if it has one; whether records list them
    /// within it.
    BeginTransaction(Arc<str>, Option<Box<Template>>, Pauses, bool),
    /// They are over.
    EndTransaction,
    /// They are left before their end.
    BreakTransaction,
    /// See `Step::CountInTransactions`.
    CountInTransactions(Counted),
    /// Something is over.
    Stop(Scope),
}

impl Op {
    /// Whether it is a request, a sample or a pause.
    pub fn does_something(&self) -> bool {
        use Op::{BeginTogether, BeginTransaction, CountInTransactions, Next, Pause, Request, Sample, Think};
        // One that lists its samples within it is itself a sample.
        let is_sample =
            matches!(self, Sample(_) | BeginTransaction(_, _, _, true) | CountInTransactions(Counted::Sampler));
        is_sample || matches!(self, Request { .. } | Next { .. } | BeginTogether | Think(_) | Pause(_))
    }
}

/// A condition, whose variables have numbers.
#[derive(Debug)]
pub enum Test {
    /// See `Condition::Failed`.
    Failed,
    /// See `Condition::Succeeded`.
    Succeeded,
    /// See `Condition::Status`.
    Status(u16, u16),
    /// See `Condition::Equals`.
    Equals(usize, String),
    /// See `Condition::Same`.
    Same(Template, Template),
    /// See `Condition::Any`.
    Any(Vec<Test>),
    /// See `Condition::True`.
    True(Template),
    /// See `Condition::False`.
    False(Template),
    /// See `Condition::Matches`: the text, and the expression where it is always the same.
    Matches(Template, Template, Option<Pattern>),
    /// See `Condition::Share`.
    Share {
        /// Percent, or how often at all.
        value: Template,
        /// Whether it is percent.
        percent: bool,
        /// Each user counts for itself.
        per_user: bool,
        /// The place, the same for all users.
        site: String,
    },
    /// See `Condition::Not`.
    Not(Box<Test>),
    /// The last sample ended the round or the loop around it.
    Leaves(Scope),
}

/// A counter, compiled.
#[derive(Debug)]
pub struct CompiledCounter {
    /// The variable.
    pub variable: usize,
    /// The first number.
    pub start: Template,
    /// How much is added.
    pub step: Template,
    /// The greatest number.
    pub end: Template,
    /// How it is written.
    pub format: Template,
    /// Each user counts for itself.
    pub per_user: bool,
    /// It begins again with each iteration.
    pub resets: bool,
    /// The place, the same for all users.
    pub site: String,
}

/// A sample that is no request, compiled.
#[derive(Debug)]
pub struct CompiledSample {
    /// Its label.
    pub label: Template,
    /// What makes it.
    pub maker: CompiledMaker,
    /// The number of the policy.
    pub policy: u32,
}

/// A [`SampleMaker`](brunt_model::scenario::SampleMaker), compiled.
#[derive(Debug)]
pub enum CompiledMaker {
    /// The sample lists the user's variables.
    Variables,
    /// A script.
    Script(Box<ScriptCall>),
    /// The sample fails.
    Failure {
        /// Its code.
        code: Template,
        /// Its message.
        message: Template,
    },
}

/// A choice among branches.
#[derive(Debug)]
pub struct Choice {
    /// Which is next.
    pub order: Order,
    /// Where each branch's share of a round ends.
    pub shares: Vec<u64>,
    /// The first operation of each.
    pub branches: Vec<usize>,
    /// The slot that counts how often it was made in this iteration.
    pub made: usize,
    /// The slot that counts how often the user made it.
    pub walked: usize,
    /// How often an iteration makes it, at most.
    pub most: u64,
    /// Where branches that do nothing are passed over: what is remembered for that.
    pub passing: Option<Passing>,
}

/// What a choice remembers that passes over branches which do nothing.
#[derive(Debug)]
pub struct Passing {
    /// How much of the branch is carried out.
    pub portion: Portion,
    /// The slot with the number of the branch that was first, from 1.
    pub first: usize,
    /// The slot with the number of the branch with which the next choice begins, from 1; 0: the one that is next then.
    pub again: usize,
    /// The slot with how much the user had done before.
    pub done: usize,
    /// Behind the choice.
    pub end: usize,
}

/// A scenario, compiled.
#[derive(Debug)]
pub struct Program {
    /// Its operations; an iteration is over behind the last.
    pub ops: Vec<Op>,
    /// Slots of a user: zero at its beginning.
    pub slots: usize,
    /// Those of them that are zero at the beginning of each iteration.
    pub fresh: Vec<usize>,
    /// Orders that each user remembers.
    pub orders: usize,
    /// The data files that its steps read.
    pub data: Vec<Rows>,
    /// How users go through the list where each does so by itself.
    pub walk: Option<Order>,
    counts: Vec<Count>,
}

/// How many requests a step has in each iteration.
#[derive(Debug)]
enum Count {
    Always(u64),
    /// Of the branches in turn: where each one's share of a round ends, its requests, and those of a round before it.
    InTurn {
        shares: Vec<u64>,
        each: Vec<u64>,
        before: Vec<u64>,
        round: u64,
    },
}

impl Program {
    /// Compiles a scenario, whose variables `feeds` knows.
    ///
    /// # Errors
    ///
    /// Its steps do not fit together, a text is malformed, or a data file cannot be read.
    pub fn new(scenario: &Scenario, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let data = scenario.data.iter().map(|file| Rows::read(file, feeds)).collect::<Result<Vec<_>, _>>()?;
        let mut compiler = Compiler::new(feeds, data.len(), scenario.texts);
        compiler.steps(&scenario.steps, Context { most: 1, counts: true })?;
        let Compiler { ops, slots, fresh, orders, walk, .. } = compiler;
        let counts = scenario.steps.iter().map(Count::of).collect();
        Ok(Self { ops, slots, fresh, orders, data, walk, counts })
    }

    /// The number among all of the run of the first request of iteration `n`, as if each made all that its steps have.
    pub fn first_request(&self, n: u64) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.before(n)))
    }
}

impl Count {
    fn of(step: &Step) -> Self {
        let Step::Choose { order: Order::Sequence, portion: Portion::Whole, branches } = step else {
            return Self::Always(requests(step));
        };
        let shares = shares(branches.iter().map(|branch| branch.weight));
        let each: Vec<u64> = branches.iter().map(|branch| all_requests(&branch.steps)).collect();
        let mut round = 0_u64;
        let before = branches.iter().zip(&each).map(|(branch, each)| {
            let before = round;
            round = round.saturating_add(each.saturating_mul(branch.weight.into()));
            before
        });
        Self::InTurn { before: before.collect(), shares, each, round }
    }

    /// How many requests iterations before number `n` have.
    fn before(&self, n: u64) -> u64 {
        match self {
            Self::Always(count) => n.saturating_mul(*count),
            Self::InTurn { shares, each, before, round } => {
                let all = shares.last().copied().unwrap_or(1).max(1);
                let at = n % all;
                let branch = shares.partition_point(|end| *end <= at);
                let begins = branch.checked_sub(1).map_or(0, |branch| shares[branch]);
                (n / all).saturating_mul(*round) + before[branch] + (at - begins).saturating_mul(each[branch])
            }
        }
    }
}

/// How many requests a step has, at most.
fn requests(step: &Step) -> u64 {
    match step {
        Step::Request(_) | Step::Next(_) => 1,
        Step::Together { steps, .. }
        | Step::Group { steps, .. }
        | Step::Transaction { steps, .. }
        | Step::While { steps, .. }
        | Step::During { steps, .. }
        | Step::Lock { steps, .. }
        | Step::Resumable(steps)
        | Step::Loop { times: None | Some(Rounds::Text(_)), steps }
        | Step::ForEach { values: Values::Numbered { .. }, steps, .. } => all_requests(steps),
        Step::Loop { times: Some(Rounds::Number(times)), steps } => all_requests(steps).saturating_mul(*times),
        Step::ForEach { values: Values::List(values), steps, .. } => {
            all_requests(steps).saturating_mul(values.len() as u64)
        }
        Step::Switch { cases, .. } => cases.iter().map(|case| all_requests(&case.steps)).max().unwrap_or_default(),
        Step::Shuffle(branches) => branches.iter().fold(0, |sum: u64, steps| sum.saturating_add(all_requests(steps))),
        Step::If { then, otherwise, .. } => all_requests(then).max(all_requests(otherwise)),
        Step::Choose { branches, .. } => {
            branches.iter().map(|branch| all_requests(&branch.steps)).max().unwrap_or_default()
        }
        Step::Think(_)
        | Step::Once(_)
        | Step::OncePerLoop(_)
        | Step::Stop(_)
        | Step::Pause(_)
        | Step::Pace(_)
        | Step::Meet { .. }
        | Step::Set { .. }
        | Step::Row(_)
        | Step::Count(_)
        | Step::CountInTransactions(_)
        | Step::Script(_)
        | Step::Modify(_)
        | Step::Sample(_) => 0,
    }
}

fn all_requests(steps: &[Step]) -> u64 {
    steps.iter().fold(0, |sum: u64, step| sum.saturating_add(requests(step)))
}

/// Where each share of a round ends, when each comes as often as its weight says.
pub fn shares(weights: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut sum = 0;
    let ends = weights.map(|weight| {
        sum += u64::from(weight);
        sum
    });
    ends.collect()
}
