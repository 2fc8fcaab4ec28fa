//! Registers HTTP/2: a lane is the right to one stream at a time, with the
//! `WebSocket`s that it opened.

use super::Http;
use super::protocols::ProtocolLane;
use super::websocket::OpenWebSocket;
use crate::collect::ReplyCollector;
use crate::contract::{Reply, Stamps, Timer, WantedDetails};
use crate::h2;
use crate::origin::Origin;
use crate::request::{Prepared, fields::TimedPieces};
use crate::sources::OpenConnection;
use crate::stream::{ByteStream, IdleEnd};
use crate::tls::Handshake;
use crate::websocket::SkippedMessages;
use brunt_model::Failure;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

pub use crate::h2::PeerSettings;
pub(super) use crate::h2::ReadBuffer;

/// The right to one HTTP/2 stream at a time, and the `WebSocket`s that were opened with it.
pub struct H2Lane {
    pub(super) websockets: Vec<OpenWebSocket>,
    /// The reply to a refused handshake, which is the outcome of the next request.
    pub(super) refused: Option<Box<Reply>>,
    /// Messages that the last exchange skipped, if they are wanted.
    pub(super) skipped: SkippedMessages,
    connection: Rc<H2Connection>,
}

/// An open connection of HTTP/2, shared by its lanes.
struct H2Connection {
    /// `WebSocket`s of dropped lanes, for later requests to the same paths.
    orphaned: RefCell<Vec<OpenWebSocket>>,
    connection: h2::Http2Connection,
    handshake: Option<Handshake>,
    peer: Option<SocketAddr>,
    #[allow(dead_code)] // counts the connection as open until it is dropped
    open: OpenConnection,
}

impl H2Lane {
    pub(super) fn connection(&self) -> &h2::Http2Connection {
        &self.connection.connection
    }

    /// Waits for the server's settings.
    ///
    /// # Errors
    ///
    /// If the connection was lost before they arrived.
    pub(super) async fn peer_settings(&self) -> Result<PeerSettings, Failure> {
        self.connection().ready().await.map_err(|(failure, _)| failure)?;
        Ok(self.connection().peer())
    }

    /// Takes an open WebSocket to this path out of the lane or its connection.
    pub(super) fn take_websocket(&mut self, path: &str) -> Option<OpenWebSocket> {
        take_websocket(&mut self.websockets, path)
            .or_else(|| take_websocket(&mut self.connection.orphaned.borrow_mut(), path))
    }
}

fn take_websocket(websockets: &mut Vec<OpenWebSocket>, path: &str) -> Option<OpenWebSocket> {
    let index = websockets.iter().rposition(|open| *open.path == *path)?;
    Some(websockets.swap_remove(index))
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
        Some(Self {
            websockets: Vec::new(),
            refused: None,
            skipped: SkippedMessages::default(),
            connection: Rc::clone(&self.connection),
        })
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        // The next message opens another WebSocket on the same connection.
        self.websockets.retain_mut(|open| open.websocket.poll_idle(cx).is_pending());
        self.connection().poll_closed(cx)
    }
}

impl Drop for H2Lane {
    fn drop(&mut self) {
        if !self.websockets.is_empty() {
            self.connection.orphaned.borrow_mut().append(&mut self.websockets);
        }
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Starts HTTP/2 on a connection that was just opened.
    pub(super) async fn begin_h2(
        &self,
        mut stream: ByteStream,
        origin: &Origin,
    ) -> Result<H2Lane, Failure> {
        let handshake = stream.handshake();
        if let Some(handshake) =
            handshake.as_ref().filter(|handshake| handshake.alpn.as_deref() != Some("h2"))
        {
            let other = handshake.alpn.as_deref().unwrap_or("none");
            let why = format!(
                "the server does not offer HTTP/2 (its choice by ALPN: {other}); write --http 1.1"
            );
            return Err(self.note_failure(Failure::Tls, &why));
        }
        let mut early = None;
        if self.common.settings.h2c_upgrade && handshake.is_none() {
            early = Some(self.upgrade_to_h2(&mut stream, origin).await?);
        }
        let peer = stream.peer();
        let buffer = Rc::clone(self.h2_buffer.get_or_init(h2::read_buffer));
        let counts = Rc::clone(&self.counts);
        let connection = h2::Http2Connection::begin(
            stream,
            self.time().clone(),
            buffer,
            counts,
            early.as_deref(),
        );
        if handshake.is_none() {
            connection.ready().await.map_err(|(failure, why)| self.note_cause(failure, &why))?;
        }
        let open = self.common.sources.count_connection();
        let connection = Rc::new(H2Connection {
            orphaned: RefCell::default(),
            connection,
            handshake,
            peer,
            open,
        });
        Ok(H2Lane {
            websockets: Vec::new(),
            refused: None,
            skipped: SkippedMessages::default(),
            connection,
        })
    }

    /// Asks the server by `Upgrade: h2c` to switch to HTTP/2. Returns the HTTP/2 bytes
    /// that were already received.
    async fn upgrade_to_h2(
        &self,
        stream: &mut ByteStream,
        origin: &Origin,
    ) -> Result<Vec<u8>, Failure> {
        let request = h2::upgrade_request(origin);
        let switched = self.switch(stream, request.as_bytes(), WantedDetails::default()).await;
        h2::upgraded(switched).map_err(|(failure, why)| self.note_failure(failure, &why))
    }

    /// Exchanges a request for a reply, and sends its body in pieces at an interval.
    pub(super) fn exchange_pieces(
        &self,
        lane: &H2Lane,
        request: &Prepared,
        pieces: TimedPieces,
        collector: Option<Box<ReplyCollector>>,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let exchange = lane.connection().exchange(request, collector, stamps);
        h2::send_pieces(exchange, pieces, self.time().clone())
    }
}
