//! Steps that run once per user, or once each time the surrounding loop begins.

use super::repeat::BeginLoop;
use super::{InternalOp, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use brunt_model::scenario::ScenarioStep;
use brunt_wire::Transport;

// Their requests count in no iteration, because not every iteration makes them.
pub const FACTS: StepFacts<'_> = StepFacts { has_memory: true, ..PER_LOOP_FACTS };
pub const PER_LOOP_FACTS: StepFacts<'_> =
    StepFacts::new(0, Some("a step that is carried out once"));

/// Jumps if the slot is set.
#[derive(Debug)]
pub struct Once {
    slot: usize,
    pub end: usize,
}

pub fn compile(compiler: &mut Compiler<'_>, steps: &[ScenarioStep]) -> Result<(), ScriptError> {
    let slot = compiler.lasting_slot();
    compile_steps(compiler, slot, steps)
}

pub fn compile_per_loop(
    compiler: &mut Compiler<'_>,
    steps: &[ScenarioStep],
) -> Result<(), ScriptError> {
    let slot = compiler.slot();
    if let Some(around) = compiler.loops.last_mut() {
        around.once_slots.push(slot);
    }
    compile_steps(compiler, slot, steps)
}

/// Compiles steps that are skipped if a slot is set. In a dialect that repeats unfinished steps,
/// the slot is set after them.
fn compile_steps(
    compiler: &mut Compiler<'_>,
    slot: usize,
    steps: &[ScenarioStep],
) -> Result<(), ScriptError> {
    let skip = compiler.push(Once::skipping(slot));
    let is_set_after = compiler.feeds.dialect.repeats_unfinished_once();
    if !is_set_after {
        compiler.push(BeginLoop::op(slot, 1));
    }
    compiler.steps(steps, StepPosition { most: 1, counts: false })?;
    if is_set_after {
        compiler.push(BeginLoop::op(slot, 1));
    }
    compiler.land(skip);
    Ok(())
}

impl Once {
    /// Creates a jump; [`Compiler::land`] sets its target.
    pub fn skipping(slot: usize) -> InternalOp {
        InternalOp::Once(Self { slot, end: 0 })
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        if user.slots[self.slot] > 0 {
            user.next = self.end;
        }
    }
}
