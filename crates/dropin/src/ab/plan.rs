//! ab's wishes as a plan.

use super::args::Args;
use super::request::method;
use crate::carry::processes;
use crate::error::Result;
use brunt_model::load::{Shape, Think};
use brunt_model::plan::{Connection, Dialling, HttpVersion, Record, Resolve, Tls};
use brunt_model::scenario::{Order, Scenario};
use brunt_model::{Body, Load, Plan, Population, ReplyPolicy, Request, Stop};
use brunt_spec::System;
use brunt_spec::to_plan;
use std::net::IpAddr;
use std::time::Duration;

/// Longer than any run: ab has a limit for all connections together only, which is watched over elsewhere.
const FOR_EVER: Duration = Duration::from_hours(366 * 24);
/// How often samples leave the engine, and errors are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// What was found out before the plan was made.
#[derive(Debug, Clone, Default)]
pub struct PlanInputs {
    /// The request's bytes.
    pub bytes: Vec<u8>,
    /// How TLS is to be spoken.
    pub tls: Tls,
    /// The address that the server's name, or the proxy's, stands for.
    pub resolve: Vec<Resolve>,
    /// The address of `-B`.
    pub source: Option<IpAddr>,
}

/// The plan, and what must be told of it.
pub fn plan(args: &Args, found: PlanInputs, system: &System) -> Result<(Plan, Option<String>)> {
    let connections = args.connections as u64;
    let mut plan = Plan {
        populations: Population::only(
            Load::Closed { users: Shape::constant(connections as f64), think: Think::NONE },
            Scenario::list(vec![request(args, found.bytes.clone())], Order::Sequence),
            stop(args),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: connection(args, found),
        objectives: Vec::new(),
        until: None,
        record: Record { interval: INTERVAL, labels: 1, samples: true, records: None },
        seed: 0,
        threads: args.side.threads.unwrap_or(1),
        processes: processes(connections, args.side.processes)?,
        precise: false,
        around: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    Ok((plan, note))
}

/// One request, again and again.
fn request(args: &Args, bytes: Vec<u8>) -> Request {
    Request {
        label: args.target.url(),
        method: method(args).to_owned(),
        url: args.target.reached(),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        verbatim: Some(bytes),
        reply_policy: 0,
    }
}

fn stop(args: &Args) -> Stop {
    Stop {
        warmup: Duration::ZERO,
        warmup_until_steady: false,
        duration: args.time_limit.filter(|s| *s > 0).map(|s| Duration::from_secs(s as u64)),
        requests: Some(args.requests as u64),
        iterations_per_user: None,
        grace: Duration::ZERO,
    }
}

fn connection(args: &Args, found: PlanInputs) -> Connection {
    Connection {
        http: HttpVersion::V1_0,
        requests_per_connection: (!args.keep_alive).then_some(1),
        // A connection that the server closed between two requests is opened again, and nothing is counted.
        retry_stale: true,
        connect_rate: u32::MAX,
        dialling: Dialling::Eager,
        resolve: found.resolve,
        proxy: args.proxy.as_ref().map(|(host, port)| format!("http://{host}:{port}")),
        source: Vec::from_iter(found.source),
        socket_buffer: args.buffer,
        tls: found.tls,
        ..Connection::plain(FOR_EVER, FOR_EVER)
    }
}
