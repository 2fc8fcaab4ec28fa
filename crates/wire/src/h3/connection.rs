//! The interface of HTTP/3 for `http`: endpoints, connections, exchanges.

use super::driver::{Carrier, DriverQueue, UdpEndpoint};
use super::migration::MigrationResult;
use super::port::Binding;
use super::session::Http3Session;
use super::watch::WatchedConfig;
use crate::collect::ReplyCollector;
use crate::quic::TransportSettings;
use crate::request::Prepared;
use crate::stream::IdleEnd;
use crate::tls::{self, Handshake, HandshakeFailure, TlsClients};
use crate::{Reply, Stamps, Timer};
use brunt_model::plan::{ConnectionSettings, TlsSettings};
use brunt_model::{Failure, Flow, Tick};
use quinn_proto::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn_proto::{ClientConfig, TransportConfig, VarInt};
use rustls::Tls13CipherSuite;
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// True if this program has HTTP/3.
pub const IS_BUILT: bool = true;

/// Bytes of a reply's body that the server may send on a stream before this client grants more.
const STREAM_WINDOW: u64 = 1 << 40;
/// Maximum number of unacknowledged bytes in the send buffer of a connection.
const SEND_WINDOW: u64 = 16 << 20;
/// Status of the reply to a migration: that of a switch of protocols.
const SWITCHING: u16 = 101;
/// Maximum number of unidirectional streams of the server, which needs three.
const UNI_STREAMS: u32 = 16;

/// True for IPv6, and the configured local address.
type SocketKey = (bool, Option<IpAddr>);

/// The sockets of one worker: one for each address family and each configured local address.
pub struct Http3Endpoints<T: Timer + 'static> {
    time: T,
    sockets: RefCell<HashMap<SocketKey, UdpEndpoint<T>>>,
    /// One for each client certificate.
    clients: OnceCell<Vec<WatchedClient>>,
}

/// The settings of new connections, and the object that watches them.
pub struct WatchedClient {
    pub config: ClientConfig,
    pub crypto: Arc<WatchedConfig>,
}

/// The server and the local address of a connection.
pub struct Http3Destination<'a> {
    pub host: &'a str,
    pub address: SocketAddr,
    /// The local address; None: the system chooses.
    pub source: Option<IpAddr>,
}

/// Why no connection was opened.
pub struct Http3NotOpened {
    pub failure: Failure,
    /// The reason in words.
    pub why: String,
    /// Why the handshake failed, if the certificate is the cause.
    pub refusal: Option<HandshakeFailure>,
}

impl Http3NotOpened {
    fn new(failure: Failure, why: String) -> Self {
        Self { failure, why, refusal: None }
    }
}

impl<T: Timer + 'static> Http3Endpoints<T> {
    /// Creates an empty set of endpoints.
    pub fn new(time: T) -> Self {
        Self { time, sockets: RefCell::default(), clients: OnceCell::new() }
    }

    /// Starts a connection for the client with this number. It is usable
    /// once it is [ready](Http3Connection::ready).
    ///
    /// # Errors
    ///
    /// If no socket is available, or if TLS cannot be set up.
    pub fn connect(
        &self,
        settings: &ConnectionSettings,
        tls: &TlsClients,
        client: u64,
        destination: &Http3Destination<'_>,
    ) -> Result<Http3Connection, Http3NotOpened> {
        let Http3Destination { host, address, source } = *destination;
        let clients = self
            .clients(tls, &settings.tls)
            .map_err(|why| Http3NotOpened::new(Failure::Tls, why))?;
        let mut sockets = self.sockets.borrow_mut();
        let endpoint = match sockets.entry((address.is_ipv6(), source)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                // The QUIC library counts time in `Instant`. A simulated clock has none.
                let base = self.time.base();
                let base = base.ok_or_else(|| {
                    Http3NotOpened::new(Failure::System, "no instants".to_owned())
                })?;
                let buffer =
                    settings.receive_buffer.or(settings.socket_buffer).map(|bytes| bytes as usize);
                let socket = UdpEndpoint::new(
                    self.time.clone(),
                    base,
                    Binding { to: address, source, buffer },
                );
                entry.insert(socket.map_err(|error| {
                    Http3NotOpened::new(crate::error::connect_failure(&error), error.to_string())
                })?)
            }
        };
        let client = &clients[(client % clients.len() as u64) as usize];
        let name = settings.tls.sni.as_deref().unwrap_or(host);
        let connected = endpoint.connect(client, address, name);
        let (carrier, queue) = connected.map_err(|why| Http3NotOpened::new(Failure::Tls, why))?;
        Ok(Http3Connection { carrier, queue })
    }

    /// Returns the counts of its connections since the last call.
    pub fn take_counts(&self) -> Flow {
        let mut all = Flow::default();
        self.sockets.borrow().values().for_each(|socket| socket.take_counts(&mut all));
        all
    }

    /// Returns the settings of all clients. They are built at the first call.
    fn clients(
        &self,
        tls: &TlsClients,
        settings: &TlsSettings,
    ) -> Result<&[WatchedClient], String> {
        if let Some(clients) = self.clients.get() {
            return Ok(clients);
        }
        // The QUIC library panics without TLS 1.3.
        if !tls::offers_tls13(settings) {
            return Err("HTTP/3 needs TLS 1.3 and one of its cipher suites".to_owned());
        }
        let numbers = 0..tls.count() as u64;
        let clients = numbers
            .map(|client| watched_client(tls, client, settings.early_data))
            .collect::<Result<_, _>>()?;
        Ok(self.clients.get_or_init(|| clients))
    }
}

fn watched_client(
    tls: &TlsClients,
    client: u64,
    early_data: bool,
) -> Result<WatchedClient, String> {
    let mut tls_config = (**tls.config(client)).clone();
    tls_config.enable_early_data = early_data;
    // The first packets have this suite, whatever is offered (RFC 9001 section 5).
    let initial = TLS13_AES_128_GCM_SHA256.tls13().and_then(Tls13CipherSuite::quic_suite);
    let initial = initial.ok_or("the TLS library has no suite for the first packets of QUIC")?;
    let crypto = QuicClientConfig::with_initial(Arc::new(tls_config), initial)
        .map_err(|error| error.to_string())?;
    let mut transport = TransportConfig::default();
    let window = VarInt::from_u64(STREAM_WINDOW).unwrap_or(VarInt::MAX);
    transport
        // A server opens no bidirectional streams (RFC 9114 section 6.1).
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(UNI_STREAMS))
        .stream_receive_window(window)
        .receive_window(VarInt::MAX)
        .send_window(SEND_WINDOW)
        .datagram_receive_buffer_size(None)
        .max_idle_timeout(None);
    let crypto = Arc::new(WatchedConfig::new(crypto));
    transport.congestion_controller_factory(Arc::<WatchedConfig>::clone(&crypto));
    let mut config = ClientConfig::new(Arc::<WatchedConfig>::clone(&crypto));
    config.transport_config(Arc::new(transport));
    Ok(WatchedClient { config, crypto })
}

/// A connection. Dropping it closes the connection.
pub struct Http3Connection {
    carrier: Rc<Carrier>,
    queue: Rc<DriverQueue>,
}

impl Drop for Http3Connection {
    fn drop(&mut self) {
        self.carrier.is_closing.set(true);
        self.queue.wake(&self.carrier);
    }
}

impl Http3Connection {
    /// Waits until the handshake is complete. Returns when the first packet was received. None: the
    /// handshake continues, but requests may be sent (0-RTT).
    pub async fn ready(&self) -> Result<Option<Tick>, Http3NotOpened> {
        std::future::poll_fn(|cx| {
            let mut session = self.carrier.session.borrow_mut();
            if let Some(end) = &session.end {
                let refusal = match &session.verdict {
                    Some(Err(error)) => Some(HandshakeFailure::from_tls(error)),
                    _ => None,
                };
                let why = refusal.as_ref().map_or_else(|| end.why.clone(), ToString::to_string);
                return Poll::Ready(Err(Http3NotOpened { failure: end.failure, why, refusal }));
            }
            if session.is_connected {
                return Poll::Ready(Ok(Some(session.first_packet)));
            }
            // With early data, requests may be sent before the handshake is complete.
            if session.quic.has_0rtt() {
                return Poll::Ready(Ok(None));
            }
            session.idle.add(cx.waker());
            Poll::Pending
        })
        .await
    }

    /// Returns the result of the handshake, as far as the QUIC library reports it.
    pub fn handshake(&self) -> Handshake {
        let session = self.carrier.session.borrow();
        let data = session.quic.crypto_session().handshake_data();
        let alpn = data
            .and_then(|data| data.downcast::<HandshakeData>().ok())
            .and_then(|data| data.protocol);
        Handshake {
            version: Some("TLSv1.3".to_owned()),
            cipher: None,
            group: None,
            alpn: alpn.map(|alpn| String::from_utf8_lossy(&alpn).into_owned()),
            certificates: session.certificates(),
            resumed: session.verdict.is_none(),
            retried: false,
        }
    }

    /// Returns the address of the peer.
    pub fn peer(&self) -> SocketAddr {
        self.carrier.session.borrow().quic.remote_address()
    }

    /// Maximum number of requests in flight.
    pub fn most_streams(&self) -> u32 {
        self.carrier.session.borrow().most_streams
    }

    /// Returns the server's transport parameters.
    pub fn settings(&self) -> Option<TransportSettings> {
        self.carrier.session.borrow().settings()
    }

    /// True if it accepts another request.
    pub fn accepts(&self) -> bool {
        self.carrier.session.borrow().accepts()
    }

    /// Resolves when it accepts no more requests.
    pub fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        let mut session = self.carrier.session.borrow_mut();
        if !session.accepts() {
            return Poll::Ready(IdleEnd::Closed);
        }
        session.idle.add(cx.waker());
        Poll::Pending
    }

    /// Starts an exchange, which sends a request and waits for the whole reply.
    pub(crate) fn exchange<'c, 'r, 's>(
        &'c self,
        request: &'r Prepared,
        collector: Option<Box<ReplyCollector>>,
        stamps: &'s mut Stamps,
    ) -> Http3Exchange<'c, 'r, 's> {
        let state =
            if request.migrates() { State::ToMigrate } else { State::Waiting(request, collector) };
        Http3Exchange { connection: self, stamps, state }
    }
}

/// One request and its reply. Dropping it before its end resets the stream.
pub struct Http3Exchange<'c, 'r, 's> {
    connection: &'c Http3Connection,
    stamps: &'s mut Stamps,
    state: State<'r>,
}

enum State<'r> {
    Waiting(&'r Prepared, Option<Box<ReplyCollector>>),
    InFlight(u32),
    /// A migration that was not started.
    ToMigrate,
    Migrating,
    Done,
}

impl Future for Http3Exchange<'_, '_, '_> {
    type Output = Result<Reply, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Http3Connection { carrier, queue } = this.connection;
        let session = &mut *carrier.session.borrow_mut();
        let id = match &mut this.state {
            State::Waiting(prepared, collector) => {
                let id = session
                    .begin(prepared, collector, cx.waker())
                    .inspect_err(|_| this.state = State::Done)?;
                let Some(id) = id else { return Poll::Pending };
                this.state = State::InFlight(id);
                queue.wake(carrier);
                id
            }
            State::InFlight(id) => *id,
            State::ToMigrate | State::Migrating => {
                let result = ready!(migrate(&mut this.state, session, carrier, queue, cx.waker()));
                this.state = State::Done;
                return Poll::Ready(migration_reply(result, this.stamps));
            }
            State::Done => return Poll::Pending,
        };
        let Some(request) = session.request(id) else { return Poll::Ready(Err(Failure::System)) };
        let stream = &mut request.stream;
        if stream.end.is_none() {
            if !stream.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                stream.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        this.state = State::Done;
        let Some(request) = session.take_request(id) else {
            return Poll::Ready(Err(Failure::System));
        };
        *this.stamps = request.stream.stamps;
        Poll::Ready(request.stream.into_reply())
    }
}

/// Starts a migration if none was started, and waits for its end.
fn migrate(
    state: &mut State<'_>,
    session: &mut Http3Session,
    carrier: &Carrier,
    queue: &DriverQueue,
    waker: &Waker,
) -> Poll<MigrationResult> {
    if matches!(state, State::ToMigrate) {
        ready!(session.begin_migration(waker))?;
        *state = State::Migrating;
        queue.wake(carrier);
    }
    session.poll_migration(waker)
}

/// Builds the reply to a migration request: it has no body, and the status of
/// a switch of protocols.
fn migration_reply(result: MigrationResult, stamps: &mut Stamps) -> Result<Reply, Failure> {
    let (sent, received) = result.map_err(|(failure, cause)| {
        stamps.malformed = cause;
        failure
    })?;
    stamps.sent = sent;
    stamps.first_byte = received;
    stamps.last_byte = received;
    Ok(Reply { status: SWITCHING, keep_alive: true, ..Reply::default() })
}

impl Drop for Http3Exchange<'_, '_, '_> {
    fn drop(&mut self) {
        let Http3Connection { carrier, queue } = self.connection;
        if let State::Migrating = self.state {
            carrier.session.borrow_mut().end_migration();
        }
        if let State::InFlight(id) = self.state
            && let Some(request) = carrier.session.borrow_mut().cancel(id)
        {
            *self.stamps = request.stream.stamps;
            queue.wake(carrier);
        }
    }
}
