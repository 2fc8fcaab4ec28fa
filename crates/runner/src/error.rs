//! Errors of a run: brunt failed, not the server.

use brunt_agents::FleetError;
use brunt_check::CheckError;
use brunt_generator::GeneratorError;
use std::io;

/// Reason why a run cannot be carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The load cannot be generated.
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// The server cannot be checked before the load.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A trial of an experiment cannot be set up.
    #[error("{which}")]
    Trial {
        /// Index and description of the trial.
        which: String,
        /// Cause of the error.
        source: Box<RunError>,
    },
    /// A stage before or after the load failed.
    #[error("{0}")]
    Stage(String),
    /// Agents, or further processes of this machine, could not be started, or cannot carry out the plan.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The plan has agents, and none were started: an error of brunt, since its load must not come from
    /// this machine.
    #[error("the agents of the plan were not started")]
    NoAgents,
    /// A pipe or a thread could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl RunError {
    /// True if setup or teardown failed, which is a failure of the server or the
    /// plan, not of brunt.
    pub fn is_of_stage(&self) -> bool {
        match self {
            Self::Stage(_) => true,
            Self::Trial { source, .. } => source.is_of_stage(),
            _ => false,
        }
    }
}
