//! Compiles the tree of steps to a list of operations.

use super::operations::{self, Op, StepFacts, TurnScope};
use crate::texts::template::{Template, TextPosition};
use crate::{Feeds, ScriptError};
use brunt_model::scenario::{ListOrder, ScenarioStep};

/// The position of a step in its scenario.
#[derive(Clone, Copy)]
pub struct StepPosition {
    /// Maximum number of times that an iteration reaches this position.
    pub most: u64,
    /// True if requests count among those of an iteration.
    pub counts: bool,
}

/// The program, as far as it is compiled.
pub struct Compiler<'a> {
    pub ops: Vec<Op>,
    /// Number of slots of a user.
    pub slots: usize,
    /// The slots that are zero at the beginning of each iteration.
    pub iteration_slots: Vec<usize>,
    /// Number of random orders of a user.
    pub orders: usize,
    /// The order of users that go through the list on their own.
    pub walk: Option<ListOrder>,
    pub feeds: &'a mut Feeds,
    /// Number of data files of the scenario.
    pub data_files: usize,
    /// The transactions and locks around the current step, the innermost last.
    pub open: Vec<Open>,
    /// The loops around the current step, the innermost last.
    pub loops: Vec<LoopScope>,
    /// The choices with turns around the current step, the innermost last.
    pub turns: Vec<TurnScope>,
    /// The loops around the current step that end at a time: slot and index in `loops`.
    pub during: Vec<(usize, usize)>,
}

/// A step that ends after the steps in it.
#[derive(Debug, Clone, Copy)]
pub enum Open {
    Transaction,
    Lock,
}

/// A loop around a step.
#[derive(Default)]
pub struct LoopScope {
    /// Number of open transactions and locks around it.
    pub open: usize,
    /// The slot that must be zero when the loop is left.
    pub resets: Option<usize>,
    /// Slots of steps that run once in the loop. They must be zero when the loop is left.
    pub once_slots: Vec<usize>,
    /// Jumps to the next round.
    pub next: Vec<usize>,
    /// Jumps to the end of the loop.
    pub leave: Vec<usize>,
}

impl StepPosition {
    /// Returns the position of steps that are repeated here.
    pub fn repeated(self, rounds: u64) -> Self {
        Self { most: self.most.saturating_mul(rounds), ..self }
    }
}

impl<'a> Compiler<'a> {
    /// Creates a compiler of a scenario with this number of data files.
    pub fn new(feeds: &'a mut Feeds, data_files: usize) -> Self {
        Self {
            ops: Vec::new(),
            slots: 0,
            iteration_slots: Vec::new(),
            orders: 0,
            walk: None,
            feeds,
            data_files,
            open: Vec::new(),
            loops: Vec::new(),
            turns: Vec::new(),
            during: Vec::new(),
        }
    }

    /// Compiles steps in order.
    ///
    /// # Errors
    ///
    /// The steps are inconsistent, or a text is malformed.
    pub fn steps(
        &mut self,
        steps: &[ScenarioStep],
        position: StepPosition,
    ) -> Result<(), ScriptError> {
        for (number, step) in steps.iter().enumerate() {
            operations::compile(self, step, &steps[number + 1..], position)?;
        }
        Ok(())
    }

    /// Compiles a text with placeholders.
    pub fn text(&mut self, text: &str) -> Result<Template, ScriptError> {
        Template::compile_expressions(text, TextPosition::Text, self.feeds)
    }

    /// Creates a name for a step that all users share.
    pub fn site(&mut self, kind: &str) -> String {
        self.feeds.sites += 1;
        format!("{kind} {}", self.feeds.sites)
    }

    /// Compiles the steps of a transaction or lock.
    pub fn steps_within(
        &mut self,
        open: Open,
        steps: &[ScenarioStep],
        position: StepPosition,
    ) -> Result<(), ScriptError> {
        self.open.push(open);
        self.steps(steps, position)?;
        self.open.pop();
        Ok(())
    }

    /// Compiles the steps of a loop. `begin` is the operation that begins the next round; None: the next operation.
    /// [`Self::leave`] must follow.
    pub fn round(
        &mut self,
        steps: &[ScenarioStep],
        position: StepPosition,
        resets: Option<usize>,
        begin: Option<usize>,
    ) -> Result<(), ScriptError> {
        self.loops.push(LoopScope { open: self.open.len(), resets, ..LoopScope::default() });
        self.steps(steps, position)?;
        let begin = begin.unwrap_or(self.ops.len());
        let next = self.loops.last_mut().map(|scope| std::mem::take(&mut scope.next));
        for jump in next.unwrap_or_default() {
            self.set_target(jump, begin);
        }
        Ok(())
    }

    /// Ends the innermost loop. `first` is its jump to its end.
    pub fn leave(&mut self, first: usize) {
        self.land(first);
        let LoopScope { leave, once_slots, .. } = self.loops.pop().unwrap_or_default();
        for jump in leave {
            self.land(jump);
        }
        // Both exits of the loop lead here, so the steps run again when the loop is entered again.
        self.ops.extend(once_slots.into_iter().map(operations::Reset::slot));
    }

    /// Adds a slot of an iteration. In steps that continue in the next iteration, it is a
    /// slot of the user.
    pub fn slot(&mut self) -> usize {
        let slot = self.lasting_slot();
        if !self.turns.iter().any(TurnScope::is_resumable) {
            self.iteration_slots.push(slot);
        }
        slot
    }

    /// Adds a slot that keeps its value for the lifetime of the user.
    pub fn lasting_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Adds an operation, and returns its number.
    pub fn push(&mut self, op: impl Into<Op>) -> usize {
        self.ops.push(op.into());
        self.ops.len() - 1
    }

    /// Makes the next operation the target of a jump.
    pub fn land(&mut self, jump: usize) {
        self.set_target(jump, self.ops.len());
    }

    fn set_target(&mut self, jump: usize, target: usize) {
        if let Some(end) = self.ops[jump].target() {
            *end = target;
        }
    }
}

/// Returns the number of the request that follows a step which changes it.
pub fn next_request(following: &[ScenarioStep]) -> Option<u32> {
    match following.iter().find(|step| !StepFacts::of_step(step).is_preparation) {
        Some(ScenarioStep::Request(number)) => Some(*number),
        Some(_) | None => None,
    }
}
