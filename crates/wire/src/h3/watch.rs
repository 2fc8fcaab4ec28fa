//! Observes a QUIC connection: the numbers of received packets, acknowledgments, and
//! a Retry packet.
//!
//! `quinn-proto` reports none of them. Each packet after the handshake is decrypted with a key of
//! the server, also after key updates. This module wraps that key, the session that creates it, and
//! the congestion controller, which learns of acknowledgments.

use super::key_phase::{KeyPhase, PhasedKeys};
use super::packet_numbers::PacketNumbers;
use brunt_model::sync::IgnorePoison;
use bytes::BytesMut;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, RttEstimator, Side, TransportError};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The observations of a connection.
#[derive(Debug, Default)]
pub struct ConnectionObservations {
    /// The packets after the handshake (1-RTT).
    pub packets: PacketNumbers,
    has_retried: AtomicBool,
    /// Number of received acknowledgments of packets that were not acknowledged before.
    acknowledgments: AtomicU64,
    /// Unacknowledged bytes after the last of them.
    bytes_in_flight: AtomicU64,
}

impl ConnectionObservations {
    /// True if a valid Retry packet was received.
    pub fn has_retried(&self) -> bool {
        self.has_retried.load(Relaxed)
    }

    /// Number of received acknowledgments that were news.
    pub fn acknowledgments(&self) -> u64 {
        self.acknowledgments.load(Relaxed)
    }

    /// True if the last acknowledgment left packets unacknowledged.
    pub fn has_bytes_in_flight(&self) -> bool {
        self.bytes_in_flight.load(Relaxed) > 0
    }
}

/// A client configuration that observes its connections.
pub struct WatchedConfig {
    inner: Arc<QuicClientConfig>,
    /// The observations of the connection that was started last.
    newest: Mutex<Option<Arc<ConnectionObservations>>>,
}

impl WatchedConfig {
    /// Wraps `inner`.
    pub fn new(inner: QuicClientConfig) -> Self {
        Self { inner: Arc::new(inner), newest: Mutex::new(None) }
    }

    /// Takes the observations of the connection that was started last. Later calls return None.
    pub fn take_newest(&self) -> Option<Arc<ConnectionObservations>> {
        self.newest.lock().ignore_poison().take()
    }
}

impl ControllerFactory for WatchedConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::new(CubicConfig::default()).build(now, current_mtu);
        // The QUIC library starts the session of a connection before it builds the controller.
        let newest = self.newest.lock().ignore_poison().clone();
        Box::new(WatchedController { inner, watch: newest.unwrap_or_default() })
    }
}

/// A congestion controller that records acknowledgments.
struct WatchedController {
    inner: Box<dyn Controller>,
    watch: Arc<ConnectionObservations>,
}

impl Controller for WatchedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.watch.acknowledgments.fetch_add(1, Relaxed);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.watch.bytes_in_flight.store(in_flight, Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), watch: Arc::clone(&self.watch) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ClientConfig for WatchedConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let inner = Arc::clone(&self.inner).start_session(version, server_name, params)?;
        let watch = Arc::<ConnectionObservations>::default();
        // The QUIC library returns no handle to the session, so the caller takes it from here.
        *self.newest.lock().ignore_poison() = Some(Arc::clone(&watch));
        Ok(watched_session(inner, watch))
    }
}

/// Returns a session that observes its connection, and does not update keys early.
pub fn watched_session(
    inner: Box<dyn Session>,
    watch: Arc<ConnectionObservations>,
) -> Box<dyn Session> {
    Box::new(WatchedSession { inner, watch, phase: Arc::default(), stage: KeyStage::Initial })
}

struct WatchedSession {
    inner: Box<dyn Session>,
    watch: Arc<ConnectionObservations>,
    phase: Arc<KeyPhase>,
    stage: KeyStage,
}

/// The keys that the session returned last.
enum KeyStage {
    Initial,
    Handshake,
    /// The first keys of packets after the handshake, which are also the next ones.
    First(PhasedKeys),
    /// Those keys were returned a second time.
    Repeated,
    /// Keys of an update.
    Updated,
}

impl WatchedSession {
    fn watched_keys(&self, keys: KeyPair<Box<dyn PacketKey>>) -> PhasedKeys {
        let KeyPair { local, remote } = keys;
        let remote = Box::new(WatchedKey { inner: remote, watch: Arc::clone(&self.watch) });
        self.phase.packet_keys(KeyPair { local, remote })
    }
}

impl Session for WatchedSession {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.inner.write_handshake(buf)?;
        if matches!(self.stage, KeyStage::Initial) {
            self.stage = KeyStage::Handshake;
            return Some(keys);
        }
        let Keys { header: KeyPair { local, remote }, packet } = keys;
        let header = KeyPair { local, remote: self.phase.header_key(remote) };
        let first = self.watched_keys(packet);
        let packet = first.boxed();
        self.stage = KeyStage::First(first);
        Some(Keys { header, packet })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        if let KeyStage::First(first) = &self.stage {
            let keys = first.boxed();
            self.stage = KeyStage::Repeated;
            return Some(keys);
        }
        if let KeyStage::Repeated = self.stage {
            // The QUIC library now goes on to the repeated keys.
            self.phase.invert();
            self.stage = KeyStage::Updated;
        }
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.watched_keys(keys).boxed())
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let is_valid = self.inner.is_valid_retry(orig_dst_cid, header, payload);
        if is_valid {
            self.watch.has_retried.store(true, Relaxed);
        }
        is_valid
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

/// The key that decrypts packets of the server. It records their numbers.
struct WatchedKey {
    inner: Box<dyn PacketKey>,
    watch: Arc<ConnectionObservations>,
}

impl PacketKey for WatchedKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.inner.decrypt(packet, header, payload)?;
        // Only packets that decrypt are genuine.
        self.watch.packets.record(packet);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}
