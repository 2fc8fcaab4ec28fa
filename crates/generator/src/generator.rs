//! Runs a plan with real sockets and the real clock.

use crate::error::GeneratorError;
use brunt_engine::{
    PartHandle, RunControl, RunEnvironment, RunEpoch, Sink, UserSetup, Users, WorkerClock,
};
use brunt_model::{Environment, Plan, StageOutput, Text};
use brunt_script::{CompiledScript, Languages};
use brunt_wire::Transport;
use brunt_wire::http::{Common, Http};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Real sockets, the real clock, and the script of a plan. Clones share them.
#[derive(Clone)]
pub struct Generator {
    epoch: RunEpoch,
    wire: Arc<Common>,
    /// By population; None for those that share the connection settings of the plan.
    separate_wires: Vec<Option<Arc<Common>>>,
    /// Compiled script of each population.
    compiled: Vec<Arc<CompiledScript>>,
}

impl Generator {
    /// Creates the generator of a run that began at this instant. Reads files that the plan names:
    /// certificates, keys, and files of placeholders. `languages` run its scripts.
    ///
    /// # Errors
    ///
    /// A file of the plan cannot be read, or has invalid content.
    pub fn new(plan: &Plan, epoch: RunEpoch, languages: Languages) -> Result<Self, GeneratorError> {
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
        let compiled = CompiledScript::all(plan, languages)?;
        Ok(Self { epoch, wire, separate_wires, compiled })
    }

    /// Begins the run at another instant.
    #[must_use]
    pub fn with_epoch(self, epoch: RunEpoch) -> Self {
        Self { epoch, ..self }
    }

    /// Runs the plan in this process.
    ///
    /// # Errors
    ///
    /// A worker could not be started, or panicked.
    pub fn run(
        &self,
        plan: &Plan,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), GeneratorError> {
        Ok(brunt_engine::run(plan, environment, self, control, sink)?)
    }

    /// Runs this process's part of the plan, controlled by its handle.
    pub fn run_part(
        &self,
        plan: &Plan,
        environment: Environment,
        handle: &PartHandle,
        sink: &mut dyn Sink,
    ) -> Result<(), GeneratorError> {
        Ok(brunt_engine::run_part(plan, environment, self, handle, sink)?)
    }

    /// Creates the users of a population, with any transport.
    pub fn users_of<T: Transport>(&self, transport: &Rc<T>, of: UserSetup<'_>) -> Box<dyn Users> {
        self.compiled[of.population].users(transport, of)
    }

    /// Output for later stages of a test: current properties, and the variables of an ended user.
    pub fn stage_output(&self) -> StageOutput {
        self.compiled.first().map(|compiled| compiled.stage_output()).unwrap_or_default()
    }

    /// True if a step, a script or a failure has ended the test, with all its later stages.
    pub fn has_ended_test(&self) -> bool {
        self.compiled.iter().any(|compiled| compiled.has_ended_test())
    }

    /// Files that scripts of the plan read.
    pub fn script_files(&self) -> Vec<PathBuf> {
        self.compiled.iter().flat_map(|compiled| compiled.files()).map(Into::into).collect()
    }
}

impl RunEnvironment for Generator {
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
        // Populations with equal settings share resolved names and sessions of TLS.
        let separate = population.and_then(|number| self.separate_wires[number].as_ref());
        Rc::new(Http::new(Arc::clone(separate.unwrap_or(&self.wire)), worker, time.clone()))
    }

    fn users(&self, transport: &Rc<Http<WorkerClock>>, of: UserSetup<'_>) -> Box<dyn Users> {
        self.users_of(transport, of)
    }

    fn labels(&self) -> Vec<String> {
        self.compiled.iter().flat_map(|compiled| compiled.labels()).collect()
    }

    fn remarks(&self) -> Vec<Text> {
        let remarks = self.compiled.iter().flat_map(|compiled| compiled.remarks());
        remarks.chain(brunt_script::exceeded::remarks()).collect()
    }

    fn describe_step(&self, population: usize, position: u32) -> String {
        self.compiled[population].describe_step(position as usize)
    }
}
