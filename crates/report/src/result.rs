//! Defines the JSON document of a run. The comments of its types are the
//! descriptions in the schema.
//!
//! Every time is in seconds, and every key with a unit contains it. Out of scope: computing
//! figures. Each is read from a [`brunt_model::Run`], in `result/build.rs`.

mod build;
mod connections;

pub(crate) use build::intervals;
pub use build::series;
pub(crate) use build::{
    check_failures, elapsed, failures, label_name, labels, objectives, only_label, response,
    transactions,
};
pub use connections::ConnectionTotals;

use brunt_model::finding::{
    self, ConsistencyCheck, FigureEstimate, Finding, State, Steady, Verdict,
};
use brunt_model::{Objective, Plan, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the document. It increases when a key changes its meaning or is removed. New keys may
/// be added at any time.
pub const VERSION: u32 = 1;

/// The result of one run of brunt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "brunt result")]
pub struct ResultDocument {
    /// The version of this document: 1. It grows when a key changes its meaning or goes away.
    pub version: u32,
    /// Resolved plan; null if the log has no beginning.
    pub plan: Option<Plan>,
    /// Environment of the run: machine, kernel, versions.
    pub environment: EnvironmentSection,
    /// Start of the run, before any warm-up: RFC 3339, UTC.
    pub started: String,
    /// Duration of the whole run in seconds, with setup, warm-up and grace.
    pub elapsed_seconds: f64,
    /// Seconds of measured time: from the end of the warm-up until no new request was begun.
    pub measured_seconds: f64,
    /// Requests planned in the measured time.
    pub requests: RequestCounts,
    /// Iterations with a first request planned in the measured time; left out where each iteration is one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<IterationCounts>,
    /// Throughput: whole replies of any status within the measured time, per second.
    pub throughput_per_second: f64,
    /// Goodput: good replies within the measured time, per second.
    pub goodput_per_second: f64,
    /// Bytes of the requests planned in the measured time.
    pub bytes: ByteCounts,
    /// Number of whole replies by status, and of gRPC calls that their deadline ended (`grpc 4 DEADLINE_EXCEEDED`).
    pub outcomes: BTreeMap<String, u64>,
    /// Number of failed requests by kind; kinds with no failures are left out. `check` is among the completed,
    /// `dropped` not among the begun. `deadline_exceeded` is also among the outcomes, as a status of gRPC.
    pub failures: BTreeMap<String, u64>,
    /// Number of malformed replies by cause, a breakdown of `failures.protocol`; causes that did
    /// not occur are left out.
    #[serde(default)]
    pub malformed: BTreeMap<String, u64>,
    /// Response time, planned to last byte, in seconds, of completed and timed-out requests. Percentiles count dropped,
    /// cut and timed-out requests as the slowest.
    pub response_time_seconds: Option<Times>,
    /// Service time, sent to last byte, in seconds, of completed and timed-out requests.
    pub service_time_seconds: Option<Times>,
    /// Queue wait, planned to free, in seconds, of all begun: waiting for a permitted connection or user.
    pub queue_wait_seconds: Option<Times>,
    /// Lag, free to begun, in seconds, of all begun: the generator's own lateness.
    pub lag_seconds: Option<Times>,
    /// Read lag, from the arrival of a reply's last byte in the kernel until it was read, in
    /// seconds, of a sample of the replies; null if the kernel reports no arrival times.
    pub read_lag_seconds: Option<Times>,
    /// Part of the lag in which requests waited for paced connection opening (`--connect-rate`), in
    /// seconds, of the requests that waited; null if none did.
    #[serde(default)]
    pub opening_lag_seconds: Option<Times>,
    /// Connection time, begun to sent, in seconds, of requests for which a connection was opened.
    pub connection_time_seconds: Option<Times>,
    /// Response time in seconds of good requests only.
    pub response_time_good_seconds: Option<Times>,
    /// Seconds from planned to the failure, by kind of failure, of failures that are not in the response time.
    pub failure_time_seconds: BTreeMap<String, Times>,
    /// The steps of a request, in seconds.
    pub phases_seconds: PhaseRow,
    /// Connections.
    pub connections: ConnectionTotals,
    /// Resources used by brunt in the whole run.
    pub generator: Generator,
    /// Requests planned in the warm-up; null where there was none.
    pub warmup: Option<Warmup>,
    /// Verdict: the generator was the bottleneck, or not.
    pub verdict: Verdict,
    /// Consistency checks; if one fails, the verdict is `invalid`.
    pub checks: Vec<ConsistencyCheck>,
    /// Findings, most serious first.
    pub findings: Vec<Finding>,
    /// Answer to what the run was made for, in a sentence; null if no reply came.
    pub conclusion: Option<Text>,
    /// Start of the steady state; null if the run has too few data.
    pub steady_state: Option<Steady>,
    /// Percentiles of the response time, in seconds, each with the interval that holds the true one
    /// with 95 % confidence.
    pub response_time_intervals_seconds: Vec<finding::PercentileInterval>,
    /// The throughput with its 95 % interval, per second; null where there is too little to say.
    pub throughput_interval_per_second: Option<FigureEstimate>,
    /// Objectives of the plan, each with its result.
    pub objectives: Vec<ObjectiveDocument>,
    /// Warnings, each a sentence.
    pub warnings: Vec<Text>,
    /// Instants that the user has marked; left out without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<MarkRow>,
    /// True if the run was stopped early, or its log has no end.
    pub interrupted: bool,
    /// Reason why nothing could be measured; null if something could.
    pub error: Option<Text>,
    /// Time series with one entry per interval, warm-up and grace included.
    pub series: Vec<IntervalRow>,
    /// Each population by itself, under its name, in the order of the plan; empty where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<LabelRow>,
    /// Each group of agents with its figures; left out without groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<LabelRow>,
    /// Comparisons of all pairs of groups; left out without groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_comparisons: Vec<finding::GroupComparison>,
    /// Each agent with its share of the run; left out without agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentDocument>,
    /// The scenario's transactions by name; empty where it has none. They are no requests: nothing else counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<Transaction>,
    /// The requests by label, in the order in which labels were first seen; one entry where there is only one.
    pub labels: Vec<LabelRow>,
    /// Checks that replies to requests of the measured time failed; left out where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_failures: Vec<CheckFailureRow>,
}

/// A check that replies to requests of one label failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckFailureRow {
    /// The label.
    pub label: String,
    /// Name of the check.
    pub check: String,
    /// The condition; empty for a script.
    pub expected: Text,
    /// The value that one of the replies had; empty if it is unknown.
    pub found: Text,
    /// Number of replies that failed it.
    pub replies: u64,
}

/// Environment of the run: machine, kernel, versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentSection {
    /// The command line.
    pub command: String,
    /// Operating system and kernel release of the generator.
    pub kernel: String,
    /// Model of the generator's CPU.
    pub cpu: String,
    /// Cores that the generator may use.
    pub cores: u32,
    /// Resource limits of the generator's process, by name.
    pub limits: BTreeMap<String, String>,
    /// Kernel settings of the generator that affect a load test, by name.
    pub sysctls: BTreeMap<String, String>,
    /// Server software (its first `Server` header); null without the header.
    pub server: Option<String>,
    /// Resolved addresses of the target.
    pub addresses: Vec<String>,
    /// The way to the server; null where it was not looked at.
    #[serde(default)]
    pub route: Option<brunt_model::Route>,
    /// The version of brunt.
    pub brunt: String,
}

/// Counts of requests. planned = begun + dropped + those not begun when the run ended; begun = completed + failed + cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestCounts {
    /// Due by the schedule.
    pub planned: u64,
    /// Begun: we connected or wrote.
    pub begun: u64,
    /// A whole reply came, whatever its status.
    pub completed: u64,
    /// Completed, with an expected status, and its checks passed.
    pub good: u64,
    /// Begun, and ended without a whole reply before the run did.
    pub failed: u64,
    /// Begun, and not finished when the run ended.
    pub cut: u64,
    /// Due, but never begun.
    pub dropped: u64,
    /// Begun or dropped, and not good.
    pub errors: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Sent again after a kept-alive connection was found closed.
    pub retries: u64,
}

/// Counts of iterations of scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IterationCounts {
    /// The number that the plan requires: arrivals that became due, or a number of iterations; left out where the plan
    /// has no such number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// Iterations that performed all their steps.
    pub done: u64,
    /// The part of `done` with at least one failed request.
    pub failed: u64,
    /// Iterations that were active when the run ended.
    pub unfinished: u64,
    /// Done iterations per second of measured time, with the ones that ended in the grace period.
    pub per_second: f64,
}

/// Counts of bytes: heads and bodies, before TLS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByteCounts {
    /// Bytes of replies.
    pub received: u64,
    /// Bytes of requests.
    pub sent: u64,
}

/// The distribution of a time, in seconds; null in its place where nothing was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Number of values.
    pub count: u64,
    /// Number of requests without a known value, which count as the slowest in the percentiles and
    /// the maximum: dropped and cut-off requests (not in `count`), and timed-out requests (in
    /// `count`). 0 for all but the response time.
    pub censored: u64,
    /// The least value, in seconds.
    pub min: f64,
    /// The arithmetic mean of the values counted, in seconds.
    pub mean: f64,
    /// The standard deviation of the values counted, in seconds.
    pub stddev: f64,
    /// The median, in seconds.
    pub p50: f64,
    /// The 75th percentile, in seconds.
    pub p75: f64,
    /// The 90th percentile, in seconds.
    pub p90: f64,
    /// The 95th percentile, in seconds.
    pub p95: f64,
    /// The 99th percentile, in seconds.
    pub p99: f64,
    /// The 99.9th percentile, in seconds.
    pub p99_9: f64,
    /// The greatest value, in seconds.
    pub max: f64,
    /// The keys above (from `p50` to `max`) that are lower bounds: their rank falls among requests that never finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
    /// Every value counted, to better than 0.1 %: an `HdrHistogram` (V2, deflated) in base64;
    /// its unit is `histogram_unit`.
    pub histogram: String,
    /// The unit of the values in `histogram`: `nanoseconds`.
    pub histogram_unit: String,
}

/// The steps of a request; each null where it did not occur.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRow {
    /// Resolving the name, in seconds, where that was done.
    pub resolve: Option<Times>,
    /// Connecting, with the proxy's answer, in seconds, where a connection was opened.
    pub connect: Option<Times>,
    /// The TLS handshake, in seconds, where there was one.
    pub tls: Option<Times>,
    /// Sent to first byte of the reply, in seconds, of completed requests.
    pub first_byte: Option<Times>,
    /// First byte to last byte of the reply, in seconds, of completed requests.
    pub receive: Option<Times>,
}

/// Resources used by brunt in the whole run; null if not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU time in user mode, in seconds.
    pub cpu_user_seconds: Option<f64>,
    /// CPU time in the kernel, in seconds.
    pub cpu_system_seconds: Option<f64>,
    /// The most memory held at once (resident set), in bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Worker threads.
    pub threads: Option<u64>,
    /// Number of times that a worker rested before it read replies, to read several at once.
    /// The response time of a reply that came in the meantime is longer by at most the
    /// length of the rest.
    #[serde(default)]
    pub rests: u64,
    /// Total length of the rests, in seconds.
    #[serde(default)]
    pub rest_seconds: f64,
}

/// Requests planned in the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warmup {
    /// Their counts.
    pub requests: RequestCounts,
    /// Their response time, in seconds.
    pub response_time_seconds: Option<Times>,
}

/// An objective with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveDocument {
    /// The bound.
    pub objective: Objective,
    /// The bound as the user writes it.
    pub text: String,
    /// The figure of the run: seconds, a share from 0 to 1, or per second, as the metric has it.
    pub value: f64,
    /// True if the figure is a lower bound.
    pub at_least: bool,
    /// True if the bound was met.
    pub met: bool,
}

/// A part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultPhase {
    /// Connections are opened; no load.
    #[default]
    Setup,
    /// Load whose requests are kept apart.
    Warmup,
    /// The measured time.
    Measure,
    /// No new requests; those under way may finish.
    Grace,
}

/// An instant that the user has marked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MarkRow {
    /// Instant: seconds since the measured time began, negative before it.
    pub at_seconds: f64,
    /// Text of the mark.
    pub text: String,
}

/// Events within an interval, whenever the requests were planned, and the state at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalRow {
    /// Start: seconds since the measured time began, negative before it.
    pub from_seconds: f64,
    /// End: seconds since the measured time began.
    pub to_seconds: f64,
    /// The part of the run that it lies in.
    pub phase: ResultPhase,
    /// Arrivals that became due.
    pub planned: u64,
    /// Requests begun.
    pub begun: u64,
    /// Whole replies.
    pub completed: u64,
    /// Good replies.
    pub good: u64,
    /// Begun or dropped ones that ended without being good.
    pub errors: u64,
    /// Whole replies per second.
    pub throughput_per_second: f64,
    /// Median response time in seconds of requests that completed or timed out in it; null where none did.
    pub response_p50_seconds: Option<f64>,
    /// 99th percentile of the response time, in seconds, likewise.
    pub response_p99_seconds: Option<f64>,
    /// Greatest response time, in seconds, likewise.
    pub response_max_seconds: Option<f64>,
    /// 99th percentile of the lag in seconds of requests that ended in it; null where none did.
    pub lag_p99_seconds: Option<f64>,
    /// Bytes of replies.
    pub bytes_received: u64,
    /// Bytes of requests.
    pub bytes_sent: u64,
    /// Requests under way at its end.
    pub in_flight: u64,
    /// Arrivals waiting for a free connection at its end.
    pub waiting: u64,
    /// Connections open at its end.
    pub connections: u64,
    /// Virtual users at its end (closed loop).
    pub users: u64,
    /// Agents that were lost, and not replaced, during the interval or a part of it; left out if there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub agents_lost: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// An agent and its share of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentDocument {
    /// Name of the agent.
    pub name: String,
    /// Group of the agent; left out if it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Name of its machine.
    pub host: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Counts of its requests. Those that were in flight when it was lost are only in the counts of
    /// the run.
    pub requests: RequestCounts,
    /// Its whole replies per second of the run's measured time.
    pub throughput_per_second: f64,
    /// Its requests that were begun or dropped, and not good.
    pub errors: u64,
    /// Its response time, in seconds.
    pub response_time_seconds: Option<Times>,
    /// Its lag, in seconds.
    pub lag_seconds: Option<Times>,
    /// Mean number of cores that it used in the measured time; null if not read.
    pub cpu_cores: Option<f64>,
    /// Time by which its clock is ahead of the controller's, in seconds, at the end of the run.
    pub clock_offset_seconds: f64,
    /// The true offset differed from the one that brunt used by at most this number of seconds. 0:
    /// it shares the controller's clock.
    pub clock_error_seconds: f64,
    /// Smallest round trip of a message between controller and agent, in seconds.
    pub round_trip_seconds: f64,
    /// Mean bytes per second that the controller received from it; null if not read.
    pub received_bytes_per_second: Option<f64>,
    /// State of the verdict on this agent.
    pub verdict: State,
    /// Seconds from the start of the measured time to its loss; null if it was not lost.
    pub lost_at_seconds: Option<f64>,
    /// Seconds from the start of the measured time until another process took its place after its last loss; null
    /// if none did.
    pub replaced_at_seconds: Option<f64>,
}

/// The transactions of one name whose first request was planned in the measured time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transaction {
    /// Its name.
    pub transaction: String,
    /// Transactions whose first request was due: the sum of the next three figures.
    pub started: u64,
    /// Transactions that ended, and none of their requests failed.
    pub succeeded: u64,
    /// Transactions that ended, and at least one of their requests failed.
    pub failed: u64,
    /// Transactions that were active when the run ended.
    pub unfinished: u64,
    /// Ended transactions per second of measured time, with the ones that ended
    /// in the grace period.
    pub throughput_per_second: f64,
    /// Time from when the first request was due to the last byte of the last one, in seconds, of
    /// ended transactions. Unfinished ones count as slower.
    pub response_time_seconds: Option<Times>,
}

/// The requests of one label, planned in the measured time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelRow {
    /// Its name.
    pub label: String,
    /// Counts of its requests.
    pub requests: RequestCounts,
    /// Iterations of a population; left out for labels and groups, and where each iteration is one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<IterationCounts>,
    /// Its whole replies per second of measured time. Where there are several labels, replies that came in the grace
    /// period are counted too.
    pub throughput_per_second: f64,
    /// Its requests that were begun or dropped, and not good.
    pub errors: u64,
    /// Its response time, in seconds.
    pub response_time_seconds: Option<Times>,
    /// Its service time, in seconds.
    pub service_time_seconds: Option<Times>,
    /// Number of its whole replies by status, and of calls that their deadline ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Number of its failed requests by kind; kinds with no failures are left out.
    pub failures: BTreeMap<String, u64>,
    /// Its bytes.
    pub bytes: ByteCounts,
    /// The single requests of its chains of redirects, by URL. No sum counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<LabelRow>,
}
