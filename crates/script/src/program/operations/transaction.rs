//! Steps that are timed together.

use super::{Op, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, Open, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::replies::records;
use crate::texts::template::Template;
use brunt_engine::{UserStep, UserTurn};
use brunt_model::scenario::{Pauses, ScenarioStep, TransactionCount};
use brunt_wire::Transport;
use std::sync::Arc;

/// Begins a transaction of this name.
#[derive(Debug)]
pub struct BeginTransaction {
    name: Arc<str>,
    /// The text of the name, if it has placeholders. Boxed because it is rarely used; inline it
    /// would enlarge every operation.
    text: Option<Box<Template>>,
    pauses: Pauses,
    /// True if records contain the samples within the transaction.
    pub is_parent: bool,
}

pub fn facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    StepFacts::new(StepFacts::of_all(steps).requests, Some("a transaction"))
}

pub fn counting_facts(counted: TransactionCount) -> StepFacts<'static> {
    StepFacts { is_sampler: counted == TransactionCount::Sampler, ..StepFacts::preparation(None) }
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    name: &str,
    pauses: Pauses,
    is_parent: bool,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let text = name.contains("${").then(|| compiler.text(name)).transpose()?;
    let text = text.map(|text| Box::new(text.without_secrets(compiler.feeds)));
    compiler.push(Op::BeginTransaction(BeginTransaction {
        name: name.into(),
        text,
        pauses,
        is_parent,
    }));
    compiler.steps_within(Open::Transaction, steps, position)?;
    compiler.push(Op::EndTransaction);
    Ok(())
}

pub fn compile_counting(compiler: &mut Compiler<'_>, counted: TransactionCount) {
    compiler.push(Op::CountInTransactions(counted));
}

/// Runs [`Op::CountInTransactions`] in the records.
pub fn count<T: Transport>(user: &mut Interpreter<T>, counted: TransactionCount) {
    if let Some(recording) = &mut user.recording {
        recording.count(counted);
    }
}

impl BeginTransaction {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) -> UserStep {
        let text = self.text.as_ref();
        // A constant name is shared and not copied.
        let name = text.map_or_else(|| Arc::clone(&self.name), |text| user.text(text, turn).into());
        if let Some(recording) = &mut user.recording {
            let variables = user.context.as_deref().map(records::values).unwrap_or_default();
            recording.begin_transaction(&name, self.pauses, self.is_parent, variables);
        }
        UserStep::BeginTransaction(name, self.pauses)
    }

    /// Begins the transaction for a user that has stopped, unless the transaction is a sample.
    /// True if it began.
    pub fn begin_after_stop<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> bool {
        if !self.is_parent {
            self.run(user, turn);
        }
        !self.is_parent
    }
}

/// Ends the innermost transaction.
pub fn end<T: Transport>(user: &mut Interpreter<T>) -> UserStep {
    if let Some(recording) = &mut user.recording {
        recording.end_transaction();
    }
    UserStep::EndTransaction
}

/// Leaves the innermost transaction before its end.
pub fn leave<T: Transport>(user: &mut Interpreter<T>) -> UserStep {
    if let Some(recording) = &mut user.recording {
        recording.break_transaction();
    }
    UserStep::EndTransaction
}
