//! The register of protocols. A protocol is a folder of the crate, a file in this folder that
//! registers it, and a variant of [`Lane`].
//!
//! Only the files that register protocols import them; `tools/modules.mjs` checks it.

use super::Http;
use super::h1::H1Lane;
use super::h2::{H2Lane, PeerSettings};
use super::h3::H3Lane;
use super::websocket::{H2Opening, MessageRoute, WebSocketLane, message_exchange};
use super::{h1, h3, websocket};
use crate::collect::ReplyCollector;
use crate::contract::{Reply, Stamps, Timer, WantedDetails};
use crate::events::EventMeter;
use crate::origin::OriginAddresses;
use crate::quic::TransportSettings;
use crate::request::{BadRequest, Prepared, RequestParts, Tags, is_websocket};
use crate::stream::IdleEnd;
use crate::tls::Handshake;
use brunt_model::Failure;
use brunt_model::plan::HttpVersion;
use brunt_model::sample::ConnectTimes;
use pin_project_lite::pin_project;
use regex::bytes::Regex;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The right to one exchange at a time on an open connection.
pub enum Lane {
    /// A whole HTTP/1 connection.
    H1(H1Lane),
    /// A stream of an HTTP/2 connection, and the `WebSocket`s that this lane has opened.
    H2(H2Lane),
    /// A stream of an HTTP/3 connection.
    H3(H3Lane),
    /// A connection with an open WebSocket.
    WebSocket(WebSocketLane),
}

/// The lane of one protocol. The default methods fit a connection with one lane.
pub(super) trait ProtocolLane: Sized {
    /// See [`Lane::handshake`].
    fn handshake(&self) -> Option<Handshake>;

    /// See [`Lane::peer`].
    fn peer(&self) -> Option<SocketAddr>;

    /// See [`Lane::poll_closed`].
    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd>;

    /// See [`Lane::most_exchanges`].
    fn most_exchanges(&self) -> u32 {
        1
    }

    /// See [`Lane::accepts`].
    fn accepts(&self) -> bool {
        true
    }

    /// See [`Lane::share`].
    fn share(&self) -> Option<Self> {
        None
    }
}

/// Evaluates an expression with the lane of any protocol.
macro_rules! with_lane {
    ($self:expr, $lane:ident => $value:expr) => {
        match $self {
            Self::H1($lane) => $value,
            Self::H2($lane) => $value,
            Self::H3($lane) => $value,
            Self::WebSocket($lane) => $value,
        }
    };
}

impl Lane {
    /// Returns the parameters that the TLS handshake negotiated, if TLS is used.
    pub fn handshake(&self) -> Option<Handshake> {
        with_lane!(self, lane => lane.handshake())
    }

    /// Returns the address of the peer (of the proxy, if there is one). None for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        with_lane!(self, lane => lane.peer())
    }

    /// Maximum number of requests in flight on its connection.
    pub fn most_exchanges(&self) -> u32 {
        with_lane!(self, lane => lane.most_exchanges())
    }

    /// True if its connection accepts another request.
    pub fn accepts(&self) -> bool {
        with_lane!(self, lane => lane.accepts())
    }

    /// Resolves when its connection, which is idle, can no longer be used.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        with_lane!(self, lane => lane.poll_closed(cx))
    }

    /// Returns another lane on its connection. None if the connection can have only one.
    pub fn share(&self) -> Option<Self> {
        match self {
            Self::H1(lane) => lane.share().map(Self::H1),
            Self::H2(lane) => lane.share().map(Self::H2),
            Self::H3(lane) => lane.share().map(Self::H3),
            Self::WebSocket(lane) => lane.share().map(Self::WebSocket),
        }
    }

    /// True if requests were sent ahead on it that have no exchange yet.
    pub fn owes_replies(&self) -> bool {
        matches!(self, Self::H1(h1) if h1.owes_replies())
    }

    /// Waits for the settings of an HTTP/2 server.
    ///
    /// # Errors
    ///
    /// If the connection was lost before, or is not an HTTP/2 connection.
    pub async fn peer_settings(&self) -> Result<PeerSettings, Failure> {
        match self {
            Self::H2(h2) => h2.peer_settings().await,
            Self::H1(_) | Self::H3(_) | Self::WebSocket(_) => Err(Failure::Protocol),
        }
    }

    /// Returns the transport settings of an HTTP/3 server.
    pub fn quic_settings(&self) -> Option<TransportSettings> {
        match self {
            Self::H3(h3) => h3.settings(),
            Self::H1(_) | Self::H2(_) | Self::WebSocket(_) => None,
        }
    }
}

pin_project! {
    /// An exchange of any protocol.
    #[project = ProjectedExchange]
    enum Exchange<A, B, C, D, E> {
        H1 { #[pin] exchange: A },
        H2 { #[pin] exchange: B },
        H3 { #[pin] exchange: C },
        WebSocket { #[pin] exchange: D },
        Pieces { #[pin] exchange: E },
    }
}

impl<A, B, C, D, E> Future for Exchange<A, B, C, D, E>
where
    A: Future,
    B: Future<Output = A::Output>,
    C: Future<Output = A::Output>,
    D: Future<Output = A::Output>,
    E: Future<Output = A::Output>,
{
    type Output = A::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        match self.project() {
            ProjectedExchange::H1 { exchange } => exchange.poll(cx),
            ProjectedExchange::H2 { exchange } => exchange.poll(cx),
            ProjectedExchange::H3 { exchange } => exchange.poll(cx),
            ProjectedExchange::WebSocket { exchange } => exchange.poll(cx),
            ProjectedExchange::Pieces { exchange } => exchange.poll(cx),
        }
    }
}

/// The requested parts of the reply to a request.
pub(super) struct ReplyWants<'p> {
    pub wants: WantedDetails,
    /// The pattern to search the body for.
    pub pattern: Option<&'p Regex>,
    /// The meter of its events.
    pub events: Option<Box<EventMeter>>,
}

impl ReplyWants<'_> {
    #[inline]
    fn collector(self) -> Option<Box<ReplyCollector>> {
        ReplyCollector::new(self.wants, self.pattern, self.events)
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Encodes a request for the protocol that carries it.
    pub(super) fn prepare_in_protocol(
        &self,
        parts: Rc<RequestParts>,
        tags: Tags,
    ) -> Result<Prepared, BadRequest> {
        let version = self.common.settings.http;
        let is_websocket = is_websocket(&parts.url);
        let mut origin = parts.origin();
        if self.common.settings.http.has_streams() {
            // The stream of a WebSocket shares a connection with requests to the same server.
            origin.websocket = None;
        }
        let id = self.intern(&origin);
        if is_websocket && version == HttpVersion::V3 {
            return Err(BadRequest::NoWebSocket(parts.url.to_string()));
        }
        if is_websocket {
            let number = self.messages.get();
            self.messages.set(number.wrapping_add(1));
            return websocket::prepare(parts, id, tags, number);
        }
        match version {
            HttpVersion::V1_0 | HttpVersion::V1_1 => {
                h1::prepare(parts, &origin, id, tags, self.common.style)
            }
            HttpVersion::V2 => Prepared::with_fields(parts, id, tags, HttpVersion::V2),
            HttpVersion::V3 => h3::prepare(parts, id, tags),
        }
    }

    /// Opens a connection that can carry `request`.
    pub(super) async fn open_lane(
        &self,
        route: &OriginAddresses,
        request: &Prepared,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<Lane, Failure> {
        let version = self.common.settings.http;
        if version == HttpVersion::V3 {
            return self.open_h3(route, client, steps).await.map(Lane::H3);
        }
        let stream = self.connect(route, client, steps).await?;
        if version == HttpVersion::V2 {
            let mut lane = self.begin_h2(stream, &route.origin).await?;
            if request.h2.is_none() {
                match self.open_over_h2(&lane, request).await? {
                    H2Opening::Open(open) => lane.websockets.push(open),
                    H2Opening::Refused(reply) => lane.refused = Some(Box::new(reply)),
                }
            }
            return Ok(Lane::H2(lane));
        }
        if let (Some(parts), true) = (request.parts(), route.origin.websocket.is_some()) {
            return self.begin_websocket(stream, parts).await.map(Lane::WebSocket);
        }
        Ok(Lane::H1(H1Lane::new(stream, self.common.sources.count_connection())))
    }

    /// Exchanges a request for a reply.
    #[inline]
    pub(super) fn exchange_on(
        &self,
        lane: &mut Lane,
        request: &Prepared,
        wants: ReplyWants<'_>,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let has_fields = request.h2.is_some();
        let route = match (lane, has_fields) {
            (Lane::H1(h1), _) => {
                return Exchange::H1 {
                    exchange: self.exchange_h1(h1, request, wants.collector(), stamps),
                };
            }
            (Lane::H2(h2), true) => {
                let collector = wants.collector();
                return match request.timed_pieces() {
                    None => Exchange::H2 {
                        exchange: h2.connection().exchange(request, collector, stamps),
                    },
                    // Boxed: inline, the room for its timer would enlarge every exchange.
                    Some(pieces) => {
                        let exchange = self.exchange_pieces(h2, request, pieces, collector, stamps);
                        Exchange::Pieces { exchange: Box::pin(exchange) }
                    }
                };
            }
            (Lane::H3(h3), _) => {
                return Exchange::H3 {
                    exchange: h3.connection().exchange(request, wants.collector(), stamps),
                };
            }
            (Lane::H2(h2), false) => MessageRoute::H2(h2),
            (Lane::WebSocket(websocket), _) => MessageRoute::Connection(websocket),
        };
        let exchange = message_exchange(request, wants.wants, wants.pattern, wants.events);
        // Boxed: inline, it would enlarge every exchange.
        Exchange::WebSocket {
            exchange: Box::pin(self.exchange_message(route, request, exchange, stamps)),
        }
    }
}
