//! Default values of settings, in the words of the command line. Only this crate has defaults.

use brunt_model::experiment::{Restart, TrialOrder};

/// Number of connections in the closed loop.
pub const CONNECTIONS: &str = "10";

/// Measured time, if neither `--duration`, `--requests` nor stages end the run.
pub const DURATION: &str = "10s";

/// Maximum measured time of `--until`.
pub const MAX_DURATION: &str = "10m";

/// Spacing of arrivals in the open loop.
pub const ARRIVALS: &str = "poisson";

/// Think time of the closed loop.
pub const THINK: &str = "0s";

/// Duration of the warm-up before the measured time.
pub const WARMUP: &str = "0s";

/// Maximum warm-up of `--warmup auto`, if the measured time is not longer.
pub const MAX_WARMUP: &str = "10s";

/// Time for requests in flight after the end of the load.
pub const GRACE: &str = "5s";

/// Timeout of a request, from its begin to the last byte of the reply.
pub const TIMEOUT: &str = "30s";

/// Timeout of name resolution, connect and TLS handshake together.
pub const CONNECT_TIMEOUT: &str = "10s";

/// Connections opened each second before the load begins.
pub const CONNECT_RATE: &str = "5000";

/// Time between two snapshots of a run's results.
pub const INTERVAL: &str = "100ms";

/// Maximum number of labels that are reported one by one.
pub const LABELS: &str = "1000";

/// Order of the URLs of a file.
pub const ORDER: &str = "sequence";

/// Maximum number of redirects followed.
pub const FOLLOW: &str = "0";

/// The method of a request without a body.
pub const METHOD: &str = "GET";

/// The method of a request with `--data` or `--form`.
pub const METHOD_WITH_BODY: &str = "POST";

/// Value of the User-Agent header.
pub const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

/// Encodings that `--compressed` accepts.
pub const ACCEPT_ENCODING: &str = "gzip, deflate";

/// Encodings that the second request of `brunt check` accepts: those of browsers.
pub const CHECK_ACCEPT_ENCODING: &str = "gzip, br";

/// Report format on standard output.
pub const OUTPUT: &str = "text";

/// File descriptors that connections leave to the rest of the process.
pub const RESERVED_DESCRIPTORS: u64 = 64;

/// Maximum number of processes of one run; a higher number is assumed to be a mistake.
pub const MAX_PROCESSES: u64 = 256;

/// Requests per second for one thread; a higher rate starts another thread.
pub const RATE_PER_THREAD: f64 = 60_000.0;

/// Maximum rate: a hundred times that of one core, and above that of any machine.
pub const MAX_RATE: f64 = 10_000_000.0;

/// Repetitions of each step of each contender; more if contenders are compared.
pub const REPETITIONS: u32 = 3;

/// Order of the trials of an experiment.
pub const TRIAL_ORDER: TrialOrder = TrialOrder::Interleaved;

/// First load of a search in the open loop, in arrivals per second.
pub const FIND_RATE: f64 = 50.0;

/// First load of a search in the closed loop, in users.
pub const FIND_USERS: f64 = 4.0;

/// Time budget of a search.
pub const FIND_WITHIN: &str = "3m";

/// Target precision of a search: half the interval of a capacity.
pub const FIND_PRECISION: &str = "2%";

/// Measured time of the shortest trials of a search.
pub const FIND_TRIAL: &str = "2s";

/// Warm-up of a trial of a search.
pub const FIND_WARMUP: &str = "1s";

/// Time for requests in flight at the end of a trial of a search.
pub const FIND_GRACE: &str = "1s";

/// Pause between two trials of a search.
pub const FIND_COOLDOWN: &str = "1s";

/// Load of the final overload trial, as a multiple of the capacity.
pub const FIND_OVERLOAD: &str = "1.5";

/// Objectives of a search without objectives: Nielsen's 1 s limit for response times,
/// and almost no errors.
pub const FIND_OBJECTIVE: &str = "p99 < 1s, errors < 1%";

/// Pause before each trial of an experiment but the first.
pub const COOLDOWN: &str = "0s";

/// Trials between which a managed server is restarted.
pub const RESTART: Restart = Restart::Repetition;

/// Time limit for a managed server to become ready.
pub const READY_TIMEOUT: &str = "30s";

/// Time limit for a managed server to stop.
pub const STOP_TIMEOUT: &str = "10s";

/// Time limit of a hook.
pub const HOOK_TIMEOUT: &str = "60s";

/// Time limit of `setup` and `teardown`.
pub const STAGE_TIMEOUT: &str = "60s";

/// Time between two readings of a probe.
pub const PROBE_INTERVAL: &str = "1s";

/// Maximum number of repetitions of a comparison; more if so few cannot decide.
pub const BLOCKS: u32 = 10;

/// Maximum number of repetitions of a comparison that has only a time budget.
pub const MAX_BLOCKS: u32 = 100;

/// Time budget of each search of a comparison of capacities, if the comparison has none.
pub const COMPARE_SEARCH: &str = "1m";

/// Smallest relevant difference between contenders.
pub const SMALLEST: &str = "2%";

/// Significance level: the chance that equal contenders are found to differ.
pub const ALPHA: &str = "0.05";

/// Time without a message from the controller after which an agent stops its load.
pub const LEASE: &str = "1s";

/// Bytes per second from each agent.
pub const AGENT_BYTES: &str = "100k";

/// Lease of agents on NATS. After the end of a server, messages stalled for up to 12 s.
pub const NATS_LEASE: &str = "15s";

/// Image of the server of NATS.
pub const NATS_IMAGE: &str = "nats:2.12";

/// CPU of an agent's pod.
pub const AGENT_CPU: &str = "1";

/// Memory of an agent's pod.
pub const AGENT_MEMORY: &str = "512Mi";

/// Time until all agents of a fleet must run.
pub const START_DEADLINE: &str = "2m";

/// Time after which Kubernetes removes the pods.
pub const FLEET_DEADLINE: &str = "2h";
