//! Ends rounds, loops, iterations, users and runs.

use super::jump::{Jump, Reset};
use super::{Facts, InternalOp, Op, turns};
use crate::ScriptError;
use crate::program::compiler::{Compiler, Open};
use crate::program::user::interpreter::Interpreter;
use brunt_engine::Step;
use brunt_model::scenario::Scope;
use brunt_wire::Transport;

pub const FACTS: Facts<'_> = Facts::new(0, Some("a stop"));

/// Jumps unless the last sample ended this scope: the round or the loop around it.
#[derive(Debug)]
pub struct UnlessEnded {
    scope: Scope,
    pub end: usize,
}

pub fn compile(compiler: &mut Compiler<'_>, scope: Scope) -> Result<(), ScriptError> {
    match scope {
        Scope::Turn => {
            turns::require_turns(compiler, "`stop: turn`")?;
            turns::end_turn(compiler);
        }
        // The innermost loop is known here, so jumps are enough.
        Scope::Round | Scope::Loop if !compiler.loops.is_empty() => leave_loop(compiler, scope),
        // In JMeter, the iterations of a user are themselves a loop.
        Scope::Loop if compiler.feeds.dialect.has_loop_of_user() => {
            compiler.push(Op::Stop(scope));
        }
        Scope::Round | Scope::Loop => {
            // Outside of all loops, the iteration is the innermost round.
            compiler.push(Op::Stop(Scope::Iteration));
        }
        Scope::Nothing | Scope::Iteration | Scope::User | Scope::Run => {
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
    for scope in [Scope::Round, Scope::Loop] {
        let skip = compiler.push(InternalOp::UnlessEnded(UnlessEnded { scope, end: 0 }));
        leave_loop(compiler, scope);
        compiler.land(skip);
    }
}

fn leave_loop(compiler: &mut Compiler<'_>, scope: Scope) {
    let Some(scope_around) = compiler.loops.last() else { return };
    // Inner transactions and locks end first.
    let open = compiler.open[scope_around.open..].iter().rev();
    let ends = open.map(|open| match open {
        Open::Transaction => Op::BreakTransaction,
        Open::Lock => InternalOp::Unlock.into(),
    });
    compiler.ops.extend(ends);
    if let (Scope::Loop, Some(slot)) = (scope, scope_around.resets) {
        compiler.ops.push(Reset::slot(slot));
    }
    let jump = compiler.push(Jump::to(0));
    if let Some(around) = compiler.loops.last_mut() {
        let jumps = if scope == Scope::Loop { &mut around.leave } else { &mut around.next };
        jumps.push(jump);
    }
}

/// Runs [`Op::Stop`], and returns its step.
pub fn run<T: Transport>(user: &mut Interpreter<T>, scope: Scope) -> Option<Step> {
    match scope {
        Scope::Nothing => None,
        Scope::Turn | Scope::Round | Scope::Loop | Scope::Iteration | Scope::User | Scope::Run => {
            Some(user.end(scope).unwrap_or(Step::Done))
        }
    }
}

/// Returns the step that ends a scope outside of a loop.
pub fn final_step(scope: Scope) -> Step {
    match scope {
        Scope::Nothing | Scope::Turn | Scope::Round | Scope::Loop | Scope::Iteration => Step::Done,
        Scope::User => Step::Leave,
        Scope::Run => Step::EndRun,
    }
}

impl UnlessEnded {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        if user.ended_scope == self.scope {
            user.ended_scope = Scope::Nothing;
        } else {
            user.next = self.end;
        }
    }
}
