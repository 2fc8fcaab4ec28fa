//! Plans: one run each, fully resolved.

mod http_version;
mod stage;

use crate::fleet::FleetSettings;
use crate::goal::Until;
use crate::scenario::Scenario;
use crate::time::{optional_seconds, seconds};
use crate::{Load, Objective, ProcessShares, ReplyPolicy, Request, Stop};
pub use http_version::HttpVersion;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use stage::{StageKind, StageOutput, TestStage};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::reply_policy::{ReplyChecks, StatusRange};

/// A fully resolved run: every setting has its value, and nothing else is needed to execute it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// The implementations below call the derived functions, so that a plan is validated
// when it is read.
#[serde(remote = "Self")]
pub struct Plan {
    /// Populations of virtual users, all active at the same time; never empty.
    pub populations: Vec<Population>,
    /// Reply policies; requests refer to them by index. Never empty.
    pub reply_policies: Vec<ReplyPolicy>,
    /// Connection settings of all populations without separate ones.
    pub connection: ConnectionSettings,
    /// Bounds on the figures of the run.
    pub objectives: Vec<Objective>,
    /// Precision at which the run ends early; null: it does not end early.
    pub until: Option<Until>,
    /// Settings for recording samples.
    pub record: RecordSettings,
    /// Seed of all random choices.
    pub seed: u64,
    /// Worker threads of each process.
    pub threads: u32,
    /// Processes that share the load.
    pub processes: u32,
    /// True: busy-wait before each send, for less lag at the cost of CPU.
    pub precise: bool,
    /// Hosts to which brunt may connect, as names or addresses; empty: all hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_targets: Vec<String>,
    /// Agents that share the load; null: this process and its own processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSettings>,
    /// Stages before and after the plan. Their requests are not part of its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<TestStage>,
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let plan = Self::deserialize(deserializer)?;
        let is_valid = plan.has_population_and_policies();
        is_valid.then_some(plan).ok_or_else(|| {
            D::Error::custom("a plan has a population, and a policy for each request")
        })
    }
}

/// A population: virtual users with one load, scenario and stop condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Population {
    /// Name of the population in reports.
    pub name: String,
    /// Load of the population.
    pub load: Load,
    /// Scenario of its users.
    pub scenario: Scenario,
    /// Conditions that end the population's load.
    pub stop: Stop,
    /// Settings for opening and using connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Box<ConnectionSettings>>,
    /// Group of agents over which the load is dealt; null: all agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Default name of a population.
pub const MAIN: &str = "main";

impl Population {
    /// Creates the only population of a plan.
    pub fn only(load: Load, scenario: Scenario, stop: Stop) -> Vec<Self> {
        vec![Self { name: MAIN.into(), load, scenario, stop, connection: None, group: None }]
    }

    /// Word for one of its users in reports: "connection" if a user only repeats
    /// requests on one connection.
    pub fn word_for_user(&self, connection: &ConnectionSettings) -> &'static str {
        // With several connections per origin, the number of users is not the number of
        // connections.
        let only_repeats =
            self.scenario.order().is_some() && connection.connections_per_origin <= 1;
        if only_repeats { "connection" } else { "user" }
    }
}

impl Plan {
    /// Number of worker threads of all processes together.
    pub fn workers(&self) -> usize {
        self.threads as usize * self.processes.max(1) as usize
    }

    /// Returns the first population, whose load sweeps, searches and comparisons vary.
    pub fn main(&self) -> &Population {
        &self.populations[0]
    }

    /// Returns the population if there is only one. Its load is then that of the whole run.
    pub fn only(&self) -> Option<&Population> {
        if let [only] = &self.populations[..] { Some(only) } else { None }
    }

    /// Requested measured time. Of a run that may end once its goals are reached, the least one. None if a number
    /// ends the run.
    pub fn requested_time(&self) -> Option<Duration> {
        self.until.as_ref().map(|until| until.least).or(self.stop().duration)
    }

    /// Returns the stop condition of the run. A run ends with the last of its populations.
    pub fn stop(&self) -> Stop {
        let stops: Vec<Stop> = self.populations.iter().map(|population| population.stop).collect();
        let durations: Option<Vec<Duration>> = stops.iter().map(|stop| stop.duration).collect();
        match self.only() {
            Some(only) => only.stop,
            // Numbers of requests and iterations belong to single populations.
            None => Stop {
                duration: durations.and_then(|all| all.into_iter().max()),
                requests: None,
                iterations_per_user: None,
                grace: stops.iter().map(|stop| stop.grace).max().unwrap_or_default(),
                ..self.main().stop
            },
        }
    }

    /// Returns the plan of a single population, by its number.
    #[must_use]
    pub fn of_population(&self, number: usize) -> Self {
        let connection = self.connection_of(number).clone();
        // The population's settings become those of the plan, so a copy would be redundant.
        let population = Population { connection: None, ..self.populations[number].clone() };
        Self { populations: vec![population], connection, ..self.clone() }
    }

    /// True if the load comes from other machines than this one.
    pub fn is_elsewhere(&self) -> bool {
        self.fleet.as_ref().is_some_and(|fleet| fleet.on.is_elsewhere())
    }

    /// Returns the plan of one agent: the populations of which it has a share, with its share of the permitted
    /// connections and requests in flight. Rates and numbers of users are those of the whole run.
    #[must_use]
    pub fn of_agent(&self, shares: &ProcessShares) -> Self {
        let mut plan = Self { processes: 1, fleet: None, stages: Vec::new(), ..self.clone() };
        plan.populations.clear();
        for (population, part) in self.populations.iter().zip(&shares.populations) {
            let Some(part) = part else { continue };
            let mut population = Population { group: None, ..population.clone() };
            if let Load::Open { connections, max_in_flight, .. } = &mut population.load {
                let share = |n: u32| u32::try_from(part.share(n.into())).unwrap_or(u32::MAX);
                *connections = connections.map(share);
                *max_in_flight = share(*max_in_flight);
            }
            plan.populations.push(population);
        }
        plan
    }

    /// Returns the files and folders that the plan names: certificates, keys, data files, and folders
    /// of functions.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        self.clone().change_paths(|path| {
            paths.push(path.to_owned());
            path.to_owned()
        });
        paths
    }

    /// Replaces the path of each file and folder that the plan names.
    pub fn change_paths(&mut self, mut changed: impl FnMut(&Path) -> PathBuf) {
        let own = self.populations.iter_mut().filter_map(|one| one.connection.as_deref_mut());
        for connection in std::iter::once(&mut self.connection).chain(own) {
            let TlsSettings { cacert, cert, key, .. } = &mut connection.tls;
            for path in [cacert, cert, key].into_iter().flatten() {
                *path = changed(path);
            }
        }
        for population in &mut self.populations {
            let files = population.scenario.data.iter_mut().map(|data| &mut data.file);
            for path in files.chain(&mut population.scenario.folders) {
                *path = changed(Path::new(path)).to_string_lossy().into_owned();
            }
        }
    }

    /// Returns the connection settings of a population, by its number.
    pub fn connection_of(&self, number: usize) -> &ConnectionSettings {
        self.populations[number].connection.as_deref().unwrap_or(&self.connection)
    }

    /// Returns the first population for changes.
    pub fn main_mut(&mut self) -> &mut Population {
        &mut self.populations[0]
    }

    /// Returns the plan with another stop condition of its first population.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.main_mut().stop = stop;
        self
    }

    /// Returns the requests of all populations.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.populations.iter().flat_map(|population| &population.scenario.requests)
    }

    fn has_population_and_policies(&self) -> bool {
        let policies = self.reply_policies.len();
        !self.populations.is_empty()
            && policies > 0
            && self.requests().all(|request| (request.reply_policy as usize) < policies)
    }

    /// Returns the reply policy of the first request.
    pub fn policy(&self) -> &ReplyPolicy {
        &self.reply_policies
            [self.requests().next().map_or(0, |request| request.reply_policy as usize)]
    }
}

/// Connection settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionSettings {
    /// The version of HTTP.
    pub http: HttpVersion,
    /// Maximum number of requests per connection; 1: a new connection for each request.
    pub requests_per_connection: Option<u64>,
    /// Requests in flight per connection; more than 1 needs HTTP/2.
    #[serde(default = "one")]
    pub streams: u32,
    /// True: HTTP/2 in cleartext begins as HTTP/1.1 (`Upgrade: h2c`, RFC
    /// 7540). False: prior knowledge.
    #[serde(default)]
    pub h2c_upgrade: bool,
    /// Connections of each user to an origin, all in use at once.
    #[serde(default = "one")]
    pub connections_per_origin: u32,
    /// True: retry a request once on a new connection if the kept-alive one was closed.
    pub retry_stale: bool,
    /// Timeout of a request, from begun to last byte, in seconds.
    #[serde(with = "seconds", rename = "timeout_seconds")]
    #[schemars(with = "f64")]
    pub timeout: Duration,
    /// Timeout for name resolution, connect and TLS handshake together, in seconds.
    #[serde(with = "seconds", rename = "connect_timeout_seconds")]
    #[schemars(with = "f64")]
    pub connect_timeout: Duration,
    /// Connections opened each second before the load begins, and further ones of an
    /// open loop during it.
    pub connect_rate: u32,
    /// Strategy for opening connections, and for retries after a failed connect.
    #[serde(default)]
    pub dialling: Dialling,
    /// Fixed addresses for a host and port, instead of name resolution.
    pub resolve: Vec<Resolve>,
    /// Destination of all connections, whatever the URL; null: as in the URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve_all: Option<ResolveAll>,
    /// Interval at which DNS is re-resolved, in seconds; null: once per run.
    #[serde(with = "optional_seconds", rename = "resolve_every_seconds")]
    #[schemars(with = "Option<f64>")]
    pub resolve_every: Option<Duration>,
    /// An HTTP proxy, as a URL.
    pub proxy: Option<String>,
    /// A Unix socket to connect to, whatever the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// Local addresses to connect from, in turn.
    pub source: Vec<IpAddr>,
    /// Maximum receive rate of each connection, in bytes per second.
    pub receive_rate: Option<u64>,
    /// Size of the send and receive buffers of each socket, in bytes; null: the system's default.
    #[serde(default)]
    pub socket_buffer: Option<u32>,
    /// Size of the receive buffer of each socket, in bytes; null: as `socket_buffer`.
    #[serde(default)]
    pub receive_buffer: Option<u32>,
    /// Lifetime of a connection.
    #[serde(default)]
    pub keep: ConnectionLifetime,
    /// Maximum number of idle connections that a user keeps open to origins other than that
    /// of its last request.
    #[serde(default = "default_other_origins")]
    pub other_origins: u32,
    /// True: close connections with a reset, without `TIME_WAIT`.
    #[serde(default)]
    pub reset: bool,
    /// TLS settings of all connections.
    pub tls: TlsSettings,
}

/// Default for plans without this number.
fn default_other_origins() -> u32 {
    16
}

fn one() -> u32 {
    1
}

impl ConnectionSettings {
    /// Requests that a user can have in flight at once: the streams of all its
    /// connections to an origin.
    pub fn in_flight_per_user(&self) -> u32 {
        self.streams.max(1).saturating_mul(self.connections_per_origin.max(1))
    }

    /// Creates the settings of plain HTTP/1.1: direct, kept-alive connections that are opened
    /// before the load begins, with these timeouts.
    pub fn plain(timeout: Duration, connect_timeout: Duration) -> Self {
        Self {
            http: HttpVersion::V1_1,
            requests_per_connection: None,
            streams: 1,
            h2c_upgrade: false,
            connections_per_origin: 1,
            retry_stale: false,
            timeout,
            connect_timeout,
            // ab, siege and httperf, which use these settings, do not pace their connections.
            connect_rate: u32::MAX,
            dialling: Dialling::Patient,
            resolve: Vec::new(),
            resolve_all: None,
            resolve_every: None,
            proxy: None,
            unix_socket: None,
            source: Vec::new(),
            receive_rate: None,
            socket_buffer: None,
            receive_buffer: None,
            keep: ConnectionLifetime::Run,
            other_origins: default_other_origins(),
            reset: false,
            tls: TlsSettings::default(),
        }
    }
}

/// Strategy for opening connections, and for retries after a failed connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialling {
    /// Connections are opened before the load begins. Failed connects are retried after 10 ms,
    /// then after increasing delays.
    #[default]
    Patient,
    /// A connection is opened at its first request, as in older tools. After a failed connect, the
    /// next request retries at once.
    Eager,
}

/// Lifetime of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionLifetime {
    /// The run: any later request may reuse it while the server keeps it open.
    #[default]
    Run,
    /// One iteration; the connection is closed at its end. Until then it is used even if a reply
    /// contains `Connection: close`, as long as the server keeps it open.
    Iteration,
    /// One iteration. It also ends after a request or a reply with `Connection: close`.
    IterationOrClose,
}

/// A fixed address for a host and port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolve {
    /// The host of the URL.
    pub host: String,
    /// The port of the URL; 0: any.
    pub port: u16,
    /// The address to connect to.
    pub address: IpAddr,
}

impl Resolve {
    /// True if the address applies to this host and port.
    pub fn is_of(&self, host: &str, port: u16) -> bool {
        (self.port == 0 || self.port == port) && self.host.eq_ignore_ascii_case(host)
    }
}

/// Destination of all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveAll {
    /// Address and port, such as `127.0.0.1:8080`.
    pub address: SocketAddr,
    /// True: all connections use TLS. False: none does, even if a URL begins with https.
    pub tls: bool,
}

/// TLS settings of connections.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct TlsSettings {
    /// PEM file of the authorities to trust, in place of the system's.
    pub cacert: Option<PathBuf>,
    /// File of the client certificate in PEM, DER or PKCS #12, or a folder with files that contain
    /// certificate and key. Clients use the files of a folder in turn.
    pub cert: Option<PathBuf>,
    /// File of the certificate's key; null if the file of the certificate contains it.
    pub key: Option<PathBuf>,
    /// Password of an encrypted key, or of a file of PKCS #12.
    #[serde(default)]
    pub key_password: Option<String>,
    /// True: accept any certificate.
    pub insecure: bool,
    /// Server name (SNI), in place of the URL's host.
    pub sni: Option<String>,
    /// True: a full handshake for each connection, without session resumption.
    pub no_resumption: bool,
    /// True: HTTP/3 sends GET and HEAD requests with the first packets of
    /// a resumed session (0-RTT).
    #[serde(default)]
    pub early_data: bool,
    /// True: send no server name (SNI).
    #[serde(default)]
    pub no_sni: bool,
    /// Offered versions; empty: 1.2 and 1.3.
    #[serde(default)]
    pub versions: Vec<TlsVersion>,
    /// Offered cipher suites, such as `TLS13_AES_128_GCM_SHA256`; empty: all.
    #[serde(default)]
    pub ciphers: Vec<String>,
    /// Offered key exchange groups, best first, such as `X25519MLKEM768`; empty:
    /// `X25519MLKEM768`, `X25519`, `secp256r1`, `secp384r1`.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// TLS version 1.2.
    #[serde(rename = "1.2")]
    V12,
    /// TLS version 1.3.
    #[serde(rename = "1.3")]
    V13,
}

/// Settings for recording samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordSettings {
    /// Interval of snapshots, in seconds.
    #[serde(with = "seconds", rename = "interval_seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
    /// Maximum number of separate labels; the rest are summed under `(other)`.
    pub labels: u32,
    /// True: every sample is recorded as well.
    pub samples: bool,
    /// Records of samples that listeners get, for result files; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<ListenerRecords>,
}

/// Sample records for listeners that write result files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListenerRecords {
    /// Level of detail of each record.
    #[serde(default)]
    pub detail: RecordDetail,
    /// Names of variables to record with each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Number of thread groups in earlier stages of the same test, for the numbers in thread names.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub groups_before: u32,
    /// For each population, the number of thread groups without samples before it in its stage, for
    /// the numbers in thread names. Empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_groups: Vec<u32>,
    /// True: the actions of users around each sample are recorded as well. Needs the full detail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trace: bool,
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Level of detail of a sample record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordDetail {
    /// The columns of a CSV file.
    #[default]
    Lines,
    /// The columns, header fields and bodies, as in XML files.
    Full,
}
