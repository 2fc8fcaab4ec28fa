//! What a run needs of the world: real sockets, the real clock, and the plan's script.

use crate::error::RunError;
use brunt_engine::{Epoch, Time, Users, UsersOf, World};
use brunt_model::{HandedOn, Plan, plan::Population};
use brunt_script::CompiledScript;
use brunt_wire::Transport;
use brunt_wire::http::{Common, Http};
use std::rc::Rc;
use std::sync::Arc;

/// Real sockets, the real clock, and the plan's script.
pub struct Real {
    epoch: Epoch,
    wire: Arc<Common>,
    /// By population, where it has connection settings of its own.
    own_wires: Vec<Option<Arc<Common>>>,
    /// By population.
    compiled: Vec<Arc<CompiledScript>>,
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
        let shares = |population: &&Population| population.connection.is_none();
        let sharing = plan.populations.iter().filter(shares).cloned().collect();
        let wire = Common::new(&Plan { populations: sharing, ..plan.clone() })?;
        let own = |(number, population): (usize, &Population)| {
            population.connection.as_ref().map(|_| Common::new(&plan.of_population(number))).transpose()
        };
        let own_wires = plan.populations.iter().enumerate().map(own).collect::<Result<_, _>>()?;
        let compiled = CompiledScript::all(plan)?;
        Ok(Self { epoch, wire, own_wires, compiled })
    }
}

impl Real {
    /// What it hands on to later stages of a test: properties as they are now, and variables of a user that is done.
    pub fn handed_on(&self) -> HandedOn {
        self.compiled.first().map(|compiled| compiled.handed_on()).unwrap_or_default()
    }

    /// Whether a step, a script or a failure has ended the test, with the stages that would follow.
    pub fn has_ended_test(&self) -> bool {
        self.compiled.iter().any(|compiled| compiled.has_ended_test())
    }

    /// The plan's users, over whatever transport.
    pub fn users_of<T: Transport>(&self, transport: &Rc<T>, of: UsersOf<'_>) -> Box<dyn Users> {
        self.compiled[of.population].users(transport, of)
    }
}

impl World for Real {
    type Transport = Http<Time>;

    fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn transport(&self, worker: usize, population: Option<usize>, time: &Time) -> Rc<Http<Time>> {
        let own = population.and_then(|number| self.own_wires[number].as_ref());
        Rc::new(Http::new(Arc::clone(own.unwrap_or(&self.wire)), worker, time.clone()))
    }

    fn users(&self, transport: &Rc<Http<Time>>, of: UsersOf<'_>) -> Box<dyn Users> {
        self.users_of(transport, of)
    }

    fn labels(&self) -> Vec<String> {
        self.compiled.iter().flat_map(|compiled| compiled.labels()).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let remarks = self.compiled.iter().flat_map(|compiled| compiled.remarks());
        remarks.chain(brunt_script::pattern::remarks()).collect()
    }
}
