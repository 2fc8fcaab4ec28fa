//! The row of HTTP/2: a lane is the right to a stream at a time, with the `WebSocket`s that were opened by it.

use super::Http;
use super::protocols::ProtocolLane;
use super::websocket::OpenWebSocket;
use crate::collect::ReplyCollector;
use crate::contract::{Reply, Stamps, Timer, Wants};
use crate::h2;
use crate::origin::Origin;
use crate::request::{Prepared, fields::TimedPieces};
use crate::sources::Open;
use crate::stream::{Idle, Stream};
use crate::tls::Handshake;
use brunt_model::Failure;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

pub use crate::h2::PeerSettings;
pub(super) use crate::h2::ReadBuffer;

/// The right to a stream of HTTP/2 at a time, and the `WebSocket`s that were opened with it.
pub struct H2Lane {
    pub(super) websockets: Vec<OpenWebSocket>,
    connection: Rc<H2Connection>,
}

/// An open connection of HTTP/2.
struct H2Connection {
    /// `WebSocket`s of dropped lanes while the connection is kept, for the next requests to their paths.
    left: RefCell<Vec<OpenWebSocket>>,
    connection: h2::Connection,
    handshake: Option<Handshake>,
    peer: Option<SocketAddr>,
    /// Counts it among those that are open.
    #[allow(dead_code)] // for its drop
    open: Open,
}

impl H2Lane {
    /// The connection.
    pub(super) fn connection(&self) -> &h2::Connection {
        &self.connection.connection
    }

    /// Waits for the server's settings.
    ///
    /// # Errors
    ///
    /// The connection was lost before.
    pub(super) async fn peer_settings(&self) -> Result<PeerSettings, Failure> {
        self.connection().known().await.map_err(|(failure, _)| failure)?;
        Ok(self.connection().peer())
    }

    /// Takes out an open WebSocket to this path.
    pub(super) fn take_websocket(&mut self, path: &str) -> Option<OpenWebSocket> {
        take_websocket(&mut self.websockets, path)
            .or_else(|| take_websocket(&mut self.connection.left.borrow_mut(), path))
    }
}

fn take_websocket(from: &mut Vec<OpenWebSocket>, path: &str) -> Option<OpenWebSocket> {
    let at = from.iter().rposition(|open| *open.path == *path)?;
    Some(from.swap_remove(at))
}

impl ProtocolLane for H2Lane {
    fn handshake(&self) -> Option<Handshake> {
        self.connection.handshake.clone()
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.connection.peer
    }

    fn most_exchanges(&self) -> u32 {
        self.connection().most_streams()
    }

    fn accepts(&self) -> bool {
        self.connection().accepts()
    }

    fn share(&self) -> Option<Self> {
        Some(Self { websockets: Vec::new(), connection: Rc::clone(&self.connection) })
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        // The next message opens another one on the same connection.
        self.websockets.retain_mut(|open| open.websocket.poll_idle(cx).is_pending());
        self.connection().poll_closed(cx)
    }
}

impl Drop for H2Lane {
    fn drop(&mut self) {
        if !self.websockets.is_empty() {
            self.connection.left.borrow_mut().append(&mut self.websockets);
        }
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Speaks HTTP/2 on a connection that was just opened.
    pub(super) async fn begin_h2(&self, mut stream: Stream, origin: &Origin) -> Result<H2Lane, Failure> {
        let handshake = stream.handshake();
        if let Some(handshake) = handshake.as_ref().filter(|handshake| handshake.alpn.as_deref() != Some("h2")) {
            let other = handshake.alpn.as_deref().unwrap_or("none");
            let why = format!("the server does not offer HTTP/2 (its choice by ALPN: {other}); write --http 1.1");
            return Err(self.fails(Failure::Tls, &why));
        }
        let mut early = None;
        if self.common.settings.h2c_upgrade && handshake.is_none() {
            early = Some(self.upgrade_to_h2(&mut stream, origin).await?);
        }
        let peer = stream.peer();
        let buffer = Rc::clone(self.h2_buffer.get_or_init(h2::read_buffer));
        let counts = Rc::clone(&self.counts);
        let connection = h2::Connection::begin(stream, self.time().clone(), buffer, counts, early.as_deref());
        if handshake.is_none() {
            connection.known().await.map_err(|(failure, why)| self.fails(failure, &why))?;
        }
        let open = self.common.sources.count();
        let connection = Rc::new(H2Connection { left: RefCell::default(), connection, handshake, peer, open });
        Ok(H2Lane { websockets: Vec::new(), connection })
    }

    /// Asks the server by `Upgrade: h2c` to switch to HTTP/2. Returns the bytes of HTTP/2 that were received already.
    async fn upgrade_to_h2(&self, stream: &mut Stream, origin: &Origin) -> Result<Vec<u8>, Failure> {
        let request = h2::upgrade_request(origin);
        let switched = self.switch(stream, request.as_bytes(), Wants::default()).await;
        h2::upgraded(switched).map_err(|(failure, why)| self.fails(failure, &why))
    }

    /// Exchanges a request for a reply, and sends its body in pieces at an interval.
    pub(super) fn exchange_pieces(
        &self,
        lane: &H2Lane,
        request: &Prepared,
        pieces: TimedPieces,
        keep: Option<Box<ReplyCollector>>,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let exchange = lane.connection().exchange(request, keep, stamps);
        h2::send_pieces(exchange, pieces, self.time().clone())
    }
}
