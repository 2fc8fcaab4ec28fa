//! Carries a plan out: in this process, in several processes, or on agents.

use crate::error::RunError;
use crate::run::PlanExecutor;
use brunt_agents::controller::{Fleet, FleetRun, run_processes};
use brunt_engine::{RunControl, RunEnvironment, RunEpoch, Sink};
use brunt_generator::Generator;
use brunt_model::agent::RunEnd;
use brunt_model::sync::IgnorePoison;
use brunt_model::{Environment, Plan, StageOutput};
use brunt_script::Languages;
use std::sync::{Arc, Mutex, MutexGuard};

/// The load generator of this process, or agents in its place.
pub struct RealWorld {
    generator: Generator,
    /// Agents that carry the plan out in place of this process.
    fleet: Option<Arc<Fleet>>,
    /// End of the run on the first agent, which has the output for later stages.
    remote_end: Mutex<Option<RunEnd>>,
}

impl RealWorld {
    /// Reads files that the plan names: certificates, keys, and files of placeholders.
    /// `languages` run its scripts.
    ///
    /// # Errors
    ///
    /// A file of the plan cannot be read, or has invalid content.
    pub fn new(plan: &Plan, languages: Languages) -> Result<Self, RunError> {
        let generator = Generator::new(plan, RunEpoch::now(), languages)?;
        Ok(Self { generator, fleet: None, remote_end: Mutex::default() })
    }

    /// Begins the run now, not when its files were read: a wait for a lease, or for agents, is no part of it.
    #[must_use]
    pub fn beginning_now(self) -> Self {
        Self { generator: self.generator.with_epoch(RunEpoch::now()), ..self }
    }

    /// Has agents carry the plan out, if there are any.
    #[must_use]
    pub fn with_fleet(self, fleet: Option<Arc<Fleet>>) -> Self {
        Self { fleet, ..self }
    }

    /// The generator of this process.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Output for later stages of a test: current properties, and the variables of a
    /// user that is done.
    pub fn stage_output(&self) -> StageOutput {
        let remote = self.remote_end().as_ref().map(|end| end.output.clone());
        remote.unwrap_or_else(|| self.generator.stage_output())
    }

    /// True if a step, a script or a failure has ended the test, including the
    /// stages that would follow.
    pub fn has_ended_test(&self) -> bool {
        let remote = self.remote_end().as_ref().map(|end| end.has_ended_test);
        remote.unwrap_or_else(|| self.generator.has_ended_test())
    }

    fn remote_end(&self) -> MutexGuard<'_, Option<RunEnd>> {
        self.remote_end.lock().ignore_poison()
    }
}

impl PlanExecutor for RealWorld {
    fn began(&self) -> RunEpoch {
        self.generator.epoch()
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
            return Ok(self.generator.run(plan, environment, control, sink)?);
        }
        let run = FleetRun {
            plan,
            epoch: self.generator.epoch(),
            labels: self.generator.labels(),
            script_files: self.generator.script_files(),
        };
        match &self.fleet {
            None => Ok(run_processes(&run, environment, control, sink)?),
            Some(fleet) => {
                *self.remote_end() = fleet.run(&run, environment, control, sink)?;
                Ok(())
            }
        }
    }
}
