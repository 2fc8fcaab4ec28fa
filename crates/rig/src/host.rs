//! The interface between the rig and the part that makes runs.

use crate::server::RunningServer;
use brunt_model::experiment::Contender;
use brunt_model::{Plan, ProbeSpec, Text, TrialIndex, text};
use std::time::Duration;

/// Makes and stores the runs of an experiment: in one process, several processes,
/// or on several machines.
pub trait ExperimentHost {
    /// The reason why a run could not be made at all. A failure of the server is not an error.
    type Error;

    /// Makes a run and stores it. The run ends early if the experiment is stopped.
    ///
    /// # Errors
    ///
    /// The run could not be made. Failures of the server are part of the run.
    fn run(&mut self, work: &TrialRun) -> Result<(), Self::Error>;

    /// Receives a message about an action around the runs.
    fn report(&mut self, message: RigMessage);

    /// True if the experiment is to be stopped. Polled during every wait.
    fn is_stopped(&self) -> bool;

    /// True if no more repetitions are needed. Called when all contenders were
    /// measured in a repetition.
    fn has_enough(&mut self, repetition: u32) -> bool {
        let _ = repetition;
        false
    }
}

/// A run that the host has to make.
pub struct TrialRun<'a> {
    /// Position of the trial in the experiment.
    pub place: TrialIndex,
    /// The contender that is measured.
    pub contender: &'a Contender,
    /// Load of the step, in the unit of the experiment.
    pub load: f64,
    /// The step's plan with the seed of this trial. Seeds, and thus arrivals, differ between
    /// repetitions and are the same for all contenders.
    pub plan: Plan,
    /// The probes to read during the run, with `Select::Server` replaced by `Select::Pid`.
    pub probes: Vec<ProbeSpec>,
    /// Trial index, from 1; trials before an interruption are counted.
    pub number: usize,
    /// Number of all trials; None if it is not known yet.
    pub total: Option<usize>,
    /// The managed server of the contender, if it has one.
    pub(crate) server: Option<&'a RunningServer<'a>>,
}

impl TrialRun<'_> {
    /// Returns a warning if the managed server has ended. Called at the end of the run.
    pub fn server_warning(&self) -> Option<Text> {
        let ending = self.server?.ended()?;
        let contender = &*self.contender.name;
        Some(text!("warning-server-ended", contender, ending = ending.to_string()))
    }
}

/// A message about an action around the runs.
#[derive(Debug, Clone, PartialEq)]
pub enum RigMessage {
    /// A hook is started.
    Hook {
        /// Position in the experiment, such as `before the step at 50 of nginx, repetition 2`.
        when: String,
        /// The command, as passed to `sh`.
        command: String,
    },
    /// A managed server is started.
    Starting {
        /// Name of the contender.
        contender: String,
    },
    /// A managed server is ready.
    Ready {
        /// Name of the contender.
        contender: String,
        /// Duration of the start.
        took: Duration,
    },
    /// A managed server is stopped.
    Stopping {
        /// Name of the contender.
        contender: String,
    },
    /// A pause begins, in which the machine cools down.
    Resting {
        /// Length of the pause.
        time: Duration,
    },
    /// A warning for the user.
    Warning(Text),
}
