//! The table of defaults: whatever is not said on the command line is said here, in the words in which it would be.
//! Nothing below `cli` has a default.

use brunt_model::experiment::{Restart, TrialOrder};

/// Connections of the closed loop.
pub const CONNECTIONS: &str = "10";

/// Measured time, where neither `--duration`, `--requests` nor stages say when to stop.
pub const DURATION: &str = "10s";

/// The longest time that `--until` may take.
pub const MAX_DURATION: &str = "10m";

/// How the arrivals of the open loop are spaced.
pub const ARRIVALS: &str = "poisson";

/// Think time of the closed loop.
pub const THINK: &str = "0s";

/// Load before the measured time.
pub const WARMUP: &str = "0s";

/// The longest warm-up of `--warmup auto`, where the measured time is not longer.
pub const LONGEST_WARMUP: &str = "10s";

/// How long requests under way may take once the time is up.
pub const GRACE: &str = "5s";

/// From begun to the last byte of the reply.
pub const TIMEOUT: &str = "30s";

/// For resolving, connecting and the TLS handshake together.
pub const CONNECT_TIMEOUT: &str = "10s";

/// Connections opened each second before the load begins.
pub const CONNECT_RATE: &str = "5000";

/// Time between snapshots.
pub const INTERVAL: &str = "100ms";

/// Labels kept apart.
pub const LABELS: &str = "1000";

/// Which URL of a file is next.
pub const ORDER: &str = "sequence";

/// Redirects followed.
pub const FOLLOW: &str = "0";

/// The method of a request without a body.
pub const METHOD: &str = "GET";

/// The method of a request with `--data` or `--form`.
pub const METHOD_WITH_BODY: &str = "POST";

/// How we call ourselves in the User-Agent header.
pub const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

/// What `--compressed` accepts.
pub const ACCEPT_ENCODING: &str = "gzip, deflate";

/// What `brunt check` accepts in its second request: what browsers do.
pub const CHECK_ACCEPT_ENCODING: &str = "gzip, br";

/// What is shown, on standard output.
pub const OUTPUT: &str = "text";

/// File descriptors that connections leave to everything else in the process.
pub const DESCRIPTORS_KEPT: u64 = 64;

/// Processes of one run, at most: more are a mistake rather than a wish.
pub const MOST_PROCESSES: u64 = 256;

/// Requests per second that one thread is trusted with before another one is started.
pub const RATE_PER_THREAD: f64 = 60_000.0;

/// Requests per second, at most: a hundred times what a core sends, and more than any machine does.
pub const MOST_RATE: f64 = 10_000_000.0;

/// How often each step of each contender is measured.
pub const REPETITIONS: u32 = 3;

/// In which order the trials of an experiment are made.
pub const TRIAL_ORDER: TrialOrder = TrialOrder::Interleaved;

/// The first load of a search in the open loop, arrivals per second.
pub const FIND_RATE: f64 = 50.0;

/// The first load of a search in the closed loop, users.
pub const FIND_USERS: f64 = 4.0;

/// How long a search may take.
pub const FIND_WITHIN: &str = "3m";

/// How well a search is to know each capacity: half its interval.
pub const FIND_PRECISION: &str = "2%";

/// How long each of its trials is measured, at least and at most.
pub const FIND_TRIAL: &str = "2s..20s";

/// The load before the measured time of each of its trials.
pub const FIND_WARMUP: &str = "1s";

/// How long requests under way may take at the end of each.
pub const FIND_GRACE: &str = "1s";

/// Rest between them.
pub const FIND_COOLDOWN: &str = "1s";

/// The overload at its end, as a multiple of the capacity.
pub const FIND_OVERLOAD: &str = "1.5";

/// What a load is to meet where nobody says: the first of Nielsen's limits of patience, and next to no errors.
pub const FIND_OBJECTIVE: &str = "p99 < 1s, errors < 1%";

/// Rest before each trial of an experiment but the first.
pub const COOLDOWN: &str = "0s";

/// Between which trials a managed server is started anew.
pub const RESTART: Restart = Restart::Repetition;

/// How long a managed server may take to be ready.
pub const READY_TIMEOUT: &str = "30s";

/// How long a managed server may take to end.
pub const STOP_TIMEOUT: &str = "10s";

/// How long a hook may take.
pub const HOOK_TIMEOUT: &str = "60s";

/// Time limit of `setup` and `teardown`.
pub const STAGE_TIMEOUT: &str = "60s";

/// Time from one reading of a probe to the next.
pub const PROBE_INTERVAL: &str = "1s";

/// How often contenders are compared, at most.
pub const BLOCKS: u32 = 10;

/// The same where only the time is said that a comparison may take.
pub const MOST_BLOCKS: u32 = 100;

/// How long each search of a comparison of capacities may take, where only that is not said.
pub const COMPARE_SEARCH: &str = "1m";

/// The smallest difference between contenders that matters.
pub const SMALLEST: &str = "2%";

/// How often contenders that are alike may be found to differ.
pub const ALPHA: &str = "0.05";
