//! Repeats steps for each value of a variable.

use super::jump::Jump;
use super::{InternalOp, SetVariables, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::{LoopValues, ScenarioStep};
use brunt_wire::Transport;

/// Sets a variable to the next value of a list. After the last value the loop is left.
#[derive(Debug)]
pub struct NextValue {
    /// Slot with the number of values so far.
    slot: usize,
    variable: usize,
    values: Vec<String>,
    pub end: usize,
}

/// Sets a variable to the value of the next numbered variable. If that has no value,
/// the loop is left.
#[derive(Debug)]
pub struct NextNumbered {
    /// Slot with the number of values so far.
    slot: usize,
    variable: usize,
    prefix: Template,
    /// The number before the first one.
    after: Template,
    /// The last number.
    last: Template,
    pub end: usize,
}

pub fn facts<'s>(
    variable: &'s str,
    values: &LoopValues,
    steps: &'s [ScenarioStep],
) -> StepFacts<'s> {
    let all = StepFacts::of_all(steps);
    let rounds = match values {
        LoopValues::List(values) => values.len() as u64,
        // How many variables have a value is known only in the run.
        LoopValues::Numbered { .. } => 1,
    };
    StepFacts {
        variables: SetVariables::One(variable),
        ..StepFacts::new(all.requests.saturating_mul(rounds), all.obstacle)
    }
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    name: &str,
    values: &LoopValues,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let variable = compiler.feeds.names.number(name);
    let slot = compiler.slot();
    let mut rounds = 1;
    let next = match values {
        LoopValues::List(values) => {
            rounds = values.len() as u64;
            InternalOp::NextValue(NextValue { slot, variable, values: values.clone(), end: 0 })
        }
        LoopValues::Numbered { prefix, after, last } => InternalOp::NextNumbered(NextNumbered {
            slot,
            variable,
            prefix: compiler.text(prefix)?,
            after: compiler.text(after)?,
            last: compiler.text(last)?,
            end: 0,
        }),
    };
    let next = compiler.push(next);
    compiler.round(steps, position.repeated(rounds), Some(slot), Some(next))?;
    compiler.push(Jump::to(next));
    compiler.leave(next);
    Ok(())
}

impl NextValue {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        let number = user.count(self.slot);
        if let (Some(value), Some(context)) = (self.values.get(number as usize), &user.context) {
            context.variables.borrow_mut().set_slot(self.variable, value);
        } else {
            user.slots[self.slot] = 0;
            user.next = self.end;
        }
    }
}

impl NextNumbered {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let after = integer(&user.text(&self.after, turn)).unwrap_or(0);
        let number = after + user.count(self.slot) + 1;
        let is_over = integer(&user.text(&self.last, turn)).is_some_and(|last| number > last);
        // The name is known only now, so the variable is found by name and not by its number.
        let name = format!("{}{number}", user.text(&self.prefix, turn));
        let context = user.context.as_ref();
        let value =
            context.and_then(|context| context.variables.borrow().get(&name).map(str::to_owned));
        if let Some(value) = value.filter(|_| !is_over) {
            user.set_variable(self.variable, &value);
        } else {
            user.slots[self.slot] = 0;
            user.next = self.end;
        }
    }
}

fn integer(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}
