//! What is to be read of a server while it is under load.
//!
//! Out of scope: the reading itself, which is the room `probe`'s.

use crate::time::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// One thing to be read again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeSpec {
    /// What its readings are called: their source is `KIND:NAME`, such as `process:nginx`.
    pub name: String,
    /// What is read.
    pub what: Probed,
    /// Seconds from one reading to the next.
    #[serde(with = "seconds", rename = "interval_seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Probed {
    /// A machine: CPU by kind and core, load, memory, swap, pressure, disks, network, TCP.
    Host {
        /// How it is reached.
        via: ProbeAccess,
    },
    /// Processes with their children.
    Processes {
        /// Which.
        select: Select,
        /// How their machine is reached.
        via: ProbeAccess,
    },
    /// nginx's `stub_status` page.
    Nginx {
        /// Where it is.
        url: String,
        /// Connections that nginx may have in all (workers × `worker_connections`), where it is known.
        connections: Option<u64>,
    },
    /// Apache's `mod_status` page, `?auto`.
    Apache {
        /// Where it is.
        url: String,
    },
    /// The status page of a php-fpm pool, as JSON.
    PhpFpm {
        /// Where it is.
        url: String,
    },
    /// Tomcat's manager status (`/manager/status?XML=true`).
    Tomcat {
        /// Where it is; may hold `user:password@`.
        url: String,
    },
    /// `HAProxy`'s statistics, as CSV.
    Haproxy {
        /// Where they are.
        url: String,
    },
    /// Anything that answers in Prometheus' text format.
    Prometheus {
        /// Where it is.
        url: String,
        /// The metrics that are kept, by name or with labels: `node_load1`, `tomcat_threads_busy{name="http"}`. Empty:
        /// those that brunt knows of.
        metrics: Vec<String>,
    },
}

/// How a machine is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeAccess {
    /// It is this one.
    #[default]
    Local,
    /// By the OpenSSH client as it is configured; nothing is installed there.
    Ssh {
        /// What `ssh` is given: `[user@]host`.
        host: String,
        /// More options for `ssh`, such as `-p 2222`.
        options: Vec<String>,
    },
}

/// Which processes. Their children are among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The managed server of the contender: whoever carries the experiment out puts its pid in.
    Server,
    /// This one.
    Pid(u32),
    /// The one that the file names.
    PidFile(PathBuf),
    /// Those of this name (comm).
    Name(String),
    /// Those that listen on this TCP port.
    Port(u16),
    /// Those of a control group, by its path below the mount point.
    Cgroup(PathBuf),
}

impl Probed {
    /// The URL that is read, for the kinds that have one; it may hold a password.
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

    /// The kind: what a source's name begins with.
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
    /// The source of its readings: `KIND:NAME`.
    pub fn source(&self) -> String {
        format!("{}:{}", self.what.kind(), self.name)
    }
}
