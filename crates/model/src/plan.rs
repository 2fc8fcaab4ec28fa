//! One run, fully resolved.

mod before;

use crate::goal::Until;
use crate::scenario::Scenario;
use crate::time::{optional_seconds, seconds};
use crate::{Load, Objective, ReplyPolicy, Request, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use crate::reply_policy::{Checks, StatusRange};

/// One run, fully resolved: nothing else is needed to carry it out. Nothing in it is a default.
///
/// Plans of logs that were written before there were populations are read, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "before::Written")]
#[schemars(!try_from)]
pub struct Plan {
    /// Users of one kind each, all at the same time; never empty.
    pub populations: Vec<Population>,
    /// What is made of replies; requests name them by number. Never empty.
    pub reply_policies: Vec<ReplyPolicy>,
    /// How connections are made and kept.
    pub connection: Connection,
    /// Bounds on the figures of the run.
    pub objectives: Vec<Objective>,
    /// The run ends before its time when it is sure enough; null: it does not.
    pub until: Option<Until>,
    /// What is recorded.
    pub record: Record,
    /// From which every random choice is drawn.
    pub seed: u64,
    /// Worker threads of each process.
    pub threads: u32,
    /// Processes that carry it out together: each may have only so many open files.
    pub processes: u32,
    /// Workers are awake shortly before each instant of the schedule, which costs CPU.
    pub precise: bool,
}

/// Users of one kind: what they do, how much of it, and until when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Population {
    /// Its name in reports.
    pub name: String,
    /// How much, and when.
    pub load: Load,
    /// What its users do.
    pub scenario: Scenario,
    /// When it is over.
    pub stop: Stop,
}

/// The name of a population that nobody gave one.
pub const MAIN: &str = "main";

impl Population {
    /// The only population of a plan.
    pub fn only(load: Load, scenario: Scenario, stop: Stop) -> Vec<Self> {
        vec![Self { name: MAIN.into(), load, scenario, stop }]
    }
}

impl Plan {
    /// Worker threads of all processes together.
    pub fn workers(&self) -> usize {
        self.threads as usize * self.processes.max(1) as usize
    }

    /// The first population: the one whose load sweeps, searches and comparisons vary.
    pub fn main(&self) -> &Population {
        &self.populations[0]
    }

    /// The population, where there is no other: what is said of its load holds for the whole run.
    pub fn only(&self) -> Option<&Population> {
        if let [only] = &self.populations[..] { Some(only) } else { None }
    }

    /// When the run is over: with the last of its populations.
    pub fn stop(&self) -> Stop {
        let stops = || self.populations.iter().map(|population| population.stop);
        let longest: Option<Vec<Duration>> = stops().map(|stop| stop.duration).collect();
        match self.only() {
            Some(only) => only.stop,
            None => Stop {
                duration: longest.and_then(|all| all.into_iter().max()),
                requests: None,
                iterations_per_user: None,
                grace: stops().map(|stop| stop.grace).max().unwrap_or_default(),
                ..self.main().stop
            },
        }
    }

    /// The plan of the population of this number alone.
    #[must_use]
    pub fn of_population(&self, number: usize) -> Self {
        Self { populations: vec![self.populations[number].clone()], ..self.clone() }
    }

    /// The first population, to be changed.
    pub fn main_mut(&mut self) -> &mut Population {
        &mut self.populations[0]
    }

    /// The same plan with another load of the first population.
    #[must_use]
    pub fn with_load(mut self, load: Load) -> Self {
        self.main_mut().load = load;
        self
    }

    /// The same plan whose first population stops then.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.main_mut().stop = stop;
        self
    }

    /// The requests of all populations.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.populations.iter().flat_map(|population| &population.scenario.requests)
    }

    /// What is made of the reply to the first request.
    pub fn policy(&self) -> &ReplyPolicy {
        &self.reply_policies[self.requests().next().map_or(0, |request| request.reply_policy as usize)]
    }
}

/// How connections are made and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// HTTP/1.0 instead of HTTP/1.1.
    pub http10: bool,
    /// Requests on one connection, at most; 1: a new connection each.
    pub requests_per_connection: Option<u64>,
    /// How many requests each connection has under way at once; more than 1 needs HTTP/2.
    #[serde(default = "before::one")]
    pub streams: u32,
    /// Ask once more, on a new connection, where a kept-alive one was found closed.
    pub retry_stale: bool,
    /// From begun to last byte, in seconds.
    #[serde(with = "seconds", rename = "timeout_seconds")]
    #[schemars(with = "f64")]
    pub timeout: Duration,
    /// For resolving, connecting and the TLS handshake together, in seconds.
    #[serde(with = "seconds", rename = "connect_timeout_seconds")]
    #[schemars(with = "f64")]
    pub connect_timeout: Duration,
    /// Connections opened each second before the load begins, and further ones of an open loop during it.
    pub connect_rate: u32,
    /// When connections are opened, and how soon again where one could not be.
    #[serde(default)]
    pub dialling: Dialling,
    /// Addresses given for a host and port, in place of the resolver's.
    pub resolve: Vec<Resolve>,
    /// Look the name up again each time so many seconds have passed; null: once for the run.
    #[serde(with = "optional_seconds", rename = "resolve_every_seconds")]
    #[schemars(with = "Option<f64>")]
    pub resolve_every: Option<Duration>,
    /// An HTTP proxy, as a URL.
    pub proxy: Option<String>,
    /// A Unix socket to connect to, whatever the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// Local addresses to connect from, in turn.
    pub source: Vec<IpAddr>,
    /// Bytes a second that each connection reads, at most.
    pub receive_rate: Option<u64>,
    /// Bytes that the system is asked to keep for each direction of a connection; null: as it likes.
    #[serde(default)]
    pub socket_buffer: Option<u32>,
    /// The same for what comes in, where it is another number; null: as `socket_buffer`.
    #[serde(default)]
    pub receive_buffer: Option<u32>,
    /// For whose requests a connection is.
    #[serde(default)]
    pub keep: ConnectionLifetime,
    /// Connections to other origins than that of the last request that a user keeps open, at most.
    #[serde(default = "most_kept")]
    pub other_origins: u32,
    /// A connection is closed with a reset: nothing of it lingers.
    #[serde(default)]
    pub reset: bool,
    /// How https is spoken.
    pub tls: Tls,
}

/// What plans without this number mean.
fn most_kept() -> u32 {
    16
}

impl Connection {
    /// HTTP/1.1 as it is where nothing else is wanted of it: straight to the server, kept open, and opened before the load
    /// begins, with these limits for a request and for opening a connection.
    pub fn plain(timeout: Duration, connect_timeout: Duration) -> Self {
        Self {
            http10: false,
            requests_per_connection: None,
            streams: 1,
            retry_stale: false,
            timeout,
            connect_timeout,
            connect_rate: u32::MAX,
            dialling: Dialling::Patient,
            resolve: Vec::new(),
            resolve_every: None,
            proxy: None,
            unix_socket: None,
            source: Vec::new(),
            receive_rate: None,
            socket_buffer: None,
            receive_buffer: None,
            keep: ConnectionLifetime::Run,
            other_origins: most_kept(),
            reset: false,
            tls: Tls::default(),
        }
    }
}

/// When connections are opened, and how soon again where one could not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialling {
    /// Before the load begins; a server that cannot be reached is left alone for 10 ms, then longer and longer.
    #[default]
    Patient,
    /// Each for its first request, as older tools do; where that fails, the next request tries at once.
    Eager,
}

/// For whose requests a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionLifetime {
    /// For whoever comes next, while the server leaves it open.
    #[default]
    Run,
    /// For one iteration, which closes it at its end. Until then it is used whatever replies say of it: the server closes
    /// it, or does not.
    Iteration,
}

/// An address given for a host and port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolve {
    /// The host of the URL.
    pub host: String,
    /// The port of the URL.
    pub port: u16,
    /// The address to connect to.
    pub address: IpAddr,
}

/// How https is spoken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// PEM file of the authorities to trust, in place of the system's.
    pub cacert: Option<PathBuf>,
    /// PEM file of our certificate.
    pub cert: Option<PathBuf>,
    /// PEM file of its key.
    pub key: Option<PathBuf>,
    /// Trust any certificate.
    pub insecure: bool,
    /// The name to ask for, in place of the URL's host.
    pub sni: Option<String>,
    /// A whole handshake for each connection, no resumed sessions.
    pub no_resumption: bool,
    /// No name is asked for.
    #[serde(default)]
    pub no_sni: bool,
    /// The only versions that are offered; empty: 1.2 and 1.3.
    #[serde(default)]
    pub versions: Vec<TlsVersion>,
    /// The only cipher suites that are offered, such as `TLS13_AES_128_GCM_SHA256`; empty: all.
    #[serde(default)]
    pub ciphers: Vec<String>,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// 1.2.
    #[serde(rename = "1.2")]
    V12,
    /// 1.3.
    #[serde(rename = "1.3")]
    V13,
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Seconds between snapshots.
    #[serde(with = "seconds", rename = "interval_seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
    /// Labels kept apart; the rest are summed under `(other)`.
    pub labels: u32,
    /// Every single sample leaves the engine too.
    pub samples: bool,
}
