//! Finds free ports for servers that cannot use port 0.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self, UnixListener};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

/// Below the ephemeral ports of the system, so that no client takes one meanwhile.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// Reservations of ports by this process.
static RESERVED: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());

/// Returns a port that is free on all addresses that tests use. Other tests get other ports, also before a server
/// listens on it.
pub fn free() -> u16 {
    let width = PORTS.end - PORTS.start;
    let begin = (std::process::id() % 997) as u16 * 12;
    let port = || PORTS.start + (begin + NEXT.fetch_add(1, Ordering::Relaxed)) % width;
    (0..width)
        .map(|_| port())
        .find(|port: &u16| {
            reserve(*port)
                && ["127.0.0.1", "127.0.0.2"].iter().all(|a| TcpListener::bind((*a, *port)).is_ok())
        })
        .expect("a free port")
}

/// Reserves a port until the end of this process. False if a test has reserved it.
fn reserve(port: u16) -> bool {
    // The kernel removes an abstract address with its process.
    let name = format!("brunt-tests-port-{port}");
    let address = net::SocketAddr::from_abstract_name(name).expect("a name");
    let reservation = UnixListener::bind_addr(&address);
    let is_reserved = reservation.is_ok();
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner).extend(reservation);
    is_reserved
}

/// True if a server listens on this port.
pub fn has_listener(port: u16) -> bool {
    TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_ok()
}

/// True if this machine has an IPv6 loopback address.
pub fn has_ipv6() -> bool {
    TcpListener::bind(("::1", 0)).is_ok()
}
