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
use std::path::PathBuf;
use std::time::Duration;

/// Settings of a run on several agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSettings {
    /// Places of the agents.
    pub on: Placement,
    /// An agent that receives nothing from the controller for this time stops its load; 0: there is no limit.
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
    /// Number of quiet agents, which are the last ones: of 100 arrivals, they get one. Their times show if the
    /// others make the server look slower than it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quiet: u32,
    /// Groups of agents with figures of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<AgentGroup>,
    /// True: the groups are the zones of the agents' nodes on Kubernetes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_zone: bool,
    /// Settings of agents on Kubernetes or NATS; null for other agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterSettings>,
}

/// Names of the groups with quiet agents.
pub const QUIET: &str = "quiet";
/// The agents that are not quiet.
pub const LOADED: &str = "loaded";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde calls")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Agents whose figures belong together, such as those of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentGroup {
    /// Name of the group.
    pub name: String,
    /// Names of its agents.
    pub agents: Vec<String>,
}

impl FleetSettings {
    /// Returns the name of each agent's group; None for an agent without a group. `names` are those of all agents.
    pub fn groups_of(&self, names: &[String]) -> Vec<Option<&str>> {
        let loaded = names.len() - (self.quiet as usize).min(names.len());
        let groups = names.iter().enumerate().map(|(number, name)| {
            if self.quiet > 0 {
                return Some(if number < loaded { LOADED } else { QUIET });
            }
            let has_it = |group: &&AgentGroup| group.agents.contains(name);
            self.groups.iter().find(has_it).map(|group| group.name.as_str())
        });
        groups.collect()
    }

    /// True if another process may take the place of a lost agent.
    pub fn replaces_lost(&self) -> bool {
        self.cluster.as_ref().is_some_and(|cluster| cluster.replace_lost)
    }

    /// Checks that the groups contain only agents with these names.
    ///
    /// # Errors
    ///
    /// A sentence with an agent that is not one of them.
    pub fn check_groups(&self, names: &[String]) -> Result<(), String> {
        for group in &self.groups {
            if let Some(unknown) = group.agents.iter().find(|agent| !names.contains(agent)) {
                return Err(format!(
                    "the group {} has the agent {unknown}, and there is none of that name; the agents are {}",
                    group.name,
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// Settings of agents whose messages NATS carries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterSettings {
    /// URLs of NATS servers, separated by commas. Null: the agents' Kubernetes gets its own server.
    pub nats: Option<String>,
    /// File with the seed of brunt's nkey; null if the servers need none.
    pub nkey_file: Option<PathBuf>,
    /// Name of a fleet that runs already.
    pub fleet: Option<String>,
    /// File with the key of a fleet that runs already.
    pub key_file: Option<PathBuf>,
    /// Image of the agents.
    pub image: Option<String>,
    /// Image of the server of NATS.
    pub nats_image: String,
    /// When images are pulled (`Always`, `IfNotPresent`, `Never`); null: the default of Kubernetes.
    pub image_pull_policy: Option<String>,
    /// Namespace of all objects; null: that of the kubeconfig.
    pub namespace: Option<String>,
    /// CPU of each agent, as a quantity of Kubernetes.
    pub cpu: String,
    /// Memory of each agent, as a quantity of Kubernetes.
    pub memory: String,
    /// Labels that the agents' nodes must have.
    pub node_selector: Vec<(String, String)>,
    /// Time until all agents must run.
    #[serde(with = "seconds", rename = "start_deadline_seconds")]
    #[schemars(with = "f64")]
    pub start_deadline: Duration,
    /// Time after which Kubernetes removes all objects, whatever happens to the controller.
    #[serde(with = "seconds", rename = "deadline_seconds")]
    #[schemars(with = "f64")]
    pub deadline: Duration,
    /// True: after a failure, the objects stay for an hour.
    pub keep_on_failure: bool,
    /// True: another process with the name of a lost agent takes its place, and carries out its share of the load
    /// from the next interval on.
    #[serde(default)]
    pub replace_lost: bool,
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
    /// This number of pods of a Kubernetes cluster.
    Kubernetes(u32),
    /// This number of agents that run already and wait for a load on NATS.
    Nats(u32),
}

impl Placement {
    /// Number of agents.
    pub fn agents(&self) -> usize {
        match self {
            Self::Local(count) | Self::Kubernetes(count) | Self::Nats(count) => *count as usize,
            Self::Ssh(hosts) => hosts.len(),
        }
    }

    /// Names of the agents; None if they are known only when the agents have announced themselves.
    pub fn agent_names(&self) -> Option<Vec<String>> {
        match self {
            Self::Local(count) => Some((1..=*count).map(|n| format!("local-{n}")).collect()),
            Self::Ssh(hosts) => Some(hosts.clone()),
            Self::Kubernetes(count) => Some((0..*count).map(|n| format!("pod-{n}")).collect()),
            Self::Nats(_) => None,
        }
    }

    /// True if the agents are on other machines.
    pub fn is_elsewhere(&self) -> bool {
        !matches!(self, Self::Local(_))
    }

    /// True if NATS carries the messages of the agents.
    pub fn is_on_nats(&self) -> bool {
        matches!(self, Self::Kubernetes(_) | Self::Nats(_))
    }
}

impl fmt::Display for Placement {
    /// `ssh:a,b`, as users write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(count) => write!(f, "local:{count}"),
            Self::Ssh(hosts) => write!(f, "ssh:{}", hosts.join(",")),
            Self::Kubernetes(count) => write!(f, "k8s:{count}"),
            Self::Nats(count) => write!(f, "nats:{count}"),
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
