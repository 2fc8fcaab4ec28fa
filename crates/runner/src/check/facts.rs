//! What a look at the server and at this machine found: values, and their JSON.
//!
//! Out of scope: a judgement; those are the [`rules`](super::rules). Times are in seconds. What could not be seen
//! is null.

use super::rules::Advice;
use brunt_model::plan::HttpVersion;
use brunt_model::{Load, Plan, Route};
use brunt_probe::settings::Settings;
use brunt_wire::tls::Cause;
use serde::Serialize;

/// The version of the JSON document. It grows when a key changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// The whole report of `brunt check`.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// The version of this document.
    pub version: u32,
    /// What was found.
    #[serde(flatten)]
    pub facts: Facts,
    /// What to mend, the surest first.
    pub advice: Vec<Advice>,
}

/// All that was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Facts {
    /// The method of the request.
    pub method: String,
    /// Its URL: the first one, where there is a list.
    pub url: String,
    /// The load that was asked for.
    pub asked: RequestedLoad,
    /// This machine.
    pub machine: Machine,
    /// The addresses of the server's name (the proxy's, where there is one).
    pub addresses: Vec<String>,
    /// The way to the first of them.
    pub route: Option<Route>,
    /// The connection; null where none was made.
    pub connection: Option<Connected>,
    /// What TLS agreed on; null without TLS, or where nothing was agreed on.
    pub tls: Option<Secured>,
    /// The reply; null where none came.
    pub reply: Option<Answered>,
    /// The reply to the same request with Accept-Encoding asked the other way; null where that was not tried.
    pub compression: Option<Compression>,
    /// Why no reply came; null where one did.
    pub failure: Option<Failed>,
    /// True if the scheme of the URL is `http` and the server speaks TLS on this port.
    pub needs_tls: bool,
}

/// The load that was asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RequestedLoad {
    /// Most connections at once; null where the open loop takes as many as it needs.
    pub connections: Option<u64>,
    /// Greatest arrival rate, per second; null in the closed loop.
    pub rate_per_second: Option<f64>,
    /// Requests on one connection, at most; null: no limit.
    pub requests_per_connection: Option<u64>,
    /// Connections opened each second once the load is on; null where that is not known.
    pub new_connections_per_second: Option<f64>,
    /// Seconds of load; null where requests say when to stop.
    pub duration_seconds: Option<f64>,
    /// Mean think time, in seconds.
    pub think_seconds: f64,
    /// Local addresses that connections are made from.
    pub sources: u64,
    /// Redirects are followed.
    pub follows: bool,
    /// Compressed replies are asked for.
    pub compressed: bool,
    /// True if `--expect-status` lists the good statuses.
    pub expects_status: bool,
}

/// This machine, and our limits on it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Machine {
    /// Files that our process may have open.
    pub descriptors: u64,
    /// Cores that we may use.
    pub cores: u32,
    /// Cores that other processes used during the check; null where the system does not show it.
    pub other_processes_cores: Option<f64>,
    /// The kernel's settings.
    #[serde(flatten)]
    pub settings: Settings,
}

/// A connection.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Connected {
    /// The address at the other end; null for a Unix socket.
    pub peer: Option<String>,
    /// Looking up the name; null where none was looked up.
    pub resolve_seconds: Option<f64>,
    /// The round trip: the shortest of some connects (with the proxy's answer, where there is one).
    pub round_trip_seconds: f64,
    /// How many connects that is the shortest of.
    pub connects: u64,
}

/// What TLS agreed on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Secured {
    /// The versions of HTTP that the server offers, of those that brunt speaks; empty where nobody looked.
    pub http: Vec<OfferedVersion>,
    /// The protocols that were offered (ALPN).
    pub alpn_offered: Vec<String>,
    /// The one that the server chose; null: none.
    pub alpn: Option<String>,
    /// The version.
    pub version: Option<String>,
    /// The cipher suite.
    pub cipher: Option<String>,
    /// The key exchange group; null where it is not known.
    pub group: Option<String>,
    /// The server asked for a further key share (`HelloRetryRequest`), which took another round trip.
    pub retried: bool,
    /// A whole handshake.
    pub handshake_seconds: f64,
    /// A later connection resumed the session; null where none was tried.
    pub resumed: Option<bool>,
    /// The shortest handshake of those that resumed; null where none did.
    pub resumed_handshake_seconds: Option<f64>,
    /// Certificates that the server sent.
    pub chain: u64,
    /// Its own certificate; null where it cannot be read.
    pub certificate: Option<Certificate>,
    /// Why it is not trusted; null where it is, or was not asked to be.
    pub distrust: Option<String>,
    /// The same for rules.
    #[serde(skip)]
    pub cause: Option<Cause>,
}

/// A version of HTTP that the server offers over TLS.
#[derive(Debug, Clone, Serialize)]
pub struct OfferedVersion {
    /// The version.
    pub version: HttpVersion,
    /// Streams under way at once on a connection; null: no limit, or a version without streams.
    pub streams: Option<u32>,
    /// Bytes of a request's body that are sent on a stream before the server allows more; null: a version without streams.
    pub window_bytes: Option<u64>,
    /// Its QUIC; null: a version over TCP.
    pub quic: Option<OfferedQuic>,
}

/// The QUIC of a server.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OfferedQuic {
    /// The versions that it offers (Version Negotiation, RFC 9000 section 6); empty where it did not tell.
    pub versions: Vec<String>,
    /// Time without packets after which it closes a connection; null: never.
    pub idle_timeout_seconds: Option<f64>,
    /// Bytes of the largest UDP payload that it takes.
    pub max_udp_payload_bytes: u64,
    /// Bytes that may be sent on a connection before the server allows more.
    pub connection_window_bytes: u64,
    /// Bytes of a request that may be sent before the server allows more.
    pub stream_window_bytes: u64,
    /// By how long it delays acknowledgments, at most.
    pub max_ack_delay_seconds: f64,
    /// Connections may go on from another local address or port.
    pub allows_migration: bool,
}

/// A certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Certificate {
    /// Whom it names.
    pub subject: String,
    /// Who says so.
    pub issuer: String,
    /// The names and addresses that it is good for.
    pub names: Vec<String>,
    /// The first day on which it is valid, UTC.
    pub valid_from: String,
    /// The last.
    pub valid_to: String,
    /// Whole days until it expires; negative: since it did.
    pub days_left: i64,
    /// It was signed by itself.
    pub self_signed: bool,
}

/// A reply.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub protocol: String,
    /// The server's name for itself.
    pub server: Option<String>,
    /// Where a redirect leads.
    pub location: Option<String>,
    /// Bytes of its head.
    pub head_bytes: u64,
    /// Bytes of its body as they were sent, without framing.
    pub body_bytes: u64,
    /// How the body ends: `none`, `content-length`, `chunked` or `until close`.
    pub framing: String,
    /// How the body is packed; null: not at all.
    pub content_encoding: Option<String>,
    /// Sent to last byte.
    pub service_seconds: f64,
    /// Whether the connection may be used again, by its head; null where a connection for each request was asked for.
    pub keep_alive: Option<bool>,
    /// The Keep-Alive header, such as `timeout=5, max=100`.
    pub keep_alive_header: Option<String>,
    /// The Alt-Svc header: where the server offers other versions of HTTP, such as `h3=":443"; ma=2592000`.
    pub alt_svc: Option<String>,
    /// A second request on the same connection was answered; null where none was sent.
    pub reused: Option<bool>,
}

/// The same request, with Accept-Encoding asked the other way.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Compression {
    /// What was accepted; null: nothing was said.
    pub accepted: Option<String>,
    /// How the body was packed; null: not at all.
    pub content_encoding: Option<String>,
    /// Bytes of the body as they were sent.
    pub body_bytes: u64,
}

/// Why no reply came.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Failed {
    /// The kind, as in the JSON of a run.
    pub kind: String,
    /// What it means.
    pub meaning: String,
    /// What the system or the server said; empty where it said nothing.
    pub detail: String,
    /// What usually helps.
    pub remedy: String,
}

impl RequestedLoad {
    /// What a plan asks.
    pub fn of(plan: &Plan) -> Self {
        let (connections, rate, think) = match &plan.main().load {
            Load::Closed { users, think } => (Some(users.peak() as u64), None, think.mean().as_secs_f64()),
            Load::Open { rate, connections, .. } => (connections.map(u64::from), Some(rate.peak()), 0.0),
        };
        let per_connection = plan.connection.requests_per_connection;
        let headers = plan.main().scenario.requests.first().map_or(&[][..], |r| &r.headers[..]);
        let measured = plan.main().stop.duration.map(|d| (d + plan.main().stop.warmup).as_secs_f64());
        Self {
            connections,
            rate_per_second: rate,
            requests_per_connection: per_connection,
            new_connections_per_second: rate.zip(per_connection).map(|(rate, n)| rate / n as f64),
            duration_seconds: measured,
            think_seconds: think,
            sources: plan.connection.source.len().max(1) as u64,
            follows: plan.policy().redirects.most > 0,
            expects_status: !plan.policy().checks.status.is_empty(),
            compressed: headers.iter().any(|h| h.0.eq_ignore_ascii_case("accept-encoding")),
        }
    }
}

impl Machine {
    /// How many local ports there are; None where the system does not show it.
    pub fn ports(&self) -> Option<u64> {
        self.settings.ports()
    }
}

impl Facts {
    /// The server's address is one of this machine's.
    pub fn same_host(&self) -> bool {
        self.route.as_ref().is_some_and(|r| r.same_host == Some(true))
    }

    /// The name and pid of the process that listens, where it is seen.
    pub fn listener(&self) -> Option<&str> {
        self.route.as_ref()?.listener.as_deref()
    }
}
