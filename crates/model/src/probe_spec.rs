//! Probes: specifications of the readings of a server under load. `probe` takes the readings.

use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A probe: readings of one object at an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeSpec {
    /// Name of the source of its readings; the full name is `KIND:NAME`, such as `process:nginx`.
    pub name: String,
    /// Object that the probe reads.
    pub what: Probed,
    /// Interval of the readings, in seconds.
    #[serde(with = "seconds", rename = "interval_seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
}

/// Object that a probe reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Probed {
    /// A machine: CPU by kind and core, load, memory, swap, pressure, disks, network, TCP.
    Host {
        /// Access to the machine.
        via: ProbeAccess,
    },
    /// Processes with their children.
    Processes {
        /// Selection of the processes.
        select: Select,
        /// Access to their machine.
        via: ProbeAccess,
    },
    /// nginx's `stub_status` page.
    Nginx {
        /// URL of the status page.
        url: String,
        /// Maximum number of nginx connections in total (workers × `worker_connections`), if known.
        connections: Option<u64>,
    },
    /// Apache's `mod_status` page, `?auto`.
    Apache {
        /// URL of the status page.
        url: String,
    },
    /// The status page of a php-fpm pool, as JSON.
    PhpFpm {
        /// URL of the status page.
        url: String,
    },
    /// Tomcat's manager status (`/manager/status?XML=true`).
    Tomcat {
        /// URL of the status page; may contain `user:password@`.
        url: String,
    },
    /// `HAProxy`'s statistics, as CSV.
    Haproxy {
        /// URL of the statistics page, in CSV.
        url: String,
    },
    /// A URL with metrics in Prometheus' text format.
    Prometheus {
        /// URL of the metrics.
        url: String,
        /// Metrics to read, by name or with labels: `node_load1`,
        /// `tomcat_threads_busy{name="http"}`. Empty: the metrics that brunt knows.
        metrics: Vec<String>,
    },
}

/// Access to a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeAccess {
    /// The machine that runs brunt.
    #[default]
    Local,
    /// Another machine, by the OpenSSH client with its own configuration;
    /// nothing is installed there.
    Ssh {
        /// Destination passed to `ssh`: `[user@]host`.
        host: String,
        /// More options for `ssh`, such as `-p 2222`.
        options: Vec<String>,
    },
}

/// Selection of processes, child processes included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The managed server of the contender.
    Server,
    /// Process with this id.
    Pid(u32),
    /// Process with the id in this file.
    PidFile(PathBuf),
    /// Processes of this name (comm).
    Name(String),
    /// Processes that listen on this TCP port.
    Port(u16),
    /// Processes of a control group, by its path below the mount point.
    Cgroup(PathBuf),
}

impl Probed {
    /// Returns the URL of the kinds that have one; it may contain a password.
    pub fn url_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Host { .. } | Self::Processes { .. } => None,
            Self::Nginx { url, .. }
            | Self::Apache { url }
            | Self::PhpFpm { url }
            | Self::Tomcat { url }
            | Self::Haproxy { url }
            | Self::Prometheus { url, .. } => Some(url),
        }
    }

    /// Kind of the probe: the prefix of its source name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Host { .. } => "host",
            Self::Processes { .. } => "process",
            Self::Nginx { .. } => "nginx",
            Self::Apache { .. } => "apache",
            Self::PhpFpm { .. } => "php-fpm",
            Self::Tomcat { .. } => "tomcat",
            Self::Haproxy { .. } => "haproxy",
            Self::Prometheus { .. } => "prometheus",
        }
    }
}

impl ProbeSpec {
    /// Source of its readings: `KIND:NAME`.
    pub fn source(&self) -> String {
        format!("{}:{}", self.what.kind(), self.name)
    }
}
