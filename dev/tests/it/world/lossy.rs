//! Runs a UDP proxy that drops datagrams at random and counts them per direction.
//!
//! The number of a datagram alone decides whether it is dropped. The first datagrams of each
//! direction pass, so that handshakes are not disturbed. Datagrams that the kernel drops because
//! the sockets of the proxy are full are counted, too.

use std::collections::HashMap;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Number of datagrams per direction that pass before any is dropped.
const GRACE: u64 = 40;

/// Counters of the datagrams of one direction.
#[derive(Default)]
struct Direction {
    received: AtomicU64,
    dropped: AtomicU64,
    /// Ports of the sockets that receive its datagrams.
    ports: Mutex<Vec<u16>>,
}

impl Direction {
    /// True if the next datagram is dropped: `per_mille` of 1000 are.
    fn drops(&self, per_mille: u64) -> bool {
        let number = self.received.fetch_add(1, Relaxed);
        let is_dropped = number >= GRACE && mixed(number) % 1000 < per_mille;
        self.dropped.fetch_add(u64::from(is_dropped), Relaxed);
        is_dropped
    }

    /// Adds a socket that receives datagrams.
    fn arrives_at(&self, socket: &UdpSocket) {
        let port = socket.local_addr().expect("an address").port();
        self.ports.lock().expect("no panic").push(port);
    }

    /// Numbers of datagrams received and dropped.
    fn counts(&self) -> (u64, u64) {
        let full: u64 =
            self.ports.lock().expect("no panic").iter().map(|port| overflowed(*port)).sum();
        (self.received.load(Relaxed) + full, self.dropped.load(Relaxed) + full)
    }
}

/// Number of datagrams that the kernel dropped because the socket of this port was full.
fn overflowed(port: u16) -> u64 {
    let table = fs::read_to_string("/proc/net/udp").expect("the kernel's table of UDP sockets");
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let shared_state = lines.filter(|fields| {
        fields.get(1).is_some_and(|local| local.ends_with(&format!(":{port:04X}")))
    });
    shared_state.filter_map(|fields| fields.last()?.parse::<u64>().ok()).sum()
}

/// Hashes a number (the finalizer of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[derive(Default)]
struct Shared {
    to_server: Direction,
    to_client: Direction,
    is_over: AtomicBool,
}

/// A proxy before a server. It ends when this value is dropped.
pub struct LossyProxy {
    pub port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for LossyProxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl LossyProxy {
    /// Starts a proxy for the server on this port of 127.0.0.1. It drops `per_mille` of 1000
    /// datagrams of each direction.
    pub fn start(server: u16, per_mille: u64) -> Self {
        let front = socket();
        let port = front.local_addr().expect("an address").port();
        let shared = Arc::<Shared>::default();
        shared.to_server.arrives_at(&front);
        let shared_state = Arc::clone(&shared);
        let thread = thread::spawn(move || carry(&front, server, per_mille, &shared_state));
        Self { port, shared, thread: Some(thread) }
    }

    /// Numbers of datagrams received and dropped: to the server, and to the client.
    pub fn counts(&self) -> [(u64, u64); 2] {
        let Shared { to_server, to_client, .. } = &*self.shared;
        [to_server, to_client].map(Direction::counts)
    }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    socket
}

/// Forwards datagrams of clients to the server. A thread per client forwards the replies.
fn carry(front: &UdpSocket, server: u16, per_mille: u64, shared: &Arc<Shared>) {
    let mut clients: HashMap<SocketAddr, UdpSocket> = HashMap::new();
    let mut threads = Vec::new();
    let mut datagram = vec![0; 64 * 1024];
    while !shared.is_over.load(Relaxed) {
        let Ok((bytes, client)) = front.recv_from(&mut datagram) else { continue };
        let back = clients.entry(client).or_insert_with(|| {
            let back = socket();
            back.connect(("127.0.0.1", server)).expect("a server");
            shared.to_client.arrives_at(&back);
            let pair = (back.try_clone().expect("a handle"), front.try_clone().expect("a handle"));
            let shared = Arc::clone(shared);
            threads.push(thread::spawn(move || carry_back(&pair, client, per_mille, &shared)));
            back
        });
        if !shared.to_server.drops(per_mille) {
            let _ = back.send(&datagram[..bytes]);
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn carry_back(
    (back, front): &(UdpSocket, UdpSocket),
    client: SocketAddr,
    per_mille: u64,
    shared: &Shared,
) {
    let mut datagram = vec![0; 64 * 1024];
    while !shared.is_over.load(Relaxed) {
        let Ok(bytes) = back.recv(&mut datagram) else { continue };
        if !shared.to_client.drops(per_mille) {
            let _ = front.send_to(&datagram[..bytes], client);
        }
    }
}
