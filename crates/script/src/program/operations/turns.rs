//! Turns of a choice's branches, and steps that continue where their last turn ended.

use super::jump::{Jump, Reset};
use super::{InternalOp, Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, Open, StepPosition};
use crate::program::user::interpreter::Interpreter;
use brunt_engine::UserStep;
use brunt_model::scenario::ScenarioStep;
use brunt_wire::Transport;

/// Jumps to the operation after the end of the last turn, which the slot contains, and clears the
/// slot. With a slot of zero, it does nothing.
#[derive(Debug)]
pub struct Resume {
    slot: usize,
}

/// Ends a turn: stores the next operation in the slot, and suspends the
/// transactions within the turn.
#[derive(Debug)]
pub struct EndTurn {
    slot: usize,
    /// Number of transactions to suspend.
    transactions: usize,
    pub end: usize,
}

/// Resumes the transactions that were suspended with the turn of this slot.
#[derive(Debug)]
pub struct ResumeTransactions {
    slot: usize,
}

/// The innermost choice with turns around a step.
pub struct TurnScope {
    /// Number of loops around the choice.
    loops: usize,
    /// The resumable steps around the current one, if any.
    resumable: Option<Resumable>,
    /// Jumps to the end of the choice after a turn.
    ends: Vec<usize>,
}

/// Steps that continue where their last turn ended.
#[derive(Clone, Copy)]
struct Resumable {
    /// Slot with the next operation.
    slot: usize,
    /// Number of open transactions and locks around them.
    open: usize,
    /// Number of loops around them.
    loops: usize,
}

pub fn facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    let requests = StepFacts::of_all(steps).requests;
    StepFacts { has_memory: true, ..StepFacts::new(requests, Some("a step that takes turns")) }
}

/// Compiles steps that continue where their last turn ended.
pub fn compile(
    compiler: &mut Compiler<'_>,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    require_turns(compiler, "`resumable`")?;
    let slot = compiler.lasting_slot();
    let resumable = Resumable { slot, open: compiler.open.len(), loops: compiler.loops.len() };
    compiler.push(InternalOp::Resume(Resume { slot }));
    let outer = compiler.turns.last_mut().and_then(|scope| scope.resumable.replace(resumable));
    compiler.steps(steps, position)?;
    if let Some(scope) = compiler.turns.last_mut() {
        scope.resumable = outer;
    }
    Ok(())
}

/// Returns an error for a step outside of a choice with turns.
pub fn require_turns(compiler: &Compiler<'_>, step: &str) -> Result<(), ScriptError> {
    if compiler.turns.is_empty() {
        return Err(ScriptError::Scenario(format!(
            "{step} is not in a choice whose branches take turns; add `portion: turn` to its `choose`"
        )));
    }
    Ok(())
}

/// Begins a choice with branches that take turns.
pub fn begin(compiler: &mut Compiler<'_>) {
    compiler.turns.push(TurnScope {
        loops: compiler.loops.len(),
        resumable: None,
        ends: Vec::new(),
    });
}

/// Ends the innermost choice with turns. If a turn ended, the turn of the choice
/// around it ends, too.
pub fn end(compiler: &mut Compiler<'_>) {
    let scope = compiler.turns.pop();
    for end in scope.into_iter().flat_map(|scope| scope.ends) {
        compiler.land(end);
    }
    end_turn(compiler);
}

/// Ends the turn of the innermost choice with turns.
pub fn end_turn(compiler: &mut Compiler<'_>) {
    let Some(TurnScope { loops, resumable, .. }) = compiler.turns.last() else { return };
    let resumable = *resumable;
    // Loops that are left begin again, unless they are among the resumable steps.
    let left_loops = *loops..resumable.map_or(compiler.loops.len(), |steps| steps.loops);
    let slots = compiler.loops[left_loops]
        .iter()
        .flat_map(|around| around.resets.iter().chain(&around.once_slots));
    compiler.ops.extend(slots.copied().map(Reset::slot));
    let end = match resumable {
        Some(Resumable { slot, open, .. }) => {
            let open = &compiler.open[open..];
            let transactions = open.iter().filter(|open| matches!(open, Open::Transaction)).count();
            let end = compiler.push(Op::EndTurn(EndTurn { slot, transactions, end: 0 }));
            // The next turn continues at the operation after `EndTurn`.
            if transactions > 0 {
                compiler.push(Op::ResumeTransactions(ResumeTransactions { slot }));
            }
            end
        }
        None => compiler.push(Jump::to(0)),
    };
    if let Some(scope) = compiler.turns.last_mut() {
        scope.ends.push(end);
    }
}

impl TurnScope {
    /// True if the steps of the scope continue where their last turn ended.
    pub fn is_resumable(&self) -> bool {
        self.resumable.is_some()
    }
}

impl Resume {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        let next = std::mem::take(&mut user.slots[self.slot]) as usize;
        if next > 0 {
            user.next = next;
        }
    }
}

impl EndTurn {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) -> Option<UserStep> {
        let Self { slot, transactions, end } = *self;
        user.slots[slot] = user.next as u64;
        user.next = end;
        if transactions == 0 {
            return None;
        }
        if let Some(recording) = &mut user.recording {
            recording.suspend_transactions(slot, transactions);
        }
        Some(UserStep::SuspendTransactions(slot, transactions))
    }
}

impl ResumeTransactions {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) -> UserStep {
        if let Some(recording) = &mut user.recording {
            recording.resume_transactions(self.slot);
        }
        UserStep::ResumeTransactions(self.slot)
    }
}
