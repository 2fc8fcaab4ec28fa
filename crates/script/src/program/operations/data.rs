//! Operations that set variables: to a text, to a row of a data file, or to the next number of a
//! counter.

use super::{InternalOp, Op, SetVariables, StepFacts, final_step};
use crate::ScriptError;
use crate::program::compiler::Compiler;
use crate::program::user::interpreter::Interpreter;
use crate::texts::data::RowTaken;
use crate::texts::functions::padded;
use crate::texts::template::Template;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::{EndScope, VariableCounter};
use brunt_wire::Transport;

/// Sets a variable to a text, a template that is filled in for each user and iteration.
#[derive(Debug)]
pub struct SetVariable {
    variable: usize,
    value: Template,
}

pub fn setting_facts(variable: &str) -> StepFacts<'_> {
    StepFacts { variables: SetVariables::One(variable), ..StepFacts::preparation(None) }
}

pub fn compile_set(
    compiler: &mut Compiler<'_>,
    variable: &str,
    value: &str,
) -> Result<(), ScriptError> {
    let value = compiler.text(value)?;
    let variable = compiler.feeds.names.number(variable);
    compiler.push(InternalOp::Set(SetVariable { variable, value }));
    Ok(())
}

impl SetVariable {
    /// Returns the number of the variable that it sets.
    pub fn variable(&self) -> usize {
        self.variable
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let value = user.text(&self.value, turn);
        user.set_variable(self.variable, &value);
    }
}

pub const ROW_FACTS: StepFacts<'_> = StepFacts::preparation(None);

/// Sets the variables of a data file's columns to its next row.
#[derive(Debug)]
pub struct ReadRow {
    /// Index of the data file, from 0.
    file: usize,
}

pub fn compile_row(compiler: &mut Compiler<'_>, file: u32) -> Result<(), ScriptError> {
    let file_count = compiler.data_files;
    if file as usize >= file_count {
        return Err(ScriptError::Scenario(format!(
            "a step reads data file {file}, and there are {file_count}"
        )));
    }
    compiler.push(Op::Row(ReadRow { file: file as usize }));
    Ok(())
}

impl ReadRow {
    /// Takes the next row. Returns the step that ends the user or the run if no row is left,
    /// otherwise None.
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) -> Option<UserStep> {
        let context = user.context.as_deref()?;
        match user.script.compiled.program.data[self.file].take(context) {
            RowTaken::StopUser => Some(final_step(EndScope::User)),
            RowTaken::StopRun => Some(final_step(EndScope::Run)),
            RowTaken::Set => None,
        }
    }
}

/// Sets a variable to the next number of a counter.
#[derive(Debug)]
pub struct CountVariable {
    variable: usize,
    start: Template,
    step: Template,
    end: Template,
    format: Template,
    per_user: bool,
    /// True: starts again with each iteration. Only with `per_user`.
    resets: bool,
    /// Name of the counter, from its position in the program; the same for all users.
    counter_name: String,
}

pub fn counting_facts(counter: &VariableCounter) -> StepFacts<'_> {
    StepFacts { variables: SetVariables::One(&counter.variable), ..StepFacts::preparation(None) }
}

pub fn compile_counter(
    compiler: &mut Compiler<'_>,
    counter: &VariableCounter,
) -> Result<(), ScriptError> {
    let VariableCounter { variable, start, step, end, format, per_user, resets } = counter;
    let op = CountVariable {
        variable: compiler.feeds.names.number(variable),
        start: compiler.text(start)?,
        step: compiler.text(step)?,
        end: compiler.text(end)?,
        format: compiler.text(format)?,
        per_user: *per_user,
        resets: *resets && *per_user,
        counter_name: compiler.site("counter"),
    };
    compiler.push(InternalOp::Count(Box::new(op)));
    Ok(())
}

impl CountVariable {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        let Some(context) = &user.context else { return };
        let start = integer(&user.text(&self.start, turn)).unwrap_or(0);
        let step = integer(&user.text(&self.step, turn)).unwrap_or(1);
        let before = match (self.per_user, self.resets) {
            (false, _) => context.worker.count(&self.counter_name),
            (true, false) => context.count(&self.counter_name),
            (true, true) => context.count_in_iteration(&self.counter_name, turn.number),
        };
        // Without an end, with one below the start, or with a step that is not positive, the
        // counter never starts again.
        let end = integer(&user.text(&self.end, turn)).filter(|end| *end >= start && step > 0);
        let round_length = end.map_or(u64::MAX, |end| ((end - start) / step + 1) as u64);
        let value = start.wrapping_add((before % round_length) as i64 * step);
        let format = user.text(&self.format, turn);
        user.set_variable(self.variable, &padded(value, &format));
    }
}

/// Parses an integer; None if the text is none, such as an empty one.
fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}
