//! Which branch of a choice is next.

use super::{Interpreter, count};
use crate::program::{Choice, Op, Passing};
use crate::user::{Order, pick};
use brunt_model::scenario::Portion;
use brunt_wire::Transport;
use std::rc::Rc;

impl<T: Transport> Interpreter<T> {
    /// The first operation of the branch that is next.
    pub(super) fn choose(&mut self, choice: &Choice, iteration: u64) -> usize {
        let Some(Passing { portion, first, again, done, .. }) = &choice.passing else {
            return choice.branches[self.next_branch(choice, iteration)];
        };
        let kept = (std::mem::take(&mut self.slots[*again]) as usize).checked_sub(1);
        let branch = kept.unwrap_or_else(|| self.next_branch(choice, iteration));
        (self.slots[*first], self.slots[*done]) = (branch as u64 + 1, self.done);
        self.may_be_left(*portion, *again, branch);
        choice.branches[branch]
    }

    /// A branch is over: where it did nothing, the next follows, unless it was the first.
    pub(super) fn end_branch(&mut self, choice: usize, iteration: u64) {
        let script = Rc::clone(&self.script);
        let Op::Choose(choice) = &script.compiled.program.ops[choice] else { return };
        let Some(Passing { portion, first, again, done, end }) = &choice.passing else { return };
        if self.done > self.slots[*done] {
            (self.slots[*again], self.next) = (0, *end);
            return;
        }
        let branch = self.next_branch(choice, iteration);
        if branch as u64 + 1 == self.slots[*first] {
            (self.slots[*again], self.next) = (self.slots[*first], *end);
        } else {
            self.may_be_left(*portion, *again, branch);
            self.next = choice.branches[branch];
        }
    }

    /// A branch begins: a whole one that is left before its end is the next once more.
    fn may_be_left(&mut self, portion: Portion, again: usize, branch: usize) {
        if portion == Portion::Nonempty {
            self.slots[again] = branch as u64 + 1;
        }
    }

    /// The number of the branch that is next.
    fn next_branch(&mut self, choice: &Choice, iteration: u64) -> usize {
        let Choice { order, shares, made, walked, most, .. } = choice;
        let before = count(&mut self.slots[*made]);
        let by_itself = count(&mut self.slots[*walked]);
        let round = shares.last().copied().unwrap_or(1).max(1);
        let n = match order {
            Order::WalkTogether => by_itself,
            Order::Walk => by_itself + walk_begins(self.number, round, self.script.compiled.users),
            _ => iteration.saturating_mul(*most) + before,
        };
        pick(*order, shares, n, self.number, &self.script.context.random)
    }
}

/// Where user `number` of so many begins in a list of `round` entries, where each has a place of its own.
pub(super) fn walk_begins(number: u64, round: u64, users: u64) -> u64 {
    number * (round / users.max(1))
}
