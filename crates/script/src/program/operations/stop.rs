//! Ends rounds, loops, iterations, users and runs.

use super::jump::{Jump, Reset};
use super::{InternalOp, Op, StepFacts, turns};
use crate::ScriptError;
use crate::program::compiler::{Compiler, Open};
use crate::program::user::interpreter::Interpreter;
use brunt_engine::UserStep;
use brunt_model::scenario::EndScope;
use brunt_wire::Transport;

pub const FACTS: StepFacts<'_> = StepFacts::new(0, Some("a stop"));

/// Jumps unless the last sample ended this scope: the round or the loop around it.
#[derive(Debug)]
pub struct UnlessEnded {
    scope: EndScope,
    pub end: usize,
}

pub fn compile(compiler: &mut Compiler<'_>, scope: EndScope) -> Result<(), ScriptError> {
    match scope {
        EndScope::Turn => {
            turns::require_turns(compiler, "`stop: turn`")?;
            turns::end_turn(compiler);
        }
        // The innermost loop is known here, so jumps are enough.
        EndScope::Round | EndScope::Loop if !compiler.loops.is_empty() => {
            leave_loop(compiler, scope);
        }
        // In JMeter, the iterations of a user are themselves a loop.
        EndScope::Loop if compiler.feeds.dialect.has_loop_of_user() => {
            compiler.push(Op::Stop(scope));
        }
        EndScope::Round | EndScope::Loop => {
            // Outside of all loops, the iteration is the innermost round.
            compiler.push(Op::Stop(EndScope::Iteration));
        }
        EndScope::Nothing | EndScope::Iteration | EndScope::User | EndScope::Run => {
            compiler.push(Op::Stop(scope));
        }
    }
    Ok(())
}

/// After a sample, leaves the surrounding round or loop if the sample ended it.
pub fn compile_end_by_sample(compiler: &mut Compiler<'_>) {
    if compiler.loops.is_empty() {
        return;
    }
    for scope in [EndScope::Round, EndScope::Loop] {
        let skip = compiler.push(InternalOp::UnlessEnded(UnlessEnded { scope, end: 0 }));
        leave_loop(compiler, scope);
        compiler.land(skip);
    }
}

fn leave_loop(compiler: &mut Compiler<'_>, scope: EndScope) {
    let Some(scope_around) = compiler.loops.last() else { return };
    // Inner transactions and locks end first.
    let open = compiler.open[scope_around.open..].iter().rev();
    let ends = open.map(|open| match open {
        Open::Transaction => Op::BreakTransaction,
        Open::Lock => InternalOp::Unlock.into(),
    });
    compiler.ops.extend(ends);
    if let (EndScope::Loop, Some(slot)) = (scope, scope_around.resets) {
        compiler.ops.push(Reset::slot(slot));
    }
    let jump = compiler.push(Jump::to(0));
    if let Some(around) = compiler.loops.last_mut() {
        let jumps = if scope == EndScope::Loop { &mut around.leave } else { &mut around.next };
        jumps.push(jump);
    }
}

/// Runs [`Op::Stop`], and returns its step.
pub fn run<T: Transport>(user: &mut Interpreter<T>, scope: EndScope) -> Option<UserStep> {
    match scope {
        EndScope::Nothing => None,
        EndScope::Turn
        | EndScope::Round
        | EndScope::Loop
        | EndScope::Iteration
        | EndScope::User
        | EndScope::Run => Some(user.end(scope).unwrap_or(UserStep::Done)),
    }
}

/// Returns the step that ends a scope outside of a loop.
pub fn final_step(scope: EndScope) -> UserStep {
    match scope {
        EndScope::Nothing
        | EndScope::Turn
        | EndScope::Round
        | EndScope::Loop
        | EndScope::Iteration => UserStep::Done,
        EndScope::User => UserStep::Leave,
        EndScope::Run => UserStep::EndRun,
    }
}

impl UnlessEnded {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        if user.ended_scope == self.scope {
            user.ended_scope = EndScope::Nothing;
        } else {
            user.next = self.end;
        }
    }
}
