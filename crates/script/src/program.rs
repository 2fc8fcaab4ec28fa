//! Compiles a scenario's tree of steps to one flat program.
//!
//! Loops and branches become jumps. Their state is in numbered slots of a user, some for an
//! iteration and some for the user's whole lifetime. Steps that take turns store the operation
//! after their last turn in such a slot, too. The number of requests of an iteration is known
//! before the load. So each request of a run has a number that does not depend on the process that
//! makes it. It follows from the number of the iteration and of the requests before it.

mod compiler;
pub mod memory;
mod operations;
pub mod user;

use crate::texts::data::Rows;
use crate::{Feeds, ScriptError};
use brunt_model::scenario::{ListOrder, Scenario};
use compiler::{Compiler, StepPosition};
use operations::RequestCount;

pub use operations::{InternalOp, Op, SetVariables, StepFacts, final_step, first_place, shares};

/// A scenario as a list of operations.
#[derive(Debug)]
pub struct Program {
    /// Operations of an iteration, which ends after the last one.
    pub ops: Vec<Op>,
    /// Number of slots of a user. All are zero at its beginning.
    pub slots: usize,
    /// Slots that are zero at the beginning of each iteration.
    pub iteration_slots: Vec<usize>,
    /// Number of orders that each user stores.
    pub orders: usize,
    /// Data files that its steps read.
    pub data: Vec<Rows>,
    /// Order in which each user goes through the list on its own. None: users do not.
    pub walk: Option<ListOrder>,
    counts: Vec<RequestCount>,
}

impl Program {
    /// Compiles a scenario. `feeds` contains its variables.
    ///
    /// # Errors
    ///
    /// The steps are inconsistent, a text is malformed, or a data file cannot be read.
    pub fn new(scenario: &Scenario, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let data = scenario
            .data
            .iter()
            .map(|file| Rows::read(file, feeds))
            .collect::<Result<Vec<_>, _>>()?;
        let mut compiler = Compiler::new(feeds, data.len());
        compiler.steps(&scenario.steps, StepPosition { most: 1, counts: true })?;
        let Compiler { ops, slots, iteration_slots, orders, walk, .. } = compiler;
        let counts = scenario.steps.iter().map(RequestCount::of_step).collect();
        Ok(Self { ops, slots, iteration_slots, orders, data, walk, counts })
    }

    /// Returns the number, within the run, of the first request of iteration `n`. It assumes that
    /// each iteration makes all requests of its steps.
    pub fn first_request(&self, n: u64) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.requests_before(n)))
    }
}
