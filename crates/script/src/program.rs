//! A scenario's tree of steps, compiled to one flat program.
//!
//! Loops and branches become jumps; what they remember is in numbered slots of a user, some for an iteration and some for the
//! user's whole life. How many requests an iteration has
//! is known beforehand, so that each request of a run has a number, whoever makes it: the number of the iteration and those
//! before it tell.

use crate::ScriptError;
use brunt_model::load::Think;
use brunt_model::scenario::{Branch, Condition, Manner, Order, Pauses, Scenario, Scope, Step};
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
    /// A slot of the user is set; where it was set, to another operation.
    Once {
        /// The slot.
        slot: usize,
        /// Behind the steps.
        end: usize,
    },
    /// Steps begin that are timed together, under this name.
    BeginTransaction(Arc<str>, Pauses),
    /// They are over.
    EndTransaction,
    /// Something is over.
    Stop(Scope),
}

/// A condition, whose variables have numbers.
#[derive(Debug)]
pub enum Test {
    /// See [`Condition::Failed`].
    Failed,
    /// See [`Condition::Succeeded`].
    Succeeded,
    /// See [`Condition::Status`].
    Status(u16, u16),
    /// See [`Condition::Equals`].
    Equals(usize, String),
    /// See [`Condition::Not`].
    Not(Box<Test>),
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
    /// The slot of the user that counts how often it made it.
    pub walked: usize,
    /// How often an iteration makes it, at most.
    pub most: u64,
}

/// A scenario, compiled.
#[derive(Debug)]
pub struct Program {
    /// Its operations; an iteration is over behind the last.
    pub ops: Vec<Op>,
    /// Slots that are zero at the beginning of each iteration.
    pub slots: usize,
    /// Slots that are zero at a user's beginning.
    pub user_slots: usize,
    /// The names of its variables.
    pub variables: Vec<String>,
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
    /// Compiles a scenario. These variables are set by other means than its steps.
    pub fn new(scenario: &Scenario, variables: Vec<String>) -> Result<Self, ScriptError> {
        let mut compiler = Compiler { variables, ..Compiler::default() };
        compiler.steps(&scenario.steps, Context { most: 1, counts: true })?;
        let Compiler { ops, slots, user_slots, variables, walk } = compiler;
        let counts = scenario.steps.iter().map(Count::of).collect();
        Ok(Self { ops, slots, user_slots, variables, walk, counts })
    }

    /// The number among all of the run of the first request of iteration `n`, as if each made all that its steps have.
    pub fn first_request(&self, n: u64) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.before(n)))
    }
}

impl Count {
    fn of(step: &Step) -> Self {
        let Step::Choose { order: Order::Sequence, branches } = step else { return Self::Always(requests(step)) };
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
        | Step::Loop { times: None, steps } => all_requests(steps),
        Step::Loop { times: Some(times), steps } => all_requests(steps).saturating_mul(*times),
        Step::ForEach { values, steps, .. } => all_requests(steps).saturating_mul(values.len() as u64),
        Step::If { then, otherwise, .. } => all_requests(then).max(all_requests(otherwise)),
        Step::Choose { branches, .. } => {
            branches.iter().map(|branch| all_requests(&branch.steps)).max().unwrap_or_default()
        }
        Step::Think(_) | Step::Once(_) | Step::Stop(_) => 0,
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

/// Where a step stands.
#[derive(Clone, Copy)]
struct Context {
    /// How often an iteration comes here, at most.
    most: u64,
    /// Whether requests count among those of an iteration.
    counts: bool,
}

#[derive(Default)]
struct Compiler {
    ops: Vec<Op>,
    slots: usize,
    user_slots: usize,
    variables: Vec<String>,
    walk: Option<Order>,
}

impl Compiler {
    fn steps(&mut self, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        steps.iter().try_for_each(|step| self.step(step, context))
    }

    fn step(&mut self, step: &Step, context: Context) -> Result<(), ScriptError> {
        let Context { most, counts } = context;
        match step {
            Step::Request(number) => self.ops.push(Op::Request { number: *number, counts }),
            Step::Next(order) => {
                let walks = matches!(order, Order::Walk | Order::WalkTogether);
                self.walk = self.walk.or(walks.then_some(*order));
                self.ops.push(Op::Next { order: *order, counts });
            }
            Step::Together { manner, steps } => self.together(*manner, steps, context)?,
            Step::Group { steps, .. } => self.steps(steps, context)?,
            Step::Transaction { name, pauses, steps } => {
                self.ops.push(Op::BeginTransaction(name.as_str().into(), *pauses));
                self.steps(steps, context)?;
                self.ops.push(Op::EndTransaction);
            }
            Step::Loop { times, steps } => {
                let times = times.unwrap_or(u64::MAX);
                let rounds = if times == u64::MAX { 1 } else { times };
                self.repeat(times, steps, Context { most: most.saturating_mul(rounds), counts })?;
            }
            Step::While { condition, steps } => {
                let begin = self.ops.len();
                let test = self.test(condition)?;
                let leave = self.push(Op::Unless(test, 0));
                self.steps(steps, context)?;
                self.ops.push(Op::Jump(begin));
                self.lands(leave);
            }
            Step::If { condition, then, otherwise } => {
                let test = self.test(condition)?;
                let skip = self.push(Op::Unless(test, 0));
                self.steps(then, context)?;
                let leave = self.push(Op::Jump(0));
                self.lands(skip);
                self.steps(otherwise, context)?;
                self.lands(leave);
            }
            Step::ForEach { variable, values, steps } => {
                let context = Context { most: most.saturating_mul(values.len() as u64), counts };
                self.for_each(variable, values, steps, context)?;
            }
            Step::Choose { order, branches } => self.choose(*order, branches, context)?,
            Step::Think(think) => self.ops.push(Op::Think(*think)),
            Step::Once(steps) => {
                let slot = self.user_slot();
                let skip = self.push(Op::Once { slot, end: 0 });
                self.steps(steps, Context { most: 1, counts: false })?;
                self.lands(skip);
            }
            Step::Stop(scope) => self.ops.push(Op::Stop(*scope)),
        }
        Ok(())
    }

    fn together(&mut self, manner: Manner, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        if let Some(odd) = steps.iter().find_map(waits) {
            return Err(ScriptError::Scenario(format!(
                "{odd} stands among requests that are sent together; put it before or behind them"
            )));
        }
        self.ops.push(Op::BeginTogether);
        self.steps(steps, context)?;
        self.ops.push(Op::EndTogether(manner));
        Ok(())
    }

    fn repeat(&mut self, times: u64, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        if times == 1 {
            return self.steps(steps, context);
        }
        let slot = self.slot();
        let enter = self.push(Op::BeginLoop { slot, times, end: 0 });
        self.steps(steps, context)?;
        self.ops.push(Op::EndLoop { slot, begin: enter + 1 });
        self.lands(enter);
        Ok(())
    }

    fn for_each(&mut self, name: &str, values: &[String], steps: &[Step], context: Context) -> Result<(), ScriptError> {
        let known = self.variables.iter().position(|known| known == name);
        let variable = known.unwrap_or_else(|| {
            self.variables.push(name.to_owned());
            self.variables.len() - 1
        });
        let slot = self.slot();
        let next = self.push(Op::NextValue { slot, variable, values: values.to_vec(), end: 0 });
        self.steps(steps, context)?;
        self.ops.push(Op::Jump(next));
        self.lands(next);
        Ok(())
    }

    fn choose(&mut self, order: Order, branches: &[Branch], context: Context) -> Result<(), ScriptError> {
        let shares = shares(branches.iter().map(|branch| branch.weight));
        if shares.last().is_none_or(|sum| *sum == 0) {
            return Err(ScriptError::Scenario("a choice has no branch of a weight above 0; give one a weight".into()));
        }
        let (made, walked) = (self.slot(), self.user_slot());
        let choice =
            self.push(Op::Choose(Choice { order, shares, branches: Vec::new(), made, walked, most: context.most }));
        let (mut begins, mut leaves) = (Vec::new(), Vec::new());
        for branch in branches {
            begins.push(self.ops.len());
            self.steps(&branch.steps, context)?;
            leaves.push(self.push(Op::Jump(0)));
        }
        if let Op::Choose(choice) = &mut self.ops[choice] {
            choice.branches = begins;
        }
        for leave in leaves {
            self.lands(leave);
        }
        Ok(())
    }

    fn test(&self, condition: &Condition) -> Result<Test, ScriptError> {
        Ok(match condition {
            Condition::Failed => Test::Failed,
            Condition::Succeeded => Test::Succeeded,
            Condition::Status(least, most) => Test::Status(*least, *most),
            Condition::Equals(name, value) => {
                let known = self.variables.iter().position(|known| known == name);
                let unknown = || {
                    ScriptError::Scenario(format!("no step before sets the variable `{name}`, and no extractor does"))
                };
                Test::Equals(known.ok_or_else(unknown)?, value.clone())
            }
            Condition::Not(other) => Test::Not(Box::new(self.test(other)?)),
        })
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn user_slot(&mut self) -> usize {
        self.user_slots += 1;
        self.user_slots - 1
    }

    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// The jump of this operation leads behind all that there is.
    fn lands(&mut self, op: usize) {
        let here = self.ops.len();
        match &mut self.ops[op] {
            Op::Jump(to)
            | Op::Unless(_, to)
            | Op::BeginLoop { end: to, .. }
            | Op::NextValue { end: to, .. }
            | Op::Once { end: to, .. } => *to = here,
            _ => {}
        }
    }
}

/// What in a step cannot stand among requests that do not wait for each other.
fn waits(step: &Step) -> Option<&'static str> {
    match step {
        Step::Request(_) | Step::Next(_) => None,
        Step::Loop { times: Some(_), steps } | Step::Group { steps, .. } | Step::ForEach { steps, .. } => {
            steps.iter().find_map(waits)
        }
        Step::Choose { branches, .. } => branches.iter().flat_map(|branch| &branch.steps).find_map(waits),
        Step::Loop { times: None, .. } => Some("a loop without an end"),
        Step::While { .. } | Step::If { .. } => Some("a condition"),
        Step::Together { .. } => Some("a step of the same kind"),
        Step::Transaction { .. } => Some("a transaction"),
        Step::Think(_) => Some("a pause"),
        Step::Once(_) => Some("a step that is carried out once"),
        Step::Stop(_) => Some("a stop"),
    }
}
