//! A scenario's tree of steps, compiled to one flat program.
//!
//! Loops and branches become jumps. Their state is in numbered slots of a user, some for an iteration and some for the user's whole life.
//! Steps that take turns keep the operation after their last turn in such a slot, too. The number of requests of an iteration is known
//! before the load, so that each request of a run has a number, no matter which process makes it: it follows from the number of the
//! iteration and of the requests before it.

mod compiler;
pub mod memory;
mod operations;
pub mod user;

use crate::texts::data::Rows;
use crate::{Feeds, ScriptError};
use brunt_model::scenario::{Order, Scenario};
use compiler::{Compiler, Position};
use operations::RequestCount;

pub use operations::{Facts, InternalOp, Op, SetVariables, final_step, first_place, shares};

/// A scenario, compiled.
#[derive(Debug)]
pub struct Program {
    /// Its operations; an iteration is over behind the last.
    pub ops: Vec<Op>,
    /// Slots of a user: zero at its beginning.
    pub slots: usize,
    /// Those of them that are zero at the beginning of each iteration.
    pub fresh: Vec<usize>,
    /// Orders that each user remembers.
    pub orders: usize,
    /// The data files that its steps read.
    pub data: Vec<Rows>,
    /// How users go through the list where each does so by itself.
    pub walk: Option<Order>,
    counts: Vec<RequestCount>,
}

impl Program {
    /// Compiles a scenario, whose variables `feeds` knows.
    ///
    /// # Errors
    ///
    /// Its steps do not fit together, a text is malformed, or a data file cannot be read.
    pub fn new(scenario: &Scenario, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let data = scenario.data.iter().map(|file| Rows::read(file, feeds)).collect::<Result<Vec<_>, _>>()?;
        let mut compiler = Compiler::new(feeds, data.len());
        compiler.steps(&scenario.steps, Position { most: 1, counts: true })?;
        let Compiler { ops, slots, fresh, orders, walk, .. } = compiler;
        let counts = scenario.steps.iter().map(RequestCount::of).collect();
        Ok(Self { ops, slots, fresh, orders, data, walk, counts })
    }

    /// The number among all of the run of the first request of iteration `n`, as if each made all that its steps have.
    pub fn first_request(&self, n: u64) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.before(n)))
    }
}
