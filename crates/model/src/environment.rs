//! Where and with what a run was made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where and with what a run was made: what somebody needs to judge whether two runs may be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The command line.
    pub command: String,
    /// Name of the plan; None for a run from the command line alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_name: Option<String>,
    /// The version of brunt.
    pub brunt: String,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that we may use.
    pub cores: u32,
    /// Limits of our process, by name.
    pub limits: Vec<(String, String)>,
    /// Kernel settings that bear on a load test, by name.
    pub sysctls: Vec<(String, String)>,
    /// Resolved addresses of the target.
    pub addresses: Vec<String>,
    /// What the server calls itself.
    pub server: Option<String>,
    /// The way to the server; None where it was not looked at.
    #[serde(default)]
    pub route: Option<Route>,
    /// Whether a LIMITED verdict counts as a failure: `--strict`.
    #[serde(default)]
    pub strict: bool,
}

/// The way to the server, as far as this machine shows it. What it does not show is None.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// The server's address is one of this machine's.
    pub same_host: Option<bool>,
    /// The process that listens there, where it is on this machine: name and pid.
    pub listener: Option<String>,
    /// The processes that hold the listening socket; with their children they are the server.
    #[serde(default)]
    pub listener_pids: Vec<u32>,
    /// The length of its accept queue (its backlog), where it is on this machine.
    pub listener_backlog: Option<u64>,
    /// The listener's limit on open files, where it is on this machine.
    pub listener_descriptors: Option<u64>,
    /// The interface that leads there.
    pub interface: Option<String>,
    /// Its speed, in bits per second.
    pub link_bits_per_second: Option<u64>,
    /// Its largest packet, in bytes.
    pub mtu_bytes: Option<u64>,
}
