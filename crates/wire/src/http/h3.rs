//! The row of HTTP/3: a lane is the right to a stream of a connection of QUIC at a time.

use super::Http;
use super::protocols::ProtocolLane;
use crate::contract::Timer;
use crate::h3;
use crate::origin::Route;
use crate::quic::TransportSettings;
use crate::sources::Open;
use crate::stream::Idle;
use crate::tls::Handshake;
use brunt_model::Failure;
use brunt_model::sample::Opening;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

pub(super) use crate::h3::{Endpoints, IS_BUILT, prepare};

/// The right to a stream of HTTP/3 at a time.
pub struct H3Lane(Rc<H3Connection>);

/// An open connection of HTTP/3.
struct H3Connection {
    connection: h3::Connection,
    handshake: Handshake,
    peer: SocketAddr,
    /// Counts it among those that are open.
    #[allow(dead_code)] // for its drop
    open: Open,
}

impl H3Lane {
    /// The connection.
    pub(super) fn connection(&self) -> &h3::Connection {
        &self.0.connection
    }

    /// The transport settings of the server.
    pub(super) fn settings(&self) -> Option<TransportSettings> {
        self.connection().settings()
    }
}

impl ProtocolLane for H3Lane {
    fn handshake(&self) -> Option<Handshake> {
        Some(self.0.handshake.clone())
    }

    fn peer(&self) -> Option<SocketAddr> {
        Some(self.0.peer)
    }

    fn most_exchanges(&self) -> u32 {
        self.connection().most_streams()
    }

    fn accepts(&self) -> bool {
        self.connection().accepts()
    }

    fn share(&self) -> Option<Self> {
        Some(Self(Rc::clone(&self.0)))
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<Idle> {
        self.connection().poll_closed(cx)
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Opens a connection of HTTP/3: `connect` lasts until the first packet of the server came, `tls` from there to the end of the
    /// handshake.
    pub(super) async fn open_h3(&self, route: &Route, client: u64, steps: &mut Opening) -> Result<H3Lane, Failure> {
        let began = self.time().now();
        let to = self.address(route, began, steps).await?;
        let resolved = self.time().now();
        let clients = self.common.tls().map_err(|e| self.fails(Failure::Tls, &e))?;
        let turn = self.source_turn.replace(self.source_turn.get().wrapping_add(1));
        let source = self.common.sources.named(turn);
        let endpoints = self.endpoints.get_or_init(|| Endpoints::new(self.time().clone()));
        let to = (&*route.origin.host, to, source);
        let connection = endpoints.connect(&self.common.settings, (clients, client), to);
        let connection = connection.map_err(|not| self.note_refusal(not))?;
        let first_packet = connection.known().await.map_err(|not| self.note_refusal(not))?;
        if let Some(first_packet) = first_packet {
            steps.connect = Some(first_packet.nanos_since(resolved));
            steps.tls = Some(self.time().now().nanos_since(first_packet));
        }
        let handshake = connection.handshake();
        let peer = connection.peer();
        let open = self.common.sources.count();
        Ok(H3Lane(Rc::new(H3Connection { connection, handshake, peer, open })))
    }

    /// Notes why no connection of HTTP/3 was opened.
    fn note_refusal(&self, not: h3::NotOpened) -> Failure {
        *self.refusal.borrow_mut() = not.refusal;
        self.fails(not.failure, &not.why)
    }

    /// The versions of QUIC that a server offers: one packet is sent, and its answer awaited without end.
    ///
    /// # Errors
    ///
    /// Nothing listens there, or this program has no HTTP/3.
    pub async fn quic_versions(&self, to: SocketAddr) -> std::io::Result<Vec<u32>> {
        h3::offered_versions(to, self.next_source(to)).await
    }
}
