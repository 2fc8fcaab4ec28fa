//! Errors of a run: brunt failed, not the server.

use brunt_engine::EngineError;
use brunt_generator::GeneratorError;
use brunt_model::numbers::plural;
use brunt_script::ScriptError;
use brunt_wire::http::BadWire;
use std::io;
use std::path::PathBuf;

/// Reason why a run cannot be carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The connections cannot be set up: a certificate cannot be read, or the proxy is invalid.
    #[error("the connection cannot be set up")]
    Connection(#[from] BadWire),
    /// The plan's script cannot be compiled, or a file that it names cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The engine failed with an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The plan has no request.
    #[error("there is no request")]
    NothingAsked,
    /// The first request cannot be made.
    #[error("{0}")]
    Request(String),
    /// The regular expression for labels of a live output is invalid.
    #[error("the regular expression for labels whose figures are sent: {0}")]
    Labels(String),
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
    /// Agents, or further processes of this machine, could not be started.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The plan has agents, and none were started: an error of brunt, since its load must not come from
    /// this machine.
    #[error("the agents of the plan were not started")]
    NoAgents,
    /// An agent ended between two runs.
    #[error("agent {name} has ended ({why})")]
    AgentGone {
        /// Name of the agent.
        name: String,
        /// Reason of its end.
        why: String,
    },
    /// A host of the plan is neither allowed nor consents to be loaded.
    #[error("{0}")]
    NoConsent(String),
    /// The plan has no such agents as its groups name, no load for its quiet agents, or counts what a lost agent
    /// takes with it.
    #[error("{0}")]
    AgentGroup(String),
    /// A limit of an agent is too low for its share.
    #[error("{0}")]
    AgentLimit(String),
    /// A file that agents need cannot be read.
    #[error("{path}: this file cannot be sent to the agents")]
    AgentFile {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The plan cannot be sent.
    #[error("the plan cannot be encoded")]
    Encoding(#[source] serde_json::Error),
    /// A pipe or a thread could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<GeneratorError> for RunError {
    fn from(error: GeneratorError) -> Self {
        match error {
            GeneratorError::Connection(error) => error.into(),
            GeneratorError::Script(error) => error.into(),
            GeneratorError::Engine(error) => error.into(),
        }
    }
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

/// Error that keeps a fleet from starting.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The program that agents run cannot be read.
    #[error("the program of the agents, {path}, cannot be read")]
    Program {
        /// Path of the program.
        path: String,
        /// Error of the system.
        source: io::Error,
    },
    /// Agents could not be started: their names, each with the reason.
    #[error("{} could not be started: {}", plural(.0.len() as u64, "agent"), reasons(.0))]
    Agents(Vec<(String, String)>),
    /// These agents need a carrier for their messages.
    #[error("--on {0}: only the command `brunt` starts these agents")]
    NoCarrier(String),
    /// A thread could not be started.
    #[error("an agent's connection could not be served")]
    Thread(#[source] io::Error),
}

fn reasons(agents: &[(String, String)]) -> String {
    let texts: Vec<String> = agents.iter().map(|(name, why)| format!("{name} ({why})")).collect();
    texts.join("; ")
}
