//! Errors of a run on agents: brunt failed, not the server.

use brunt_generator::GeneratorError;
use brunt_model::numbers::plural;
use std::io;
use std::path::PathBuf;

/// Reason why agents cannot be started, or cannot carry out a plan to its end.
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
    /// The load cannot be generated.
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// A pipe or a thread could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn reasons(agents: &[(String, String)]) -> String {
    let texts: Vec<String> = agents.iter().map(|(name, why)| format!("{name} ({why})")).collect();
    texts.join("; ")
}
