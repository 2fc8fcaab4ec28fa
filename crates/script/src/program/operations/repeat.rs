//! Repeats steps a number of times.

use super::{InternalOp, Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::{Rounds, ScenarioStep};
use brunt_wire::Transport;

/// Sets a slot to a number of rounds. A loop without rounds is left.
#[derive(Debug)]
pub struct BeginLoop {
    slot: usize,
    times: u64,
    pub end: usize,
}

/// Sets a slot to a number of rounds that is a text.
#[derive(Debug)]
pub struct BeginLoopText {
    slot: usize,
    times: Template,
    pub end: usize,
}

/// Decrements the slot. The loop begins again while the slot is above zero.
#[derive(Debug)]
pub struct EndLoop {
    slot: usize,
    begin: usize,
}

pub fn facts(times: Option<&Rounds>, steps: &[ScenarioStep]) -> StepFacts<'static> {
    let all = StepFacts::of_all(steps);
    match times {
        Some(Rounds::Number(times)) => {
            StepFacts::new(all.requests.saturating_mul(*times), all.obstacle)
        }
        // The number of rounds is known only in the run.
        Some(Rounds::Text(_)) => StepFacts::new(all.requests, all.obstacle),
        None => StepFacts::new(all.requests, Some("a loop without an end")),
    }
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    times: Option<&Rounds>,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let slot = compiler.slot();
    let mut rounds = 1;
    let enter = match times {
        Some(Rounds::Text(text)) => {
            let times = compiler.text(text)?;
            InternalOp::BeginLoopText(BeginLoopText { slot, times, end: 0 }).into()
        }
        Some(Rounds::Number(times)) => {
            rounds = *times;
            BeginLoop::op(slot, *times)
        }
        // No run lasts for this number of rounds.
        None => BeginLoop::op(slot, u64::MAX),
    };
    let enter = compiler.push(enter);
    compiler.round(steps, position.repeated(rounds), None, None)?;
    // A round begins after the operation that enters the loop and sets its count.
    compiler.push(EndLoop::op(slot, enter + 1));
    compiler.leave(enter);
    Ok(())
}

impl BeginLoop {
    pub fn op(slot: usize, times: u64) -> Op {
        InternalOp::BeginLoop(Self { slot, times, end: 0 }).into()
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        user.slots[self.slot] = self.times;
        if self.times == 0 {
            user.next = self.end;
        }
    }
}

impl BeginLoopText {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let times = user.text(&self.times, turn).trim().parse::<i64>().unwrap_or(0);
        // As in JMeter, a negative number means endless rounds.
        user.slots[self.slot] = u64::try_from(times).unwrap_or(u64::MAX);
        if times == 0 {
            user.next = self.end;
        }
    }
}

impl EndLoop {
    pub fn op(slot: usize, begin: usize) -> Op {
        InternalOp::EndLoop(Self { slot, begin }).into()
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        user.slots[self.slot] -= 1;
        if user.slots[self.slot] > 0 {
            user.next = self.begin;
        }
    }
}
