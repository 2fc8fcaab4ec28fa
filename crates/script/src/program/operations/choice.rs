//! Choices among branches.

use super::jump::{Jump, Reset};
use super::repeat::{BeginLoop, EndLoop};
use super::{InternalOp, Op, StepFacts, turns};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::program::user::pick;
use brunt_engine::UserTurn;
use brunt_model::scenario::{Branch, ListOrder, Portion, ScenarioStep};
use brunt_wire::Transport;
use std::rc::Rc;

/// Jumps to the next branch.
#[derive(Debug)]
pub struct Choose {
    order: ListOrder,
    /// The end of each branch's share of a round.
    shares: Vec<u64>,
    /// The first operation of each branch.
    branches: Vec<usize>,
    /// Slot with the number of choices in this iteration.
    iteration_slot: usize,
    /// Slot with the number of choices of the user.
    user_slot: usize,
    /// Maximum number of choices in an iteration.
    most: u64,
    /// Set if the choice skips branches that do nothing.
    pub passing: Option<Passing>,
}

/// State of a choice that skips branches without an action.
#[derive(Debug)]
pub struct Passing {
    portion: Portion,
    /// Slot with the number of the first branch of the choice, from 1.
    first: usize,
    /// Slot with the number of the first branch of the next choice, from 1. 0: the
    /// next branch in order.
    again: usize,
    /// Slot with [`Interpreter::actions`] before the branch.
    actions: usize,
    pub end: usize,
}

/// Ends a branch of a choice that skips branches. The choice ends if the branch did something;
/// otherwise the next branch follows.
#[derive(Debug)]
pub struct EndBranch {
    /// The operation of the choice.
    choice: usize,
}

/// Number of requests of a step in each iteration.
#[derive(Debug)]
pub enum RequestCount {
    Constant(u64),
    /// Branches in sequence.
    InTurn {
        /// The end of each branch's share of a round.
        shares: Vec<u64>,
        /// Number of requests of each branch.
        each: Vec<u64>,
        /// Number of requests of a round before each branch.
        before: Vec<u64>,
        round: u64,
    },
}

pub fn facts(branches: &[Branch]) -> StepFacts<'static> {
    let mut all = StepFacts { has_memory: true, ..StepFacts::new(0, None) };
    for branch in branches {
        let facts = StepFacts::of_all(&branch.steps);
        // At most one branch of a pass sends requests.
        all.requests = all.requests.max(facts.requests);
        all.obstacle = all.obstacle.or(facts.obstacle);
    }
    all
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    order: ListOrder,
    portion: Portion,
    branches: &[Branch],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let shares = shares(branches.iter().map(|branch| branch.weight));
    if shares.last().is_none_or(|sum| *sum == 0) {
        return Err(ScriptError::Scenario(
            "a choice has no branch of a weight above 0; give one a weight".into(),
        ));
    }
    let iteration_slot = compiler.slot();
    let user_slot = compiler.lasting_slot();
    let passing = match portion {
        Portion::Whole => None,
        Portion::Nonempty | Portion::Turn => Some(Passing {
            portion,
            first: compiler.slot(),
            again: compiler.lasting_slot(),
            actions: compiler.slot(),
            end: 0,
        }),
    };
    let again = passing.as_ref().map(|passing| passing.again);
    let choose = Choose {
        order,
        shares,
        branches: Vec::new(),
        iteration_slot,
        user_slot,
        most: position.most,
        passing,
    };
    let choose = compiler.push(InternalOp::Choose(choose));
    let tries = (portion == Portion::Turn).then(|| compiler.slot());
    if tries.is_some() {
        turns::begin(compiler);
    }
    let mut begins = Vec::new();
    let mut leaves = vec![choose];
    for branch in branches {
        begins.push(compiler.ops.len());
        compiler.ops.extend(tries.map(|slot| BeginLoop::op(slot, 2)));
        // A branch that was not completed is the next one again, unless it is a sampler.
        compiler.ops.extend(again.filter(|_| is_sampler(branch)).map(Reset::slot));
        let begin = compiler.ops.len();
        compiler.steps(&branch.steps, position)?;
        compiler.ops.extend(tries.map(|slot| EndLoop::op(slot, begin)));
        match portion {
            Portion::Whole => leaves.push(compiler.push(Jump::to(0))),
            Portion::Nonempty | Portion::Turn => {
                compiler.push(InternalOp::EndBranch(EndBranch { choice: choose }));
            }
        }
    }
    // The begins of the branches are known only now.
    if let Op::Internal(InternalOp::Choose(choose)) = &mut compiler.ops[choose] {
        choose.branches = begins;
    }
    if tries.is_some() {
        turns::end(compiler);
    }
    for leave in leaves {
        compiler.land(leave);
    }
    Ok(())
}

fn is_sampler(branch: &Branch) -> bool {
    branch.steps.iter().any(|step| StepFacts::of_step(step).is_sampler)
}

/// Returns the end of each share of a round, in which each entry occurs as often as its weight.
pub fn shares(weights: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut sum = 0;
    let ends = weights.map(|weight| {
        sum += u64::from(weight);
        sum
    });
    ends.collect()
}

/// Returns the position in a list of `round` entries at which a user begins, if the users
/// begin at different positions.
pub fn first_place(user: u64, round: u64, users: u64) -> u64 {
    user * (round / users.max(1))
}

impl Choose {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let branch = match &self.passing {
            None => self.next_branch(user, turn),
            Some(passing) => {
                // The slot contains the number of the branch plus 1; 0 means none.
                let again =
                    (std::mem::take(&mut user.slots[passing.again]) as usize).checked_sub(1);
                let branch = again.unwrap_or_else(|| self.next_branch(user, turn));
                user.slots[passing.first] = branch as u64 + 1;
                user.slots[passing.actions] = user.actions;
                passing.begin_branch(user, branch);
                branch
            }
        };
        user.next = self.branches[branch];
    }

    fn next_branch<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) -> usize {
        let in_iteration = user.count(self.iteration_slot);
        let of_user = user.count(self.user_slot);
        let round = self.shares.last().copied().unwrap_or(1).max(1);
        let n = match self.order {
            ListOrder::WalkTogether => of_user,
            ListOrder::Walk => {
                of_user + first_place(user.number, round, user.script.compiled.users)
            }
            ListOrder::Sequence | ListOrder::Random | ListOrder::User | ListOrder::Slow(_) => {
                turn.number.saturating_mul(self.most) + in_iteration
            }
        };
        pick(self.order, &self.shares, n, user.number, &user.script.context.random)
    }
}

impl Passing {
    /// Stores the number of a whole branch, so that it is the next one again if
    /// it is not completed.
    fn begin_branch<T: Transport>(&self, user: &mut Interpreter<T>, branch: usize) {
        if self.portion == Portion::Nonempty {
            user.slots[self.again] = branch as u64 + 1;
        }
    }
}

impl EndBranch {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        // A clone, because the user is changed while the operation is read.
        let script = Rc::clone(&user.script);
        let op = &script.compiled.program.ops[self.choice];
        let Op::Internal(InternalOp::Choose(choose)) = op else { return };
        let Some(passing) = &choose.passing else { return };
        if user.actions > user.slots[passing.actions] {
            user.slots[passing.again] = 0;
            user.next = passing.end;
            return;
        }
        let branch = choose.next_branch(user, turn);
        // All branches were tried without an effect.
        if branch as u64 + 1 == user.slots[passing.first] {
            user.slots[passing.again] = user.slots[passing.first];
            user.next = passing.end;
        } else {
            passing.begin_branch(user, branch);
            user.next = choose.branches[branch];
        }
    }
}

impl RequestCount {
    /// Counts the requests of a step at the top level.
    pub fn of_step(step: &ScenarioStep) -> Self {
        let ScenarioStep::Choose { order: ListOrder::Sequence, portion: Portion::Whole, branches } =
            step
        else {
            // The branches of earlier iterations are not known, so the longest one counts.
            return Self::Constant(StepFacts::of_step(step).requests);
        };
        let shares = shares(branches.iter().map(|branch| branch.weight));
        let each: Vec<u64> =
            branches.iter().map(|branch| StepFacts::of_all(&branch.steps).requests).collect();
        let mut round = 0_u64;
        let before = branches.iter().zip(&each).map(|(branch, each)| {
            let before = round;
            round = round.saturating_add(each.saturating_mul(branch.weight.into()));
            before
        });
        Self::InTurn { before: before.collect(), shares, each, round }
    }

    /// Number of requests of the iterations before number `n`.
    pub fn requests_before(&self, n: u64) -> u64 {
        match self {
            Self::Constant(count) => n.saturating_mul(*count),
            Self::InTurn { shares, each, before, round } => {
                let length = shares.last().copied().unwrap_or(1).max(1);
                let place = n % length;
                let branch = shares.partition_point(|end| *end <= place);
                let begin = branch.checked_sub(1).map_or(0, |branch| shares[branch]);
                let rounds = (n / length).saturating_mul(*round);
                rounds + before[branch] + (place - begin).saturating_mul(each[branch])
            }
        }
    }
}
