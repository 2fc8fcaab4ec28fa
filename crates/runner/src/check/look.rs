//! The careful look: name, connects, handshake, one request; and a second one that shows keep-alive and compression.
//!
//! The second request is sent for GET and HEAD only: others may change something on the server. All goes the way of a
//! run: proxy, `--resolve`, `--source`, TLS options and headers are those of the plan.

use super::certificate;
use super::facts::{Answered, Compression, Connected, Facts, Failed, OfferedQuic, OfferedVersion, Secured};
use super::machine_load::MachineLoad;
use crate::RunError;
use brunt_engine::clock::{self, Epoch, Time};
use brunt_engine::{Alone, Numbering, Step, Surroundings, Turn, UsersOf};
use brunt_model::plan::HttpVersion;
use brunt_model::sample::Opening;
use brunt_model::scenario::{Order, Scenario};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Plan, Request, Route};
use brunt_script::CompiledScript;
use brunt_spec::defaults;
use brunt_wire::http::{Common, Http, Lane};
use brunt_wire::quic::version_names;
use brunt_wire::tls::{self, Cause, Handshake, Refusal};
use brunt_wire::{Framing, Head, Prepared, Reply, Stamps, Transport};
use std::rc::Rc;
use std::time::Duration;

/// Connects whose shortest is the round trip, at most.
const CONNECTS: u64 = 5;
/// Where a connect takes longer, it is not repeated.
const SLOW: f64 = 0.5;
/// How long a QUIC handshake may take when a check looks whether there is one.
const LONGEST_QUIC: Duration = Duration::from_secs(1);

/// What is looked with.
struct Look<'a> {
    plan: &'a Plan,
    wire: Rc<Http<Time>>,
    time: Time,
}

/// A reply, its head, and seconds from sent to last byte.
struct Seen {
    reply: Reply,
    head: Head,
    fields: Vec<(String, String)>,
    service_seconds: f64,
}

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// A second request and more connects.
    All,
    /// One request, and that is all.
    Once,
    /// One request, where it changes nothing, and a handshake for each version.
    Versions,
}

/// Looks, and fills in what was found.
///
/// # Errors
///
/// The plan has no request, or a file that it names cannot be read.
pub fn look(plan: &Plan, facts: &mut Facts) -> Result<(), RunError> {
    look_with(Care::All, plan, facts)
}

/// Looks with one request, and fills in what was found.
///
/// # Errors
///
/// The plan has no request, or a file that it names cannot be read.
pub fn once(plan: &Plan, facts: &mut Facts) -> Result<(), RunError> {
    look_with(Care::Once, plan, facts)
}

/// The best version of HTTP that the server offers: HTTP/3 where its reply announces it (`Alt-Svc`) and a handshake succeeds, HTTP/2
/// where a TLS handshake chooses it, otherwise HTTP/1.1. A GET or HEAD is sent once; other requests may change something, so no
/// reply announces HTTP/3.
///
/// # Errors
///
/// Why the server cannot be asked, in words.
pub fn best_version(plan: &Plan) -> Result<HttpVersion, String> {
    let mut facts = Facts::default();
    look_with(Care::Versions, plan, &mut facts).map_err(|error| error.to_string())?;
    if let Some(failed) = facts.failure {
        let detail = failed.detail.trim();
        return Err(if detail.is_empty() { failed.meaning } else { format!("{}: {detail}", failed.meaning) });
    }
    let announced = facts.reply.and_then(|reply| reply.alt_svc).is_some_and(|services| services.contains("h3="));
    let offered = facts.tls.map(|tls| tls.http).unwrap_or_default();
    let is_offered = |version| offered.iter().any(|offered| offered.version == version);
    Ok(if announced && is_offered(HttpVersion::V3) {
        HttpVersion::V3
    } else if is_offered(HttpVersion::V2) {
        HttpVersion::V2
    } else {
        HttpVersion::V1_1
    })
}

fn look_with(care: Care, plan: &Plan, facts: &mut Facts) -> Result<(), RunError> {
    let request = plan.main().scenario.requests.first().ok_or(RunError::NothingAsked)?;
    facts.method.clone_from(&request.method);
    facts.url.clone_from(&request.url);
    let runtime = clock::runtime()?;
    runtime.block_on(async {
        let time = Time::new(Epoch::now());
        let _attended = time.attend()?;
        let look = Look::new(plan, &time)?;
        let load = (care == Care::All).then(|| MachineLoad::begin(&time));
        if let Err(failure) = look.request(request, care, facts).await {
            let refusal = look.wire.take_refusal().filter(|_| failure == Failure::Tls);
            facts.failure = Some(look.failed(failure, refusal.as_ref()));
            if let Some(refusal) = refusal.filter(|refusal| refusal.cause.is_distrust()) {
                Box::pin(look.distrusted(refusal, &time, facts)).await?;
            }
        }
        if care != Care::Once && facts.failure.is_none() {
            Box::pin(look.versions(&time, facts)).await?;
        }
        if care == Care::All && may_need_tls(facts) {
            facts.needs_tls = Box::pin(look.speaks_tls(request, &time)).await;
        }
        look.way(facts);
        if let Some(load) = load {
            facts.machine.other_processes_cores = load.end(&time).await;
        }
        Ok(())
    })
}

impl<'a> Look<'a> {
    fn new(plan: &'a Plan, time: &Time) -> Result<Self, RunError> {
        let common = Common::new(plan)?;
        Ok(Self { plan, wire: Rc::new(Http::new(common, 0, time.clone())), time: time.clone() })
    }

    /// The requests: as asked, and once more.
    async fn request(&self, request: &Request, care: Care, facts: &mut Facts) -> Result<(), Failure> {
        let asked = self.prepared(request).map_err(|why| self.broken(&why, facts))?;
        let mut conn = self.open(&asked, facts).await?;
        let changes_nothing = matches!(&*request.method, "GET" | "HEAD");
        if care == Care::Versions && !changes_nothing {
            return Ok(());
        }
        let seen = self.exchange(&mut conn, &asked).await?;
        let once = self.plan.connection.requests_per_connection == Some(1);
        facts.reply = Some(answered(&seen, once));
        if care != Care::All {
            return Ok(());
        }
        if changes_nothing {
            self.again(conn, (request, seen.reply.keep_alive), facts).await;
        }
        self.connects(&asked, facts).await;
        Ok(())
    }

    /// The same with Accept-Encoding asked the other way, on the same connection where it may be used. That this fails
    /// is no fault of the first.
    async fn again(&self, mut conn: Lane, (request, keep_alive): (&Request, bool), facts: &mut Facts) {
        let (other, accepted) = turned(request);
        let Ok(prepared) = self.prepared(&other) else { return };
        if !keep_alive {
            let Ok(opened) = self.open(&prepared, facts).await else { return };
            conn = opened;
        }
        let seen = self.exchange(&mut conn, &prepared).await;
        if let Some(reply) = facts.reply.as_mut().filter(|_| keep_alive) {
            reply.reused = Some(seen.is_ok());
        }
        facts.compression = seen.ok().map(|seen| Compression {
            accepted,
            content_encoding: encoding(&seen),
            body_bytes: seen.reply.body_bytes,
        });
    }

    /// A few more connects, for the shortest; TLS sessions are resumed on them, or not.
    async fn connects(&self, request: &Prepared, facts: &mut Facts) {
        while facts.connection.as_ref().is_some_and(|c| c.connects < CONNECTS && c.round_trip_seconds < SLOW) {
            if self.open(request, facts).await.is_err() {
                return;
            }
        }
    }

    async fn open(&self, request: &Prepared, facts: &mut Facts) -> Result<Lane, Failure> {
        let mut steps = Opening::default();
        let limit = self.plan.connection.connect_timeout;
        let opened = self.time.within(limit, self.wire.open(request, 0, &mut steps)).await;
        let conn = match opened {
            Some(Ok(conn)) => conn,
            Some(Err(failure)) => {
                connected(&steps, None, facts);
                return Err(failure);
            }
            None => return Err(if steps.connect.is_some() { Failure::Tls } else { Failure::ConnectTimeout }),
        };
        connected(&steps, conn.peer().map(|p| p.to_string()), facts);
        if let Some(handshake) = conn.handshake() {
            secured((&handshake, self.plan.connection.http), steps.tls, facts);
        }
        Ok(conn)
    }

    async fn exchange(&self, conn: &mut Lane, request: &Prepared) -> Result<Seen, Failure> {
        let mut stamps = Stamps::default();
        let reply = self.time.within(self.plan.connection.timeout, self.wire.look(conn, request, &mut stamps)).await;
        let mut reply = reply.unwrap_or(Err(Failure::Timeout))?;
        let kept = reply.kept.take().and_then(|kept| kept.head);
        let (head, fields) = kept.ok_or(Failure::Protocol)?;
        let service_seconds = stamps.last_byte.seconds_since(stamps.sent);
        Ok(Seen { reply, head, fields, service_seconds })
    }

    /// Which versions of HTTP the server offers over TLS: a handshake for each. No request is sent.
    async fn versions(&self, time: &Time, facts: &mut Facts) -> Result<(), RunError> {
        let Some(tls) = &mut facts.tls else { return Ok(()) };
        let Some(request) = self.plan.main().scenario.requests.first() else { return Ok(()) };
        for version in [HttpVersion::V1_1, HttpVersion::V2, HttpVersion::V3] {
            let mut plan = self.plan.clone();
            (plan.connection.http, plan.connection.streams) = (version, 1);
            plan.connection.tls.early_data &= version == HttpVersion::V3;
            if version == HttpVersion::V3 {
                // Nobody says no where none listens.
                plan.connection.connect_timeout = plan.connection.connect_timeout.min(LONGEST_QUIC);
            }
            // A proxy, or a program without HTTP/3.
            let Ok(look) = Look::new(&plan, time) else { continue };
            let Ok(prepared) = look.prepared(request) else { continue };
            let (mut others, limit) = (Facts::default(), plan.connection.connect_timeout);
            let Ok(lane) = look.open(&prepared, &mut others).await else { continue };
            let mut offered = OfferedVersion { version, streams: None, window_bytes: None, quic: None };
            if version == HttpVersion::V2 {
                let Some(Ok(peer)) = self.time.within(limit, lane.peer_settings()).await else { continue };
                offered.streams = Some(peer.streams).filter(|streams| *streams < u32::MAX);
                offered.window_bytes = Some(peer.window as u64);
            }
            if version == HttpVersion::V3 {
                offered.streams = Some(lane.most_exchanges());
                offered.quic = look.quic(&lane).await;
            }
            tls.http.push(offered);
        }
        Ok(())
    }

    /// The transport settings of a server, and the versions of QUIC that it offers. A datagram may be lost: it is asked twice.
    async fn quic(&self, lane: &Lane) -> Option<OfferedQuic> {
        let settings = lane.quic_settings()?;
        let mut versions = Vec::new();
        for _ in 0..2 {
            let asked = self.time.within(LONGEST_QUIC / 2, self.wire.quic_versions(lane.peer()?)).await;
            if let Some(Ok(offered)) = asked {
                versions = version_names(&offered);
                break;
            }
        }
        Some(OfferedQuic {
            versions,
            idle_timeout_seconds: (settings.idle_timeout_ms > 0).then_some(settings.idle_timeout_ms as f64 / 1e3),
            max_udp_payload_bytes: settings.max_udp_payload,
            connection_window_bytes: settings.connection_window,
            stream_window_bytes: settings.stream_window,
            max_ack_delay_seconds: settings.max_ack_delay_ms as f64 / 1e3,
            allows_migration: settings.allows_migration,
        })
    }

    /// A handshake that trusts anybody, to see whom there is no trust in. No request is sent.
    async fn distrusted(&self, refusal: Refusal, time: &Time, facts: &mut Facts) -> Result<(), RunError> {
        let mut plan = self.plan.clone();
        plan.connection.tls.insecure = true;
        let look = Look::new(&plan, time)?;
        let Some(request) = plan.main().scenario.requests.first() else { return Ok(()) };
        let Ok(prepared) = look.prepared(request) else { return Ok(()) };
        if look.open(&prepared, facts).await.is_ok()
            && let Some(tls) = &mut facts.tls
        {
            (tls.distrust, tls.cause) = (Some(refusal.what), Some(refusal.cause));
        }
        Ok(())
    }

    /// Returns true if the port of an `http` URL answers a TLS handshake. Sends no request.
    async fn speaks_tls(&self, request: &Request, time: &Time) -> bool {
        let mut plan = self.plan.clone();
        plan.connection.tls.insecure = true;
        let Some(url) = with_tls(&request.url) else { return false };
        let Ok(look) = Look::new(&plan, time) else { return false };
        let Ok(prepared) = look.prepared(&Request { url, ..request.clone() }) else { return false };
        look.open(&prepared, &mut Facts::default()).await.is_ok()
    }

    /// The request with its placeholders filled in, as the first of a run.
    fn prepared(&self, request: &Request) -> Result<Rc<Prepared>, RunError> {
        let mut plan = self.plan.clone();
        let services = std::mem::take(&mut plan.main_mut().scenario.services);
        let only = Scenario::list(vec![request.clone()], Order::Sequence);
        plan.main_mut().scenario = Scenario { services, ..only };
        let Some(compiled) = CompiledScript::all(&plan)?.into_iter().next() else { return Err(RunError::NothingAsked) };
        let labels: Numbering = Rc::new(|_| 0);
        let surroundings: Rc<dyn Surroundings> = Rc::new(Alone);
        let of = UsersOf { population: 0, worker: 0, labels: &labels, surroundings: &surroundings };
        let mut user = compiled.users(&self.wire, of).user(0);
        match user.next(Turn::default()) {
            Step::Request(request) | Step::Last(request) => Ok(request),
            Step::Broken(why) | Step::Failing(why, _) => Err(RunError::Request(why.clone())),
            _ => Err(RunError::NothingAsked),
        }
    }

    fn broken(&self, why: &RunError, facts: &mut Facts) -> Failure {
        facts.failure = Some(Failed { detail: why.to_string(), ..self.failed(Failure::System, None) });
        Failure::System
    }

    fn failed(&self, failure: Failure, refusal: Option<&Refusal>) -> Failed {
        let row = failure.row();
        let note = self.wire.take_note().unwrap_or_default();
        let detail = note.strip_prefix(row.name).map_or(&*note, |rest| rest.trim_start_matches(": "));
        let is_told = refusal.is_some_and(|refusal| !refusal.cause.hint().is_empty());
        let meaning = if refusal.is_some_and(|refusal| refusal.cause != Cause::Other) {
            row.name.to_owned()
        } else {
            format!("{}: {}", row.name, row.meaning)
        };
        Failed {
            kind: row.key.into(),
            meaning,
            detail: detail.to_owned(),
            remedy: if is_told { String::new() } else { row.remedy.into() },
        }
    }

    /// The addresses, and the way to the one that was connected to.
    fn way(&self, facts: &mut Facts) {
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

/// Servers answer plain HTTP on a TLS port with 400, with bytes that are no HTTP, or by closing the connection.
fn may_need_tls(facts: &Facts) -> bool {
    let kinds = [Failure::Protocol, Failure::Reset, Failure::ClosedEarly].map(|failure| failure.row().key);
    let is_refused = facts.failure.as_ref().is_some_and(|failed| kinds.contains(&&*failed.kind));
    is_refused || facts.reply.as_ref().is_some_and(|reply| reply.status == 400)
}

/// The URL with `https` in place of `http`, and the same port; None for any other scheme.
pub(super) fn with_tls(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let port = if has_port { "" } else { ":80" };
    Some(format!("https://{authority}{port}{path}"))
}

/// Takes in a connect.
fn connected(steps: &Opening, peer: Option<String>, facts: &mut Facts) {
    let Some(took) = steps.connect.map(seconds_of) else { return };
    if let Some(known) = &mut facts.connection {
        known.connects += 1;
        known.round_trip_seconds = known.round_trip_seconds.min(took);
        known.peer = known.peer.take().or(peer);
        return;
    }
    let resolve_seconds = steps.resolve.map(seconds_of);
    facts.connection = Some(Connected { peer, resolve_seconds, round_trip_seconds: took, connects: 1 });
}

/// Takes in a handshake: the first is shown, later ones tell whether sessions are resumed.
fn secured((handshake, http): (&Handshake, HttpVersion), took: Option<u64>, facts: &mut Facts) {
    let took = took.map_or(0.0, seconds_of);
    let Some(known) = &mut facts.tls else {
        let first = handshake.certificates.first();
        facts.tls = Some(Secured {
            alpn_offered: tls::alpn(http).iter().map(|&name| name.to_owned()).collect(),
            alpn: handshake.alpn.clone(),
            version: handshake.version.clone(),
            cipher: handshake.cipher.clone(),
            group: handshake.group.clone(),
            retried: handshake.retried,
            handshake_seconds: took,
            chain: handshake.certificates.len() as u64,
            certificate: first.and_then(|der| certificate::read(der, clock::unix_seconds())),
            ..Secured::default()
        });
        return;
    };
    known.resumed = Some(known.resumed == Some(true) || handshake.resumed);
    if handshake.resumed {
        known.resumed_handshake_seconds = Some(known.resumed_handshake_seconds.map_or(took, |best| best.min(took)));
    }
}

fn answered(seen: &Seen, once: bool) -> Answered {
    let framing = match seen.head.framing {
        Framing::None => "none",
        Framing::Length(_) => "content-length",
        Framing::Chunked => "chunked",
        Framing::UntilClose => "until close",
        Framing::Stream => "stream",
    };
    Answered {
        status: seen.reply.status,
        protocol: seen.head.version.to_string(),
        server: field(seen, "server"),
        location: field(seen, "location"),
        head_bytes: seen.head.length,
        body_bytes: seen.reply.body_bytes,
        framing: framing.into(),
        content_encoding: encoding(seen),
        service_seconds: seen.service_seconds,
        keep_alive: (!once).then_some(seen.reply.keep_alive),
        keep_alive_header: field(seen, "keep-alive"),
        alt_svc: field(seen, "alt-svc"),
        reused: None,
    }
}

fn field(seen: &Seen, name: &str) -> Option<String> {
    seen.fields.iter().find(|f| f.0.eq_ignore_ascii_case(name)).map(|f| f.1.clone())
}

fn encoding(seen: &Seen) -> Option<String> {
    field(seen, "content-encoding").map(|e| e.to_ascii_lowercase()).filter(|e| e != "identity")
}

/// The request with Accept-Encoding asked the other way: taken off where it was there, else what browsers say.
fn turned(request: &Request) -> (Request, Option<String>) {
    let mut other = request.clone();
    let before = other.headers.len();
    other.headers.retain(|h| !h.0.eq_ignore_ascii_case("accept-encoding"));
    if other.headers.len() < before {
        return (other, None);
    }
    other.headers.push(("Accept-Encoding".into(), defaults::CHECK_ACCEPT_ENCODING.into()));
    (other, Some(defaults::CHECK_ACCEPT_ENCODING.into()))
}
