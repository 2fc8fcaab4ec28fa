//! Steps that only one user of the run executes at a time.

use super::{InternalOp, Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, Open, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::template::Template;
use brunt_engine::{UserStep, UserTurn, Waiting};
use brunt_model::scenario::ScenarioStep;
use brunt_wire::Transport;
use std::rc::Rc;
use std::sync::Arc;

/// Takes the lock of this name, as soon as no other user has it.
#[derive(Debug)]
pub struct Lock {
    name: Template,
}

pub fn facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    StepFacts::new(StepFacts::of_all(steps).requests, Some("a lock"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    name: &str,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let name = compiler.text(name)?;
    compiler.push(Op::Lock(Lock { name }));
    compiler.steps_within(Open::Lock, steps, position)?;
    compiler.push(InternalOp::Unlock);
    Ok(())
}

impl Lock {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        let context = user.context.as_deref()?;
        let lock = context.worker.shared_state.lock(&user.text(&self.name, turn));
        let locks = Rc::clone(&context.locks);
        let is_held =
            locks.borrow().iter().flatten().any(|permit| Arc::ptr_eq(permit.semaphore(), &lock));
        if is_held {
            // The user holds the lock already, in a step around this one.
            locks.borrow_mut().push(None);
            return None;
        }
        // A free lock needs no wait in the engine.
        if let Ok(permit) = Arc::clone(&lock).try_acquire_owned() {
            locks.borrow_mut().push(Some(permit));
            return None;
        }
        Some(UserStep::Wait(Waiting::unlimited(async move {
            if let Ok(permit) = lock.acquire_owned().await {
                locks.borrow_mut().push(Some(permit));
            }
        })))
    }
}

/// Releases the lock that was taken last.
pub fn release<T: Transport>(user: &Interpreter<T>) {
    if let Some(context) = &user.context {
        context.locks.borrow_mut().pop();
    }
}
