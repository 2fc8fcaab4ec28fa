//! Settings of runs, experiments, searches and comparisons, and the tables that read them from options and from keys.
//!
//! * [`row`]: a row of the table. [`rows`]: the table. [`said`]: which settings were said, and what messages call them.
//!
//! Out of scope: rules that hold between settings are in [`to_plan`](mod@crate::to_plan), and where a word comes from
//! (a command line, a plan file, a form) is the caller's.

pub mod row;
pub mod rows;
pub mod said;

use crate::error::Position;
use crate::words::compare::At;
use crate::words::shape::Loads;
pub use crate::words::values::Environment;
use crate::words::values::{Data, Output};
use brunt_model::experiment::TrialOrder;
use brunt_model::goal::Goal;
use brunt_model::live_output::LiveOutput;
use brunt_model::plan::{Connection, HttpVersion, Record, RecordDetail};
use brunt_model::question::{Regression, Requirement};
use brunt_model::request::PieceInterval;
use brunt_model::scenario::{Order, Scenario};
use brunt_model::{Arrivals, Compare, Measure, Objective, ProbeSpec, ReplyPolicy, Stop, Think};
pub use row::{Change, Content, Help, Key, Kind, Listed, SettingRow, Takes};
pub use said::{Names, SettingSources};
use std::path::PathBuf;
use std::time::Duration;

/// A scenario, and policies for the replies to its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedScenario {
    /// Steps and requests.
    pub scenario: Scenario,
    /// By the numbers that its requests have.
    pub policies: Vec<ReplyPolicy>,
    /// Where its requests are written.
    pub places: Vec<Position>,
}

/// Settings of a run. A setting without a rule that concerns others is a field of the plan: `stop`, `replies`, `connection`, `record`.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// What to ask, as it was written.
    pub url: Option<String>,
    /// What users do, in place of asking `url`.
    pub scenario: Option<PlannedScenario>,
    /// How much is asked.
    pub load: LoadSettings,
    /// Conditions that end the load. Stages and goals replace the duration.
    pub stop: Stop,
    /// What is asked.
    pub request: RequestSettings,
    /// Treatment of replies.
    pub replies: ReplyPolicy,
    /// HTTP versions, and reuse of connections.
    pub http: HttpSettings,
    /// Other connection settings.
    pub connection: Connection,
    /// What makes the run good.
    pub checks: CheckSettings,
    /// Snapshots and labels.
    pub record: Record,
    /// What is shown and kept.
    pub output: OutputSettings,
    /// What is read of the server meanwhile.
    pub probes: Vec<ProbeSpec>,
    /// Which of them were said.
    pub said: SettingSources,
}

impl Default for RunSettings {
    /// Without the defaults of the table.
    fn default() -> Self {
        Self {
            url: None,
            scenario: None,
            load: LoadSettings::default(),
            stop: Stop { duration: None, ..Stop::after(Duration::ZERO, Duration::ZERO) },
            request: RequestSettings::default(),
            replies: ReplyPolicy::default(),
            http: HttpSettings::default(),
            connection: Connection::plain(Duration::ZERO, Duration::ZERO),
            checks: CheckSettings::default(),
            record: Record { interval: Duration::ZERO, labels: 0, samples: false, records: None },
            output: OutputSettings::default(),
            probes: Vec::new(),
            said: SettingSources::default(),
        }
    }
}

impl RunSettings {
    /// Whether a method of gRPC is called.
    pub fn calls_grpc(&self) -> bool {
        self.request.grpc.method.is_some()
            || self.scenario.as_ref().is_some_and(|planned| !planned.scenario.services.is_empty())
    }
}

/// How much is asked.
#[derive(Debug, Clone, Default)]
pub struct LoadSettings {
    /// Users, or connections at most.
    pub connections: Option<Loads>,
    /// Requests per second.
    pub rate: Option<Loads>,
    /// How arrivals are spaced.
    pub arrivals: Option<Arrivals>,
    /// How well figures are to be known.
    pub until: Vec<Goal>,
    /// The longest time that this may take.
    pub max_duration: Duration,
    /// Between a reply and the user's next request.
    pub think: Option<Think>,
    /// Requests under way at most.
    pub max_in_flight: Option<u32>,
    /// Processes that share the load.
    pub processes: Option<u32>,
    /// Worker threads of each.
    pub threads: Option<u32>,
    /// Busy-wait before each send.
    pub precise: bool,
    /// Seed of every random choice.
    pub seed: Option<u64>,
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct RequestSettings {
    /// The method.
    pub method: Option<String>,
    /// Headers, in their order.
    pub headers: Vec<(String, String)>,
    /// Those from files, which come behind.
    pub header_files: Vec<(String, String)>,
    /// The body.
    pub data: Option<Data>,
    /// The body must be JSON.
    pub data_is_json: bool,
    /// Fields of a form, the other kind of body.
    pub form: Vec<(String, String)>,
    /// Cookies.
    pub cookies: Vec<String>,
    /// Name and password.
    pub basic: Option<(String, String)>,
    /// A bearer token.
    pub bearer: Option<String>,
    /// The User-Agent header.
    pub user_agent: Option<String>,
    /// Ask for compressed replies.
    pub compressed: bool,
    /// A file of URLs.
    pub urls: Option<PathBuf>,
    /// Which of them is next.
    pub order: Option<Order>,
    /// What is called by gRPC, in place of a plain request.
    pub grpc: GrpcSettings,
}

/// A call of gRPC.
#[derive(Debug, Clone, Default)]
pub struct GrpcSettings {
    /// `package.Service/Method`; None: requests are plain ones.
    pub method: Option<String>,
    /// Files that define services (`.proto`).
    pub protos: Vec<PathBuf>,
    /// Where files that those import are looked for, besides their own folders.
    pub proto_paths: Vec<PathBuf>,
    /// A file with a `FileDescriptorSet`, as `protoc --descriptor_set_out --include_imports` writes it.
    pub descriptor_set: Option<PathBuf>,
    /// When each further message of a stream is sent; None: all are sent at once.
    pub message_interval: Option<PieceInterval>,
}

/// HTTP versions, and reuse of connections.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Versions of HTTP, each of which is measured; empty: 1.1.
    pub versions: Vec<HttpVersion>,
    /// The best version that the server offers, in place of a known one.
    pub is_auto: bool,
    /// A new connection for each request.
    pub no_keepalive: bool,
}

/// What makes the run good.
#[derive(Debug, Clone, Default)]
pub struct CheckSettings {
    /// Versions of HTTP that are good; empty: any.
    pub expect_http: Vec<HttpVersion>,
    /// Bounds.
    pub objectives: Vec<Objective>,
    /// Whether a limited generator makes brunt fail.
    pub strict: bool,
}

/// What is shown and kept.
#[derive(Debug, Clone, Default)]
pub struct OutputSettings {
    /// Reports.
    pub outputs: Vec<Output>,
    /// Systems that receive figures while the load runs.
    pub live_outputs: Vec<LiveOutput>,
    /// Where the event log goes.
    pub events: Option<PathBuf>,
    /// Where samples go, as a result file of JMeter.
    pub jtl: Option<PathBuf>,
    /// How much of each sample; None: as the name of the file says.
    pub jtl_format: Option<RecordDetail>,
    /// Each sample is shown in full.
    pub trace: bool,
    /// What `trace` shows of the samples.
    pub trace_view: TraceView,
    /// No progress, and no text beside the reports that are named.
    pub quiet: bool,
}

impl OutputSettings {
    /// Takes the outputs of a plan file, where the command line names none and each sample is not shown.
    pub fn adopt(&mut self, outputs: Vec<Output>, live_outputs: Vec<LiveOutput>) {
        if self.outputs.is_empty() && self.live_outputs.is_empty() && !self.trace {
            (self.outputs, self.live_outputs) = (outputs, live_outputs);
        }
    }
}

/// What a trace shows of its samples.
#[derive(Debug, Clone, Default)]
pub struct TraceView {
    /// Only samples for which all of these hold are shown.
    pub only: Vec<TraceFilter>,
    /// Folder for the bodies of the replies that are shown.
    pub bodies: Option<PathBuf>,
    /// Secrets are shown as they are.
    pub shows_secrets: bool,
}

/// A condition of the samples that a trace shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceFilter {
    /// The sample failed.
    Failed,
    /// The sample has this label.
    Label(String),
    /// The number of the sample, from 1, lies between these two.
    Numbers {
        /// Lowest number.
        first: u64,
        /// Highest number.
        last: u64,
    },
}

/// Arrangement of the trials of an experiment. A setting that is not given is None.
#[derive(Debug, Clone, Default)]
pub struct ExperimentSettings {
    /// Repetitions of each load at each contender; of a comparison, at most.
    pub repetitions: Option<u32>,
    /// Order of trials.
    pub order: Option<TrialOrder>,
    /// Pause before each trial but the first.
    pub cooldown: Option<Duration>,
    /// Which of them were said.
    pub said: SettingSources,
}

/// How a capacity is searched for.
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
    /// Measured time of a trial, at least and at most.
    pub trial: (Duration, Duration),
    /// Rest between two trials.
    pub cooldown: Duration,
    /// The overload at the end, as a multiple of the capacity; None: none.
    pub overload: Option<f64>,
    /// What the capacity is to be.
    pub require: Vec<Requirement>,
    /// Which of them were said.
    pub said: SettingSources,
}

/// Settings of a comparison. A setting that is not given is None, or empty.
#[derive(Debug, Clone, Default)]
pub struct CompareSettings {
    /// Loads at which contenders are measured.
    pub at: Option<At>,
    /// Measures to compare; the first decides.
    pub metrics: Vec<Measure>,
    /// Smallest relevant difference, as a share.
    pub smallest: Option<f64>,
    /// Significance level.
    pub alpha: Option<f64>,
    /// Time budget of the whole comparison.
    pub within: Option<Duration>,
    /// Differences that make brunt fail.
    pub fail_if: Vec<Regression>,
    /// Whether an undecided comparison makes brunt fail.
    pub require_decision: bool,
    /// Which of them were said.
    pub said: SettingSources,
}

impl CompareSettings {
    /// These settings, and those of `other` that are not given here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            at: self.at.or(other.at),
            metrics: if self.metrics.is_empty() { other.metrics } else { self.metrics },
            smallest: self.smallest.or(other.smallest),
            alpha: self.alpha.or(other.alpha),
            within: self.within.or(other.within),
            fail_if: if self.fail_if.is_empty() { other.fail_if } else { self.fail_if },
            require_decision: self.require_decision || other.require_decision,
            said: self.said.or(other.said),
        }
    }
}

impl From<&Compare> for CompareSettings {
    fn from(resolved: &Compare) -> Self {
        let at = resolved.at_capacity.as_ref().map(|at| if at.given == 0 { At::Capacity } else { At::Both });
        Self {
            at,
            metrics: resolved.metrics.clone(),
            smallest: Some(resolved.smallest),
            alpha: Some(resolved.alpha),
            within: resolved.within,
            fail_if: resolved.fail_if.clone(),
            ..Self::default()
        }
    }
}

/// Settings that know which of them were said.
pub trait Settings: Default + 'static {
    /// The rows of the table that are theirs.
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>>;

    /// Which of them were said.
    fn said_mut(&mut self) -> &mut SettingSources;

    /// The defaults.
    fn usual() -> Self {
        let mut usual = Self::default();
        Self::rows().for_each(|row| row.put_usual(&mut usual));
        usual
    }
}

impl Settings for RunSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::run()
    }

    fn said_mut(&mut self) -> &mut SettingSources {
        &mut self.said
    }
}

impl Settings for SearchSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::search::ROWS.iter()
    }

    fn said_mut(&mut self) -> &mut SettingSources {
        &mut self.said
    }
}

impl Settings for CompareSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::compare::ROWS.iter()
    }

    fn said_mut(&mut self) -> &mut SettingSources {
        &mut self.said
    }
}

impl Settings for ExperimentSettings {
    fn rows() -> impl Iterator<Item = &'static SettingRow<Self>> {
        rows::experiment::ROWS.iter()
    }

    fn said_mut(&mut self) -> &mut SettingSources {
        &mut self.said
    }
}
