//! Runs the steps of the case that a text names.

use super::jump::Jump;
use super::{InternalOp, Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::SwitchCase;
use brunt_wire::Transport;

/// Jumps to the case of a text.
#[derive(Debug)]
pub struct Switch {
    value: Template,
    cases: Vec<CompiledCase>,
    pub end: usize,
}

/// Names of a case, and its first operation.
#[derive(Debug)]
struct CompiledCase {
    names: Vec<Template>,
    begin: usize,
}

pub fn facts(cases: &[SwitchCase]) -> StepFacts<'static> {
    let requests = cases.iter().map(|case| StepFacts::of_all(&case.steps).requests).max();
    StepFacts::new(requests.unwrap_or_default(), Some("a condition"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    value: &str,
    cases: &[SwitchCase],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let value = compiler.text(value)?;
    let switch = compiler.push(InternalOp::Switch(Switch { value, cases: Vec::new(), end: 0 }));
    let mut compiled = Vec::new();
    let mut leaves = Vec::new();
    for case in cases {
        let names = case.names.iter().map(|name| compiler.text(name)).collect::<Result<_, _>>()?;
        compiled.push(CompiledCase { names, begin: compiler.ops.len() });
        compiler.steps(&case.steps, position)?;
        leaves.push(compiler.push(Jump::to(0)));
    }
    // The begins of the cases are known only now.
    if let Op::Internal(InternalOp::Switch(switch)) = &mut compiler.ops[switch] {
        switch.cases = compiled;
    }
    for leave in leaves.into_iter().chain([switch]) {
        compiler.land(leave);
    }
    Ok(())
}

impl Switch {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let value = user.text(&self.value, turn);
        let case = self.cases.iter().find(|case| {
            let mut names = case.names.iter();
            names.any(|name| user.text(name, turn).trim() == value.trim())
        });
        let is_first = case.is_none() && user.script.compiled.dialect().selects_first_case(&value);
        let case = case.or_else(|| self.cases.first().filter(|_| is_first));
        // A case without names is the default.
        let case = case.or_else(|| self.cases.iter().find(|case| case.names.is_empty()));
        user.next = case.map_or(self.end, |case| case.begin);
    }
}
