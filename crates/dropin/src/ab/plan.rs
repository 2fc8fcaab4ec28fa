//! Builds the plan of an ab run.

use super::args::Args;
use super::request::method;
use crate::error::Result;
use crate::run_setup::processes;
use brunt_model::load::{Shape, Think};
use brunt_model::plan::{Connection, Dialling, HttpVersion, Record, Resolve, Tls};
use brunt_model::scenario::{Order, Scenario};
use brunt_model::{Body, Load, Plan, Population, ReplyPolicy, Request, Stop};
use brunt_spec::System;
use brunt_spec::to_plan;
use std::net::IpAddr;
use std::time::Duration;

/// Longer than any run. ab has only a timeout for all
/// connections together, which `SampleCollector` implements.
const UNLIMITED: Duration = Duration::from_hours(366 * 24);
/// Interval at which the engine delivers samples and errors are checked.
const INTERVAL: Duration = Duration::from_millis(100);

/// Values determined before the plan is built.
#[derive(Debug, Clone, Default)]
pub struct PlanInputs {
    /// Bytes of the request.
    pub bytes: Vec<u8>,
    pub tls: Tls,
    /// Address of the server or proxy.
    pub resolve: Vec<Resolve>,
    pub source: Option<IpAddr>,
}

/// Builds the plan. Also returns a note for the user about source addresses, if any.
pub fn plan(args: &Args, inputs: PlanInputs, system: &System) -> Result<(Plan, Option<String>)> {
    let connections = args.connections as u64;
    let mut plan = Plan {
        populations: Population::only(
            Load::Closed { users: Shape::constant(connections as f64), think: Think::NONE },
            Scenario::list(vec![request(args, inputs.bytes.clone())], Order::Sequence),
            stop(args),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: connection(args, inputs),
        objectives: Vec::new(),
        until: None,
        // All requests have the same URL, so one label suffices.
        record: Record { interval: INTERVAL, labels: 1, samples: true, records: None },
        // Nothing in this plan is random.
        seed: 0,
        // ab has one thread, too.
        threads: args.brunt_options.threads.unwrap_or(1),
        processes: processes(connections, args.brunt_options.processes)?,
        precise: false,
        stages: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    Ok((plan, note))
}

/// The one request, which is sent repeatedly.
fn request(args: &Args, bytes: Vec<u8>) -> Request {
    Request {
        label: args.target.url(),
        method: method(args).to_owned(),
        // Selects the connection only. `verbatim` holds the bytes of the request.
        url: args.target.engine_url(),
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
        // The time limit is exact. Requests in flight do not extend the run.
        grace: Duration::ZERO,
    }
}

fn connection(args: &Args, inputs: PlanInputs) -> Connection {
    Connection {
        http: HttpVersion::V1_0,
        requests_per_connection: (!args.keep_alive).then_some(1),
        // If the server closed an idle connection, ab reopens it without counting an error.
        retry_stale: true,
        connect_rate: u32::MAX,
        // ab opens its first connection alone and waits for its first head. That would only delay
        // the load.
        dialling: Dialling::Eager,
        resolve: inputs.resolve,
        proxy: args.proxy.as_ref().map(|(host, port)| format!("http://{host}:{port}")),
        source: Vec::from_iter(inputs.source),
        socket_buffer: args.buffer,
        tls: inputs.tls,
        ..Connection::plain(UNLIMITED, UNLIMITED)
    }
}
