//! Lists of steps in random order.

use super::jump::Jump;
use super::{InternalOp, Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use brunt_model::scenario::ScenarioStep;
use brunt_wire::Transport;
use rand::seq::SliceRandom;

/// Jumps to the next branch, in an order that is drawn before the first one.
#[derive(Debug)]
pub struct Shuffle {
    /// Slot with the number of branches so far.
    slot: usize,
    /// Index among the orders of a user.
    order: usize,
    /// The first operation of each branch.
    branches: Vec<usize>,
    pub end: usize,
}

pub fn facts(branches: &[Vec<ScenarioStep>]) -> StepFacts<'static> {
    let requests = branches
        .iter()
        .fold(0, |sum: u64, steps| sum.saturating_add(StepFacts::of_all(steps).requests));
    StepFacts::new(requests, Some("a list in random order"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    branches: &[Vec<ScenarioStep>],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let slot = compiler.slot();
    let order = compiler.orders;
    compiler.orders += 1;
    let shuffle =
        compiler.push(InternalOp::Shuffle(Shuffle { slot, order, branches: Vec::new(), end: 0 }));
    let mut begins = Vec::new();
    for steps in branches {
        begins.push(compiler.ops.len());
        compiler.steps(steps, position)?;
        compiler.push(Jump::to(shuffle));
    }
    // The begins of the branches are known only now.
    if let Op::Internal(InternalOp::Shuffle(shuffle)) = &mut compiler.ops[shuffle] {
        shuffle.branches = begins;
    }
    compiler.land(shuffle);
    Ok(())
}

impl Shuffle {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        let number = user.count(self.slot) as usize;
        let order = &mut user.orders[self.order];
        if number == 0 {
            *order = (0..self.branches.len()).collect();
            order.shuffle(&mut *user.script.context.random.borrow_mut());
        }
        if let Some(branch) = order.get(number) {
            user.next = self.branches[*branch];
        } else {
            // The next time, the branches run in a new order.
            user.slots[self.slot] = 0;
            user.next = self.end;
        }
    }
}
