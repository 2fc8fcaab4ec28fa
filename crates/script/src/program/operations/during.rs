//! Repeats steps for a duration.

use super::jump::Jump;
use super::pause::{MAX_PAUSE_MILLIS, number};
use super::{InternalOp, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::ScenarioStep;
use brunt_wire::Transport;

/// Sets a slot to the end of the loop, in milliseconds since 1970.
#[derive(Debug)]
pub struct BeginDuring {
    slot: usize,
    seconds: Template,
}

/// Jumps if the time in a slot has passed.
#[derive(Debug)]
pub struct WhenOver {
    slot: usize,
    pub end: usize,
}

pub fn facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    StepFacts::new(StepFacts::of_all(steps).requests, Some("a loop that ends at a time"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    seconds: &str,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let slot = compiler.slot();
    let seconds = compiler.text(seconds)?;
    compiler.push(InternalOp::BeginDuring(BeginDuring { slot, seconds }));
    let begin = compiler.push(WhenOver::op(slot));
    compiler.during.push((slot, compiler.loops.len()));
    compiler.round(steps, position, None, Some(begin))?;
    compiler.during.pop();
    compiler.push(Jump::to(begin));
    compiler.leave(begin);
    Ok(())
}

/// Before a request, leaves the surrounding loops that have reached their end time.
pub fn compile_end_by_time(compiler: &mut Compiler<'_>) {
    for (slot, scope) in compiler.during.clone() {
        // Transactions and locks within the loop end before it: the next request after
        // their end leaves it.
        if compiler.open.len() == compiler.loops[scope].open {
            let leave = compiler.push(WhenOver::op(slot));
            compiler.loops[scope].leave.push(leave);
        }
    }
}

impl BeginDuring {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let millis = number(&user.text(&self.seconds, turn)) * 1e3;
        user.slots[self.slot] = (user.now_millis() + millis.clamp(0.0, MAX_PAUSE_MILLIS)) as u64;
    }
}

impl WhenOver {
    fn op(slot: usize) -> InternalOp {
        InternalOp::WhenOver(Self { slot, end: 0 })
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        if user.now_millis() >= user.slots[self.slot] as f64 {
            user.next = self.end;
        }
    }
}
