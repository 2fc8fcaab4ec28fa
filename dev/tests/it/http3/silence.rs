//! Tests that connections are given up whose packets are not acknowledged any more.

use crate::world::{command, lab, start};
use rustix::process::Signal;
use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Timeouts of requests, shorter and longer than the time after which a connection is given up,
/// with numbers of users.
const RUNS: [(&str, u32); 4] = [("400ms", 1), ("2s", 1), ("2s", 8), ("30s", 2)];

/// Length of a run. A connection is given up after five seconds.
const LENGTH: &str = "12s";

#[test]
fn a_restarted_server_is_found_again() {
    let runs = RUNS.map(|(timeout, users)| {
        thread::spawn(move || {
            let mut first = lab("--tls --http3");
            let port = first.port();
            let url = first.url_of("/");
            let options = format!("--http 3 --insecure --threads 1 -c {users} --timeout {timeout}");
            let line = format!("{url} {options} -d {LENGTH} --grace 0s --no-store -q");
            let running = start(&mut command(&line));
            wait_for_requests();
            first.server.signal(Signal::KILL);
            first.server.stop();
            let second = lab(&format!("--tls --http3 --listen 127.0.0.1:{port}"));
            running.finish_unchecked();
            let received = second.into_statistics()["requests"]["received"].as_u64();
            assert!(received > Some(100), "{timeout}, {users} users: {received:?}");
        })
    });
    for run in runs {
        run.join().expect("a server that is found");
    }
}

#[test]
fn a_connection_of_which_nothing_is_acknowledged_is_given_up() {
    let lab = lab("--tls --http3");
    let runs = RUNS.map(|(timeout, users)| {
        let server = lab.port();
        thread::spawn(move || {
            let proxy = DeafProxy::start(server);
            let url = format!("https://127.0.0.1:{}/", proxy.port);
            let options = format!("--http 3 --insecure --threads 1 -c {users} --timeout {timeout}");
            let line = format!("{url} {options} -d {LENGTH} --grace 0s --no-store -q");
            let running = start(&mut command(&line));
            wait_for_requests();
            proxy.is_deaf.store(true, Relaxed);
            let ran = running.finish_unchecked();
            let PacketCounts { dropped, passed_later } = proxy.stop();
            let opened = ran.connections("opened");
            // Each user has a connection.
            assert_eq!(opened, u64::from(2 * users), "{timeout}, {users} users");
            assert!(dropped > 0 && passed_later > 100, "{timeout}, {users} users: {passed_later}");
        })
    });
    for run in runs {
        run.join().expect("a new connection");
    }
}

fn wait_for_requests() {
    thread::sleep(Duration::from_secs(2));
}

/// A UDP proxy that can become deaf to the connections that it knows: it drops their packets to
/// the server, and passes those of new connections and all packets of the server.
struct DeafProxy {
    port: u16,
    is_deaf: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: thread::JoinHandle<PacketCounts>,
}

/// Packets to the server since the proxy is deaf.
#[derive(Default)]
struct PacketCounts {
    dropped: u64,
    /// Those of connections that began later.
    passed_later: u64,
}

/// Set in the first byte of a packet of the handshake (RFC 9000 section 17.2).
const LONG_HEADER: u8 = 0x80;
/// Length of the connection IDs of the lab.
const ID: usize = 8;

impl DeafProxy {
    fn start(server: u16) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = front.local_addr().expect("an address").port();
        front.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
        let is_deaf = Arc::<AtomicBool>::default();
        let is_over = Arc::<AtomicBool>::default();
        let (deaf, over) = (Arc::clone(&is_deaf), Arc::clone(&is_over));
        let thread = thread::spawn(move || carry(&front, server, &deaf, &over));
        Self { port, is_deaf, is_over, thread }
    }

    fn stop(self) -> PacketCounts {
        self.is_over.store(true, Relaxed);
        self.thread.join().expect("no panic")
    }
}

fn carry(
    front: &UdpSocket,
    server: u16,
    is_deaf: &AtomicBool,
    is_over: &AtomicBool,
) -> PacketCounts {
    let mut backs: HashMap<SocketAddr, UdpSocket> = HashMap::new();
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut counts = PacketCounts::default();
    let mut packet = vec![0; 64 * 1024];
    while !is_over.load(Relaxed) {
        while let Ok((bytes, client)) = front.recv_from(&mut packet) {
            let back = backs.entry(client).or_insert_with(|| {
                let back = UdpSocket::bind("127.0.0.1:0").expect("a port");
                back.connect(("127.0.0.1", server)).expect("a server");
                back.set_nonblocking(true).expect("a mode");
                back
            });
            let id = packet[1..=ID].to_vec();
            let is_handshake = packet[0] & LONG_HEADER != 0;
            if !is_deaf.load(Relaxed) {
                known.insert(id);
            } else if !is_handshake && known.contains(&id) {
                counts.dropped += 1;
                continue;
            } else {
                counts.passed_later += u64::from(!is_handshake);
            }
            let _ = back.send(&packet[..bytes]);
        }
        for (client, back) in &backs {
            while let Ok(bytes) = back.recv(&mut packet) {
                let _ = front.send_to(&packet[..bytes], client);
            }
        }
    }
    counts
}
