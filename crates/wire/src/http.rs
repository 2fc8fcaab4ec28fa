//! HTTP over real sockets: the transport of one worker thread, which opens connections of the version that the plan wants.
//!
//! * `protocols`: the register of protocols, with the right to an exchange on a connection of any. `h1`, `h2`, `h3`, `websocket`: its rows.
//! * `bad_wire`: what cannot be. `reply_parts`: the parts of replies that policies need.
//! * [`replay`]: bytes of a server without sockets.

mod bad_wire;
mod h1;
mod h2;
mod h3;
mod protocols;
pub mod replay;
mod reply_parts;
mod websocket;

use crate::contract::{Reply, SharedCounts, Stamps, Timer, Transport, Wants};
use crate::dial::{Buffers, Destination, dial};
use crate::events::{EventCounts, EventMeter, EventOrigin, EventTimes};
use crate::origin::{Directory, Origin, OriginId, Route};
use crate::request::{self, BadRequest, Prepared, RequestParts, Tags};
use crate::sources::Sources;
use crate::stream::{Idle, Stream};
use crate::tls::{Refusal, TlsClients};
use crate::worker_io::WorkerIo;
use crate::{error, sys, tls};
use brunt_model::plan::{Connection, HttpVersion};
use brunt_model::reply_policy::Events;
use brunt_model::sample::Opening;
use brunt_model::system_error::without_number;
use brunt_model::{Body, Failure, Flow, Plan, Tick};
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
use reply_parts::KeptParts;
use websocket::InboxRules;

/// One in so many connections, the first among them, has its bytes stamped by the kernel when they come.
const STAMPED: usize = 16;

/// HTTP over real sockets, for one worker thread.
pub struct Http<T: Timer + 'static> {
    /// HTTP/1, by which connections of other protocols begin, too.
    h1: H1Exchanges<T>,
    /// Where connections of HTTP/2 read to.
    h2_buffer: OnceCell<h2::ReadBuffer>,
    /// The sockets of HTTP/3.
    endpoints: OnceCell<h3::Endpoints<T>>,
    common: Arc<Common>,
    routes: RefCell<Vec<Rc<Route>>>,
    worker: usize,
    source_turn: Cell<usize>,
    /// How many connections were opened.
    opened: Cell<usize>,
    /// How many messages of `WebSocket`s were made ready.
    messages: Cell<u64>,
    /// Counts of its connections; those of HTTP/3 have their own.
    counts: SharedCounts,
    /// What its `WebSocket`s share.
    inbox_rules: Rc<InboxRules>,
    /// The times of events that came.
    events: Rc<EventCounts>,
    /// Keeps the kernel stamping while connections come and go: to begin and to end it patches its own code.
    stamping: OnceCell<Option<Socket>>,
    note: RefCell<Option<String>>,
    refusal: RefCell<Option<Refusal>>,
    target: RefCell<Target>,
}

/// What the transports of all workers of a run share.
pub struct Common {
    settings: Connection,
    directory: Directory,
    sources: Sources,
    tls: OnceLock<TlsClients>,
    proxy: Option<Origin>,
    style: Style,
    /// By the number of a request's policy: what is kept of its reply.
    kept: Vec<KeptParts>,
    /// Some requests await messages of `WebSocket`s and send none.
    awaits_messages: bool,
}

/// What is known of the target, and what of it was told. One worker tells it for all.
#[derive(Default)]
struct Target {
    told_addresses: bool,
    /// The first reply has come: it named the server, or did not.
    replied: bool,
    server: Option<String>,
}

impl Common {
    /// Reads certificates and keys, and what the plan says of connections.
    ///
    /// # Errors
    ///
    /// [`BadWire`] if a certificate or key cannot be read, or an expression is none.
    pub fn new(plan: &Plan) -> Result<Arc<Self>, BadWire> {
        let settings = plan.connection.clone();
        bad_wire::check(plan)?;
        let proxy = settings.proxy.as_deref().map(request::origin_of).transpose()?.map(|p| p.1);
        let close = settings.requests_per_connection == Some(1);
        let style = Style { http10: settings.http == HttpVersion::V1_0, close, absolute: proxy.is_some() };
        let records = plan.record.records.as_ref().map(|records| records.detail);
        let kept = plan.reply_policies.iter().map(|policy| KeptParts::new(policy, records));
        let kept = kept.collect::<Result<_, _>>()?;
        let (directory, sources) = (Directory::new(&settings), Sources::new(&settings.source, plan.processes));
        let awaits_messages = plan.requests().any(|request| request.is_websocket() && request.body == Body::None);
        let tls = OnceLock::new();
        let common = Self { settings, directory, sources, tls, proxy, style, kept, awaits_messages };
        // Reading the system's certificates takes longer than many a run over plain http.
        if plan.requests().any(|r| common.is_secure(r.is_encrypted())) {
            common.tls()?;
        }
        Ok(Arc::new(common))
    }
}

impl Common {
    /// Whether TLS is spoken to an origin.
    fn is_secure(&self, https: bool) -> bool {
        self.settings.resolve_all.map_or(https, |all| all.tls)
    }

    /// How TLS is spoken; read when first needed.
    fn tls(&self) -> Result<&TlsClients, tls::BadTls> {
        if let Some(clients) = self.tls.get() {
            return Ok(clients);
        }
        let read = TlsClients::new(&self.settings.tls, self.settings.http)?;
        // Where two workers read it at the same time, the first one's is kept, so that they share sessions.
        Ok(self.tls.get_or_init(|| read))
    }
}

impl<T: Timer + 'static> Http<T> {
    /// The transport of worker number `worker`; called on its thread.
    pub fn new(common: Arc<Common>, worker: usize, time: T) -> Self {
        if common.tls.get().is_some() {
            tls::seed_random_numbers();
        }
        let counts = SharedCounts::default();
        let inbox_rules = Rc::new(InboxRules { keeps_messages: common.awaits_messages, counts: Rc::clone(&counts) });
        Self {
            h1: H1Exchanges::new(WorkerIo::new(time), common.settings.receive_rate),
            h2_buffer: OnceCell::new(),
            endpoints: OnceCell::new(),
            common,
            routes: RefCell::default(),
            worker,
            source_turn: Cell::new(worker),
            opened: Cell::new(0),
            messages: Cell::new(0),
            counts,
            inbox_rules,
            events: Rc::default(),
            stamping: OnceCell::new(),
            note: RefCell::default(),
            refusal: RefCell::default(),
            target: RefCell::new(Target { told_addresses: worker > 0, replied: worker > 0, server: None }),
        }
    }

    /// The clock.
    fn time(&self) -> &T {
        &self.h1.io.time
    }

    fn route(&self, id: OriginId) -> Option<Rc<Route>> {
        self.routes.borrow().get(id.0 as usize).map(Rc::clone)
    }

    fn intern(&self, origin: &Origin) -> OriginId {
        let mut routes = self.routes.borrow_mut();
        let at = routes.iter().position(|r| r.origin == *origin).unwrap_or_else(|| {
            routes.push(Rc::new(Route::new(origin.clone(), self.worker)));
            routes.len() - 1
        });
        OriginId(at as u32)
    }

    fn fails(&self, failure: Failure, why: &dyn std::fmt::Display) -> Failure {
        let name = failure.row().name;
        let why = without_number(&why.to_string());
        // The system's words for it often are the name.
        let repeats = why.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
        let note = if repeats { format!("{name}{}", &why[name.len()..]) } else { format!("{name}: {why}") };
        *self.note.borrow_mut() = Some(note);
        failure
    }

    /// The same of a connection that was not made, to the server or to the proxy in its place.
    fn fails_to_connect(&self, failure: Failure, why: &dyn std::fmt::Display) -> Failure {
        use Failure::{ConnectTimeout, Refused, Reset, Resolve, Unreachable};
        let is_of_peer = matches!(failure, Resolve | Refused | Unreachable | ConnectTimeout | Reset);
        match &self.common.proxy {
            Some(proxy) if is_of_peer => self.fails(Failure::Proxy, &format!("{}:{}: {why}", proxy.host, proxy.port)),
            _ => self.fails(failure, why),
        }
    }

    /// Opens a connection, with TLS where the origin has it.
    async fn connect(&self, route: &Route, client: u64, steps: &mut Opening) -> Result<Stream, Failure> {
        let began = self.time().now();
        let settings = &self.common.settings;
        let asked = settings.socket_buffer.map(|bytes| bytes as usize);
        // Small buffers make a slow reader slow for the server too, not only for us.
        let slow = settings.receive_rate.map(|rate| (rate as usize / 4).clamp(2048, 1 << 20));
        let incoming = settings.receive_buffer.map(|bytes| bytes as usize).or(asked);
        let buffers = Buffers { send: asked, receive: slow.or(incoming) };
        let socket = if let Some(path) = &self.common.settings.unix_socket {
            dial(Destination::Unix(path), buffers).await
        } else {
            let to = self.address(route, began, steps).await?;
            dial(Destination::Tcp(to, self.next_source(to)), buffers).await
        };
        let socket = socket.map_err(|e| self.fails_to_connect(error::of_connect(&e), &e))?;
        if settings.reset {
            // Where it cannot be had, the connection is closed as any other.
            let _ = socket.get_ref().set_linger(Some(Duration::ZERO));
        }
        let mut stream = Stream::new(socket);
        let opened = self.opened.get();
        self.opened.set(opened.wrapping_add(1));
        if opened.is_multiple_of(STAMPED)
            && settings.unix_socket.is_none()
            && !self.common.is_secure(route.origin.https)
        {
            self.stamping.get_or_init(stamping_socket);
            stream.stamp_receipt();
        }
        let asks_proxy = !route.origin.https && route.origin.websocket.is_none() && !self.multiplexes();
        if self.common.proxy.is_some() && !asks_proxy {
            self.pass_proxy(&mut stream, &route.origin).await?;
        }
        let resolving = steps.resolve.unwrap_or(0);
        steps.connect = Some(self.time().now().nanos_since(began).saturating_sub(resolving));
        if self.common.is_secure(route.origin.https) {
            self.secure(&mut stream, (&route.origin.host, client), steps).await?;
        }
        Ok(stream)
    }

    async fn address(&self, route: &Route, began: Tick, steps: &mut Opening) -> Result<SocketAddr, Failure> {
        let (host, port) = match &self.common.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&route.origin.host, route.origin.port),
        };
        let (address, asked) = route
            .next_address(&self.common.directory, host, port, began)
            .await
            .map_err(|(failure, why)| self.fails_to_connect(failure, &why))?;
        if asked {
            steps.resolve = Some(self.time().now().nanos_since(began));
        }
        Ok(address)
    }

    fn next_source(&self, to: SocketAddr) -> Option<IpAddr> {
        let turn = self.source_turn.get();
        self.source_turn.set(turn.wrapping_add(1));
        self.common.sources.next(turn, to)
    }

    async fn secure(
        &self,
        stream: &mut Stream,
        (host, client): (&str, u64),
        steps: &mut Opening,
    ) -> Result<(), Failure> {
        let began = self.time().now();
        let clients = self.common.tls().map_err(|e| self.fails(Failure::Tls, &e))?;
        let connection = tls::connection(clients.of(client), &self.common.settings.tls, host)
            .map_err(|e| self.fails(Failure::Tls, &e))?;
        stream.start_tls(connection).await.map_err(|error| {
            let refusal = Refusal::of(&error);
            let failure = self.fails(Failure::Tls, &refusal);
            *self.refusal.borrow_mut() = Some(refusal);
            failure
        })?;
        steps.tls = Some(self.time().now().nanos_since(began));
        let is_retried = stream.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
        self.counts.borrow_mut().hello_retries += u64::from(is_retried);
        Ok(())
    }
}

/// A socket that receives nothing, for which the kernel stamps packets.
fn stamping_socket() -> Option<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).ok()?;
    sys::stamp_receipt(&socket).ok()?;
    Some(socket)
}

impl<T: Timer + 'static> Http<T> {
    /// Why the last TLS handshake failed; told once.
    pub fn take_refusal(&self) -> Option<Refusal> {
        self.refusal.borrow_mut().take()
    }

    /// The same as [`Transport::exchange`], and keeps all of the reply: for a careful look, not
    /// for a load.
    ///
    /// # Errors
    ///
    /// What failed, if there is no whole reply.
    pub async fn look(&self, lane: &mut Lane, request: &Prepared, stamps: &mut Stamps) -> Result<Reply, Failure> {
        let all = Wants { head: true, server: true, location: true, body: true, cookie: true, ..Wants::default() };
        self.exchange_keeping(lane, request, all, stamps).await
    }

    /// Exchanges a request for a reply of which these are kept beside those of its policy.
    fn exchange_keeping(
        &self,
        lane: &mut Lane,
        request: &Prepared,
        more: Wants,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let kept = &self.common.kept[request.tags.reply_policy as usize];
        let (wants, pattern) = (kept.wants.with(more), kept.pattern.as_ref());
        let events = kept.events.map(|events| self.meter((events, request.tags.label), stamps));
        self.exchange_on(lane, request, ReplyWants { wants, pattern, events }, stamps)
    }

    /// What times the events of a reply.
    fn meter(&self, of: (Events, u32), stamps: &Stamps) -> Box<EventMeter> {
        let now = || EventOrigin { planned: self.time().now(), is_measured: false, population: 0 };
        let origin = stamps.events.unwrap_or_else(now);
        Box::new(EventMeter::new(of, origin, Rc::new(self.time().clone()), Rc::clone(&self.events)))
    }
}

impl<T: Timer + 'static> Transport for Http<T> {
    type Lane = Lane;

    fn prepare_parts(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, BadRequest> {
        self.prepare_in_protocol(parts, tags)
    }

    async fn open(&self, request: &Prepared, client: u64, steps: &mut Opening) -> Result<Lane, Failure> {
        // Only a request that no transport has prepared leads nowhere.
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
        let nameless = !self.target.borrow().replied;
        self.exchange_keeping(lane, request, Wants { server: nameless, ..Wants::default() }, stamps)
    }

    fn replied(&self, reply: &Reply) {
        let mut target = self.target.borrow_mut();
        if !target.replied {
            let server = reply.kept.as_ref().and_then(|kept| kept.server.clone());
            *target = Target { told_addresses: false, replied: true, server };
        }
    }

    async fn send_ahead(&self, lane: &mut Lane, requests: &[Rc<Prepared>]) {
        if let Lane::H1(h1) = lane {
            self.send_ahead_h1(h1, requests).await;
        }
    }

    async fn closed(&self, lane: &mut Lane) -> Idle {
        std::future::poll_fn(|cx| lane.poll_closed(cx)).await
    }

    fn take_counts(&self) -> Flow {
        let mut counts = self.counts.take();
        counts.merge(&self.endpoints.get().map(h3::Endpoints::take_counts).unwrap_or_default());
        counts
    }

    fn take_events(&self, population: usize) -> Vec<(u32, EventTimes)> {
        self.events.take(population)
    }

    fn take_note(&self) -> Option<String> {
        self.note.borrow_mut().take()
    }

    fn addresses(&self, request: &Prepared) -> Vec<String> {
        self.route(request.origin).map_or_else(Vec::new, |route| route.addresses())
    }

    fn take_target(&self) -> Option<(Vec<String>, Option<String>)> {
        let mut target = self.target.borrow_mut();
        let addresses: Vec<String> = self.routes.borrow().iter().flat_map(|r| r.addresses()).collect();
        if target.told_addresses || (addresses.is_empty() && target.server.is_none()) {
            return None;
        }
        target.told_addresses = true;
        Some((addresses, target.server.take()))
    }
}
