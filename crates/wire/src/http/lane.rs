//! The connections of each version of HTTP, and the right to an exchange on one.

use crate::h1::exchange::PipelineState;
use crate::quic::TransportSettings;
use crate::sources::Open;
use crate::stream::{Idle, Stream};
use crate::tls::Handshake;
use crate::websocket::WebSocket;
use crate::{h2, h3};
use brunt_model::Failure;
use pin_project_lite::pin_project;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The right to one exchange at a time on an open connection.
pub enum Lane {
    /// The whole of a connection of HTTP/1.
    H1(H1Connection),
    /// A stream of a connection of HTTP/2, and the `WebSocket`s that this lane has opened.
    H2(H2Lane),
    /// A stream of a connection of HTTP/3.
    H3(Rc<H3Connection>),
    /// A WebSocket.
    WebSocket(Box<WebSocket>),
}

/// An open connection of HTTP/1.
pub struct H1Connection {
    pub(super) stream: Stream,
    pub(super) used: bool,
    /// What was sent ahead, and came back of it.
    pub(super) ahead: PipelineState,
    /// Counts it among those that are open.
    #[allow(dead_code)] // for its drop
    pub(super) open: Open,
}

/// The right to a stream of HTTP/2 at a time, and the `WebSocket`s that were opened with it.
pub struct H2Lane {
    pub(super) websockets: Vec<OpenWebSocket>,
    pub(super) connection: Rc<H2Connection>,
}

/// A WebSocket over a stream of HTTP/2.
pub(super) struct OpenWebSocket {
    /// Path and query that it was opened with.
    pub path: Box<str>,
    pub websocket: Box<WebSocket>,
}

/// An open connection of HTTP/2.
pub struct H2Connection {
    /// `WebSocket`s of lanes that were given up while the connection is kept: those that ask next go on with them.
    pub(super) left: RefCell<Vec<OpenWebSocket>>,
    pub(super) connection: h2::Connection,
    pub(super) handshake: Option<Handshake>,
    pub(super) peer: Option<SocketAddr>,
    /// Counts it among those that are open.
    #[allow(dead_code)] // for its drop
    pub(super) open: Open,
}

/// An open connection of HTTP/3.
pub struct H3Connection {
    pub(super) connection: h3::Connection,
    pub(super) handshake: Handshake,
    pub(super) peer: SocketAddr,
    /// Counts it among those that are open.
    #[allow(dead_code)] // for its drop
    pub(super) open: Open,
}

impl H2Lane {
    /// The first lane of a connection.
    pub(super) fn new(connection: H2Connection) -> Self {
        Self { websockets: Vec::new(), connection: Rc::new(connection) }
    }

    /// Takes out an open WebSocket to this path.
    pub(super) fn take_websocket(&mut self, path: &str) -> Option<OpenWebSocket> {
        let take = |from: &mut Vec<OpenWebSocket>| {
            let at = from.iter().rposition(|open| *open.path == *path)?;
            Some(from.swap_remove(at))
        };
        take(&mut self.websockets).or_else(|| take(&mut self.connection.left.borrow_mut()))
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        // Another one is opened for the next message, on the same connection.
        self.websockets.retain_mut(|open| open.websocket.poll_idle(cx).is_pending());
        self.connection.connection.poll_closed(cx)
    }
}

impl Drop for H2Lane {
    fn drop(&mut self) {
        if !self.websockets.is_empty() {
            self.connection.left.borrow_mut().append(&mut self.websockets);
        }
    }
}

pin_project! {
    /// An exchange in any version.
    #[project = ProjectedExchange]
    pub(super) enum Exchange<A, B, C, D, E> {
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

impl Lane {
    /// What the TLS handshake agreed on, where there was one.
    pub fn handshake(&self) -> Option<Handshake> {
        match self {
            Self::H1(h1) => h1.stream.handshake(),
            Self::H2(h2) => h2.connection.handshake.clone(),
            Self::H3(h3) => Some(h3.handshake.clone()),
            Self::WebSocket(websocket) => websocket.handshake(),
        }
    }

    /// Requests were sent ahead on it whose exchange is still to come.
    pub fn owes_replies(&self) -> bool {
        matches!(self, Self::H1(h1) if h1.ahead.is_owed())
    }

    /// What the server of a connection of HTTP/2 allows, once it has told.
    ///
    /// # Errors
    ///
    /// The connection was lost before, or is none of HTTP/2.
    pub async fn peer_settings(&self) -> Result<h2::PeerSettings, Failure> {
        let Self::H2(h2) = self else { return Err(Failure::Protocol) };
        let connection = &h2.connection.connection;
        connection.known().await.map_err(|(failure, _)| failure)?;
        Ok(connection.peer())
    }

    /// The transport settings of the server of a connection of HTTP/3.
    pub fn quic_settings(&self) -> Option<TransportSettings> {
        match self {
            Self::H3(h3) => h3.connection.settings(),
            _ => None,
        }
    }

    /// Requests that may be under way at once on its connection.
    pub fn most_exchanges(&self) -> u32 {
        match self {
            Self::H1(_) | Self::WebSocket(_) => 1,
            Self::H2(h2) => h2.connection.connection.most_streams(),
            Self::H3(h3) => h3.connection.most_streams(),
        }
    }

    /// Whether its connection takes another request.
    pub fn accepts(&self) -> bool {
        match self {
            Self::H1(_) | Self::WebSocket(_) => true,
            Self::H2(h2) => h2.connection.connection.accepts(),
            Self::H3(h3) => h3.connection.accepts(),
        }
    }

    /// Another lane on its connection; None where it can have only one.
    pub fn share(&self) -> Option<Self> {
        match self {
            Self::H1(_) | Self::WebSocket(_) => None,
            Self::H2(h2) => Some(Self::H2(H2Lane { websockets: Vec::new(), connection: Rc::clone(&h2.connection) })),
            Self::H3(h3) => Some(Self::H3(Rc::clone(h3))),
        }
    }

    /// Resolves when its connection, which is idle, can no longer be used.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        match self {
            Self::H1(h1) => h1.stream.poll_idle(cx),
            Self::H2(h2) => h2.poll_closed(cx),
            Self::H3(h3) => h3.connection.poll_closed(cx),
            Self::WebSocket(websocket) => websocket.poll_idle(cx),
        }
    }

    /// The address at the other end (the proxy's, where there is one); None for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::H1(h1) => h1.stream.peer(),
            Self::H2(h2) => h2.connection.peer,
            Self::H3(h3) => Some(h3.peer),
            Self::WebSocket(websocket) => websocket.peer(),
        }
    }
}
