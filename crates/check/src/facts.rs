//! Results of a check of the server and of this machine: values, and their JSON.
//!
//! Out of scope: their judgement, which is in the [`rules`](super::rules). Times are in seconds. A
//! value that could not be determined is null.

use crate::advice::Advice;
use brunt_model::agent::AgentCheck;
use brunt_model::plan::HttpVersion;
use brunt_model::reply_policy::ReplyChecks;
use brunt_model::{AgentEnvironment, Load, Plan, Route};
use brunt_probe::settings::KernelSettings;
use brunt_wire::tls::HandshakeFailureCause;
use serde::Serialize;

/// Version of the JSON document. It increases when a key changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// The whole report of `brunt check`.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// Version of this document, [`VERSION`].
    pub version: u32,
    /// Results of the check.
    #[serde(flatten)]
    pub facts: CheckFacts,
    /// Advice by the rules, the most certain first.
    pub advice: Vec<Advice>,
}

/// Results of a check.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckFacts {
    /// Method of the request.
    pub method: String,
    /// URL of the request: the first one of a list.
    pub url: String,
    /// Load of the plan.
    pub requested: RequestedLoad,
    /// State of this machine, and limits on it.
    pub machine: MachineFacts,
    /// Addresses of the server's name, or those of the proxy.
    pub addresses: Vec<String>,
    /// Route to the first address.
    pub route: Option<Route>,
    /// The connection; null if none was established.
    pub connection: Option<ConnectionFacts>,
    /// Result of the TLS handshake; null without TLS, or if the handshake failed.
    pub tls: Option<TlsFacts>,
    /// HTTP/2 without TLS (h2c) on the same port; null if the server does not offer it, or if that
    /// was not checked.
    pub h2c: Option<OfferedVersion>,
    /// The reply; null if there was none.
    pub reply: Option<ReplyFacts>,
    /// Reply to the same request with the opposite Accept-Encoding; null if that was not tried.
    pub compression: Option<CompressionFacts>,
    /// Reason why there is no reply; null if there is one.
    pub failure: Option<FailureFacts>,
    /// True if the scheme of the URL is `http` and the server speaks TLS on this port.
    pub needs_tls: bool,
    /// Agents of the plan; left out without agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<CheckedAgent>,
}

/// An agent, and the way from it to the server.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedAgent {
    /// The agent, its machine and its clock.
    #[serde(flatten)]
    pub environment: AgentEnvironment,
    /// Result of its check; null if it did not answer.
    pub check: Option<AgentCheck>,
}

/// The load of the plan.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RequestedLoad {
    /// Maximum number of connections at once; null if the open loop has no limit.
    pub connections: Option<u64>,
    /// Peak arrival rate per second; null in a closed loop.
    pub rate_per_second: Option<f64>,
    /// Maximum number of requests on one connection; null for no limit.
    pub requests_per_connection: Option<u64>,
    /// Connections opened per second during the load; null if unknown.
    pub new_connections_per_second: Option<f64>,
    /// Duration of the load in seconds; null if a number of requests ends it.
    pub duration_seconds: Option<f64>,
    /// Mean think time in seconds.
    pub think_seconds: f64,
    /// Number of local addresses to connect from.
    pub sources: u64,
    /// True if redirects are followed.
    pub follows: bool,
    /// True if compressed replies are requested.
    pub compressed: bool,
    /// True if `--expect-status` lists the good statuses.
    pub expects_status: bool,
    /// Conditions of the plan for a good reply.
    #[serde(skip)]
    pub checks: ReplyChecks,
}

/// State of this machine, and limits on brunt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MachineFacts {
    /// Maximum number of open files of this process.
    pub descriptors: u64,
    /// Number of cores that brunt may use.
    pub cores: u32,
    /// Cores that other processes used during the check; null if the system does not show it.
    pub other_processes_cores: Option<f64>,
    /// Settings of the kernel.
    #[serde(flatten)]
    pub settings: KernelSettings,
}

/// Facts about the connection.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConnectionFacts {
    /// Address of the other end; null for a Unix socket.
    pub peer: Option<String>,
    /// Time of the name resolution; null if there was none.
    pub resolve_seconds: Option<f64>,
    /// Round trip: the shortest of several connects (with the reply of the proxy, if there is one).
    pub round_trip_seconds: f64,
    /// Number of connects that were tried.
    pub connects: u64,
}

/// Facts about the TLS handshake.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TlsFacts {
    /// Versions of HTTP that the server offers, among those that brunt supports; empty if
    /// that was not checked.
    pub http: Vec<OfferedVersion>,
    /// Protocols that brunt offered (ALPN).
    pub alpn_offered: Vec<String>,
    /// Protocol that the server chose; null for none.
    pub alpn: Option<String>,
    /// Version of TLS that was negotiated.
    pub version: Option<String>,
    /// Name of the cipher suite.
    pub cipher: Option<String>,
    /// Key exchange group; null if unknown.
    pub group: Option<String>,
    /// True if the server requested another key share (`HelloRetryRequest`), which
    /// took another round trip.
    pub retried: bool,
    /// Time of a full handshake.
    pub handshake_seconds: f64,
    /// True if a later connection resumed the session; null if none was tried.
    pub resumed: Option<bool>,
    /// Shortest handshake that resumed a session; null if there was none.
    pub resumed_handshake_seconds: Option<f64>,
    /// Number of certificates that the server sent.
    pub chain: u64,
    /// Certificate of the server; null if it cannot be read.
    pub certificate: Option<CertificateFacts>,
    /// Reason why the certificate is not trusted; null if it is, or if that was not checked.
    pub distrust: Option<String>,
    /// The same reason, for rules.
    #[serde(skip)]
    pub cause: Option<HandshakeFailureCause>,
}

/// A version of HTTP that the server offers over TLS.
#[derive(Debug, Clone, Serialize)]
pub struct OfferedVersion {
    /// Version of HTTP that the server offers.
    pub version: HttpVersion,
    /// Maximum number of streams at once on a connection; null for no limit, or for
    /// a version without streams.
    pub streams: Option<u32>,
    /// Bytes of a request body that may be sent before the server allows more; null for
    /// a version without streams.
    pub window_bytes: Option<u64>,
    /// Its QUIC transport; null for a version over TCP.
    pub quic: Option<OfferedQuic>,
}

/// QUIC transport of a server.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OfferedQuic {
    /// Versions that it offers (Version Negotiation, RFC 9000 section 6); empty if
    /// it did not reply.
    pub versions: Vec<String>,
    /// Time without packets after which it closes a connection; null for never.
    pub idle_timeout_seconds: Option<f64>,
    /// Maximum UDP payload that it accepts.
    pub max_udp_payload_bytes: u64,
    /// Bytes that may be sent on a connection before the server allows more.
    pub connection_window_bytes: u64,
    /// Bytes of a request that may be sent before the server allows more.
    pub stream_window_bytes: u64,
    /// Maximum delay of its acknowledgments.
    pub max_ack_delay_seconds: f64,
    /// True if connections may migrate to another local address or port.
    pub allows_migration: bool,
}

/// Facts about a certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CertificateFacts {
    /// Name of its subject.
    pub subject: String,
    /// Name of its issuer.
    pub issuer: String,
    /// Names and addresses that it is valid for.
    pub names: Vec<String>,
    /// First day of its validity, UTC.
    pub valid_from: String,
    /// Last day of its validity, UTC.
    pub valid_to: String,
    /// Whole days until it expires; negative after that.
    pub days_left: i64,
    /// True if it is signed with its own key.
    pub self_signed: bool,
}

/// Facts about the reply.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReplyFacts {
    /// Status of the reply. That of gRPC is its code and 1,000.
    pub status: u16,
    /// Version of HTTP: `HTTP/1.1` or `HTTP/1.0`.
    pub protocol: String,
    /// Value of the Server header field.
    pub server: Option<String>,
    /// Target of a redirect.
    pub location: Option<String>,
    /// Size of the head in bytes.
    pub head_bytes: u64,
    /// Size of the body as sent, in bytes, without framing.
    pub body_bytes: u64,
    /// End of the body: `none`, `content-length`, `chunked` or `until close`.
    pub framing: String,
    /// Compression of the body; null for none.
    pub content_encoding: Option<String>,
    /// Time from sent to last byte.
    pub service_seconds: f64,
    /// True if the head allows to reuse the connection; null if the plan uses a
    /// connection for each request.
    pub keep_alive: Option<bool>,
    /// The Keep-Alive header field, such as `timeout=5, max=100`.
    pub keep_alive_header: Option<String>,
    /// The Alt-Svc header field with other versions of HTTP that the server offers,
    /// such as `h3=":443"; ma=2592000`.
    pub alt_svc: Option<String>,
    /// True if a second request on the same connection got a reply; null if none was sent.
    pub reused: Option<bool>,
}

/// Reply to the same request with the opposite Accept-Encoding.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CompressionFacts {
    /// Value of Accept-Encoding; null without one.
    pub accepted: Option<String>,
    /// Compression of the body; null for none.
    pub content_encoding: Option<String>,
    /// Size of the body as sent, in bytes.
    pub body_bytes: u64,
}

/// Reason why there is no reply.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FailureFacts {
    /// Kind of the failure, as in the JSON of a run.
    pub kind: String,
    /// Explanation of the kind.
    pub meaning: String,
    /// Message of the system or of the server; empty without one.
    pub detail: String,
    /// Usual remedy of the kind.
    pub remedy: String,
}

impl RequestedLoad {
    /// Summarizes the load of a plan.
    pub fn of(plan: &Plan) -> Self {
        let (connections, rate, think) = match &plan.main().load {
            Load::Closed { users, think } => {
                (Some(users.peak() as u64), None, think.mean().as_secs_f64())
            }
            Load::Open { rate, connections, .. } => {
                (connections.map(u64::from), Some(rate.peak()), 0.0)
            }
        };
        let per_connection = plan.connection.requests_per_connection;
        let headers = plan.main().scenario.requests.first().map_or(&[][..], |r| &r.headers[..]);
        // The warm-up opens connections and uses ports, too.
        let duration =
            plan.main().stop.duration.map(|d| (d + plan.main().stop.warmup).as_secs_f64());
        Self {
            connections,
            rate_per_second: rate,
            requests_per_connection: per_connection,
            // A closed loop has no rate before the run, so the number of new connections is
            // unknown.
            new_connections_per_second: rate.zip(per_connection).map(|(rate, n)| rate / n as f64),
            duration_seconds: duration,
            think_seconds: think,
            sources: plan.connection.source.len().max(1) as u64,
            follows: plan.policy().redirects.most > 0,
            expects_status: !plan.policy().checks.status.is_empty(),
            checks: plan.policy().checks.clone(),
            compressed: headers.iter().any(|h| h.0.eq_ignore_ascii_case("accept-encoding")),
        }
    }
}

impl MachineFacts {
    /// Number of local ports; None if the system does not show it.
    pub fn ports(&self) -> Option<u64> {
        self.settings.ports()
    }
}

impl CheckFacts {
    /// True if the address of the server belongs to this machine.
    pub fn same_host(&self) -> bool {
        self.route.as_ref().is_some_and(|r| r.same_host == Some(true))
    }

    /// Name and pid of the process that listens, if it is visible.
    pub fn listener(&self) -> Option<&str> {
        self.route.as_ref()?.listener.as_deref()
    }
}
