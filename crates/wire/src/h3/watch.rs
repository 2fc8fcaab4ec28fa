//! Observes the cryptography of a QUIC connection: the numbers of received packets,
//! and a Retry packet.
//!
//! `quinn-proto` reports neither. Each packet after the handshake is decrypted with a key of the
//! server, also after key updates. This module wraps that key, and the session that creates it.

use super::packet_numbers::PacketNumbers;
use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The observations of a connection.
#[derive(Debug, Default)]
pub struct ConnectionObservations {
    /// The packets after the handshake (1-RTT).
    pub packets: PacketNumbers,
    has_retried: AtomicBool,
}

impl ConnectionObservations {
    /// True if a valid Retry packet was received.
    pub fn has_retried(&self) -> bool {
        self.has_retried.load(Relaxed)
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
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&watch));
        Ok(Box::new(WatchedSession { inner, watch, has_handshake_keys: false }))
    }
}

struct WatchedSession {
    inner: Box<dyn Session>,
    watch: Arc<ConnectionObservations>,
    /// True if the next keys are those of packets after the handshake.
    has_handshake_keys: bool,
}

impl WatchedSession {
    fn watched_key(&self, inner: Box<dyn PacketKey>) -> Box<dyn PacketKey> {
        Box::new(WatchedKey { inner, watch: Arc::clone(&self.watch) })
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
        if !std::mem::replace(&mut self.has_handshake_keys, true) {
            return Some(keys);
        }
        let Keys { header, packet: KeyPair { local, remote } } = keys;
        Some(Keys { header, packet: KeyPair { local, remote: self.watched_key(remote) } })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let KeyPair { local, remote } = self.inner.next_1rtt_keys()?;
        Some(KeyPair { local, remote: self.watched_key(remote) })
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
