//! Makes the JSON report: options, events, and the truth with its verdict.
//!
//! It computes from the [ledger](crate::ledger), and writes nothing. Every time is in seconds;
//! ticks count from the start of the server.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::args::LabOptions;
use crate::h2::options::Versions;
use crate::hostile::Hostile;
use crate::ledger::{Http3Counts, Ledger, SPOILED, UNWRITTEN};
use crate::planner::Planner;
use crate::truth::{ArrivalStatistics, Summary, dispersion, sojourns};
use crate::units::{MILLISECOND, SECOND, seconds};

/// Maximum difference between the 99th percentiles of the written times and the truth, in seconds.
const TOLERANCE: f64 = 0.0001;

/// Maximum difference if all replies were held for a while, as a share of the percentile. At the
/// end of a hold there are hundreds of replies, which leave one after the other.
const TOLERANCE_HELD: f64 = 0.005;

/// Report of a server.
#[derive(Debug, Clone, Serialize)]
pub struct LabReport {
    /// Version of the lab.
    pub version: &'static str,
    /// Address on which it listened.
    pub listen: String,
    /// Options of the server.
    pub options: Value,
    /// Runtime of the server.
    pub runtime_seconds: f64,
    /// CPU time of the process, user and system.
    pub cpu_seconds: f64,
    /// Counts of requests and replies.
    pub requests: ServedRequests,
    /// Counts of TCP connections.
    pub connections: TcpConnections,
    /// Counts of HTTP/2 connections.
    pub http2: Http2Totals,
    /// Counts of HTTP/3 connections.
    pub http3: Http3Counts,
    /// `WebSocket`s.
    pub websocket: WebSockets,
    /// Bytes on sockets (with TLS, encrypted).
    pub bytes: SocketBytes,
    /// Time of the earliest arrival.
    pub first_arrival_seconds: Option<f64>,
    /// Time of the latest arrival.
    pub last_arrival_seconds: Option<f64>,
    /// Time at which the last byte of the latest reply was written.
    pub last_written_seconds: Option<f64>,
    /// Reported periods in which the process was stopped: start and end.
    pub frozen_seconds: Vec<[f64; 2]>,
    /// Statistics of the arrivals.
    pub arrivals: ArrivalStatistics,
    /// Computed response times and their verdict.
    pub truth: TrueTimes,
}

/// Counts of requests and replies.
#[derive(Debug, Clone, Serialize)]
pub struct ServedRequests {
    /// Complete requests, without those for `/stats`.
    pub received: u64,
    /// Replies that were passed to the kernel completely.
    pub answered: u64,
    /// Malformed requests, and frames that break a rule.
    pub malformed: u64,
    /// Numbers of replies, by status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests that failed on purpose.
    pub failed_by_kind: BTreeMap<String, u64>,
}

/// Counts of TCP connections.
#[derive(Debug, Clone, Serialize)]
pub struct TcpConnections {
    /// Number of accepted connections.
    pub accepted: u64,
    /// Closed, by either side.
    pub closed: u64,
    /// Maximum number of simultaneous connections.
    pub peak: u64,
    /// Failed accepts, for instance when descriptors run out.
    pub accept_errors: u64,
}

/// Counts of HTTP/2 connections besides requests and replies.
#[derive(Debug, Clone, Serialize)]
pub struct Http2Totals {
    /// Connections that became HTTP/2.
    pub connections: u64,
    /// Streams beyond `--h2-streams`, refused.
    pub refused: u64,
    /// Streams that the client reset.
    pub cancelled: u64,
    /// GOAWAY frames that were sent.
    pub goaways: u64,
    /// Streams above the last one of a GOAWAY; they are not among the requests received.
    pub after_goaway: u64,
    /// The first rule that a client broke.
    pub first_error: Option<String>,
}

/// Counts of `WebSocket`s besides messages and their replies, which count as requests.
#[derive(Debug, Clone, Serialize)]
pub struct WebSockets {
    /// Connections and HTTP/2 streams that became `WebSocket`s.
    pub connections: u64,
    /// Messages that were compressed.
    pub compressed: u64,
    /// The first rule that a client broke.
    pub first_error: Option<String>,
}

/// Counts of bytes on sockets.
#[derive(Debug, Clone, Serialize)]
pub struct SocketBytes {
    /// Bytes read from sockets.
    pub received: u64,
    /// Bytes written to sockets.
    pub sent: u64,
}

/// Computed sojourn times, and the real ones.
#[derive(Debug, Clone, Serialize)]
pub struct TrueTimes {
    /// True if the written times agree with the computed ones.
    pub accepted: bool,
    /// Reason if they do not agree.
    pub reason: Option<String>,
    /// Method of the computation.
    pub method: String,
    /// Computed time in the system, of every answered or answerable request.
    pub sojourn_seconds: Option<Summary>,
    /// Time from arrival to the end of the write that completed the reply.
    pub written_seconds: Option<Summary>,
    /// Lateness of the written replies.
    pub late_seconds: Option<Summary>,
    /// p99 written minus p99 computed, of the answered requests.
    pub p99_difference_seconds: Option<f64>,
    /// Recorded requests whose reply was not completely written, for instance because
    /// the client had left.
    pub unwritten: u64,
    /// Requests with a kernel stamp as their arrival; the others were stamped when they were read.
    pub stamped_by_kernel: u64,
}

impl LabReport {
    /// Returns the report at tick `now`.
    pub fn of(options: &LabOptions, listen: &str, planner: &Planner, now: u64, cpu: u64) -> Self {
        let ledger = &planner.ledger;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            listen: listen.to_owned(),
            options: describe(options),
            runtime_seconds: seconds(now),
            cpu_seconds: seconds(cpu),
            requests: requests(options, ledger),
            connections: TcpConnections {
                accepted: ledger.accepted,
                closed: ledger.closed,
                peak: ledger.peak,
                accept_errors: ledger.accept_errors,
            },
            http2: Http2Totals {
                connections: ledger.http2_connections,
                refused: ledger.http2.refused,
                cancelled: ledger.http2.cancelled,
                goaways: ledger.http2.goaways,
                after_goaway: ledger.http2.after_goaway,
                first_error: ledger.http2.first_error.clone(),
            },
            http3: ledger.http3,
            websocket: WebSockets {
                connections: ledger.websockets,
                compressed: ledger.deflated,
                first_error: ledger.websocket_error.clone(),
            },
            bytes: SocketBytes { received: ledger.bytes_received, sent: ledger.bytes_sent },
            first_arrival_seconds: ledger.first_arrival.map(seconds),
            last_arrival_seconds: ledger.last_arrival.map(seconds),
            last_written_seconds: ledger.last_written.map(seconds),
            frozen_seconds: planner
                .freezes
                .iter()
                .map(|freeze| [seconds(freeze.from), seconds(freeze.to)])
                .collect(),
            arrivals: arrivals(ledger),
            truth: truth(options, planner),
        }
    }
}

fn describe(options: &LabOptions) -> Value {
    json!({
        "service": options.service.text,
        "workers": options.workers,
        "body_bytes": options.body,
        "status": options.status,
        "headers": options.headers,
        "chunked": options.chunked,
        "keepalive_requests": options.keepalive_requests,
        "echo": options.echo,
        "stall_length_seconds": options.stall.map(|stall| seconds(stall.length)),
        "stall_period_seconds": options.stall.map(|stall| seconds(stall.period)),
        "fail": options.fail.iter().map(|rule| &rule.text).collect::<Vec<_>>(),
        "drip_seconds": seconds(options.drip),
        "seed": options.seed,
        "idle_timeout_seconds": options.idle_timeout.map(seconds),
        "backlog": options.backlog,
        "max_runtime_seconds": options.max_runtime.map(seconds),
        "record": options.record,
        "max_record": options.max_record,
        "precise": options.precise,
        "tls": options.tls,
        "http": match options.http2.versions {
            Versions::Http1 => "1.1",
            Versions::Http2 => "2",
            Versions::Both => "both",
        },
        "h2_streams": options.http2.streams,
        "h2_window_bytes": options.http2.window,
        "h2_window_then_bytes": options.http2.window_then,
        "h2_table_bytes": options.http2.table,
        "http3": options.http3.http3,
        "retry": options.http3.retry,
        "refuse_early_data": options.http3.refuse_early_data,
        "ws_deflate": options.websocket.deflate,
        "ws_client_bits": options.websocket.client_bits,
        "hostile": options.hostile.and_then(Hostile::row).map(|row| row.name),
    })
}

fn requests(options: &LabOptions, ledger: &Ledger) -> ServedRequests {
    let statuses = ledger.by_status.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut failed_by_kind = BTreeMap::new();
    for (rule, count) in options.fail.iter().zip(&ledger.failed) {
        *failed_by_kind.entry(rule.name().to_owned()).or_insert(0) += count;
    }
    ServedRequests {
        received: ledger.received,
        answered: ledger.answered,
        malformed: ledger.malformed,
        by_status: statuses.map(|(status, count)| (status as u16, *count)).collect(),
        failed_by_kind,
    }
}

fn arrivals(ledger: &Ledger) -> ArrivalStatistics {
    let span = ledger.last_arrival.zip(ledger.first_arrival).map(|(last, first)| last - first);
    ArrivalStatistics {
        count: ledger.received,
        rate_per_second: span
            .filter(|span| *span > 0)
            .map(|span| (ledger.received - 1) as f64 * SECOND as f64 / span as f64),
        // Part of the arrivals would not show how all of them are spread.
        dispersion_1ms: (ledger.visits.over_limit == 0)
            .then(|| dispersion(&ledger.visits.arrivals, MILLISECOND))
            .flatten(),
    }
}

/// Computed and written times of the recorded requests.
#[derive(Default)]
struct Times {
    /// Computed times of all requests that had, or could have had, a reply.
    sojourn: Vec<u64>,
    /// Computed times of the answered requests.
    sojourn_of_written: Vec<u64>,
    written: Vec<u64>,
    late: Vec<u64>,
}

impl Times {
    fn of(planner: &Planner) -> Self {
        let visits = &planner.ledger.visits;
        let mut times = Self::default();
        let computed = sojourns(&planner.model(), &visits.arrivals, &visits.services);
        for ((&arrival, &written), sojourn) in
            visits.arrivals.iter().zip(&visits.written).zip(computed)
        {
            if written == SPOILED {
                continue;
            }
            times.sojourn.push(sojourn);
            if written == UNWRITTEN {
                continue;
            }
            let elapsed = written.saturating_sub(arrival);
            times.sojourn_of_written.push(sojourn);
            times.written.push(elapsed);
            times.late.push(elapsed.saturating_sub(sojourn));
        }
        times
    }
}

fn truth(options: &LabOptions, planner: &Planner) -> TrueTimes {
    let times = Times::of(planner);
    let unwritten = (times.sojourn.len() - times.written.len()) as u64;
    let sojourn = Summary::of(times.sojourn);
    let written = Summary::of(times.written);
    let expected = Summary::of(times.sojourn_of_written);
    let difference = written
        .as_ref()
        .zip(expected.as_ref())
        .map(|(written, expected)| written.p99 - expected.p99);
    let was_held = options.stall.is_some() || !planner.freezes.is_empty();
    let share = expected
        .as_ref()
        .filter(|_| was_held)
        .map_or(0.0, |expected| expected.p99 * TOLERANCE_HELD);
    let reason =
        refusal(options, planner.ledger.visits.over_limit, difference, TOLERANCE.max(share));
    TrueTimes {
        accepted: reason.is_none(),
        reason,
        method: planner.model().method(),
        sojourn_seconds: sojourn,
        written_seconds: written,
        late_seconds: Summary::of(times.late),
        p99_difference_seconds: difference,
        unwritten,
        stamped_by_kernel: planner.ledger.stamped_by_kernel,
    }
}

/// Returns the reason why the truth is unreliable, if it is.
fn refusal(
    options: &LabOptions,
    over_limit: u64,
    difference: Option<f64>,
    tolerance: f64,
) -> Option<String> {
    if !options.is_recorded() {
        return Some(
            "nothing was recorded: replies were immediate and --record was not given".to_owned(),
        );
    }
    if over_limit > 0 {
        return Some(format!("{over_limit} requests came after --max-record was reached"));
    }
    match difference {
        None => Some("no recorded request was answered".to_owned()),
        Some(difference) if difference.abs() > tolerance => Some(format!(
            "p99 as written is {:+.3} ms from p99 as computed, more than {:.1} ms",
            difference * 1e3,
            tolerance * 1e3
        )),
        Some(_) => None,
    }
}
