//! The check of a server: name resolution, connects, TLS handshake, one request. A second request
//! shows keep-alive and compression.
//!
//! The second request is sent for GET and HEAD only, because others may change something on the
//! server. Proxy, `--resolve`, `--source`, TLS options and header fields are those of the plan,
//! as in a run.

use crate::CheckError;
use crate::certificate;
use crate::facts::{
    CheckFacts, CompressionFacts, ConnectionFacts, FailureFacts, OfferedQuic, OfferedVersion,
    ReplyFacts, TlsFacts,
};
use crate::machine_load::MachineLoad;
use crate::route::with_tls;
use brunt_engine::clock::{self, RunEpoch, WorkerClock};
use brunt_engine::{NoRun, Numbering, RunState, UserSetup, UserStep, UserTurn};
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;
use brunt_model::sample::ConnectTimes;
use brunt_model::scenario::{ListOrder, Scenario};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Plan, Request, Route};
use brunt_script::{CompiledScript, Languages};
use brunt_spec::defaults;
use brunt_wire::http::{Common, Http, Lane};
use brunt_wire::quic::version_names;
use brunt_wire::tls::{self, Handshake, HandshakeFailure, HandshakeFailureCause};
use brunt_wire::{Framing, Prepared, Reply, ReplyHead, Stamps, Transport};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Maximum number of connects; the shortest is the round trip.
const CONNECTS: u64 = 5;
/// Connects that take longer, in seconds, are not repeated.
const MAX_REPEATED_CONNECT: f64 = 0.5;
/// Timeout of the settings of HTTP/2, which a server without HTTP/2 may never send.
const MAX_SETTINGS_WAIT: Duration = Duration::from_secs(1);
/// Timeout of a QUIC handshake.
const MAX_QUIC_HANDSHAKE: Duration = Duration::from_secs(1);

/// The check of one server.
struct ServerCheck<'a> {
    plan: &'a Plan,
    /// Languages of its scripts.
    languages: Languages,
    wire: Rc<Http<WorkerClock>>,
    time: WorkerClock,
    /// Reason why the last reply is not valid, or the code of its reset.
    malformed: Cell<Option<MalformedReply>>,
}

/// A reply, its head, and the seconds from sent to last byte.
struct ReceivedReply {
    reply: Reply,
    head: ReplyHead,
    fields: Vec<(String, String)>,
    service_seconds: f64,
}

/// Extent of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckDepth {
    /// A second request, and several connects.
    All,
    /// A single request.
    Once,
    /// A single request, if it changes nothing on the server, and a handshake for
    /// each version of HTTP.
    Versions,
}

/// Checks the server, and adds the results to `facts`.
///
/// # Errors
///
/// The plan has no request, or one of its files cannot be read.
pub fn look(plan: &Plan, languages: Languages, facts: &mut CheckFacts) -> Result<(), CheckError> {
    run_check(CheckDepth::All, plan, languages, facts)
}

/// Checks the server with a single request, and adds the results to `facts`.
///
/// # Errors
///
/// The plan has no request, or one of its files cannot be read.
pub fn check_once(
    plan: &Plan,
    languages: Languages,
    facts: &mut CheckFacts,
) -> Result<(), CheckError> {
    run_check(CheckDepth::Once, plan, languages, facts)
}

/// Returns the best version of HTTP that the server offers.
///
/// It is HTTP/3 if the reply announces it (`Alt-Svc`) and a handshake succeeds. It is HTTP/2 if a
/// TLS handshake chooses it, otherwise HTTP/1.1. A GET or HEAD is sent once. Other requests may
/// change something, so no reply announces HTTP/3.
///
/// # Errors
///
/// A message: the server cannot be asked.
pub fn best_version(plan: &Plan, languages: Languages) -> Result<HttpVersion, String> {
    let mut facts = CheckFacts::default();
    run_check(CheckDepth::Versions, plan, languages, &mut facts)
        .map_err(|error| error.to_string())?;
    if let Some(failure) = facts.failure {
        let detail = failure.detail.trim();
        return Err(if detail.is_empty() {
            failure.meaning
        } else {
            format!("{}: {detail}", failure.meaning)
        });
    }
    // RFC 9114, section 3.1.1: a server announces HTTP/3 by Alt-Svc, which clients learn from a
    // reply.
    let is_announced = facts
        .reply
        .and_then(|reply| reply.alt_svc)
        .is_some_and(|services| services.contains("h3="));
    let versions = facts.tls.map(|tls| tls.http).unwrap_or_default();
    Ok(if is_announced && is_offered(&versions, HttpVersion::V3) {
        HttpVersion::V3
    } else if is_offered(&versions, HttpVersion::V2) {
        HttpVersion::V2
    } else {
        HttpVersion::V1_1
    })
}

fn is_offered(versions: &[OfferedVersion], version: HttpVersion) -> bool {
    versions.iter().any(|offered| offered.version == version)
}

fn run_check(
    depth: CheckDepth,
    plan: &Plan,
    languages: Languages,
    facts: &mut CheckFacts,
) -> Result<(), CheckError> {
    let request = plan.main().scenario.requests.first().ok_or(CheckError::NoRequest)?;
    facts.method.clone_from(&request.method);
    facts.url.clone_from(&request.url);
    let runtime = clock::runtime()?;
    runtime.block_on(async {
        let time = WorkerClock::new(RunEpoch::now());
        let _runtime_hooks = time.install()?;
        let check = ServerCheck::new(plan, languages, &time)?;
        // Measured over the whole check, so that waiting for the server costs no additional time.
        let load = (depth == CheckDepth::All).then(|| MachineLoad::begin(&time));
        if let Err(failure) = check.request(request, depth, facts).await {
            let refusal = check.wire.take_refusal().filter(|_| failure == Failure::Tls);
            facts.failure = Some(check.failure_facts(failure, refusal.as_ref()));
            if let Some(refusal) = refusal.filter(|refusal| refusal.cause.is_distrust()) {
                Box::pin(check.record_distrust(refusal, &time, facts)).await?;
            }
        }
        if depth != CheckDepth::Once && facts.failure.is_none() {
            Box::pin(check.versions(&time, facts)).await?;
        }
        if depth == CheckDepth::All && check.may_speak_h2c(request, facts) {
            facts.h2c = Box::pin(check.h2c(request, &time)).await;
        }
        // Only after such a reply: a handshake would be noise in the log of a server without TLS.
        if depth == CheckDepth::All && may_need_tls(facts) {
            facts.needs_tls = Box::pin(check.speaks_tls(request, &time)).await;
        }
        check.record_route(facts);
        if let Some(load) = load {
            facts.machine.other_processes_cores = load.end(&time).await;
        }
        Ok(())
    })
}

impl<'a> ServerCheck<'a> {
    fn new(plan: &'a Plan, languages: Languages, time: &WorkerClock) -> Result<Self, CheckError> {
        let common = Common::new(plan)?;
        let wire = Rc::new(Http::new(common, 0, time.clone()));
        Ok(Self { plan, languages, wire, time: time.clone(), malformed: Cell::new(None) })
    }

    /// Sends the request, and the second one.
    async fn request(
        &self,
        request: &Request,
        depth: CheckDepth,
        facts: &mut CheckFacts,
    ) -> Result<(), Failure> {
        let prepared = self.prepare(request).map_err(|why| self.record_error(&why, facts))?;
        let mut conn = self.open(&prepared, facts).await?;
        let changes_nothing = matches!(&*request.method, "GET" | "HEAD");
        // The handshake is enough here; a request that may change something is not sent.
        if depth == CheckDepth::Versions && !changes_nothing {
            return Ok(());
        }
        let received = self.exchange(&mut conn, &prepared).await?;
        let is_single = self.plan.connection.requests_per_connection == Some(1);
        facts.reply = Some(reply_facts(&received, is_single));
        if depth != CheckDepth::All {
            return Ok(());
        }
        if changes_nothing {
            self.second_request(conn, request, received.reply.keep_alive, facts).await;
        }
        self.repeat_connects(&prepared, facts).await;
        Ok(())
    }

    /// Sends the request with the opposite Accept-Encoding, on the same connection if it may be
    /// reused. Its failure is not a failure of the check.
    async fn second_request(
        &self,
        mut conn: Lane,
        request: &Request,
        keep_alive: bool,
        facts: &mut CheckFacts,
    ) {
        let (other, accepted) = with_other_encoding(request);
        let Ok(prepared) = self.prepare(&other) else { return };
        if !keep_alive {
            let Ok(new_conn) = self.open(&prepared, facts).await else { return };
            conn = new_conn;
        }
        let received = self.exchange(&mut conn, &prepared).await;
        // On another connection, the reply shows nothing about reuse.
        if let Some(reply) = facts.reply.as_mut().filter(|_| keep_alive) {
            reply.reused = Some(received.is_ok());
        }
        facts.compression = received.ok().map(|received| CompressionFacts {
            accepted,
            content_encoding: encoding(&received),
            body_bytes: received.reply.body_bytes,
        });
    }

    /// Connects several times for the shortest round trip, and to see if TLS sessions are resumed.
    async fn repeat_connects(&self, request: &Prepared, facts: &mut CheckFacts) {
        while facts
            .connection
            .as_ref()
            .is_some_and(|c| c.connects < CONNECTS && c.round_trip_seconds < MAX_REPEATED_CONNECT)
        {
            if self.open(request, facts).await.is_err() {
                return;
            }
        }
    }

    async fn open(&self, request: &Prepared, facts: &mut CheckFacts) -> Result<Lane, Failure> {
        let mut steps = ConnectTimes::default();
        let limit = self.plan.connection.connect_timeout;
        let connection = self.time.within(limit, self.wire.open(request, 0, &mut steps)).await;
        let conn = match connection {
            Some(Ok(conn)) => conn,
            Some(Err(failure)) => {
                record_connect(&steps, None, facts);
                return Err(failure);
            }
            // After the connect, only the TLS handshake can take the rest of the time.
            None => {
                return Err(if steps.connect.is_some() {
                    Failure::Tls
                } else {
                    Failure::ConnectTimeout
                });
            }
        };
        record_connect(&steps, conn.peer().map(|p| p.to_string()), facts);
        if let Some(handshake) = conn.handshake() {
            record_handshake(&handshake, self.plan.connection.http, steps.tls, facts);
        }
        Ok(conn)
    }

    async fn exchange(
        &self,
        conn: &mut Lane,
        request: &Prepared,
    ) -> Result<ReceivedReply, Failure> {
        let mut stamps = Stamps::default();
        let reply = self
            .time
            .within(self.plan.connection.timeout, self.wire.inspect(conn, request, &mut stamps))
            .await;
        self.malformed.set(stamps.malformed);
        let mut reply = reply.unwrap_or(Err(Failure::Timeout))?;
        let head_and_fields = reply.details.take().and_then(|kept| kept.head);
        let (head, fields) = head_and_fields.ok_or(Failure::Protocol)?;
        let service_seconds = stamps.last_byte.seconds_since(stamps.sent);
        Ok(ReceivedReply { reply, head, fields, service_seconds })
    }

    /// Finds the versions of HTTP that the server offers over TLS, with a handshake for each.
    /// No request is sent.
    async fn versions(&self, time: &WorkerClock, facts: &mut CheckFacts) -> Result<(), CheckError> {
        let Some(tls) = &mut facts.tls else { return Ok(()) };
        let Some(request) = self.plan.main().scenario.requests.first() else { return Ok(()) };
        for version in [HttpVersion::V1_1, HttpVersion::V2, HttpVersion::V3] {
            let mut plan = self.plan.clone();
            plan.connection.http = version;
            plan.connection.streams = 1;
            plan.connection.tls.early_data &= version == HttpVersion::V3;
            if version == HttpVersion::V3 {
                // Over UDP, nothing refuses a connection if no process listens.
                plan.connection.connect_timeout =
                    plan.connection.connect_timeout.min(MAX_QUIC_HANDSHAKE);
            }
            // Fails with a proxy, or in a build without HTTP/3.
            let Ok(check) = ServerCheck::new(&plan, self.languages, time) else { continue };
            let Ok(prepared) = check.prepare(request) else { continue };
            // These handshakes must not change the facts of the plan's own connection.
            let mut others = CheckFacts::default();
            let Ok(lane) = check.open(&prepared, &mut others).await else { continue };
            let mut offered =
                OfferedVersion { version, streams: None, window_bytes: None, quic: None };
            if version == HttpVersion::V2 {
                match check.http2_limits(&lane).await {
                    Some(limits) => offered = limits,
                    None => continue,
                }
            }
            if version == HttpVersion::V3 {
                offered.streams = Some(lane.most_exchanges());
                offered.quic = check.quic(&lane).await;
            }
            tls.http.push(offered);
        }
        Ok(())
    }

    /// True if HTTP/2 without TLS is tried: the request was sent by HTTP/1.1, and it changes nothing
    /// on the server, or got no reply.
    fn may_speak_h2c(&self, request: &Request, facts: &CheckFacts) -> bool {
        let connection = &self.plan.connection;
        let changes_nothing = matches!(&*request.method, "GET" | "HEAD");
        connection.http == HttpVersion::V1_1
            && connection.proxy.is_none()
            && request.url.starts_with("http://")
            && facts.connection.is_some()
            && (changes_nothing || facts.failure.is_some())
    }

    /// Returns the limits of HTTP/2 without TLS by prior knowledge (RFC 9113 section 3.3). None: the
    /// server does not speak it. No request is sent, but a server without HTTP/2 may log the first
    /// line of the preface as a bad request.
    async fn h2c(&self, request: &Request, time: &WorkerClock) -> Option<OfferedVersion> {
        let mut plan = self.plan.clone();
        plan.connection.http = HttpVersion::V2;
        plan.connection.streams = 1;
        let check = ServerCheck::new(&plan, self.languages, time).ok()?;
        let prepared = check.prepare(request).ok()?;
        // This connection must not change the facts of the plan's own connection.
        let lane = check.open(&prepared, &mut CheckFacts::default()).await.ok()?;
        self.http2_limits(&lane).await
    }

    /// Returns the limits of a connection of HTTP/2; None if the server sends no settings.
    async fn http2_limits(&self, lane: &Lane) -> Option<OfferedVersion> {
        let limit = self.plan.connection.connect_timeout.min(MAX_SETTINGS_WAIT);
        let Some(Ok(peer)) = self.time.within(limit, lane.peer_settings()).await else {
            return None;
        };
        Some(OfferedVersion {
            version: HttpVersion::V2,
            // HTTP/2 has no limit if the server's SETTINGS have none (RFC 9113, section 6.5.2).
            streams: Some(peer.streams).filter(|streams| *streams < u32::MAX),
            window_bytes: Some(peer.window as u64),
            quic: None,
        })
    }

    /// Reads the transport settings of a server, and its versions of QUIC. A datagram may be lost,
    /// so they are requested twice.
    async fn quic(&self, lane: &Lane) -> Option<OfferedQuic> {
        let settings = lane.quic_settings()?;
        let mut versions = Vec::new();
        for _ in 0..2 {
            let reply = self
                .time
                .within(MAX_QUIC_HANDSHAKE / 2, self.wire.quic_versions(lane.peer()?))
                .await;
            if let Some(Ok(offered)) = reply {
                versions = version_names(&offered);
                break;
            }
        }
        Some(OfferedQuic {
            versions,
            idle_timeout_seconds: (settings.idle_timeout_ms > 0)
                .then_some(settings.idle_timeout_ms as f64 / 1e3),
            max_udp_payload_bytes: settings.max_udp_payload,
            connection_window_bytes: settings.connection_window,
            stream_window_bytes: settings.stream_window,
            max_ack_delay_seconds: settings.max_ack_delay_ms as f64 / 1e3,
            allows_migration: settings.allows_migration,
        })
    }

    /// Reads the certificate that is not trusted, with a handshake that trusts any certificate.
    /// No request is sent.
    async fn record_distrust(
        &self,
        refusal: HandshakeFailure,
        time: &WorkerClock,
        facts: &mut CheckFacts,
    ) -> Result<(), CheckError> {
        let mut plan = self.plan.clone();
        plan.connection.tls.insecure = true;
        let check = ServerCheck::new(&plan, self.languages, time)?;
        let Some(request) = plan.main().scenario.requests.first() else { return Ok(()) };
        let Ok(prepared) = check.prepare(request) else { return Ok(()) };
        if check.open(&prepared, facts).await.is_ok()
            && let Some(tls) = &mut facts.tls
        {
            tls.distrust = Some(refusal.what);
            tls.cause = Some(refusal.cause);
        }
        Ok(())
    }

    /// Returns true if the port of an `http` URL answers a TLS handshake. Sends no request.
    async fn speaks_tls(&self, request: &Request, time: &WorkerClock) -> bool {
        let mut plan = self.plan.clone();
        plan.connection.tls.insecure = true;
        let Some(url) = with_tls(&request.url) else { return false };
        let Ok(check) = ServerCheck::new(&plan, self.languages, time) else { return false };
        let Ok(prepared) = check.prepare(&Request { url, ..request.clone() }) else { return false };
        check.open(&prepared, &mut CheckFacts::default()).await.is_ok()
    }

    /// Fills in the placeholders of the request, as for the first one of a run.
    fn prepare(&self, request: &Request) -> Result<Rc<Prepared>, CheckError> {
        let mut plan = self.plan.clone();
        let services = std::mem::take(&mut plan.main_mut().scenario.services);
        // Steps of a scenario before the request would be sent as well.
        let scenario = Scenario::list(vec![request.clone()], ListOrder::Sequence);
        plan.main_mut().scenario = Scenario { services, ..scenario };
        let Some(script) = CompiledScript::all(&plan, self.languages)?.into_iter().next() else {
            return Err(CheckError::NoRequest);
        };
        let labels: Numbering = Rc::new(|_| 0);
        let run_state: Rc<dyn RunState> = Rc::new(NoRun);
        let users = UserSetup { population: 0, worker: 0, labels: &labels, run_state: &run_state };
        let mut user = script.users(&self.wire, users).user(0);
        match user.next(UserTurn::default()) {
            UserStep::Request(request) | UserStep::Last(request) => Ok(request),
            UserStep::Broken(why) | UserStep::Failing(why, _) => {
                Err(CheckError::Request(why.clone()))
            }
            _ => Err(CheckError::NoRequest),
        }
    }

    fn record_error(&self, why: &CheckError, facts: &mut CheckFacts) -> Failure {
        facts.failure = Some(FailureFacts {
            detail: why.to_string(),
            ..self.failure_facts(Failure::System, None)
        });
        Failure::System
    }

    fn failure_facts(&self, failure: Failure, refusal: Option<&HandshakeFailure>) -> FailureFacts {
        let row = failure.row();
        let cause = self.malformed.take().filter(|cause| cause.failure() == failure);
        let note = self.wire.take_note().unwrap_or_default();
        let detail =
            note.strip_prefix(&*row.name).map_or(&*note, |rest| rest.trim_start_matches(": "));
        let has_hint = refusal.is_some_and(|refusal| !refusal.cause.hint().is_empty());
        let meaning = match (refusal, cause) {
            (Some(refusal), _) if refusal.cause != HandshakeFailureCause::Other => {
                row.name.to_string()
            }
            (None, Some(cause)) => format!("{}: {cause}", row.name),
            _ => format!("{}: {}", row.name, row.meaning),
        };
        let remedy = match cause {
            // A refusal with a hint has its remedy in the hint already.
            _ if has_hint => String::new(),
            // A reply that begins as HTTP came from the right port.
            Some(cause) if failure == Failure::Protocol && !cause.is_other_protocol() => {
                "look at a reply with curl".to_owned()
            }
            _ => row.remedy.to_string(),
        };
        FailureFacts { kind: row.key.into(), meaning, detail: detail.to_owned(), remedy }
    }

    /// Records the addresses, and the route to the one that was connected to.
    fn record_route(&self, facts: &mut CheckFacts) {
        if self.plan.connection.unix_socket.is_some() {
            facts.route = Some(Route { same_host: Some(true), ..Route::default() });
            return;
        }
        facts.addresses = self.wire.take_target().map_or(Vec::new(), |target| target.0);
        let peer = facts.connection.as_ref().and_then(|c| c.peer.as_ref());
        let address = peer.or(facts.addresses.first()).and_then(|a| a.parse().ok());
        facts.route = address.map(brunt_probe::route);
    }
}

/// True if the reply looks like that of a TLS port to plain HTTP: status 400, bytes that are not
/// HTTP, or a closed connection.
fn may_need_tls(facts: &CheckFacts) -> bool {
    let kinds =
        [Failure::Protocol, Failure::Reset, Failure::ClosedEarly].map(|failure| failure.row().key);
    let is_refused = facts.failure.as_ref().is_some_and(|failure| kinds.contains(&&*failure.kind));
    is_refused || facts.reply.as_ref().is_some_and(|reply| reply.status == 400)
}

/// Adds a connect to the facts.
fn record_connect(steps: &ConnectTimes, peer: Option<String>, facts: &mut CheckFacts) {
    let Some(seconds) = steps.connect.map(seconds_of) else { return };
    if let Some(connection) = &mut facts.connection {
        connection.connects += 1;
        connection.round_trip_seconds = connection.round_trip_seconds.min(seconds);
        connection.peer = connection.peer.take().or(peer);
        return;
    }
    let resolve_seconds = steps.resolve.map(seconds_of);
    facts.connection =
        Some(ConnectionFacts { peer, resolve_seconds, round_trip_seconds: seconds, connects: 1 });
}

/// Adds a handshake to the facts. The first one is reported; later ones show
/// if sessions are resumed.
fn record_handshake(
    handshake: &Handshake,
    http: HttpVersion,
    nanos: Option<u64>,
    facts: &mut CheckFacts,
) {
    let seconds = nanos.map_or(0.0, seconds_of);
    let Some(tls_facts) = &mut facts.tls else {
        let first = handshake.certificates.first();
        facts.tls = Some(TlsFacts {
            alpn_offered: tls::alpn(http).iter().map(|&name| name.to_owned()).collect(),
            alpn: handshake.alpn.clone(),
            version: handshake.version.clone(),
            cipher: handshake.cipher.clone(),
            group: handshake.group.clone(),
            retried: handshake.retried,
            handshake_seconds: seconds,
            chain: handshake.certificates.len() as u64,
            certificate: first.and_then(|der| certificate::read(der, clock::unix_seconds())),
            ..TlsFacts::default()
        });
        return;
    };
    // One resumed session of several connects shows that the server supports it.
    tls_facts.resumed = Some(tls_facts.resumed == Some(true) || handshake.resumed);
    if handshake.resumed {
        let best = tls_facts.resumed_handshake_seconds.map_or(seconds, |best| best.min(seconds));
        tls_facts.resumed_handshake_seconds = Some(best);
    }
}

fn reply_facts(received: &ReceivedReply, is_single: bool) -> ReplyFacts {
    let framing = match received.head.framing {
        Framing::None => "none",
        Framing::Length(_) => "content-length",
        Framing::Chunked => "chunked",
        Framing::UntilClose => "until close",
        Framing::Stream => "stream",
    };
    ReplyFacts {
        status: received.reply.status,
        protocol: received.head.version.to_string(),
        server: field(received, "server"),
        location: field(received, "location"),
        head_bytes: received.head.length,
        body_bytes: received.reply.body_bytes,
        framing: framing.into(),
        content_encoding: encoding(received),
        service_seconds: received.service_seconds,
        keep_alive: (!is_single).then_some(received.reply.keep_alive),
        keep_alive_header: field(received, "keep-alive"),
        alt_svc: field(received, "alt-svc"),
        reused: None,
    }
}

fn field(received: &ReceivedReply, name: &str) -> Option<String> {
    received.fields.iter().find(|f| f.0.eq_ignore_ascii_case(name)).map(|f| f.1.clone())
}

fn encoding(received: &ReceivedReply) -> Option<String> {
    field(received, "content-encoding").map(|e| e.to_ascii_lowercase()).filter(|e| e != "identity")
}

/// The request with the opposite Accept-Encoding: without the field if it has one, else with that
/// of browsers. Also returns the value of the field.
fn with_other_encoding(request: &Request) -> (Request, Option<String>) {
    let mut other = request.clone();
    let original_count = other.headers.len();
    other.headers.retain(|h| !h.0.eq_ignore_ascii_case("accept-encoding"));
    if other.headers.len() < original_count {
        return (other, None);
    }
    other.headers.push(("Accept-Encoding".into(), defaults::CHECK_ACCEPT_ENCODING.into()));
    (other, Some(defaults::CHECK_ACCEPT_ENCODING.into()))
}
