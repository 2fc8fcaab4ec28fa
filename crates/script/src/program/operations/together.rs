//! Sends requests without waiting for replies in between.

use super::request::ChosenRequest;
use super::{Op, StepFacts, stop};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::{ConcurrencyMode, ScenarioStep};
use brunt_wire::{Prepared, Transport};
use std::rc::Rc;

/// Requests that are sent together, and the labels of their records, if records are requested.
#[derive(Default)]
pub struct Collection {
    requests: Vec<Rc<Prepared>>,
    labels: Vec<String>,
}

pub fn facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    StepFacts::new(StepFacts::of_all(steps).requests, Some("a step of the same kind"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    manner: ConcurrencyMode,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    if let Some(obstacle) = StepFacts::of_all(steps).obstacle {
        return Err(ScriptError::Scenario(format!(
            "{obstacle} is not allowed among requests that are sent together; put it before or after them"
        )));
    }
    // A loop cannot be left between requests that are sent together.
    let during = std::mem::take(&mut compiler.during);
    compiler.push(Op::BeginTogether);
    compiler.steps(steps, position)?;
    compiler.push(Op::EndTogether(manner));
    stop::compile_end_by_sample(compiler);
    compiler.during = during;
    Ok(())
}

/// Collects the requests up to [`Op::EndTogether`], and sends them.
pub fn run<T: Transport>(user: &mut Interpreter<T>, turn: &UserTurn<'_>) -> Option<UserStep> {
    let script = Rc::clone(&user.script);
    let mut collection = Collection::default();
    let mut manner = ConcurrencyMode::Pipelined;
    while let Some(op) = script.compiled.program.ops.get(user.next) {
        user.next += 1;
        user.actions += u64::from(op.does_something());
        match op.collect(user, turn, &mut collection) {
            Ok(None) => {}
            Ok(Some(end)) => {
                manner = end;
                break;
            }
            Err(why) => return Some(UserStep::Broken(why)),
        }
    }
    collection.send(user, manner)
}

impl Collection {
    /// Adds a request to the collection.
    pub fn add<T: Transport>(
        &mut self,
        user: &mut Interpreter<T>,
        request: ChosenRequest,
    ) -> Result<(), String> {
        self.requests.push(request.prepare(user)?);
        if user.recording.is_some() {
            self.labels.push(user.label());
        }
        Ok(())
    }

    fn send<T: Transport>(
        self,
        user: &mut Interpreter<T>,
        manner: ConcurrencyMode,
    ) -> Option<UserStep> {
        let Self { mut requests, labels } = self;
        user.was_together = requests.len() > 1;
        user.failed_sample = None;
        if let Some(recording) = &mut user.recording {
            recording.send_together(requests.iter().cloned().zip(labels).collect());
        }
        // A single request is sent like any other.
        if requests.len() < 2 {
            return requests.pop().map(UserStep::Request);
        }
        Some(match manner {
            ConcurrencyMode::Pipelined => UserStep::Together(requests),
            ConcurrencyMode::Parallel(most) => UserStep::Parallel(requests, most.max(1) as usize),
        })
    }
}
