//! Resources of a run: real sockets, the real clock, and the script of the plan.

use crate::agents::{Fleet, FleetRun, run_processes};
use crate::error::RunError;
use crate::run::PlanExecutor;
use brunt_engine::{RunControl, RunEnvironment, RunEpoch, Sink, UserSetup, Users, WorkerClock};
use brunt_model::agent::RunEnd;
use brunt_model::{Environment, Plan, StageOutput};
use brunt_script::CompiledScript;
use brunt_wire::Transport;
use brunt_wire::http::{Common, Http};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Real sockets, the real clock, and the script of the plan.
pub struct RealWorld {
    epoch: RunEpoch,
    /// Agents that carry the plan out in place of this process.
    fleet: Option<Arc<Fleet>>,
    /// End of the run on the first agent, which has the output for later stages.
    remote_end: Mutex<Option<RunEnd>>,
    wire: Arc<Common>,
    /// By population; None for those that share the connection settings of the plan.
    separate_wires: Vec<Option<Arc<Common>>>,
    /// Compiled script of each population.
    compiled: Vec<Arc<CompiledScript>>,
}

impl RealWorld {
    /// Reads files that the plan names: certificates, keys, and files of placeholders.
    ///
    /// # Errors
    ///
    /// A file of the plan cannot be read, or has invalid content.
    pub fn new(plan: &Plan) -> Result<Self, RunError> {
        Self::with_epoch(plan, RunEpoch::now())
    }

    /// Creates the same for a run that began at this instant.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::new`].
    pub fn with_epoch(plan: &Plan, epoch: RunEpoch) -> Result<Self, RunError> {
        let sharing = plan.populations.iter().filter(|population| population.connection.is_none());
        // Only requests that share these settings decide, for instance, if certificates are read.
        let wire = Common::new(&Plan { populations: sharing.cloned().collect(), ..plan.clone() })?;
        let mut separate_wires = Vec::with_capacity(plan.populations.len());
        for (number, population) in plan.populations.iter().enumerate() {
            let has_own_settings = population.connection.is_some();
            separate_wires.push(
                has_own_settings.then(|| Common::new(&plan.of_population(number))).transpose()?,
            );
        }
        let compiled = CompiledScript::all(plan)?;
        let fleet = None;
        let remote_end = Mutex::default();
        Ok(Self { epoch, fleet, remote_end, wire, separate_wires, compiled })
    }

    /// Begins the run now, not when its files were read: a wait for a lease, or for agents, is no part of it.
    #[must_use]
    pub fn beginning_now(self) -> Self {
        Self { epoch: RunEpoch::now(), ..self }
    }

    /// Has agents carry the plan out, if there are any.
    #[must_use]
    pub fn with_fleet(self, fleet: Option<Arc<Fleet>>) -> Self {
        Self { fleet, ..self }
    }
}

impl RealWorld {
    /// Output for later stages of a test: current properties, and the variables of a
    /// user that is done.
    pub fn stage_output(&self) -> StageOutput {
        if let Some(end) = &*self.remote_end() {
            return end.output.clone();
        }
        self.compiled.first().map(|compiled| compiled.stage_output()).unwrap_or_default()
    }

    /// True if a step, a script or a failure has ended the test, including the
    /// stages that would follow.
    pub fn has_ended_test(&self) -> bool {
        if let Some(end) = &*self.remote_end() {
            return end.has_ended_test;
        }
        self.compiled.iter().any(|compiled| compiled.has_ended_test())
    }

    fn remote_end(&self) -> MutexGuard<'_, Option<RunEnd>> {
        self.remote_end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the users of the plan, with any transport.
    pub fn users_of<T: Transport>(&self, transport: &Rc<T>, of: UserSetup<'_>) -> Box<dyn Users> {
        self.compiled[of.population].users(transport, of)
    }
}

/// Runs in this process, in several processes, or on agents.
impl PlanExecutor for RealWorld {
    fn began(&self) -> RunEpoch {
        RunEnvironment::epoch(self)
    }

    fn run(
        &self,
        plan: &Plan,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        if self.fleet.is_none() && plan.fleet.is_some() {
            return Err(RunError::NoAgents);
        }
        if self.fleet.is_none() && plan.processes <= 1 {
            return brunt_engine::run(plan, environment, self, control, sink).map_err(Into::into);
        }
        let script_files = self.compiled.iter().flat_map(|compiled| compiled.files());
        let run = FleetRun {
            plan,
            epoch: self.epoch,
            labels: self.labels(),
            script_files: script_files.map(Path::to_owned).collect(),
        };
        match &self.fleet {
            None => run_processes(&run, environment, control, sink),
            Some(fleet) => {
                *self.remote_end() = fleet.run(&run, environment, control, sink)?;
                Ok(())
            }
        }
    }
}

impl RunEnvironment for RealWorld {
    type Transport = Http<WorkerClock>;

    fn epoch(&self) -> RunEpoch {
        self.epoch
    }

    fn transport(
        &self,
        worker: usize,
        population: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<Http<WorkerClock>> {
        let separate = population.and_then(|number| self.separate_wires[number].as_ref());
        Rc::new(Http::new(Arc::clone(separate.unwrap_or(&self.wire)), worker, time.clone()))
    }

    fn users(&self, transport: &Rc<Http<WorkerClock>>, of: UserSetup<'_>) -> Box<dyn Users> {
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
