//! The environment of a run.

use crate::fleet::{AgentFacts, ClockOffset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Environment of a run: the information needed to judge whether two runs are comparable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Command line of the run.
    pub command: String,
    /// Name of the plan; None for a run from the command line alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_name: Option<String>,
    /// Version of brunt.
    pub brunt: String,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that brunt may use.
    pub cores: u32,
    /// Resource limits of the brunt process, by name.
    pub limits: Vec<(String, String)>,
    /// Kernel settings that are relevant for a load test, by name.
    pub sysctls: Vec<(String, String)>,
    /// Resolved addresses of the target.
    pub addresses: Vec<String>,
    /// Name of the server software, from its Server header.
    pub server: Option<String>,
    /// Route to the server; None if it was not determined.
    #[serde(default)]
    pub route: Option<Route>,
    /// Agents of a run on several; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentEnvironment>,
    /// Data files of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_files: Vec<DataFileFacts>,
    /// True if a LIMITED verdict counts as a failure (`--strict`).
    #[serde(default)]
    pub strict: bool,
    /// Percentage of the planned load that may be lost with agents or processes without a failure (`--allow-lost`).
    #[serde(default)]
    pub allowed_loss_percent: u8,
}

/// A data file at the start of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataFileFacts {
    /// File name, as in the plan.
    pub file: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

impl Environment {
    /// Returns the group of each agent; None for an agent without a group.
    pub fn groups(&self) -> Vec<Option<&str>> {
        self.agents.iter().map(|agent| agent.group.as_deref()).collect()
    }
}

/// An agent of a run: its name, its machine, and how well its clock is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEnvironment {
    /// Name of the agent.
    pub name: String,
    /// Group of the agent; null if it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Facts that the agent reported about itself.
    pub facts: AgentFacts,
    /// Offset of its clock and the bounds of it, before the load.
    pub clock: ClockOffset,
    /// Route from it to the server; None if it was not determined.
    #[serde(default)]
    pub route: Option<Route>,
}

/// Route to the server, as far as this machine shows it. Unknown values are None.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// True if the server's address belongs to this machine.
    pub same_host: Option<bool>,
    /// Name and pid of the process that listens there, if it is on this machine.
    pub listener: Option<String>,
    /// Processes that hold the listening socket. With their children they are the server.
    #[serde(default)]
    pub listener_pids: Vec<u32>,
    /// Maximum length of its accept queue (backlog), if it is on this machine.
    pub listener_backlog: Option<u64>,
    /// The listener's limit on open files, if it is on this machine.
    pub listener_descriptors: Option<u64>,
    /// Network interface of the route.
    pub interface: Option<String>,
    /// Link speed of the interface, in bits per second.
    pub link_bits_per_second: Option<u64>,
    /// Largest packet of the route, in bytes.
    pub mtu_bytes: Option<u64>,
}
