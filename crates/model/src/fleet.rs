//! Runs on several agents: their places, facts about them, and the limits of their links.
//!
//! An agent is a process that carries out a share of a plan, on this machine or another one. The
//! controller is the process that the user started: it has the plan, merges the results of the agents
//! and makes the report. Out of scope: the messages between them ([`crate::agent`]), and how an agent
//! is started.

use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Settings of a run on several agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSettings {
    /// Places of the agents.
    pub on: Placement,
    /// An agent that receives nothing from the controller for this time stops its load.
    #[serde(with = "seconds", rename = "lease_seconds")]
    #[schemars(with = "f64")]
    pub lease: Duration,
    /// Bytes per second that each agent should send at most. Above it, an agent sends the figures of
    /// labels less often; no figure of the report changes.
    pub bytes_per_second: u64,
    /// Text by which a host consents to be loaded, in a file that it serves. Null: hosts that
    /// `allowed_targets` does not name are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
}

/// Places of the agents of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// This number of processes on this machine.
    Local(u32),
    /// One process on each of these hosts, started through `ssh`. A name is what `ssh` accepts, such
    /// as `user@host` or an alias of its configuration.
    Ssh(Vec<String>),
}

impl Placement {
    /// Number of agents.
    pub fn agents(&self) -> usize {
        match self {
            Self::Local(count) => *count as usize,
            Self::Ssh(hosts) => hosts.len(),
        }
    }

    /// True if the agents are on other machines.
    pub fn is_elsewhere(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Ssh(_) => true,
        }
    }

    /// Names of the agents, in order.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Local(count) => (1..=*count).map(|number| format!("local-{number}")).collect(),
            Self::Ssh(hosts) => hosts.clone(),
        }
    }
}

impl fmt::Display for Placement {
    /// `ssh:a,b`, as users write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(count) => write!(f, "local:{count}"),
            Self::Ssh(hosts) => write!(f, "ssh:{}", hosts.join(",")),
        }
    }
}

/// Facts that an agent reports about its program and machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFacts {
    /// Version of its brunt.
    pub brunt: String,
    /// Name of its machine.
    pub host: String,
    /// Number of its process.
    pub pid: u32,
    /// Architecture of its processor, such as `x86_64`.
    pub architecture: String,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Maximum number of its open files.
    pub descriptors: u64,
    /// Kernel settings that are relevant for a load test, by name.
    pub sysctls: Vec<(String, String)>,
    /// Identity of its monotonic clock: the boot of its machine, and its time namespace. Agents with
    /// the same identity share one clock. Empty if it is unknown.
    pub clock: String,
}

/// Offset of an agent's monotonic clock from the controller's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockOffset {
    /// Nanoseconds by which the agent's clock is ahead.
    pub offset_nanos: i64,
    /// The true offset differs from it by at most this number of nanoseconds. 0: they share one
    /// clock.
    pub error_nanos: u64,
    /// Smallest round trip of a message, in nanoseconds.
    pub round_trip_nanos: u64,
}

/// Version of this brunt. The programs of a fleet have the same version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
