//! httperf's wishes as a plan.

use super::args::Args;
use super::sessions::{self, Wanted};
use super::tls;
use brunt_model::load::{Shape, Think};
use brunt_model::plan::{Checks, Connection, ConnectionLifetime, Dialling, HttpVersion, Record, Resolve, StatusRange};
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::Scope;
use brunt_model::{Load, Plan, Population, ReplyPolicy, Scenario, Stop};
use brunt_spec::{System, to_plan};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_hours(366 * 24);
/// How often samples leave the engine.
const INTERVAL: Duration = Duration::from_millis(100);

/// The plan, and what must be told of it.
pub fn plan(args: &Args, wanted: Wanted, resolve: Vec<Resolve>, system: &System) -> (Plan, Option<String>) {
    let (connection, told) = connection(args, resolve);
    let stop = Stop {
        warmup: Duration::ZERO,
        warmup_until_steady: false,
        duration: args.runtime.filter(|seconds| *seconds > 0.0).map(Duration::from_secs_f64),
        requests: Some(wanted.many),
        iterations_per_user: None,
        grace: Duration::ZERO,
    };
    let policy = ReplyPolicy {
        cookies: if args.session_cookies { Cookies::Newest } else { Cookies::Ignored },
        failure_ends: Scope::Iteration,
        ..ReplyPolicy::checks(checks(args))
    };
    let (load, steps) = (load(args, wanted.many), sessions::steps(wanted.sessions));
    let mut plan = Plan {
        populations: Population::only(load, Scenario::of(wanted.requests, steps), stop),
        reply_policies: vec![policy],
        connection,
        objectives: Vec::new(),
        until: None,
        record: Record { interval: INTERVAL, labels: 1, samples: true, records: None },
        seed: args.client.0,
        threads: args.side.threads.unwrap_or(1),
        processes: args.side.processes.unwrap_or(1),
        precise: false,
        around: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    (plan, told.or(note))
}

fn load(args: &Args, many: u64) -> Load {
    let most = u32::try_from(many).unwrap_or(u32::MAX).max(1);
    match args.period.arrivals() {
        Some((rate, arrivals)) => Load::Open { rate, arrivals, connections: None, max_in_flight: most },
        None => Load::Closed { users: Shape::constant(1.0), think: Think::NONE },
    }
}

/// Every status is good but the one that was named.
fn checks(args: &Args) -> Checks {
    let Some(bad) = args.failure_status else { return Checks::default() };
    let status = vec![StatusRange { least: 0, most: bad.saturating_sub(1) }, StatusRange { least: bad + 1, most: 999 }];
    Checks { status, body: None, same_length: false }
}

fn connection(args: &Args, resolve: Vec<Resolve>) -> (Connection, Option<String>) {
    let limit = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
    let (tls, told) = tls::wanted(args);
    let bytes = |bytes: i64| u32::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    let timeout = limit(args.timeout).map_or(FOR_EVER, |_| reply_limit(args));
    let connect_timeout = limit(args.timeout).unwrap_or(FOR_EVER);
    let connection = Connection {
        http: if args.is_http10() { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        // A session of HTTP/1.0 has a connection for each call.
        requests_per_connection: (args.has_sessions() && args.is_http10()).then_some(1),
        // A session goes on, on another connection, where one that had served it was closed.
        retry_stale: args.has_sessions(),
        connect_rate: u32::MAX,
        dialling: Dialling::Eager,
        resolve,
        source: args.sources.clone(),
        socket_buffer: bytes(args.send_buffer),
        receive_buffer: bytes(args.recv_buffer),
        keep: ConnectionLifetime::Iteration,
        reset: args.close_with_reset,
        tls,
        ..Connection::plain(timeout, connect_timeout)
    };
    (connection, told)
}

/// How long a request may take where there is a limit.
pub fn reply_limit(args: &Args) -> Duration {
    Duration::try_from_secs_f64(args.timeout + args.think_timeout).unwrap_or(FOR_EVER)
}

/// The address that the server's name stands for, of IPv4 where it has one; none where it is one already.
pub fn resolve(args: &Args) -> Result<Vec<Resolve>, String> {
    if args.server.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    let unknown = || format!("core_addr_intern: invalid server address {}", args.server);
    let found: Vec<SocketAddr> = (&*args.server, args.port()).to_socket_addrs().map_err(|_| unknown())?.collect();
    let address = found.iter().find(|address| address.is_ipv4()).or(found.first()).ok_or_else(unknown)?;
    Ok(vec![Resolve { host: args.server.clone(), port: args.port(), address: address.ip() }])
}
