//! Choices, turns, and steps that are carried out once.

use super::{Compiler, Context, Open};
use crate::ScriptError;
use crate::program::{Choice, Op, Passing, shares};
use brunt_model::scenario::{Branch, Counted, Order, Portion, Step, TextRules};

/// A choice around a step whose branches take turns.
pub struct TurnScope {
    /// How many loops are around it.
    loops: usize,
    /// The steps in it that go on the next time, if there are any around.
    pub(super) resumable: Option<Resumable>,
    /// Jumps behind it, where a turn was taken.
    ends: Vec<usize>,
}

/// Steps that go on where their last turn ended.
#[derive(Clone, Copy)]
pub(super) struct Resumable {
    /// Has the operation behind that.
    slot: usize,
    /// How many things were open before them.
    open: usize,
    /// How many loops are around them.
    loops: usize,
}

impl Compiler<'_> {
    /// The steps of JMeter's If Controller: controllers within it forget where they are when its condition does not hold, and when
    /// it was left before its end. What jumps past them lands where they forget; the jump behind them is returned.
    pub(super) fn forgetful(&mut self, steps: &[Step], context: Context, skip: usize) -> Result<usize, ScriptError> {
        let is_within = self.kept_slot();
        let is_first = self.push(Op::Once { slot: is_within, end: 0 });
        let begin = self.push(Op::BeginLoop { slot: is_within, times: 1, end: 0 });
        let first = self.slots;
        self.steps(steps, context)?;
        self.ops.push(Op::Reset(is_within));
        let leave = self.push(Op::Jump(0));
        let forgotten = first..self.slots;
        self.lands(is_first);
        self.ops.extend(forgotten.clone().map(Op::Reset));
        self.ops.push(Op::Jump(begin));
        self.lands(skip);
        self.ops.extend(forgotten.chain([is_within]).map(Op::Reset));
        Ok(leave)
    }

    /// Steps that are carried out where a slot is not set. JMeter sets it behind them: where they were left before, they begin anew.
    pub(super) fn once(&mut self, slot: usize, steps: &[Step]) -> Result<(), ScriptError> {
        let set = || Op::BeginLoop { slot, times: 1, end: 0 };
        let skip = self.push(Op::Once { slot, end: 0 });
        let is_set_before = self.rules != TextRules::Jmeter;
        self.ops.extend(is_set_before.then(set));
        self.steps(steps, Context { most: 1, counts: false })?;
        self.ops.extend((!is_set_before).then(set));
        self.lands(skip);
        Ok(())
    }

    /// Steps that go on where their last turn ended.
    pub(super) fn resumable(&mut self, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        self.within_turns("`resumable`")?;
        let slot = self.kept_slot();
        let (open, loops) = (self.open.len(), self.loops.len());
        self.ops.push(Op::Resume { slot });
        let resumable = Some(Resumable { slot, open, loops });
        let around = self.turns.last_mut().map(|scope| std::mem::replace(&mut scope.resumable, resumable));
        self.steps(steps, context)?;
        if let (Some(scope), Some(around)) = (self.turns.last_mut(), around) {
            scope.resumable = around;
        }
        Ok(())
    }

    pub(super) fn within_turns(&self, what: &str) -> Result<(), ScriptError> {
        if self.turns.is_empty() {
            return Err(ScriptError::Scenario(format!(
                "{what} stands in no choice whose branches take turns; write `portion: turn` beside its `choose`"
            )));
        }
        Ok(())
    }

    /// The turn of the innermost choice of turns is over.
    pub(super) fn end_turn(&mut self) {
        let Some(TurnScope { loops, resumable, .. }) = self.turns.last() else { return };
        let (loops, resumable) = (*loops, *resumable);
        // Loops that are left begin anew, unless they are among the steps that go on.
        let left = &self.loops[loops..resumable.map_or(self.loops.len(), |steps| steps.loops)];
        let left: Vec<usize> =
            left.iter().flat_map(|around| around.resets.iter().chain(&around.fresh)).copied().collect();
        self.ops.extend(left.into_iter().map(Op::Reset));
        let end = match resumable {
            Some(Resumable { slot, open, .. }) => {
                let transactions = self.open[open..].iter().filter(|open| matches!(open, Open::Transaction)).count();
                let end = self.push(Op::EndTurn { slot, transactions, end: 0 });
                self.ops.extend((transactions > 0).then_some(Op::ResumeTransactions(slot)));
                end
            }
            None => self.push(Op::Jump(0)),
        };
        self.turns.last_mut().into_iter().for_each(|scope| scope.ends.push(end));
    }

    pub(super) fn choose(
        &mut self,
        order: Order,
        portion: Portion,
        branches: &[Branch],
        context: Context,
    ) -> Result<(), ScriptError> {
        let shares = shares(branches.iter().map(|branch| branch.weight));
        if shares.last().is_none_or(|sum| *sum == 0) {
            return Err(ScriptError::Scenario("a choice has no branch of a weight above 0; give one a weight".into()));
        }
        let (made, walked) = (self.slot(), self.kept_slot());
        let passing = match portion {
            Portion::Whole => None,
            Portion::Nonempty | Portion::Turn => {
                Some(Passing { portion, first: self.slot(), again: self.kept_slot(), done: self.slot(), end: 0 })
            }
        };
        let again = passing.as_ref().map(|passing| passing.again);
        let (begins, most) = (Vec::new(), context.most);
        let choose = self.push(Op::Choose(Choice { order, shares, branches: begins, made, walked, most, passing }));
        let (mut begins, mut leaves) = (Vec::new(), vec![choose]);
        let tries = (portion == Portion::Turn).then(|| self.slot());
        if tries.is_some() {
            self.turns.push(TurnScope { loops: self.loops.len(), resumable: None, ends: Vec::new() });
        }
        for branch in branches {
            begins.push(self.ops.len());
            self.ops.extend(tries.map(|slot| Op::BeginLoop { slot, times: 2, end: 0 }));
            // A branch that is left before its end is the next once more, unless it is a sampler itself.
            self.ops.extend(again.filter(|_| is_sampler(branch)).map(Op::Reset));
            let begin = self.ops.len();
            self.steps(&branch.steps, context)?;
            self.ops.extend(tries.map(|slot| Op::EndLoop { slot, begin }));
            match portion {
                Portion::Whole => leaves.push(self.push(Op::Jump(0))),
                Portion::Nonempty | Portion::Turn => self.ops.push(Op::EndBranch(choose)),
            }
        }
        if let Op::Choose(choice) = &mut self.ops[choose] {
            choice.branches = begins;
        }
        if let Some(scope) = self.turns.pop_if(|_| tries.is_some()) {
            for end in scope.ends {
                self.lands(end);
            }
            // With it that of the choice around it.
            self.end_turn();
        }
        for leave in leaves {
            self.lands(leave);
        }
        Ok(())
    }
}

/// Whether a branch is a sampler itself, and no controller.
fn is_sampler(branch: &Branch) -> bool {
    use Step::{CountInTransactions, Request, Sample};
    branch.steps.iter().any(|step| matches!(step, Request(_) | Sample(_) | CountInTransactions(Counted::Sampler)))
}
