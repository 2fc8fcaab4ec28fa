//! HTTP over real sockets: the transport of one worker thread. It opens connections of the HTTP
//! version that the plan sets.
//!
//! * `protocols`: the register of protocols, and [`Lane`], the right to an exchange on a connection
//!   of any protocol. `h1`, `h2`, `h3`, `websocket`: one file per protocol.
//! * `bad_wire`: rejects plans that no transport can carry out. `reply_parts`: selects the parts of
//!   replies that policies need.
//! * [`replay`]: replays a server's bytes without sockets.

mod bad_wire;
mod h1;
mod h2;
mod h3;
mod protocols;
pub mod replay;
mod reply_parts;
#[cfg(test)]
mod target_tests;
mod websocket;

use crate::contract::{Reply, SharedCounts, Stamps, Timer, Transport, WantedDetails};
use crate::dial::{Buffers, Destination, dial};
use crate::events::{EventCounts, EventMeter, EventOrigin, EventTimes};
use crate::origin::{Directory, Origin, OriginAddresses, OriginId};
use crate::request::{self, BadRequest, Prepared, RequestParts, Tags};
use crate::sources::Sources;
use crate::stream::{ByteStream, IdleEnd};
use crate::targets::AllowedTargets;
use crate::tls::{HandshakeFailure, TlsClients};
use crate::worker_io::WorkerIo;
use crate::{error, sys, tls};
use brunt_model::plan::{ConnectionSettings, HttpVersion};
use brunt_model::reply_policy::Events;
use brunt_model::sample::ConnectTimes;
use brunt_model::system_error::without_number;
use brunt_model::{Body, Failure, Flow, Plan, Text, Tick, text};
use rustls::HandshakeKind;
use socket2::{Domain, Socket, Type};
use std::cell::{Cell, OnceCell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use bad_wire::BadWire;
use h1::{H1Exchanges, Style};
pub use protocols::Lane;
use protocols::ReplyWants;
use reply_parts::ReplyParts;
use websocket::InboxRules;

/// The kernel timestamps the received bytes of every 16th connection, beginning with the first.
const TIMESTAMPED_CONNECTIONS: usize = 16;

/// HTTP over real sockets, for one worker thread.
pub struct Http<T: Timer + 'static> {
    /// HTTP/1. Connections of other protocols may also begin with it.
    h1: H1Exchanges<T>,
    /// The read buffer of HTTP/2 connections.
    h2_buffer: OnceCell<h2::ReadBuffer>,
    /// The UDP sockets of HTTP/3.
    endpoints: OnceCell<h3::Http3Endpoints<T>>,
    common: Arc<Common>,
    routes: RefCell<Vec<Rc<OriginAddresses>>>,
    worker: usize,
    next_source: Cell<usize>,
    /// Number of connections opened so far.
    opened: Cell<usize>,
    /// Number of `WebSocket` messages prepared so far.
    messages: Cell<u64>,
    /// Connection counts. HTTP/3 counts its connections separately.
    counts: SharedCounts,
    /// Rules shared by its `WebSocket`s.
    inbox_rules: Rc<InboxRules>,
    events: Rc<EventCounts>,
    /// An idle socket with timestamps enabled. It keeps the kernel's timestamping on while
    /// connections open and close, because the kernel patches its own code to switch it on and off.
    timestamping: OnceCell<Option<Socket>>,
    note: RefCell<Option<Text>>,
    refusal: RefCell<Option<HandshakeFailure>>,
    target: RefCell<Target>,
}

/// State shared by the transports of all workers of a run.
pub struct Common {
    settings: ConnectionSettings,
    directory: Directory,
    sources: Sources,
    tls: OnceLock<TlsClients>,
    proxy: Option<Origin>,
    style: Style,
    /// The parts of replies to keep, by the index of a request's policy.
    reply_parts: Vec<ReplyParts>,
    /// True if some requests await `WebSocket` messages without sending one.
    awaits_messages: bool,
}

/// Facts about the target, and which of them were reported. Only worker 0 reports them.
#[derive(Default)]
struct Target {
    has_reported: bool,
    /// True once the first reply has arrived, with or without a Server header.
    has_replied: bool,
    server: Option<String>,
}

impl Common {
    /// Reads certificates and keys, and the connection settings of the plan.
    ///
    /// # Errors
    ///
    /// [`BadWire`] if a certificate or key cannot be read, or a regular expression is invalid.
    pub fn new(plan: &Plan) -> Result<Arc<Self>, BadWire> {
        let settings = plan.connection.clone();
        bad_wire::check(plan)?;
        let proxy = settings.proxy.as_deref().map(request::origin_of).transpose()?.map(|p| p.1);
        let close = settings.requests_per_connection == Some(1);
        let style =
            Style { http10: settings.http == HttpVersion::V1_0, close, absolute: proxy.is_some() };
        let records = plan.record.records.as_ref();
        let reply_parts = plan.reply_policies.iter().map(|policy| ReplyParts::new(policy, records));
        let reply_parts = reply_parts.collect::<Result<_, _>>()?;
        let allowed = AllowedTargets::from_hosts(&plan.allowed_targets);
        let directory = Directory::new(&settings, allowed);
        let sources = Sources::new(&settings.source, plan.processes);
        let awaits_messages =
            plan.requests().any(|request| request.is_websocket() && request.body == Body::None);
        let tls = OnceLock::new();
        let common =
            Self { settings, directory, sources, tls, proxy, style, reply_parts, awaits_messages };
        // Reading the system's certificates takes longer than many a run over plain HTTP.
        if plan.requests().any(|r| common.is_secure(r.is_encrypted())) {
            common.tls()?;
        }
        Ok(Arc::new(common))
    }
}

impl Common {
    /// True if connections to an origin use TLS.
    fn is_secure(&self, https: bool) -> bool {
        self.settings.resolve_all.map_or(https, |all| all.tls)
    }

    /// Returns the TLS clients. Certificates are read at the first call.
    fn tls(&self) -> Result<&TlsClients, tls::BadTls> {
        if let Some(clients) = self.tls.get() {
            return Ok(clients);
        }
        let clients = TlsClients::new(&self.settings.tls, self.settings.http)?;
        // If two workers read at the same time, both use the first result, so
        // that they share sessions.
        Ok(self.tls.get_or_init(|| clients))
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Creates the transport of worker number `worker`. Must be called on its thread.
    pub fn new(common: Arc<Common>, worker: usize, time: T) -> Self {
        if common.tls.get().is_some() {
            tls::seed_random_numbers();
        }
        let counts = SharedCounts::default();
        let inbox_rules = Rc::new(InboxRules {
            // A trace shows the messages that no request awaited.
            keeps_messages: common.awaits_messages
                || common.reply_parts.iter().any(|parts| parts.wants.skipped),
            counts: Rc::clone(&counts),
        });
        Self {
            h1: H1Exchanges::new(WorkerIo::new(time), common.settings.receive_rate),
            h2_buffer: OnceCell::new(),
            endpoints: OnceCell::new(),
            common,
            routes: RefCell::default(),
            worker,
            next_source: Cell::new(worker),
            opened: Cell::new(0),
            messages: Cell::new(0),
            counts,
            inbox_rules,
            events: Rc::default(),
            timestamping: OnceCell::new(),
            note: RefCell::default(),
            refusal: RefCell::default(),
            target: RefCell::new(Target {
                has_reported: worker > 0,
                has_replied: worker > 0,
                server: None,
            }),
        }
    }

    fn time(&self) -> &T {
        &self.h1.io.time
    }

    fn route(&self, id: OriginId) -> Option<Rc<OriginAddresses>> {
        self.routes.borrow().get(id.0 as usize).map(Rc::clone)
    }

    fn intern(&self, origin: &Origin) -> OriginId {
        let mut routes = self.routes.borrow_mut();
        let index = routes.iter().position(|r| r.origin == *origin).unwrap_or_else(|| {
            routes.push(Rc::new(OriginAddresses::new(origin.clone(), self.worker)));
            routes.len() - 1
        });
        OriginId(index as u32)
    }

    /// Stores the reason of a failure as the note for the user, and returns the failure.
    fn note_failure(&self, failure: Failure, why: &dyn std::fmt::Display) -> Failure {
        self.note_cause(failure, &why.to_string().into())
    }

    /// Stores the cause of a failure as the note for the user, and returns the failure.
    fn note_cause(&self, failure: Failure, cause: &Text) -> Failure {
        let name = &failure.row().name;
        let cause = cause.map(&without_number);
        // The system's error text often repeats the name of the failure.
        let begin = cause.get(..name.len());
        let note = if begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name)) {
            match cause[name.len()..].strip_prefix(": ") {
                Some(sentence) => text!("of-run", run = name.clone(), sentence),
                None => format!("{name}{}", &cause[name.len()..]).into(),
            }
        } else {
            text!("of-run", run = name.clone(), sentence = cause)
        };
        *self.note.borrow_mut() = Some(note);
        failure
    }

    /// Notes the failure to connect to the server, or to the proxy if there is one.
    fn note_connect_failure(&self, failure: Failure, why: &dyn std::fmt::Display) -> Failure {
        use Failure::{ConnectTimeout, Refused, Reset, Resolve, Unreachable};
        let is_of_peer =
            matches!(failure, Resolve | Refused | Unreachable | ConnectTimeout | Reset);
        match &self.common.proxy {
            Some(proxy) if is_of_peer => {
                self.note_failure(Failure::Proxy, &format!("{}:{}: {why}", proxy.host, proxy.port))
            }
            _ => self.note_failure(failure, why),
        }
    }

    /// Opens a connection, with TLS if the origin uses it.
    async fn connect(
        &self,
        route: &OriginAddresses,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<ByteStream, Failure> {
        let began = self.time().now();
        let settings = &self.common.settings;
        let buffer = settings.socket_buffer.map(|bytes| bytes as usize);
        // With a small receive buffer the server, too, sees a slow reader. A large one would hide
        // it in our kernel.
        let slow_reader =
            settings.receive_rate.map(|rate| (rate as usize / 4).clamp(2048, 1 << 20));
        let receive = settings.receive_buffer.map(|bytes| bytes as usize).or(buffer);
        let buffers = Buffers { send: buffer, receive: slow_reader.or(receive) };
        let socket = if let Some(path) = &self.common.settings.unix_socket {
            dial(Destination::Unix(path), buffers).await
        } else {
            let address = self.address(route, began, steps).await?;
            dial(Destination::Tcp(address, self.next_source(address)), buffers).await
        };
        let socket =
            socket.map_err(|e| self.note_connect_failure(error::connect_failure(&e), &e))?;
        if settings.reset {
            // If the system refuses SO_LINGER, the connection is closed in the normal way.
            let _ = socket.get_ref().set_linger(Some(Duration::ZERO));
        }
        let mut stream = ByteStream::new(socket);
        let opened = self.opened.get();
        self.opened.set(opened.wrapping_add(1));
        if opened.is_multiple_of(TIMESTAMPED_CONNECTIONS)
            && settings.unix_socket.is_none()
            && !self.common.is_secure(route.origin.https)
        {
            self.timestamping.get_or_init(timestamping_socket);
            stream.enable_timestamps();
        }
        let sends_to_proxy =
            !route.origin.https && route.origin.websocket.is_none() && !self.multiplexes();
        if self.common.proxy.is_some() && !sends_to_proxy {
            self.pass_proxy(&mut stream, &route.origin).await?;
        }
        let resolving = steps.resolve.unwrap_or(0);
        steps.connect = Some(self.time().now().nanos_since(began).saturating_sub(resolving));
        if self.common.is_secure(route.origin.https) {
            self.secure(&mut stream, &route.origin.host, client, steps).await?;
        }
        Ok(stream)
    }

    async fn address(
        &self,
        route: &OriginAddresses,
        began: Tick,
        steps: &mut ConnectTimes,
    ) -> Result<SocketAddr, Failure> {
        let (host, port) = match &self.common.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&route.origin.host, route.origin.port),
        };
        let (address, was_resolved) = route
            .next_address(&self.common.directory, host, port, began)
            .await
            .map_err(|(failure, why)| self.note_connect_failure(failure, &why))?;
        if was_resolved {
            steps.resolve = Some(self.time().now().nanos_since(began));
        }
        Ok(address)
    }

    fn next_source(&self, to: SocketAddr) -> Option<IpAddr> {
        let index = self.next_source.get();
        self.next_source.set(index.wrapping_add(1));
        self.common.sources.next(index, to)
    }

    /// Performs the TLS handshake on a connection.
    async fn secure(
        &self,
        stream: &mut ByteStream,
        host: &str,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<(), Failure> {
        let began = self.time().now();
        let clients = self.common.tls().map_err(|e| self.note_failure(Failure::Tls, &e))?;
        let connection = tls::connection(clients.config(client), &self.common.settings.tls, host)
            .map_err(|e| self.note_failure(Failure::Tls, &e))?;
        stream.start_tls(connection).await.map_err(|error| {
            let refusal = HandshakeFailure::from_error(&error);
            let failure = self.note_failure(Failure::Tls, &refusal);
            *self.refusal.borrow_mut() = Some(refusal);
            failure
        })?;
        steps.tls = Some(self.time().now().nanos_since(began));
        let is_retried = stream.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
        self.counts.borrow_mut().hello_retries += u64::from(is_retried);
        Ok(())
    }
}

/// Opens an unused socket with kernel timestamps enabled.
fn timestamping_socket() -> Option<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).ok()?;
    sys::enable_timestamps(&socket).ok()?;
    Some(socket)
}

impl<T: Timer + 'static> Http<T> {
    /// Returns why the last TLS handshake failed. Later calls return None.
    pub fn take_refusal(&self) -> Option<HandshakeFailure> {
        self.refusal.borrow_mut().take()
    }

    /// Like [`Transport::exchange`], but keeps all parts of the reply. It is meant for inspection,
    /// not for a load.
    pub async fn inspect(
        &self,
        lane: &mut Lane,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let all = WantedDetails {
            head: true,
            server: true,
            location: true,
            body: true,
            cookie: true,
            ..WantedDetails::default()
        };
        self.exchange_keeping(lane, request, all, stamps).await
    }

    /// Exchanges a request for a reply. Keeps the parts that `more` names and those
    /// of the request's policy.
    fn exchange_keeping(
        &self,
        lane: &mut Lane,
        request: &Prepared,
        more: WantedDetails,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let parts = &self.common.reply_parts[request.tags.reply_policy as usize];
        let wants = parts.wants.with(more);
        let pattern = parts.pattern.as_ref();
        let events =
            parts.events.map(|events| self.event_meter(events, request.tags.label, stamps));
        self.exchange_on(lane, request, ReplyWants { wants, pattern, events }, stamps)
    }

    /// Returns a meter for the events of a reply.
    fn event_meter(&self, rules: Events, label: u32, stamps: &Stamps) -> Box<EventMeter> {
        let origin = stamps.events.unwrap_or_else(|| EventOrigin {
            planned: self.time().now(),
            is_measured: false,
            population: 0,
        });
        Box::new(EventMeter::new(
            rules,
            label,
            origin,
            Rc::new(self.time().clone()),
            Rc::clone(&self.events),
        ))
    }
}

impl<T: Timer + 'static> Transport for Http<T> {
    type Lane = Lane;

    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest> {
        self.prepare_in_protocol(parts, tags)
    }

    async fn open(
        &self,
        request: &Prepared,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<Lane, Failure> {
        // Only a request that no transport has prepared has no route.
        let route = self.route(request.origin).ok_or(Failure::System)?;
        self.open_lane(&route, request, client, steps).await
    }

    fn multiplexes(&self) -> bool {
        self.common.settings.http.has_streams()
    }

    fn share(&self, lane: &Lane) -> Option<Lane> {
        lane.share()
    }

    fn most_exchanges(&self, lane: &Lane) -> u32 {
        lane.most_exchanges()
    }

    fn accepts(&self, lane: &Lane) -> bool {
        lane.accepts()
    }

    fn exchange(
        &self,
        lane: &mut Lane,
        request: &Prepared,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let needs_server_name = !self.target.borrow().has_replied;
        self.exchange_keeping(
            lane,
            request,
            WantedDetails { server: needs_server_name, ..WantedDetails::default() },
            stamps,
        )
    }

    fn note_reply(&self, reply: &Reply) {
        let mut target = self.target.borrow_mut();
        if !target.has_replied {
            let server = reply.details.as_ref().and_then(|kept| kept.server.clone());
            *target = Target { has_reported: false, has_replied: true, server };
        }
    }

    async fn send_ahead(&self, lane: &mut Lane, requests: &[Rc<Prepared>]) {
        if let Lane::H1(h1) = lane {
            self.send_ahead_h1(h1, requests).await;
        }
    }

    async fn closed(&self, lane: &mut Lane) -> IdleEnd {
        std::future::poll_fn(|cx| lane.poll_closed(cx)).await
    }

    fn take_counts(&self) -> Flow {
        let mut counts = self.counts.take();
        counts
            .merge(&self.endpoints.get().map(h3::Http3Endpoints::take_counts).unwrap_or_default());
        counts
    }

    fn take_events(&self, population: usize) -> Vec<(u32, EventTimes)> {
        self.events.take(population)
    }

    fn take_skipped(&self, lane: &mut Lane) -> Vec<Vec<u8>> {
        match lane {
            Lane::H2(h2) => h2.skipped.take(),
            Lane::WebSocket(websocket) => websocket.skipped.take(),
            Lane::H1(_) | Lane::H3(_) => Vec::new(),
        }
    }

    fn take_note(&self) -> Option<Text> {
        self.note.borrow_mut().take()
    }

    fn addresses(&self, request: &Prepared) -> Vec<String> {
        self.route(request.origin).map_or_else(Vec::new, |route| route.addresses())
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        let mut target = self.target.borrow_mut();
        let addresses: Vec<String> =
            self.routes.borrow().iter().flat_map(|r| r.addresses()).collect();
        if target.has_reported || (addresses.is_empty() && target.server.is_none()) {
            return None;
        }
        target.has_reported = true;
        Some((addresses, target.server.take()))
    }
}
