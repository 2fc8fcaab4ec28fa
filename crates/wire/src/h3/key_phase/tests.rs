//! Tests key updates with a server of `quinn-proto`, whose packets travel through memory.

use crate::h3::watch::{WatchedConfig, watched_session};
use crate::tls::TlsClients;
use brunt_model::plan::{HttpVersion, TlsSettings};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{
    ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ClientConfig, Connection, ConnectionId, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ServerConfig, Side, TransportError, VarInt,
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A server configuration that updates no keys early, and counts those of its connection.
struct CountedConfig {
    inner: Arc<QuicServerConfig>,
    keys: Arc<AtomicU64>,
}

impl quinn_proto::crypto::ServerConfig for CountedConfig {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, id, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        let inner = Arc::clone(&self.inner).start_session(version, parameters);
        let counted = CountedSession { inner, keys: Arc::clone(&self.keys) };
        watched_session(Box::new(counted), Arc::default())
    }
}

struct CountedSession {
    inner: Box<dyn Session>,
    keys: Arc<AtomicU64>,
}

impl Session for CountedSession {
    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(id, side)
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
        self.inner.write_handshake(buf)
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.keys.fetch_add(1, Relaxed);
        self.inner.next_1rtt_keys()
    }
    fn is_valid_retry(&self, id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(id, header, payload)
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

/// A client and a server that exchange packets in turn.
struct Pair {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    ours: Connection,
    theirs: Option<Connection>,
    /// Number of keys of the server's connection.
    keys: Arc<AtomicU64>,
}

const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 1);
const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 2);

fn pair() -> Pair {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let keys = Arc::<AtomicU64>::default();
    let inner = Arc::new(QuicServerConfig::try_from(tls).unwrap());
    let crypto = Arc::new(CountedConfig { inner, keys: Arc::clone(&keys) });
    let config = Arc::new(ServerConfig::with_crypto(crypto));
    let server = Endpoint::new(Arc::new(EndpointConfig::default()), Some(config), false, None);
    let settings = TlsSettings { insecure: true, ..TlsSettings::default() };
    let clients = TlsClients::new(&settings, HttpVersion::V3).unwrap();
    let crypto = QuicClientConfig::try_from((**clients.config(0)).clone()).unwrap();
    let mut client = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
    let config = ClientConfig::new(Arc::new(WatchedConfig::new(crypto)));
    #[expect(clippy::disallowed_methods, reason = "the first instant of a simulated clock")]
    let now = Instant::now();
    let (_, ours) = client.connect(now, config, SocketAddr::from(SERVER), "localhost").unwrap();
    Pair { now, client, server, ours, theirs: None, keys }
}

impl Pair {
    /// Exchanges packets until neither endpoint has one. Returns their number.
    fn exchange(&mut self) -> u32 {
        let mut count = 0;
        loop {
            self.now += Duration::from_millis(1);
            self.ours.handle_timeout(self.now);
            while let Some(event) = self.ours.poll() {
                if let Event::Connected = event {
                    self.ours.force_key_update();
                }
            }
            let sent = packets(&mut self.ours, self.now);
            for packet in &sent {
                self.receive_at_server(packet);
            }
            let Some(theirs) = &mut self.theirs else { return count };
            theirs.handle_timeout(self.now);
            while let Some(event) = theirs.poll() {
                if let Event::Connected = event {
                    theirs.force_key_update();
                }
            }
            let answered = packets(theirs, self.now);
            for packet in &answered {
                let mut out = Vec::new();
                let from = SocketAddr::from(SERVER);
                let bytes = BytesMut::from(&packet[..]);
                if let Some(DatagramEvent::ConnectionEvent(_, event)) =
                    self.client.handle(self.now, from, None, None, bytes, &mut out)
                {
                    self.ours.handle_event(event);
                }
            }
            count += (sent.len() + answered.len()) as u32;
            if sent.is_empty() && answered.is_empty() {
                return count;
            }
        }
    }

    fn receive_at_server(&mut self, packet: &[u8]) {
        let mut out = Vec::new();
        let from = SocketAddr::from(CLIENT);
        match self.server.handle(self.now, from, None, None, BytesMut::from(packet), &mut out) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.server.accept(incoming, self.now, &mut out, None);
                self.theirs = accepted.ok().map(|(_, connection)| connection);
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.theirs.as_mut().unwrap().handle_event(event);
            }
            _ => {}
        }
    }

    /// Sends a message on a stream of its own, and returns true if it arrives unchanged.
    fn delivers(&mut self, message: &[u8]) -> bool {
        let id = self.ours.streams().open(Dir::Uni).expect("a stream");
        self.ours.send_stream(id).write(message).expect("room");
        self.ours.send_stream(id).finish().expect("an open stream");
        self.exchange();
        let theirs = self.theirs.as_mut().expect("a connection");
        let id = theirs.streams().accept(Dir::Uni).expect("a stream");
        let mut stream = theirs.recv_stream(id);
        let mut chunks = stream.read(true).expect("readable");
        let received = chunks.next(usize::MAX).expect("no reset").map(|chunk| chunk.bytes);
        // The end of the stream permits another one.
        let is_whole = chunks.next(usize::MAX).is_ok_and(|chunk| chunk.is_none());
        let _ = chunks.finalize();
        is_whole && received == Some(Bytes::copy_from_slice(message))
    }
}

/// Returns the packets that a connection sends at `now`.
fn packets(connection: &mut Connection, now: Instant) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut out = Vec::new();
    while connection.poll_transmit(now, 1, &mut out).is_some() {
        all.push(std::mem::take(&mut out));
    }
    // Events of the endpoint, such as further connection IDs, are not needed here.
    while connection.poll_endpoint_events().is_some() {}
    all
}

#[test]
fn keys_are_not_updated_before_the_limit_of_the_cipher() {
    let mut pair = pair();
    pair.exchange();
    let theirs = pair.theirs.as_mut().unwrap();
    assert!(!theirs.is_handshaking());
    theirs.set_max_concurrent_streams(Dir::Uni, VarInt::from_u32(10));
    pair.exchange();
    // The keys of the next update are generated in advance.
    assert_eq!(pair.keys.load(Relaxed), 1);
    for number in 0..1500_u32 {
        assert!(pair.delivers(&number.to_be_bytes()), "message {number}");
    }
    assert!(pair.ours.stats().path.sent_packets > 1500);
    assert_eq!(pair.keys.load(Relaxed), 1, "no key update");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn updates_of_the_server_are_followed(gaps in proptest::collection::vec(1_usize..40, 1..6)) {
        let mut pair = pair();
        pair.exchange();
        pair.theirs.as_mut().unwrap().set_max_concurrent_streams(Dir::Uni, VarInt::from_u32(10));
        pair.exchange();
        for gap in gaps {
            for number in 0..gap {
                prop_assert!(pair.delivers(&[number as u8; 9]));
            }
            // Old keys are discarded after three probe timeouts.
            pair.now += Duration::from_secs(5);
            pair.theirs.as_mut().unwrap().force_key_update();
        }
        prop_assert!(pair.delivers(b"the end"));
    }
}
