//! One run, fully resolved.

mod http_version;
mod stage;

use crate::goal::Until;
use crate::scenario::Scenario;
use crate::time::{optional_seconds, seconds};
use crate::{Load, Objective, ReplyPolicy, Request, Stop};
pub use http_version::HttpVersion;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use stage::{HandedOn, StageKind, TestStage};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

pub use crate::reply_policy::{Checks, StatusRange};

/// A fully resolved run: every setting has its value, and nothing else is needed to execute it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
// The derived functions are called by the implementations below: a plan that is read is checked.
#[serde(remote = "Self")]
pub struct Plan {
    /// Populations of virtual users, all active at the same time; never empty.
    pub populations: Vec<Population>,
    /// Reply policies; requests refer to them by index. Never empty.
    pub reply_policies: Vec<ReplyPolicy>,
    /// Connection settings.
    pub connection: Connection,
    /// Bounds on the figures of the run.
    pub objectives: Vec<Objective>,
    /// Precision at which the run ends early; null: it does not end early.
    pub until: Option<Until>,
    /// Recording settings.
    pub record: Record,
    /// Seed of all random choices.
    pub seed: u64,
    /// Worker threads of each process.
    pub threads: u32,
    /// Processes that share the load.
    pub processes: u32,
    /// True: busy-wait before each send, for less lag at the cost of CPU.
    pub precise: bool,
    /// Stages that run before and behind it. Their requests are not in its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<TestStage>,
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let plan = Self::deserialize(deserializer)?;
        let is_whole = plan.has_population_and_policies();
        is_whole
            .then_some(plan)
            .ok_or_else(|| D::Error::custom("a plan has a population, and a policy for each request"))
    }
}

/// A population: virtual users with one load, scenario and stop condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Population {
    /// Its name in reports.
    pub name: String,
    /// Load of the population.
    pub load: Load,
    /// Scenario of its users.
    pub scenario: Scenario,
    /// Conditions that end the population's load.
    pub stop: Stop,
    /// Its connection settings; null: those of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Box<Connection>>,
}

/// The name of a population that nobody gave one.
pub const MAIN: &str = "main";

impl Population {
    /// The only population of a plan.
    pub fn only(load: Load, scenario: Scenario, stop: Stop) -> Vec<Self> {
        vec![Self { name: MAIN.into(), load, scenario, stop, connection: None }]
    }

    /// What reports call one of its users: a connection, where a user does nothing but repeat requests on one.
    pub fn word_for_user(&self, connection: &Connection) -> &'static str {
        let only_repeats = self.scenario.order().is_some() && connection.connections_per_origin <= 1;
        if only_repeats { "connection" } else { "user" }
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
        let connection = self.connection_of(number).clone();
        let population = Population { connection: None, ..self.populations[number].clone() };
        Self { populations: vec![population], connection, ..self.clone() }
    }

    /// The connection settings of the population of this number.
    pub fn connection_of(&self, number: usize) -> &Connection {
        self.populations[number].connection.as_deref().unwrap_or(&self.connection)
    }

    /// The first population, to be changed.
    pub fn main_mut(&mut self) -> &mut Population {
        &mut self.populations[0]
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

    fn has_population_and_policies(&self) -> bool {
        let policies = self.reply_policies.len();
        !self.populations.is_empty()
            && policies > 0
            && self.requests().all(|request| (request.reply_policy as usize) < policies)
    }

    /// What is made of the reply to the first request.
    pub fn policy(&self) -> &ReplyPolicy {
        &self.reply_policies[self.requests().next().map_or(0, |request| request.reply_policy as usize)]
    }
}

/// Connection settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// The version of HTTP.
    pub http: HttpVersion,
    /// Maximum number of requests per connection; 1: a new connection for each request.
    pub requests_per_connection: Option<u64>,
    /// Requests in flight per connection; more than 1 needs HTTP/2.
    #[serde(default = "one")]
    pub streams: u32,
    /// True: HTTP/2 in cleartext begins as HTTP/1.1 (`Upgrade: h2c`, RFC 7540). False: prior knowledge.
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
    /// Connections opened each second before the load begins, and further ones of an open loop during it.
    pub connect_rate: u32,
    /// Strategy for opening connections, and for retries after a failed connect.
    #[serde(default)]
    pub dialling: Dialling,
    /// Addresses given for a host and port, in place of the resolver's.
    pub resolve: Vec<Resolve>,
    /// Where all connections go, whatever the URL says; null: where URLs say.
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
    /// Maximum number of idle connections that a user keeps open to origins other than that of its last request.
    #[serde(default = "most_kept")]
    pub other_origins: u32,
    /// True: close connections with a reset, without `TIME_WAIT`.
    #[serde(default)]
    pub reset: bool,
    /// TLS settings.
    pub tls: Tls,
}

/// What plans without this number mean.
fn most_kept() -> u32 {
    16
}

fn one() -> u32 {
    1
}

impl Connection {
    /// Requests that a user has in flight at once: the streams of all its connections to an origin.
    pub fn in_flight_per_user(&self) -> u32 {
        self.streams.max(1).saturating_mul(self.connections_per_origin.max(1))
    }

    /// HTTP/1.1 as it is where nothing else is wanted of it: straight to the server, kept open, and opened before the load
    /// begins, with these limits for a request and for opening a connection.
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
            other_origins: most_kept(),
            reset: false,
            tls: Tls::default(),
        }
    }
}

/// Strategy for opening connections, and for retries after a failed connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialling {
    /// Before the load begins; failed connects are retried after 10 ms, then after increasing delays.
    #[default]
    Patient,
    /// At its first request, as older tools do; after a failed connect the next request retries at once.
    Eager,
}

/// Lifetime of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionLifetime {
    /// The run: any later request may reuse it while the server keeps it open.
    #[default]
    Run,
    /// One iteration, which closes it at its end. Until then it is used even if a reply says `Connection: close`, as long
    /// as the server keeps it open.
    Iteration,
    /// One iteration. It also ends after a request or a reply with `Connection: close`.
    IterationOrClose,
}

/// An address given for a host and port.
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
    /// Whether it tells the address of this host and port.
    pub fn is_of(&self, host: &str, port: u16) -> bool {
        (self.port == 0 || self.port == port) && self.host.eq_ignore_ascii_case(host)
    }
}

/// Where all connections go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveAll {
    /// Address and port, such as `127.0.0.1:8080`.
    pub address: SocketAddr,
    /// True: TLS is spoken on all of them; false: on none, even where a URL begins with https.
    pub tls: bool,
}

/// TLS settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct Tls {
    /// PEM file of the authorities to trust, in place of the system's.
    pub cacert: Option<PathBuf>,
    /// PEM file of our certificate; or a folder whose `.pem` files clients take in turn, each with certificate and key.
    pub cert: Option<PathBuf>,
    /// PEM file of its key; null for a folder.
    pub key: Option<PathBuf>,
    /// True: accept any certificate.
    pub insecure: bool,
    /// Server name (SNI), in place of the URL's host.
    pub sni: Option<String>,
    /// True: a full handshake for each connection, without session resumption.
    pub no_resumption: bool,
    /// True: HTTP/3 sends GET and HEAD requests with the first packets of a connection whose session is resumed (0-RTT).
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
    /// Offered key exchange groups, best first, such as `X25519MLKEM768`; empty: `X25519MLKEM768`, `X25519`, `secp256r1`, `secp384r1`.
    #[serde(default)]
    pub groups: Vec<String>,
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

/// Recording settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Seconds between snapshots.
    #[serde(with = "seconds", rename = "interval_seconds")]
    #[schemars(with = "f64")]
    pub interval: Duration,
    /// Maximum number of separate labels; the rest are summed under `(other)`.
    pub labels: u32,
    /// True: every sample is recorded, too.
    pub samples: bool,
    /// Records of samples that listeners get, for result files; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// Which records of samples listeners get, for result files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Records {
    /// How much of each sample.
    #[serde(default)]
    pub detail: RecordDetail,
    /// Names of the variables whose values go with each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Thread groups of earlier stages of the same test, which the numbers in the names of threads count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub groups_before: u32,
    /// For each population, how many thread groups without samples stand before it in its stage: numbers count them, too.
    /// Empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_groups: Vec<u32>,
    /// True: what users do around each sample, too. Needs the full detail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trace: bool,
}

// serde hands a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How much a record holds of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordDetail {
    /// What a line of a CSV file has.
    #[default]
    Lines,
    /// Header fields and bodies, too, as XML files have them.
    Full,
}
