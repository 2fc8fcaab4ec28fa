//! What a run needs of the world: real sockets, the real clock, and the plan's script.

use crate::error::RunError;
use brunt_engine::{Epoch, Numbering, Time, Users, World};
use brunt_model::Plan;
use brunt_script::CompiledScript;
use brunt_wire::Wire;
use brunt_wire::h1::{Common, H1};
use std::rc::Rc;
use std::sync::Arc;

/// Real sockets, the real clock, and the plan's script.
pub struct Real {
    epoch: Epoch,
    wire: Arc<Common>,
    compiled: Arc<CompiledScript>,
}

impl Real {
    /// Reads what the plan names: certificates, keys, the files of placeholders.
    ///
    /// # Errors
    ///
    /// A file that the plan names cannot be read, or does not hold what it should.
    pub fn new(plan: &Plan) -> Result<Self, RunError> {
        Self::at(plan, Epoch::now())
    }

    /// The same in a run that began at this instant.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn at(plan: &Plan, epoch: Epoch) -> Result<Self, RunError> {
        let wire = Common::new(plan)?;
        let compiled = Arc::new(CompiledScript::new(plan)?);
        Ok(Self { epoch, wire, compiled })
    }
}

impl Real {
    /// The plan's users, on whatever wire.
    pub fn users_of<W: Wire>(&self, wire: &Rc<W>, worker: usize, labels: &Numbering) -> Box<dyn Users> {
        self.compiled.users(wire, worker, labels)
    }
}

impl World for Real {
    type Wire = H1<Time>;

    fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn wire(&self, worker: usize, time: &Time) -> Rc<H1<Time>> {
        Rc::new(H1::new(Arc::clone(&self.wire), worker, time.clone()))
    }

    fn users(&self, wire: &Rc<H1<Time>>, worker: usize, labels: &Numbering) -> Box<dyn Users> {
        self.users_of(wire, worker, labels)
    }

    fn labels(&self) -> Vec<String> {
        self.compiled.labels()
    }
}
