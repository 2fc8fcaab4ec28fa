//! Runs an HTTP/3 server on a real socket with scripted replies, legal or not.
//!
//! QUIC is that of `quinn-proto`, with a separate loop. HTTP/3 is not interpreted: the server sends
//! the bytes that a row gives.

use super::certs::CertificateFiles;
use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamEvent, StreamId, VarInt,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Response of the server to a complete request, chosen by the number of earlier requests on the
/// connection.
#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    /// Sends these bytes on the stream of the request, and ends it.
    Reply(Vec<u8>),
    /// Sends these bytes on the control stream, and no reply.
    Control(Vec<u8>),
    /// Sends the first bytes on the control stream, and the second as the reply.
    ControlAndReply(Vec<u8>, Vec<u8>),
    /// Opens a unidirectional stream with these bytes.
    Uni(Vec<u8>),
    /// Resets the stream of the request with this code.
    Reset(u32),
    /// Closes the connection with this application error code.
    Close(u32),
    /// Ends the control stream.
    EndControl,
    Silence,
}

/// Special QUIC settings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuicRule {
    Default,
    /// Offers these versions.
    Versions(Vec<u32>),
    /// Forbids connection migration.
    NoMigration,
}

/// A listening server. It ends when this value is dropped.
pub struct QuicServer {
    pub port: u16,
    requests: Arc<AtomicU64>,
    clients: Arc<Mutex<Clients>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Connections and addresses of clients.
#[derive(Default)]
struct Clients {
    connections: usize,
    addresses: HashSet<SocketAddr>,
}

impl Drop for QuicServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl QuicServer {
    /// Starts a server with a certificate. `act` chooses the response to each request.
    pub fn start(
        certificate: &CertificateFiles,
        act: impl Fn(u64) -> ScriptedResponse + Send + 'static,
    ) -> Self {
        Self::start_with_rule(certificate, &QuicRule::Default, act)
    }

    /// Starts a server with special QUIC settings.
    pub fn start_with_rule(
        certificate: &CertificateFiles,
        rule: &QuicRule,
        act: impl Fn(u64) -> ScriptedResponse + Send + 'static,
    ) -> Self {
        Self::listen(certificate, "127.0.0.1:0", rule, act).expect("a port")
    }

    /// Starts a server at an address. Returns None if the address is in use.
    pub fn start_at(
        certificate: &CertificateFiles,
        address: &str,
        act: impl Fn(u64) -> ScriptedResponse + Send + 'static,
    ) -> Option<Self> {
        Self::listen(certificate, address, &QuicRule::Default, act)
    }

    fn listen(
        certificate: &CertificateFiles,
        address: &str,
        rule: &QuicRule,
        act: impl Fn(u64) -> ScriptedResponse + Send + 'static,
    ) -> Option<Self> {
        let chain = vec![CertificateDer::from_pem_file(&certificate.cert).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_file(&certificate.key).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider);
        let tls = tls
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3")
            .with_no_client_auth();
        let mut tls = tls.with_single_cert(chain, key).expect("a certificate and its key");
        tls.alpn_protocols = vec![b"h3".to_vec()];
        tls.max_early_data_size = u32::MAX;
        let crypto = QuicServerConfig::try_from(tls).expect("a suite for QUIC");
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.migration(*rule != QuicRule::NoMigration);
        let mut of_endpoint = EndpointConfig::default();
        if let QuicRule::Versions(versions) = rule {
            of_endpoint.supported_versions(versions.clone());
        }
        let socket = UdpSocket::bind(address).ok()?;
        socket.set_read_timeout(Some(Duration::from_millis(2))).expect("a timeout");
        let port = socket.local_addr().expect("an address").port();
        let requests = Arc::new(AtomicU64::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let endpoint = Endpoint::new(Arc::new(of_endpoint), Some(Arc::new(config)), true, None);
        let clients = Arc::<Mutex<Clients>>::default();
        let mut server = Server {
            socket,
            endpoint,
            peers: HashMap::new(),
            act: Box::new(act),
            requests: Arc::clone(&requests),
            clients: Arc::clone(&clients),
        };
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                server.turn();
            }
        });
        Some(Self { port, requests, clients, is_over, thread: Some(thread) })
    }

    /// Number of requests received.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Number of connections accepted.
    pub fn connections(&self) -> usize {
        self.clients.lock().expect("no panic").connections
    }

    /// Number of distinct addresses and ports of clients.
    pub fn addresses(&self) -> usize {
        self.clients.lock().expect("no panic").addresses.len()
    }
}

struct Peer {
    quic: Connection,
    control: Option<StreamId>,
    served: u64,
}

struct Server {
    socket: UdpSocket,
    endpoint: Endpoint,
    peers: HashMap<ConnectionHandle, Peer>,
    act: Box<dyn Fn(u64) -> ScriptedResponse + Send>,
    requests: Arc<AtomicU64>,
    clients: Arc<Mutex<Clients>>,
}

/// Current time, for the timers of QUIC.
#[allow(clippy::disallowed_methods, reason = "a server is independent of brunt's clock")]
fn now() -> Instant {
    Instant::now()
}

impl Server {
    fn turn(&mut self) {
        let mut packet = [0; 2048];
        if let Ok((bytes, from)) = self.socket.recv_from(&mut packet) {
            self.receive(&packet[..bytes], from);
        }
        let handles: Vec<ConnectionHandle> = self.peers.keys().copied().collect();
        for handle in handles {
            self.serve(handle);
        }
    }

    fn receive(&mut self, packet: &[u8], from: SocketAddr) {
        let now = now();
        let mut answer = Vec::new();
        self.clients.lock().expect("no panic").addresses.insert(from);
        match self.endpoint.handle(now, from, None, None, BytesMut::from(packet), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                if let Ok((handle, quic)) = self.endpoint.accept(incoming, now, &mut answer, None) {
                    self.clients.lock().expect("no panic").connections += 1;
                    self.peers.insert(handle, Peer { quic, control: None, served: 0 });
                }
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(peer) = self.peers.get_mut(&handle) {
                    peer.quic.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                let _ = self.socket.send_to(&answer[..transmit.size], transmit.destination);
            }
            None => {}
        }
    }

    fn serve(&mut self, handle: ConnectionHandle) {
        let Self { socket, endpoint, peers, act, requests, .. } = self;
        let Some(peer) = peers.get_mut(&handle) else { return };
        let now = now();
        if peer.quic.poll_timeout().is_some_and(|due| due <= now) {
            peer.quic.handle_timeout(now);
        }
        while let Some(event) = peer.quic.poll_endpoint_events() {
            if let Some(event) = endpoint.handle_event(handle, event) {
                peer.quic.handle_event(event);
            }
        }
        while let Some(event) = peer.quic.poll() {
            match event {
                Event::Connected => {
                    peer.control = peer.quic.streams().open(Dir::Uni);
                    peer.control(b"\0\x04\0");
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    while let Some(id) = peer.quic.streams().accept(Dir::Bi) {
                        peer.read(id, act, requests);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) if id.dir() == Dir::Bi => {
                    peer.read(id, act, requests);
                }
                _ => {}
            }
        }
        let mut out = Vec::new();
        while let Some(transmit) = peer.quic.poll_transmit(now, 1, &mut out) {
            let _ = socket.send_to(&out[..transmit.size], transmit.destination);
            out.clear();
        }
        if peer.quic.is_drained() {
            peers.remove(&handle);
        }
    }
}

impl Peer {
    fn control(&mut self, bytes: &[u8]) {
        if let Some(id) = self.control {
            let _ = self.quic.send_stream(id).write(bytes);
        }
    }

    fn reply(&mut self, id: StreamId, bytes: &[u8]) {
        let _ = self.quic.send_stream(id).write(bytes);
        let _ = self.quic.send_stream(id).finish();
    }

    /// Reads a request, and responds as soon as it is complete.
    fn read(&mut self, id: StreamId, act: &dyn Fn(u64) -> ScriptedResponse, requests: &AtomicU64) {
        let mut stream = self.quic.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let is_whole = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(_)) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        let _ = chunks.finalize();
        if !is_whole {
            return;
        }
        requests.fetch_add(1, Ordering::Relaxed);
        let act = act(self.served);
        self.served += 1;
        match act {
            ScriptedResponse::Reply(bytes) => self.reply(id, &bytes),
            ScriptedResponse::Control(bytes) => self.control(&bytes),
            ScriptedResponse::ControlAndReply(control, bytes) => {
                self.control(&control);
                self.reply(id, &bytes);
            }
            ScriptedResponse::Uni(bytes) => {
                if let Some(id) = self.quic.streams().open(Dir::Uni) {
                    let _ = self.quic.send_stream(id).write(&bytes);
                }
            }
            ScriptedResponse::Reset(code) => {
                drop(self.quic.send_stream(id).reset(VarInt::from_u32(code)));
            }
            ScriptedResponse::Close(code) => {
                self.quic.close(now(), VarInt::from_u32(code), b"".to_vec().into());
            }
            ScriptedResponse::EndControl => {
                if let Some(control) = self.control {
                    let _ = self.quic.send_stream(control).finish();
                }
            }
            ScriptedResponse::Silence => {}
        }
    }
}
