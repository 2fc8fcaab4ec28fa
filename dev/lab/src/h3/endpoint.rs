//! Manages the socket of HTTP/3 and its connections: receives and sends packets.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::congestion::NewRenoConfig;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, ServerConfig, Transmit,
    TransportConfig, VarInt,
};

use super::carrier::Carrier;
use super::hostile::{DatagramExchange, Offer};
use super::perform::HostileState;
use crate::args::LabOptions;
use crate::hostile::{Hostile, HostileReply, HostileRow};
use crate::ledger::Ledger;
use crate::socket;
use crate::tls::TlsKeys;

/// Maximum number of streams of a connection.
const MAX_STREAMS: u32 = 1000;

/// Congestion window in bytes: the lab's replies must not wait for congestion control.
const WINDOW: u64 = 1 << 30;

/// Maximum number of reply bytes that QUIC accepts before it sends them.
const SEND_WINDOW: u64 = 8 << 20;

/// The HTTP/3 side of the server: one UDP socket for all connections.
pub(crate) struct Http3 {
    pub(crate) socket: OwnedFd,
    pub(super) endpoint: Endpoint,
    pub(super) carriers: HashMap<ConnectionHandle, Carrier>,
    /// True if clients must prove their address by a token.
    retry: bool,
    /// Row that `--hostile` selected, if it is for HTTP/3.
    row: Option<&'static HostileRow>,
    /// Source of the keys of handmade packets.
    crypto: Arc<QuicServerConfig>,
    /// Number of received datagrams.
    datagrams: u32,
    generations: u32,
    out: Vec<u8>,
}

impl std::fmt::Debug for Http3 {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Http3").field("connections", &self.carriers.len()).finish_non_exhaustive()
    }
}

impl Http3 {
    /// Listens on the address on which TLS listens.
    ///
    /// # Errors
    ///
    /// If the address is not available, or TLS does not fit QUIC.
    pub(crate) fn bind(
        options: &LabOptions,
        address: SocketAddr,
        tls: &TlsKeys,
        stamped: bool,
    ) -> io::Result<Self> {
        let row = options.hostile.and_then(Hostile::row);
        let mut tls_config = tls.for_quic(options)?;
        let mut congestion = NewRenoConfig::default();
        congestion.initial_window(WINDOW);
        let mut transport = TransportConfig::default();
        transport
            .max_concurrent_bidi_streams(VarInt::from_u32(MAX_STREAMS))
            .stream_receive_window(VarInt::from_u32(1 << 30))
            .send_window(SEND_WINDOW)
            .congestion_controller_factory(Arc::new(congestion));
        if let Some(idle) = options.idle_timeout {
            let most = Duration::from_nanos(idle).try_into().map_err(io::Error::other)?;
            transport.max_idle_timeout(Some(most));
        }
        if let Some(HostileReply::Setup(make)) = row.map(|row| row.writer) {
            make(&mut Offer { transport: &mut transport, alpn: &mut tls_config.alpn_protocols });
        }
        let crypto = Arc::new(QuicServerConfig::try_from(tls_config).map_err(io::Error::other)?);
        let mut config = ServerConfig::with_crypto(Arc::clone(&crypto) as Arc<_>);
        config.transport_config(Arc::new(transport));
        let endpoint =
            Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), false, None);
        Ok(Self {
            socket: socket::bind_udp(address, stamped)?,
            endpoint,
            carriers: HashMap::new(),
            retry: options.http3.retry,
            row,
            crypto,
            datagrams: 0,
            generations: 0,
            out: Vec::new(),
        })
    }

    /// Receives a packet, and returns its connection.
    pub(super) fn receive(
        &mut self,
        packet: &[u8],
        from: SocketAddr,
        now: Instant,
        ledger: &mut Ledger,
    ) -> Option<ConnectionHandle> {
        // A hostile row may replace QUIC's response.
        if !self.answer_by_hand(packet, from, ledger) {
            return None;
        }
        let mut answer = Vec::new();
        match self.endpoint.handle(now, from, None, None, BytesMut::from(packet), &mut answer)? {
            DatagramEvent::NewConnection(incoming)
                if self.retry && !incoming.remote_address_validated() =>
            {
                let transmit = self.endpoint.retry(incoming, &mut answer).ok()?;
                ledger.http3.retries += 1;
                self.send(&transmit, &answer, ledger);
                None
            }
            DatagramEvent::NewConnection(incoming) => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok((handle, quic)) => {
                        self.generations = self.generations.wrapping_add(1) | super::IS_QUIC;
                        self.carriers.insert(
                            handle,
                            Carrier::new(quic, self.generations, HostileState::new(self.row)),
                        );
                        ledger.record_connection();
                        ledger.http3.connections += 1;
                        Some(handle)
                    }
                    Err(error) => {
                        let transmit = error.response?;
                        self.send(&transmit, &answer, ledger);
                        None
                    }
                }
            }
            DatagramEvent::ConnectionEvent(handle, event) => {
                self.carriers.get_mut(&handle)?.quic.handle_event(event);
                Some(handle)
            }
            DatagramEvent::Response(transmit) => {
                self.send(&transmit, &answer, ledger);
                None
            }
        }
    }

    /// Sends the handmade packets of a hostile row. Returns true if QUIC also
    /// handles the received packet.
    fn answer_by_hand(&mut self, received: &[u8], from: SocketAddr, ledger: &mut Ledger) -> bool {
        let Some(HostileReply::Packets(write)) = self.row.map(|row| row.writer) else {
            return true;
        };
        let crypto = &*self.crypto;
        let mut exchange = DatagramExchange {
            received,
            round: self.datagrams,
            out: Vec::new(),
            passes_on: false,
            crypto,
        };
        write(&mut exchange);
        self.datagrams = self.datagrams.wrapping_add(1);
        for datagram in &exchange.out {
            // A datagram that cannot be sent counts as lost.
            if let Ok(count) = socket::send_to(&self.socket, datagram, from) {
                ledger.bytes_sent += count as u64;
            }
        }
        exchange.passes_on
    }

    /// Exchanges events between a connection and its endpoint, and sends its packets.
    pub(super) fn transmit(&mut self, handle: ConnectionHandle, now: Instant, ledger: &mut Ledger) {
        let Some(mut carrier) = self.carriers.remove(&handle) else { return };
        carrier.pump();
        carrier.pump_row();
        self.transmit_all(&mut carrier, now, ledger);
        if let Some(code) = carrier.hostile.closing.take() {
            carrier.quic.close(now, VarInt::from_u32(code), Vec::new().into());
            self.transmit_all(&mut carrier, now, ledger);
        }
        while let Some(event) = carrier.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                carrier.quic.handle_event(event);
            }
        }
        if carrier.quic.is_closed() && !carrier.is_closed {
            carrier.is_closed = true;
            ledger.closed += 1;
        }
        if !carrier.quic.is_drained() {
            self.carriers.insert(handle, carrier);
        }
    }

    fn transmit_all(&mut self, carrier: &mut Carrier, now: Instant, ledger: &mut Ledger) {
        let mut out = std::mem::take(&mut self.out);
        loop {
            out.clear();
            let Some(transmit) = carrier.quic.poll_transmit(now, 1, &mut out) else { break };
            self.send(&transmit, &out, ledger);
        }
        self.out = out;
    }

    fn send(&self, transmit: &Transmit, out: &[u8], ledger: &mut Ledger) {
        // A packet that cannot be sent counts as lost.
        if let Ok(count) =
            socket::send_to(&self.socket, &out[..transmit.size], transmit.destination)
        {
            ledger.bytes_sent += count as u64;
        }
    }
}
