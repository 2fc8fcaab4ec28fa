//! Settings of runs, experiments, searches and comparisons, and the tables that read them from
//! options and from keys.
//!
//! * [`row`]: a row of the table.
//! * [`rows`]: the table.
//! * [`sources`]: places of the settings that the user gave, and their names in messages.
//!
//! Out of scope: rules between settings, which are in [`to_plan`](mod@crate::to_plan). Callers know
//! if a value comes from a command line, a plan file or a form.

pub mod row;
pub mod rows;
pub mod sources;

use crate::error::SourcePosition;
use crate::words::compare::ComparedLoads;
use crate::words::shape::Loads;
pub use crate::words::values::EnvironmentVariable;
use crate::words::values::{Data, Output};
use brunt_model::experiment::TrialOrder;
use brunt_model::fleet::{AgentGroup, ClusterSettings};
use brunt_model::goal::Goal;
use brunt_model::live_output::LiveOutput;
use brunt_model::plan::{
    ConnectionSettings, HttpVersion, RecordDetail, RecordSettings, TlsVersion,
};
use brunt_model::question::{Regression, Requirement};
use brunt_model::request::MessageStream;
use brunt_model::scenario::{ListOrder, Scenario};
use brunt_model::{
    Arrivals, ComparisonSettings, Measure, Objective, Placement, ProbeSpec, ReplyPolicy, Stop,
    ThinkTime,
};
pub use row::{
    ArgumentContent, Change, Help, Occurrence, SettingKey, SettingRow, ValueForm, Visibility,
};
pub use sources::{SettingNames, SettingSources};
use std::path::PathBuf;
use std::time::Duration;

/// A scenario, with policies for the replies to its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedScenario {
    /// Steps and requests of the scenario.
    pub scenario: Scenario,
    /// Policies, by the number in the requests.
    pub policies: Vec<ReplyPolicy>,
    /// Place of each request in the plan file.
    pub places: Vec<SourcePosition>,
}

/// Settings of a run. A setting that no rule connects with others is a field of the plan:
/// `stop`, `replies`, `connection`, `record`.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// URL to request, as the user wrote it.
    pub url: Option<String>,
    /// Scenario of each user, in place of `url`.
    pub scenario: Option<PlannedScenario>,
    /// Load of the run.
    pub load: LoadSettings,
    /// Conditions that end the load. Stages and goals replace the duration.
    pub stop: Stop,
    /// Requests to send: method, header fields and body.
    pub request: RequestSettings,
    /// Treatment of replies: checks, redirects, cookies.
    pub replies: ReplyPolicy,
    /// HTTP versions, and reuse of connections.
    pub http: HttpSettings,
    /// Connection settings other than those in `http`.
    pub connection: ConnectionSettings,
    /// Conditions for a good run.
    pub checks: CheckSettings,
    /// Agents, and the hosts that may be loaded.
    pub fleet: AgentSettings,
    /// Settings of snapshots and labels.
    pub record: RecordSettings,
    /// Reports and other outputs.
    pub output: OutputSettings,
    /// Sources that are read during the run.
    pub probes: Vec<ProbeSpec>,
    /// Settings that the user gave, and their places.
    pub sources: SettingSources,
}

impl Default for RunSettings {
    /// Creates settings without the defaults of the table.
    fn default() -> Self {
        Self {
            url: None,
            scenario: None,
            load: LoadSettings::default(),
            // Zero durations: the table of settings has the defaults.
            stop: Stop { duration: None, ..Stop::after(Duration::ZERO, Duration::ZERO) },
            request: RequestSettings::default(),
            replies: ReplyPolicy::default(),
            http: HttpSettings::default(),
            connection: ConnectionSettings::plain(Duration::ZERO, Duration::ZERO),
            checks: CheckSettings::default(),
            fleet: AgentSettings::default(),
            record: RecordSettings {
                interval: Duration::ZERO,
                labels: 0,
                samples: false,
                records: None,
            },
            output: OutputSettings::default(),
            probes: Vec::new(),
            sources: SettingSources::default(),
        }
    }
}

impl RunSettings {
    /// True if a method of gRPC is called.
    pub fn calls_grpc(&self) -> bool {
        self.request.grpc.method.is_some()
            || self.scenario.as_ref().is_some_and(|planned| !planned.scenario.services.is_empty())
    }
}

/// Settings of the load.
#[derive(Debug, Clone, Default)]
pub struct LoadSettings {
    /// Number of users, or maximum number of connections with a rate.
    pub connections: Option<Loads>,
    /// Requests per second; None in a closed loop.
    pub rate: Option<Loads>,
    /// Spacing of the arrivals.
    pub arrivals: Option<Arrivals>,
    /// Target precision of figures; the run ends when all are reached.
    pub until: Vec<Goal>,
    /// Maximum measured time with goals in `until`.
    pub max_duration: Duration,
    /// Time between a reply and the next request of the user.
    pub think: Option<ThinkTime>,
    /// Maximum number of requests in flight.
    pub max_in_flight: Option<u32>,
    /// Number of processes that share the load.
    pub processes: Option<u32>,
    /// Number of worker threads of each process.
    pub threads: Option<u32>,
    /// True for busy-waiting before each send.
    pub precise: bool,
    /// Seed of every random choice.
    pub seed: Option<u64>,
}

/// Settings of agents, and of the hosts that may be loaded.
#[derive(Debug, Clone, Default)]
pub struct AgentSettings {
    /// Places of the agents; None: the load comes from this process.
    pub on: Option<Placement>,
    /// Hosts that may be loaded; empty for any.
    pub allowed_targets: Vec<String>,
    /// Token by which hosts consent to be loaded.
    pub consent: Option<String>,
    /// Number of quiet agents.
    pub quiet: u32,
    /// Groups of agents.
    pub groups: Vec<AgentGroup>,
    /// True: the groups are the zones of the agents' nodes on Kubernetes.
    pub by_zone: bool,
    /// Group over which the load of the population is dealt; None for all agents.
    pub placed_on: Option<String>,
    /// Time without a message after which an agent stops its load.
    pub lease: Duration,
    /// Bytes per second from each agent.
    pub bytes_per_second: u64,
    /// Files of brunt for other architectures.
    pub programs: Vec<PathBuf>,
    /// Settings of agents on Kubernetes or NATS.
    pub cluster: ClusterSettings,
}

impl AgentSettings {
    /// Number of agents that share the load of the population; None without agents.
    pub fn sharing_agents(&self) -> Option<usize> {
        let is_own = |group: &&AgentGroup| Some(&group.name) == self.placed_on.as_ref();
        let on = self.on.as_ref()?;
        Some(self.groups.iter().find(is_own).map_or(on.agents(), |group| group.agents.len()))
    }
}

/// Settings of the requests.
#[derive(Debug, Clone, Default)]
pub struct RequestSettings {
    /// Method; None for the default.
    pub method: Option<String>,
    /// Header fields, in their order.
    pub headers: Vec<(String, String)>,
    /// Header fields from files, which follow `headers`.
    pub header_files: Vec<(String, String)>,
    /// Body of the request.
    pub data: Option<Data>,
    /// True if the body must be JSON.
    pub data_is_json: bool,
    /// Fields of a form, in place of `data`.
    pub form: Vec<(String, String)>,
    /// Cookies sent with each request, each `NAME=VALUE`.
    pub cookies: Vec<String>,
    /// Name and password, sent with each request.
    pub basic: Option<(String, String)>,
    /// Bearer token, sent with each request.
    pub bearer: Option<String>,
    /// Value of the User-Agent header.
    pub user_agent: Option<String>,
    /// True to request compressed replies.
    pub compressed: bool,
    /// File of URLs to request.
    pub urls: Option<PathBuf>,
    /// Order of the URLs of the file.
    pub order: Option<ListOrder>,
    /// Call of gRPC, in place of a plain request.
    pub grpc: GrpcSettings,
}

/// Settings of a gRPC call.
#[derive(Debug, Clone, Default)]
pub struct GrpcSettings {
    /// `package.Service/Method`; None: requests are plain ones.
    pub method: Option<String>,
    /// Files that define services (`.proto`).
    pub protos: Vec<PathBuf>,
    /// Folders of imported files, in addition to the folders of `protos`.
    pub proto_paths: Vec<PathBuf>,
    /// A file with a `FileDescriptorSet`, written by
    /// `protoc --descriptor_set_out --include_imports`.
    pub descriptor_set: Option<PathBuf>,
    /// Source of the encoded message, in place of JSON; several messages of a stream follow their
    /// lengths.
    pub binary: Option<Data>,
    /// When and how often the messages of a stream are sent.
    pub stream: MessageStream,
}

/// HTTP versions, and reuse of connections.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Versions of HTTP to measure one by one; empty for 1.1.
    pub versions: Vec<HttpVersion>,
    /// True for the best version that the server offers.
    pub is_auto: bool,
    /// True for a new connection for each request.
    pub no_keepalive: bool,
    /// Value of `:authority` of gRPC calls; None: host and port of the URL.
    pub authority: Option<String>,
    /// Lowest version of TLS to offer.
    pub tls_min: Option<TlsVersion>,
    /// Highest version of TLS to offer.
    pub tls_max: Option<TlsVersion>,
}

/// Conditions for a good run.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings {
    /// Acceptable versions of HTTP; empty for any.
    pub expect_http: Vec<HttpVersion>,
    /// Bounds on figures of the run.
    pub objectives: Vec<Objective>,
    /// True if brunt fails when the generator limited the load.
    pub strict: bool,
    /// Percentage of the planned load that may be lost with agents or processes without a failure.
    pub allowed_loss_percent: u8,
}

/// Settings of reports and other outputs.
#[derive(Debug, Clone, Default)]
pub struct OutputSettings {
    /// Reports and their destinations.
    pub outputs: Vec<Output>,
    /// Systems that receive figures while the load runs.
    pub live_outputs: Vec<LiveOutput>,
    /// File of the event log.
    pub events: Option<PathBuf>,
    /// File for samples, as a result file of JMeter.
    pub jtl: Option<PathBuf>,
    /// Detail of each sample in `jtl`; None to decide by the name of the file.
    pub jtl_format: Option<RecordDetail>,
    /// True to show each sample in full.
    pub trace: bool,
    /// Selection of samples for `trace`.
    pub trace_view: TraceView,
    /// True for no progress, and no text report unless requested.
    pub quiet: bool,
}

impl OutputSettings {
    /// Takes the outputs of a plan file, unless the command line names some or shows a trace.
    pub fn adopt(&mut self, outputs: Vec<Output>, live_outputs: Vec<LiveOutput>) {
        if self.outputs.is_empty() && self.live_outputs.is_empty() && !self.trace {
            self.outputs = outputs;
            self.live_outputs = live_outputs;
        }
    }
}

/// Selection of samples for a trace.
#[derive(Debug, Clone, Default)]
pub struct TraceView {
    /// Conditions that a shown sample must meet, all of them.
    pub only: Vec<TraceFilter>,
    /// Folder for files of the samples that are shown, and of their bodies.
    pub files: Option<PathBuf>,
    /// True to show secrets unredacted.
    pub shows_secrets: bool,
}

/// A condition for the samples of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceFilter {
    /// True for samples that failed.
    Failed,
    /// True for samples with this label.
    Label(String),
    /// True for samples with a number, from 1, in this range.
    Numbers {
        /// Lowest number in the range.
        first: u64,
        /// Highest number in the range.
        last: u64,
    },
}

/// Arrangement of the trials of an experiment. A setting that is not given is None.
#[derive(Debug, Clone, Default)]
pub struct ExperimentSettings {
    /// Repetitions of each load at each contender; of a comparison, at most.
    pub repetitions: Option<u32>,
    /// Order in which trials run.
    pub order: Option<TrialOrder>,
    /// Pause before each trial but the first.
    pub cooldown: Option<Duration>,
    /// Settings that the user gave, and their places.
    pub sources: SettingSources,
}

/// Settings of a search for a capacity.
#[derive(Debug, Clone, Default)]
pub struct SearchSettings {
    /// Time budget of all trials of a server.
    pub within: Duration,
    /// Half the width of the interval at which the search stops, as a share.
    pub precision: f64,
    /// The load of the first trial.
    pub start: Option<f64>,
    /// The highest load to try.
    pub most: Option<f64>,
    /// Measured time of the shortest trials.
    pub trial: Duration,
    /// Pause between two trials.
    pub cooldown: Duration,
    /// Load of the final overload trial, as a multiple of the capacity; None for no such trial.
    pub overload: Option<f64>,
    /// Requirements for the capacity.
    pub require: Vec<Requirement>,
    /// Settings that the user gave, and their places.
    pub sources: SettingSources,
}

/// Settings of a comparison. A setting that is not given is None, or empty.
#[derive(Debug, Clone, Default)]
pub struct CompareSettings {
    /// Loads at which contenders are measured.
    pub at: Option<ComparedLoads>,
    /// Measures to compare; the first decides.
    pub metrics: Vec<Measure>,
    /// Factor of the question.
    pub factor: Option<String>,
    /// Smallest relevant difference, as a share.
    pub smallest: Option<f64>,
    /// Significance level of the test, as a share.
    pub alpha: Option<f64>,
    /// Time budget of the whole comparison.
    pub within: Option<Duration>,
    /// Differences that make brunt fail.
    pub fail_if: Vec<Regression>,
    /// Whether an undecided comparison makes brunt fail.
    pub require_decision: bool,
    /// Settings that the user gave, and their places.
    pub sources: SettingSources,
}

impl CompareSettings {
    /// Adds the settings of `other` that are not given here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            at: self.at.or(other.at),
            // An empty list means that the setting was not given.
            metrics: if self.metrics.is_empty() { other.metrics } else { self.metrics },
            factor: self.factor.or(other.factor),
            smallest: self.smallest.or(other.smallest),
            alpha: self.alpha.or(other.alpha),
            within: self.within.or(other.within),
            fail_if: if self.fail_if.is_empty() { other.fail_if } else { self.fail_if },
            require_decision: self.require_decision || other.require_decision,
            sources: self.sources.or(other.sources),
        }
    }
}

impl From<&ComparisonSettings> for CompareSettings {
    fn from(resolved: &ComparisonSettings) -> Self {
        // A comparison at capacities has given loads only if it has both.
        let at = resolved
            .at_capacity
            .as_ref()
            .map(|at| if at.given == 0 { ComparedLoads::Capacity } else { ComparedLoads::Both });
        Self {
            at,
            metrics: resolved.metrics.clone(),
            factor: resolved.factor.clone(),
            smallest: Some(resolved.smallest),
            alpha: Some(resolved.alpha),
            within: resolved.within,
            fail_if: resolved.fail_if.clone(),
            ..Self::default()
        }
    }
}

/// Settings with a table of rows, and with the sources of the given ones.
pub trait SettingTable: Default + 'static {
    /// Rows of the table for these settings.
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>>;

    /// Sources of the given settings.
    fn sources_mut(&mut self) -> &mut SettingSources;

    /// Creates settings with the defaults of the table.
    fn with_defaults() -> Self {
        let mut settings = Self::default();
        Self::rows().for_each(|row| row.put_default(&mut settings));
        settings
    }
}

impl SettingTable for RunSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::run()
    }

    fn sources_mut(&mut self) -> &mut SettingSources {
        &mut self.sources
    }
}

impl SettingTable for SearchSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::search::ROWS.iter()
    }

    fn sources_mut(&mut self) -> &mut SettingSources {
        &mut self.sources
    }
}

impl SettingTable for CompareSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::compare::ROWS.iter()
    }

    fn sources_mut(&mut self) -> &mut SettingSources {
        &mut self.sources
    }
}

impl SettingTable for ExperimentSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::experiment::ROWS.iter()
    }

    fn sources_mut(&mut self) -> &mut SettingSources {
        &mut self.sources
    }
}
