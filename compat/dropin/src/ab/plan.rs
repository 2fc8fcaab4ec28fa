//! Builds the plan of an ab run.

use super::args::AbArgs;
use super::request::method;
use crate::error::ToolResult;
use crate::run_setup::processes;
use brunt_model::load::{LoadShape, ThinkTime};
use brunt_model::plan::{
    ConnectionSettings, Dialling, HttpVersion, RecordSettings, Resolve, TlsSettings,
};
use brunt_model::scenario::{ListOrder, Scenario};
use brunt_model::{Body, Load, Plan, Population, ReplyPolicy, Request, Stop};
use brunt_spec::System;
use brunt_spec::to_plan;
use std::net::IpAddr;
use std::time::Duration;

/// Longer than any run. ab has only a timeout for all
/// connections together, which `AbCollector` implements.
const UNLIMITED: Duration = Duration::from_hours(366 * 24);
/// Interval at which the engine delivers samples and errors are checked.
const INTERVAL: Duration = Duration::from_millis(100);

/// Values determined before the plan is built.
#[derive(Debug, Clone, Default)]
pub struct AbPlanInputs {
    /// Bytes of the request.
    pub bytes: Vec<u8>,
    pub tls: TlsSettings,
    /// Address of the server or proxy.
    pub resolve: Vec<Resolve>,
    pub source: Option<IpAddr>,
}

/// Builds the plan. Also returns a note for the user about source addresses, if any.
pub fn plan(
    args: &AbArgs,
    inputs: AbPlanInputs,
    system: &System,
) -> ToolResult<(Plan, Option<String>)> {
    let connections = args.connections as u64;
    let mut plan = Plan {
        populations: Population::only(
            Load::Closed { users: LoadShape::constant(connections as f64), think: ThinkTime::NONE },
            Scenario::list(vec![request(args, inputs.bytes.clone())], ListOrder::Sequence),
            stop(args),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: connection(args, inputs),
        objectives: Vec::new(),
        until: None,
        // All requests have the same URL, so one label suffices.
        record: RecordSettings { interval: INTERVAL, labels: 1, samples: true, records: None },
        // Nothing in this plan is random.
        seed: 0,
        // ab has one thread, too.
        threads: args.brunt_options.threads.unwrap_or(1),
        processes: processes(
            connections,
            args.brunt_options.processes,
            args.brunt_options.fleet.as_ref(),
        )?,
        allowed_targets: args.brunt_options.allowed_targets.clone(),
        fleet: args.brunt_options.fleet.clone(),
        precise: false,
        stages: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    Ok((plan, note))
}

/// The one request, which is sent repeatedly.
fn request(args: &AbArgs, bytes: Vec<u8>) -> Request {
    Request {
        base: None,
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

fn stop(args: &AbArgs) -> Stop {
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

fn connection(args: &AbArgs, inputs: AbPlanInputs) -> ConnectionSettings {
    ConnectionSettings {
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
        ..ConnectionSettings::plain(UNLIMITED, UNLIMITED)
    }
}
