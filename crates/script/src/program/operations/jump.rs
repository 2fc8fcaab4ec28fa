//! Operations that several steps use.

use super::{InternalOp, Op};
use crate::program::user::interpreter::Interpreter;
use brunt_wire::Transport;

/// Jumps to another operation.
#[derive(Debug)]
pub struct Jump {
    pub target: usize,
}

impl Jump {
    /// Creates a jump to a known operation, or to one that
    /// [`Compiler::land`](super::Compiler::land) sets.
    pub fn to(target: usize) -> Op {
        InternalOp::Jump(Self { target }).into()
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        user.next = self.target;
    }
}

/// Sets a slot to zero.
#[derive(Debug)]
pub struct Reset {
    slot: usize,
}

impl Reset {
    pub fn slot(slot: usize) -> Op {
        InternalOp::Reset(Self { slot }).into()
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) {
        user.slots[self.slot] = 0;
    }
}
