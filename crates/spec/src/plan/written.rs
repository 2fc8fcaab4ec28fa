//! What may stand in a plan file: its keys, their kinds, and what each means. The JSON Schema is made of these types.
//!
//! Out of scope: the values of script, load, connection and checks are words of `brunt run`, and are read as such by
//! its options; here only their names and kinds are held.

use super::compare::Compare;
use super::probes::Probe;
use super::scenario::{Scenario, Stage};
use super::words::{Commands, Longer, Scalar, ScalarList, ScalarOr, Time};
use brunt_model::experiment::{Restart, TrialOrder};
use brunt_model::scenario::Order;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment, as people write it: what is asked, how much, of whom, how often, and what is done around it.
///
/// `${name}` stands for a variable, in any value; `$$` is a dollar sign.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    /// Name of the experiment. Default: the name of the file.
    pub name: Option<Scalar>,
    /// A description for readers of the report.
    pub about: Option<Scalar>,
    /// Variables: `${name}` anywhere in values stands for the value here; `--set name=value` changes it.
    pub vars: BTreeMap<String, Scalar>,
    /// Names of free loopback ports, drawn when the experiment begins: `${port.http}` is the one named `http`.
    pub ports: Vec<String>,
    /// Overrides of the plan by the value of a variable. A value that is not listed changes nothing.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub choose: Option<serde::de::IgnoredAny>,
    /// Requests to send.
    pub script: Option<Script>,
    /// Steps of each user, in place of `script`.
    pub scenario: Option<Scenario>,
    /// Steps that are carried out before the load, by one user: what they extract and set is there in `scenario` and `teardown`.
    #[schemars(with = "Option<Stage>")]
    pub setup: Option<serde::de::IgnoredAny>,
    /// Steps that are carried out after the load, however that ended.
    #[schemars(with = "Option<Stage>")]
    pub teardown: Option<serde::de::IgnoredAny>,
    /// Load, and the conditions that end the run.
    pub load: Option<Load>,
    /// Users of several kinds at the same time: names, each with its own script, load, checks and connection; what one does not say is
    /// that of the plan. A sweep varies the load of the first, and its figures are of the first.
    #[schemars(with = "BTreeMap<String, Population>")]
    pub populations: Option<serde::de::IgnoredAny>,
    /// Connection settings.
    pub connection: Option<Connection>,
    /// Conditions for a good reply.
    pub checks: Option<Checks>,
    /// Bounds on the figures, such as `p99 < 3s` or `errors < 0.1%`; `1-3-10` is p99 < 1s, p99 < 3s, p99 < 10s.
    pub objectives: Option<ScalarList>,
    /// Repetitions of each step of each contender. Default: 3; with `compare`: 10 at most.
    pub repetitions: Option<u32>,
    /// Comparison of the contenders: each with the first, with as many repetitions as a decision needs.
    pub compare: Option<Compare>,
    /// In which order trials are made. Default: interleaved.
    pub order: Option<TrialOrder>,
    /// Rest before each trial but the first, such as `5s`. Default: none.
    pub cooldown: Option<Time>,
    /// The capacity is looked for, in place of a sweep: what a load is to meet stands below `objectives`. With {} all is as usual.
    pub find: Option<Search>,
    /// Shell commands before and after parts of the experiment.
    pub hooks: Hooks,
    /// The server that brunt starts, and stops.
    pub server: Option<Server>,
    /// Probes during the runs: `host`, `server`, or one key with its settings.
    #[schemars(with = "Option<Vec<ScalarOr<Probe>>>")]
    pub probes: Option<Vec<Probe>>,
    /// Time from one reading of a probe to the next. Default: 1s.
    pub probe_interval: Option<Longer>,
    /// Reports, each FORMAT or FORMAT=FILE, relative to where brunt is called.
    pub outputs: Option<ScalarList>,
    /// Contenders: names, each with its overrides of the plan.
    #[schemars(with = "BTreeMap<String, Option<Box<Written>>>")]
    pub contenders: Option<serde::de::IgnoredAny>,
    /// Factors, each with levels, each level with its overrides of the plan. The product of all factors (and contenders) is
    /// compared.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Option<Box<Written>>>>")]
    pub factors: Option<serde::de::IgnoredAny>,
}

/// Users of one kind.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Population {
    /// Requests of the population.
    pub script: Option<Script>,
    /// Steps of each user of the population, in place of `script`.
    pub scenario: Option<Scenario>,
    /// Load of the population.
    pub load: Option<Load>,
    /// Conditions for a good reply to its requests.
    pub checks: Option<Checks>,
    /// Its connection settings, where they differ from those of the plan.
    pub connection: Option<Connection>,
}

/// Search for the capacity, with the options of `brunt find`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Time budget of the search for each contender. Default: 3m.
    pub time_budget: Option<Scalar>,
    /// Target precision of each capacity: half its 95 % confidence interval. Default: 2%.
    pub precision: Option<Scalar>,
    /// Load of the first trial. Default: that of load.rate or load.users.
    pub start_load: Option<Scalar>,
    /// Highest load to try.
    pub max_load: Option<Scalar>,
    /// Measured time of a trial: minimum and maximum. Default: 2s..20s.
    pub trial_duration: Option<Scalar>,
    /// Pause between trials, such as `1s`, or `restart` of the server. Default: 1s.
    pub between: Option<Scalar>,
    /// Final overload trial, as a multiple of the capacity; or `no`. Default: 1.5.
    pub overload: Option<Scalar>,
    /// Required capacities, such as `capacity > 3000/s`.
    pub require: Option<ScalarList>,
}

/// Requests to send: one of `request`, `requests` and `urls`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The server of relative URLs, such as `http://127.0.0.1:8080`.
    pub base: Option<Scalar>,
    /// One request: a URL, or a map.
    pub request: Option<ScalarOr<Request>>,
    /// Several, each as often as its weight says.
    pub requests: Option<Vec<ScalarOr<Request>>>,
    /// A file of URLs, one a line.
    pub urls: Option<Scalar>,
    /// Order of the requests. Default: sequence.
    pub order: Option<RequestOrder>,
    /// Redirects followed for one request, at most. Default: 0.
    pub follow: Option<Scalar>,
    /// Replies come in events, each of which is timed: `sse`, `lines` or `messages`, then how many at most and for how long, such as
    /// `sse,20,10s`.
    pub reply_events: Option<Scalar>,
}

/// Order of several requests.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestOrder {
    /// One after the other, all users together.
    Sequence,
    /// Drawn by weight.
    Random,
    /// Each user goes through the list by itself, each from a place of its own.
    Walk,
    /// Each user goes through the list by itself, from its beginning.
    WalkTogether,
}

impl From<RequestOrder> for Order {
    fn from(order: RequestOrder) -> Self {
        match order {
            RequestOrder::Sequence => Self::Sequence,
            RequestOrder::Random => Self::Random,
            RequestOrder::Walk => Self::Walk,
            RequestOrder::WalkTogether => Self::WalkTogether,
        }
    }
}

/// One request.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// URL to request, with placeholders: `{n}`, `{uuid}`, `{random:1..9}`, `{csv:FILE:column}`.
    pub url: Scalar,
    /// The method. Default: GET, or POST with a body.
    pub method: Option<Scalar>,
    /// Headers, by name.
    pub headers: BTreeMap<String, Scalar>,
    /// The body: a text, or `@FILE`.
    pub data: Option<Scalar>,
    /// The body: fields of a form, encoded.
    pub form: BTreeMap<String, Scalar>,
    /// The body: sent as JSON.
    #[schemars(with = "serde_json::Value")]
    pub json: Option<serde::de::IgnoredAny>,
    /// Call this method by gRPC: `package.Service/Method`, with `json` as its message.
    pub grpc: Option<Scalar>,
    /// gRPC: a file that defines the service (`.proto`). Default: the server is asked (reflection).
    pub proto: Option<Scalar>,
    /// gRPC: a folder of files that `proto` imports.
    pub proto_path: Option<Scalar>,
    /// gRPC: a file with the descriptors of the service.
    pub descriptor_set: Option<Scalar>,
    /// gRPC: send the messages of a stream at this interval, such as `100ms`, or each when the reply to the one before has come:
    /// `reply`. Default: all at once.
    pub message_interval: Option<Scalar>,
    /// The name under which it is summed. Default: its URL.
    pub label: Option<Scalar>,
    /// Relative frequency within the list. Default: 1.
    pub weight: Option<u32>,
}

/// Load, and the conditions that end the run, with the options of `brunt run`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Load {
    /// Open loop: requests per second: `500`, stages `0..500/30s,500/2m`, or a sweep `50..1500+50`.
    pub rate: Option<ScalarList>,
    /// Closed loop: virtual users: `64`, stages, or a sweep `20..20000*2`.
    pub users: Option<ScalarList>,
    /// Spacing of arrivals: `poisson`, `even` or `burst:N`. Default: poisson.
    pub arrivals: Option<Scalar>,
    /// With a rate: connections at most.
    pub connections: Option<Scalar>,
    /// With users: time between a reply and the next request, such as `0.5s..2s`. Default: none.
    pub think: Option<Scalar>,
    /// With a rate: requests under way at most; arrivals beyond are dropped.
    pub max_in_flight: Option<Scalar>,
    /// Measured time. Default: 10s.
    pub duration: Option<Scalar>,
    /// Stop after so many measured requests.
    pub requests: Option<Scalar>,
    /// With users: each stops after so many iterations.
    pub iterations: Option<Scalar>,
    /// Load before the measured time, or `auto`. Default: 0s.
    pub warmup: Option<Scalar>,
    /// Time for requests under way at the end. Default: 5s.
    pub grace: Option<Scalar>,
    /// Worker threads. Default: 1, more where the rate needs them.
    pub threads: Option<Scalar>,
    /// Processes that the workers are divided among.
    pub processes: Option<Scalar>,
    /// Be awake shortly before each arrival.
    pub precise: Option<bool>,
    /// Connections opened per second: before the load begins, and further ones of an open loop during it. Default: 5000.
    pub connect_rate: Option<Scalar>,
    /// Extend the run until the confidence interval is this narrow, such as `p99±5%`.
    pub until: Option<ScalarList>,
    /// The longest time that `until` may take. Default: 10m.
    pub max_duration: Option<Scalar>,
    /// Seed of every random choice.
    pub seed: Option<Scalar>,
}

/// Connection settings, with the options of `brunt run`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_field_names, reason = "the words of the options")]
pub struct Connection {
    /// False: a new connection for each request. Default: true.
    pub keepalive: Option<bool>,
    /// Requests on one connection, at most.
    pub requests_per_connection: Option<Scalar>,
    /// Ask once more where a kept-alive connection was found closed. Default: false.
    pub retry_stale: Option<bool>,
    /// The version of HTTP: 1.0, 1.1, 2 or 3. Default: 1.1.
    pub http: Option<Scalar>,
    /// HTTP/2 and 3: requests in flight on each connection. Default: 1.
    pub streams: Option<Scalar>,
    /// The same as `http: 2`.
    pub h2c: Option<bool>,
    /// True: HTTP/2 over http:// that begins as HTTP/1.1 (`Upgrade: h2c`). Default: false, prior knowledge.
    pub h2c_upgrade: Option<bool>,
    /// Connections of each user to an origin, all in use at once. Default: 1.
    pub connections_per_origin: Option<Scalar>,
    /// The same as `http: 1.0`.
    #[serde(rename = "http1.0")]
    pub http10: Option<bool>,
    /// From begun to the reply's last byte, at most. Default: 30s.
    pub timeout: Option<Scalar>,
    /// Resolving, connecting and TLS handshake, at most. Default: 10s.
    pub connect_timeout: Option<Scalar>,
    /// Bytes per second that each connection reads, such as `10k`.
    pub receive_rate: Option<Scalar>,
    /// Authorities to trust: a PEM file.
    pub cacert: Option<Scalar>,
    /// Our own certificate: a PEM file; or a folder whose `.pem` files users take in turn, each with certificate and key.
    pub cert: Option<Scalar>,
    /// The private key of `cert`: a PEM file.
    pub key: Option<Scalar>,
    /// Trust any certificate of the server. Default: false.
    pub insecure: Option<bool>,
    /// Server name of the TLS handshake. Default: the URL's host.
    pub sni: Option<Scalar>,
    /// False: a whole TLS handshake for each connection. Default: true.
    pub tls_resumption: Option<bool>,
    /// Key exchange groups that TLS offers, best first, such as `X25519,secp256r1`. Default: `X25519MLKEM768`, `X25519`,
    /// `secp256r1`, `secp384r1`.
    pub tls_groups: Option<Scalar>,
    /// True: HTTP/3 sends GET and HEAD requests with the first packets of a resumed connection (0-RTT). Default: false.
    pub early_data: Option<bool>,
    /// Connect to ADDR for HOST:PORT, each `HOST:PORT:ADDR`.
    pub resolve: Option<ScalarList>,
    /// Where all connections go, whatever the URL says: `127.0.0.1:8080`, or `127.0.0.1:8443,tls`.
    pub resolve_all: Option<Scalar>,
    /// Re-resolve DNS at this interval.
    pub resolve_every: Option<Scalar>,
    /// An HTTP proxy.
    pub proxy: Option<Scalar>,
    /// Connect to this Unix socket, whatever the URL's host.
    pub unix_socket: Option<Scalar>,
    /// Local addresses to connect from, in turn.
    pub source: Option<ScalarList>,
}

/// Conditions for a good reply.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checks {
    /// Statuses that are good, such as `200,3xx`. Default: all below 400.
    pub status: Option<ScalarList>,
    /// Versions of HTTP that are good, such as `2,3`. Default: any. With `connection.http: auto` there is no load where the server
    /// offers none of them.
    pub http: Option<ScalarList>,
    /// Regular expression that the body of a good reply matches.
    pub body: Option<Scalar>,
    /// Every body as long as the first good one of its label. Default: false.
    pub same_length: Option<bool>,
}

/// Shell commands before and after parts of the experiment. One that fails stops the experiment.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// Commands before.
    pub before: HookLevels,
    /// Commands after; they also run if it was stopped.
    pub after: HookLevels,
}

/// Hooks by level, each a command, a list of commands, or `{run, timeout}`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HookLevels {
    /// Around the whole experiment.
    pub experiment: Commands,
    /// Around all trials of a contender that follow one another.
    pub contender: Commands,
    /// Around each repetition: before its server is started, and after it was stopped.
    pub repetition: Commands,
    /// Around each step.
    pub step: Commands,
}

/// A server that brunt starts as a process group of its own, and stops.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Command line passed to `sh -c`, in the folder of the plan file; it stays in the foreground.
    pub start: Scalar,
    /// Condition for the server to be ready: a URL that answers, HOST:PORT that listens, or `{command: …}` that exits
    /// with 0.
    pub ready: ScalarOr<ReadyCommand>,
    /// Command that stops the server. Default: SIGTERM to its process group.
    #[serde(default)]
    pub stop: Option<Scalar>,
    /// Trials between which it is restarted. Default: repetition.
    #[serde(default)]
    pub restart: Option<Restart>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, Scalar>,
    /// Time limit for readiness. Default: 30s.
    #[serde(default)]
    pub ready_timeout: Option<Longer>,
    /// Time limit for its end. Default: 10s.
    #[serde(default)]
    pub stop_timeout: Option<Longer>,
}

/// A shell command that says when a server is ready.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyCommand {
    /// Command line passed to `sh -c`.
    pub command: Scalar,
}

/// A command with its bound.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Command line passed to `sh -c`.
    pub run: Scalar,
    /// Time limit. Default: 60s.
    #[serde(default)]
    pub timeout: Option<Longer>,
}
