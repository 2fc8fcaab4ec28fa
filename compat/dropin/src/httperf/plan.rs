//! Builds the plan of an httperf run.

use super::args::HttperfArgs;
use super::sessions::{self, SessionWorkload};
use super::tls;
use brunt_model::load::{LoadShape, ThinkTime};
use brunt_model::plan::{
    ConnectionLifetime, ConnectionSettings, Dialling, HttpVersion, RecordSettings, ReplyChecks,
    Resolve, StatusRange,
};
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::EndScope;
use brunt_model::{Load, Plan, Population, ReplyPolicy, Scenario, Stop};
use brunt_spec::{System, to_plan};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Longer than any run.
const UNLIMITED: Duration = Duration::from_hours(366 * 24);
/// Interval at which the engine delivers samples.
const INTERVAL: Duration = Duration::from_millis(100);

/// Builds the plan. Also returns a note for the user, if any.
pub fn plan(
    args: &HttperfArgs,
    workload: SessionWorkload,
    resolve: Vec<Resolve>,
    system: &System,
) -> (Plan, Option<String>) {
    let (connection, tls_note) = connection(args, resolve);
    let stop = Stop {
        warmup: Duration::ZERO,
        warmup_until_steady: false,
        duration: args.runtime.filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64),
        requests: Some(workload.count),
        iterations_per_user: None,
        grace: Duration::ZERO,
    };
    let policy = ReplyPolicy {
        cookies: if args.session_cookies { Cookies::Newest } else { Cookies::Ignored },
        // httperf abandons a connection or session at its first failure.
        failure_ends: EndScope::Iteration,
        ..ReplyPolicy::checks(checks(args))
    };
    let load = load(args, workload.count);
    let steps = sessions::steps(workload.sessions);
    let mut plan = Plan {
        populations: Population::only(load, Scenario::of(workload.requests, steps), stop),
        reply_policies: vec![policy],
        connection,
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: INTERVAL, labels: 1, samples: true, records: None },
        // The same client draws the same random periods in each run, as in httperf.
        seed: args.client.0,
        threads: args.brunt_options.threads.unwrap_or(1),
        processes: args.brunt_options.parts().unwrap_or(1),
        allowed_targets: args.brunt_options.allowed_targets.clone(),
        fleet: args.brunt_options.fleet.clone(),
        precise: false,
        stages: Vec::new(),
    };
    let source_note = to_plan::with_sources(&mut plan, system);
    (plan, tls_note.or(source_note))
}

fn load(args: &HttperfArgs, count: u64) -> Load {
    // Connections start by schedule, even if earlier ones have not ended.
    let max_in_flight = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    match args.period.arrivals() {
        Some((rate, arrivals)) => Load::Open { rate, arrivals, connections: None, max_in_flight },
        None => Load::Closed { users: LoadShape::constant(1.0), think: ThinkTime::NONE },
    }
}

/// Every status except that of `--failure-status` is good.
fn checks(args: &HttperfArgs) -> ReplyChecks {
    let Some(bad) = args.failure_status else { return ReplyChecks::default() };
    let status = vec![
        StatusRange { least: 0, most: bad.saturating_sub(1) },
        StatusRange { least: bad + 1, most: 999 },
    ];
    ReplyChecks { status, body: None, same_length: false }
}

fn connection(args: &HttperfArgs, resolve: Vec<Resolve>) -> (ConnectionSettings, Option<String>) {
    let limit = Duration::try_from_secs_f64(args.timeout).ok().filter(|limit| !limit.is_zero());
    let (tls, note) = tls::settings(args);
    let timeout = limit.map_or(UNLIMITED, |_| reply_limit(args));
    let connect_timeout = limit.unwrap_or(UNLIMITED);
    let connection = ConnectionSettings {
        http: if args.is_http10() { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        // A session of HTTP/1.0 has a connection for each call.
        requests_per_connection: (args.has_sessions() && args.is_http10()).then_some(1),
        // A session continues on another connection if the server closed an idle one.
        retry_stale: args.has_sessions(),
        connect_rate: u32::MAX,
        dialling: Dialling::Eager,
        resolve,
        source: args.sources.clone(),
        socket_buffer: buffer_size(args.send_buffer),
        receive_buffer: buffer_size(args.recv_buffer),
        // An iteration is one connection or one session.
        keep: ConnectionLifetime::Iteration,
        reset: args.close_with_reset,
        tls,
        ..ConnectionSettings::plain(timeout, connect_timeout)
    };
    (connection, note)
}

fn buffer_size(bytes: i64) -> Option<u32> {
    u32::try_from(bytes).ok().filter(|bytes| *bytes > 0)
}

/// Timeout of a request, if `--timeout` is set.
pub fn reply_limit(args: &HttperfArgs) -> Duration {
    Duration::try_from_secs_f64(args.timeout + args.think_timeout).unwrap_or(UNLIMITED)
}

/// Resolves the server's name, preferring IPv4. The result is empty if it already is an address.
pub fn resolve(args: &HttperfArgs) -> Result<Vec<Resolve>, String> {
    if args.server.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    let unknown = format!("core_addr_intern: invalid server address {}", args.server);
    let addresses: Vec<SocketAddr> =
        (&*args.server, args.port()).to_socket_addrs().map_err(|_| unknown.clone())?.collect();
    let address =
        addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).ok_or(unknown)?;
    Ok(vec![Resolve { host: args.server.clone(), port: args.port(), address: address.ip() }])
}
