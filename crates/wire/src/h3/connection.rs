//! What `http` sees of HTTP/3: endpoints, connections, exchanges.

use super::driver::{Carrier, Hub, UdpEndpoint};
use super::migration::Migrated;
use super::session::Session;
use super::watch::WatchedConfig;
use crate::collect::ReplyCollector;
use crate::quic::TransportSettings;
use crate::request::Prepared;
use crate::stream::Idle;
use crate::tls::{Handshake, Refusal, TlsClients};
use crate::{Reply, Stamps, Timer};
use brunt_model::plan::Connection as Settings;
use brunt_model::{Failure, Flow, Tick};
use quinn_proto::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn_proto::{ClientConfig, TransportConfig, VarInt};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// Whether this program has HTTP/3.
pub const IS_BUILT: bool = true;

/// Bytes of a reply's body that the server may send on a stream before we allow more.
const STREAM_WINDOW: u64 = 1 << 40;
/// Bytes that wait to be acknowledged, above which no more of a request's body is taken.
const SEND_WINDOW: u64 = 16 << 20;
/// The status of a reply to a migration: that of a switch of protocols.
const SWITCHED: u16 = 101;
/// Streams of one direction that the server may open: it needs three.
const UNI_STREAMS: u32 = 16;

/// Whether it is of IPv6, and the local address that was named.
type SocketKey = (bool, Option<IpAddr>);

/// The sockets of one worker: one for each family of addresses, and each local address that was named.
pub struct Endpoints<T: Timer + 'static> {
    time: T,
    sockets: RefCell<HashMap<SocketKey, UdpEndpoint<T>>>,
    /// One for each certificate of ours.
    configs: OnceCell<Vec<Agreed>>,
}

/// What connections agree on, and who watches them.
pub struct Agreed {
    pub config: ClientConfig,
    pub crypto: Arc<WatchedConfig>,
}

/// Why no connection was opened.
pub struct NotOpened {
    /// The failure.
    pub failure: Failure,
    /// Why, in words.
    pub why: String,
    /// Why the handshake failed, where the certificate is the cause.
    pub refusal: Option<Refusal>,
}

impl<T: Timer + 'static> Endpoints<T> {
    /// None yet.
    pub fn new(time: T) -> Self {
        Self { time, sockets: RefCell::default(), configs: OnceCell::new() }
    }

    /// Begins a connection for the client of this number; it is of use once it is [known](Connection::known).
    ///
    /// # Errors
    ///
    /// No socket can be had, or TLS cannot be set up.
    pub fn connect(
        &self,
        settings: &Settings,
        (tls, client): (&TlsClients, u64),
        (host, to, source): (&str, SocketAddr, Option<IpAddr>),
    ) -> Result<Connection, NotOpened> {
        let not = |failure, why: String| NotOpened { failure, why, refusal: None };
        let configs = self.configs(tls, settings.tls.early_data).map_err(|why| not(Failure::Tls, why))?;
        let mut sockets = self.sockets.borrow_mut();
        let endpoint = match sockets.entry((to.is_ipv6(), source)) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(room) => {
                let base = self.time.base().ok_or_else(|| not(Failure::System, "no instants".to_owned()))?;
                let buffer = settings.receive_buffer.or(settings.socket_buffer).map(|bytes| bytes as usize);
                let socket = UdpEndpoint::new(self.time.clone(), base, (to, source), buffer);
                room.insert(socket.map_err(|error| not(crate::error::of_connect(&error), error.to_string()))?)
            }
        };
        let agreed = &configs[(client % configs.len() as u64) as usize];
        let name = settings.tls.sni.as_deref().unwrap_or(host);
        let (carrier, hub) = endpoint.connect(agreed, to, name).map_err(|why| not(Failure::Tls, why))?;
        Ok(Connection { carrier, hub })
    }

    /// Counts of its connections since the last call.
    pub fn take_counts(&self) -> Flow {
        let mut all = Flow::default();
        self.sockets.borrow().values().for_each(|socket| socket.take_counts(&mut all));
        all
    }

    /// What clients agree on, made when first needed.
    fn configs(&self, tls: &TlsClients, early: bool) -> Result<&[Agreed], String> {
        if let Some(configs) = self.configs.get() {
            return Ok(configs);
        }
        let made = (0..tls.count() as u64).map(|client| config(tls, client, early)).collect::<Result<_, _>>()?;
        Ok(self.configs.get_or_init(|| made))
    }
}

fn config(tls: &TlsClients, client: u64, early_data: bool) -> Result<Agreed, String> {
    let mut agreed = (**tls.of(client)).clone();
    agreed.enable_early_data = early_data;
    let crypto = QuicClientConfig::try_from(agreed).map_err(|error| error.to_string())?;
    let mut transport = TransportConfig::default();
    let window = VarInt::from_u64(STREAM_WINDOW).unwrap_or(VarInt::MAX);
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(UNI_STREAMS))
        .stream_receive_window(window)
        .receive_window(VarInt::MAX)
        .send_window(SEND_WINDOW)
        .datagram_receive_buffer_size(None)
        .max_idle_timeout(None);
    let crypto = Arc::new(WatchedConfig::new(crypto));
    let mut config = ClientConfig::new(Arc::<WatchedConfig>::clone(&crypto));
    config.transport_config(Arc::new(transport));
    Ok(Agreed { config, crypto })
}

/// A connection. It closes when it is dropped.
pub struct Connection {
    carrier: Rc<Carrier>,
    hub: Rc<Hub>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.carrier.is_closing.set(true);
        self.hub.wake(&self.carrier);
    }
}

impl Connection {
    /// Waits until the handshake is done; when the first packet came. None: it goes on, but requests may be sent (0-RTT).
    ///
    /// # Errors
    ///
    /// It failed.
    pub async fn known(&self) -> Result<Option<Tick>, NotOpened> {
        std::future::poll_fn(|cx| {
            let mut session = self.carrier.session.borrow_mut();
            if let Some(end) = &session.end {
                let refusal = match &session.verdict {
                    Some(Err(error)) => Some(Refusal::of_tls(error)),
                    _ => None,
                };
                let why = refusal.as_ref().map_or_else(|| end.why.clone(), ToString::to_string);
                return Poll::Ready(Err(NotOpened { failure: end.failure, why, refusal }));
            }
            if session.is_connected {
                return Poll::Ready(Ok(Some(session.first_packet)));
            }
            if session.quic.has_0rtt() {
                return Poll::Ready(Ok(None));
            }
            session.idle.add(cx.waker());
            Poll::Pending
        })
        .await
    }

    /// What the handshake agreed on, as far as QUIC tells.
    pub fn handshake(&self) -> Handshake {
        let session = self.carrier.session.borrow();
        let data = session.quic.crypto_session().handshake_data();
        let alpn = data.and_then(|data| data.downcast::<HandshakeData>().ok()).and_then(|data| data.protocol);
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

    /// The address at the other end.
    pub fn peer(&self) -> SocketAddr {
        self.carrier.session.borrow().quic.remote_address()
    }

    /// Requests that may be under way at once.
    pub fn most_streams(&self) -> u32 {
        self.carrier.session.borrow().most_streams
    }

    /// What the server's transport parameters say.
    pub fn settings(&self) -> Option<TransportSettings> {
        self.carrier.session.borrow().settings()
    }

    /// Whether it takes another request.
    pub fn accepts(&self) -> bool {
        self.carrier.session.borrow().accepts()
    }

    /// Resolves when it takes no more requests.
    pub fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<Idle> {
        let mut session = self.carrier.session.borrow_mut();
        if !session.accepts() {
            return Poll::Ready(Idle::Closed);
        }
        session.idle.add(cx.waker());
        Poll::Pending
    }

    /// Sends a request and waits for the whole reply.
    pub(crate) fn exchange<'c, 'r, 's>(
        &'c self,
        request: &'r Prepared,
        keep: Option<Box<ReplyCollector>>,
        stamps: &'s mut Stamps,
    ) -> Exchange<'c, 'r, 's> {
        let state = if request.migrates() { State::ToMigrate } else { State::Waiting(request, keep) };
        Exchange { connection: self, stamps, state }
    }
}

/// One request and its reply. To drop it before its end resets the stream.
pub struct Exchange<'c, 'r, 's> {
    connection: &'c Connection,
    stamps: &'s mut Stamps,
    state: State<'r>,
}

enum State<'r> {
    Waiting(&'r Prepared, Option<Box<ReplyCollector>>),
    UnderWay(u32),
    /// A migration that is not begun.
    ToMigrate,
    Migrating,
    Over,
}

impl Future for Exchange<'_, '_, '_> {
    type Output = Result<Reply, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Connection { carrier, hub } = this.connection;
        let session = &mut *carrier.session.borrow_mut();
        let id = match &mut this.state {
            State::Waiting(prepared, keep) => {
                let begun = session.begin(prepared, keep, cx.waker()).inspect_err(|_| this.state = State::Over)?;
                let Some(id) = begun else { return Poll::Pending };
                this.state = State::UnderWay(id);
                hub.wake(carrier);
                id
            }
            State::UnderWay(id) => *id,
            State::ToMigrate | State::Migrating => {
                let result = ready!(migrate(&mut this.state, session, (carrier, hub), cx.waker()));
                this.state = State::Over;
                return Poll::Ready(migrated(result, this.stamps));
            }
            State::Over => return Poll::Pending,
        };
        let Some(request) = session.request(id) else { return Poll::Ready(Err(Failure::System)) };
        let stream = &mut request.stream;
        if stream.end.is_none() {
            if !stream.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                stream.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        this.state = State::Over;
        let Some(request) = session.take(id) else { return Poll::Ready(Err(Failure::System)) };
        *this.stamps = request.stream.stamps;
        Poll::Ready(request.stream.into_reply())
    }
}

/// Begins a migration where none is begun, and waits for its end.
fn migrate(
    state: &mut State<'_>,
    session: &mut Session,
    (carrier, hub): (&Carrier, &Hub),
    waker: &Waker,
) -> Poll<Migrated> {
    if matches!(state, State::ToMigrate) {
        ready!(session.begin_migration(waker))?;
        *state = State::Migrating;
        hub.wake(carrier);
    }
    session.poll_migration(waker)
}

/// The reply to a request for a migration: it has no body, and the status of a switch.
fn migrated(result: Migrated, stamps: &mut Stamps) -> Result<Reply, Failure> {
    let (sent, came) = result.map_err(|(failure, cause)| {
        stamps.malformed = cause;
        failure
    })?;
    (stamps.sent, stamps.first_byte, stamps.last_byte) = (sent, came, came);
    Ok(Reply { status: SWITCHED, keep_alive: true, ..Reply::default() })
}

impl Drop for Exchange<'_, '_, '_> {
    fn drop(&mut self) {
        let Connection { carrier, hub } = self.connection;
        if let State::Migrating = self.state {
            carrier.session.borrow_mut().end_migration();
        }
        if let State::UnderWay(id) = self.state
            && let Some(request) = carrier.session.borrow_mut().cancel(id)
        {
            *self.stamps = request.stream.stamps;
            hub.wake(carrier);
        }
    }
}
