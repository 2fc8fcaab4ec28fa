//! Registers HTTP/3: a lane is the right to one stream at a time of a QUIC connection.

use super::Http;
use super::protocols::ProtocolLane;
use crate::contract::Timer;
use crate::h3;
use crate::origin::OriginAddresses;
use crate::quic::TransportSettings;
use crate::sources::OpenConnection;
use crate::stream::IdleEnd;
use crate::tls::Handshake;
use brunt_model::Failure;
use brunt_model::sample::ConnectTimes;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

pub(super) use crate::h3::{Http3Endpoints, IS_BUILT, prepare};

/// The right to one HTTP/3 stream at a time.
pub struct H3Lane(Rc<H3Connection>);

/// An open connection of HTTP/3, shared by its lanes.
struct H3Connection {
    connection: h3::Http3Connection,
    handshake: Handshake,
    peer: SocketAddr,
    #[allow(dead_code)] // counts the connection as open until it is dropped
    open: OpenConnection,
}

impl H3Lane {
    pub(super) fn connection(&self) -> &h3::Http3Connection {
        &self.0.connection
    }

    /// Returns the transport settings of the server.
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

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        self.connection().poll_closed(cx)
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Opens a connection of HTTP/3. `connect` lasts until the server's first packet, `tls` from
    /// there to the end of the handshake.
    pub(super) async fn open_h3(
        &self,
        route: &OriginAddresses,
        client: u64,
        steps: &mut ConnectTimes,
    ) -> Result<H3Lane, Failure> {
        let began = self.time().now();
        let address = self.address(route, began, steps).await?;
        let resolved = self.time().now();
        let clients = self.common.tls().map_err(|e| self.note_failure(Failure::Tls, &e))?;
        let index = self.next_source.replace(self.next_source.get().wrapping_add(1));
        let source = self.common.sources.configured_address(index);
        let endpoints = self.endpoints.get_or_init(|| Http3Endpoints::new(self.time().clone()));
        let destination = h3::Http3Destination { host: &route.origin.host, address, source };
        let connection = endpoints.connect(&self.common.settings, clients, client, &destination);
        let connection = connection.map_err(|error| self.note_refusal(error))?;
        let first_packet = connection.ready().await.map_err(|error| self.note_refusal(error))?;
        if let Some(first_packet) = first_packet {
            steps.connect = Some(first_packet.nanos_since(resolved));
            steps.tls = Some(self.time().now().nanos_since(first_packet));
        }
        let handshake = connection.handshake();
        let peer = connection.peer();
        let open = self.common.sources.count_connection();
        Ok(H3Lane(Rc::new(H3Connection { connection, handshake, peer, open })))
    }

    /// Notes why no connection of HTTP/3 was opened, and returns the failure.
    fn note_refusal(&self, error: h3::Http3NotOpened) -> Failure {
        *self.refusal.borrow_mut() = error.refusal;
        self.note_failure(error.failure, &error.why)
    }

    /// Returns the QUIC versions that a server offers. Sends one packet and waits for its answer
    /// without a time limit.
    ///
    /// # Errors
    ///
    /// If nothing listens at the address, or if this program has no HTTP/3.
    pub async fn quic_versions(&self, to: SocketAddr) -> std::io::Result<Vec<u32>> {
        h3::offered_versions(to, self.next_source(to)).await
    }
}
