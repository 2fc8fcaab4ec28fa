//! Finds the listening sockets of an address of this machine through the
//! kernel's socket diagnostics (`sock_diag(7)`).
//!
//! The request covers only listening sockets of one port, so open connections cost nothing here.

use super::owner;
use crate::Root;
use brunt_model::Route;
use std::net::{IpAddr, SocketAddr};

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub address: IpAddr,
    pub port: u16,
    pub inode: u64,
    /// Number of connections that wait to be accepted.
    pub waiting: u64,
    /// Maximum number of connections that may wait to be accepted.
    pub backlog: u64,
}

/// Returns the sockets that connections to `address` reach. There are several if they
/// share a port (`SO_REUSEPORT`).
pub(super) fn for_address(address: SocketAddr) -> Vec<Listener> {
    serving(address.ip(), &listening(address.port()))
}

/// Returns all listening sockets of this network namespace.
pub(crate) fn all() -> Vec<Listener> {
    listening(0)
}

/// Fills in the backlog, the owner, and the owner's limit on descriptors.
pub(super) fn fill(root: &Root, listeners: &[Listener], route: &mut Route) {
    if listeners.is_empty() {
        return;
    }
    route.listener_backlog = Some(listeners.iter().map(|l| l.backlog).sum());
    let inodes: Vec<u64> = listeners.iter().map(|l| l.inode).collect();
    let owners = owner::owners(root, &inodes);
    route.listener = owner::first_name(&owners);
    route.listener_pids = owner::servers(&owners);
    route.listener_descriptors = owner::descriptor_limit(root, &owners);
}

/// Returns the sockets that the kernel chooses from: those bound to the address itself, otherwise
/// those bound to all addresses, first of its family.
fn serving(address: IpAddr, listeners: &[Listener]) -> Vec<Listener> {
    let address = address.to_canonical();
    let best = listeners.iter().filter_map(|listener| binding_rank(listener, address)).min();
    let Some(best) = best else { return Vec::new() };
    listeners
        .iter()
        .copied()
        .filter(|listener| binding_rank(listener, address) == Some(best))
        .collect()
}

/// Returns the rank of a socket for connections to an address, 0 first. None if it
/// does not receive them.
fn binding_rank(listener: &Listener, address: IpAddr) -> Option<u8> {
    let is_any = listener.address.is_unspecified();
    if listener.address.to_canonical() == address {
        Some(0)
    } else if is_any && listener.address.is_ipv4() == address.is_ipv4() {
        Some(1)
    } else if is_any && listener.address.is_ipv6() {
        // A socket bound to `::` receives IPv4 as well, unless IPV6_V6ONLY is set (ipv6(7)).
        Some(2)
    } else {
        None
    }
}

/// Returns the sockets that listen on a port; 0: on any port.
#[cfg(target_os = "linux")]
fn listening(port: u16) -> Vec<Listener> {
    let replies = [AF_INET, AF_INET6].map(|family| listener_replies(family, port)).concat();
    replies.iter().filter_map(|reply| parse_listener(reply)).collect()
}

#[cfg(target_os = "linux")]
fn listener_replies(family: u8, port: u16) -> Vec<Vec<u8>> {
    use super::netlink::Request;
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    let types = (SOCK_DIAG_BY_FAMILY, SOCK_DIAG_BY_FAMILY);
    let payload = &request(family, port);
    Request { protocol: Some(rustix::net::netlink::SOCK_DIAG), types, payload }.send_dump()
}

#[cfg(target_os = "linux")]
const AF_INET: u8 = 2;
#[cfg(target_os = "linux")]
const AF_INET6: u8 = 10;

/// Builds a `struct inet_diag_req_v2`: family, protocol, extensions, padding, states, and the
/// identity of the sockets.
#[cfg(target_os = "linux")]
fn request(family: u8, port: u16) -> [u8; 56] {
    const IPPROTO_TCP: u8 = 6;
    const TCP_LISTEN: u32 = 10;
    let mut request = [0; 56];
    request[..2].copy_from_slice(&[family, IPPROTO_TCP]);
    request[4..8].copy_from_slice(&(1_u32 << TCP_LISTEN).to_ne_bytes());
    // Ports are in network byte order; all other numbers are in that of the machine.
    request[8..10].copy_from_slice(&port.to_be_bytes());
    // No cookie: INET_DIAG_NOCOOKIE, twice.
    request[48..].fill(0xff);
    request
}

/// Parses a `struct inet_diag_msg`. For a listening socket, its queues are the waiting connections
/// and the backlog (`sock_diag(7)`, `idiag_rqueue`, `idiag_wqueue`).
#[cfg(target_os = "linux")]
fn parse_listener(reply: &[u8]) -> Option<Listener> {
    use super::netlink::field;
    let address: IpAddr = match reply.first()? {
        &AF_INET => field::<4>(reply, 8)?.into(),
        _ => field::<16>(reply, 8)?.into(),
    };
    Some(Listener {
        address,
        port: u16::from_be_bytes(field(reply, 4)?),
        inode: u32::from_ne_bytes(field(reply, 68)?).into(),
        waiting: u32::from_ne_bytes(field(reply, 56)?).into(),
        backlog: u32::from_ne_bytes(field(reply, 60)?).into(),
    })
}

/// Returns nothing: unavailable.
#[cfg(not(target_os = "linux"))]
fn listening(_: u16) -> Vec<Listener> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listeners(addresses: &[&str]) -> Vec<Listener> {
        let listener = |(i, a): (usize, &&str)| Listener {
            address: a.parse().unwrap(),
            port: 80,
            inode: i as u64,
            waiting: 0,
            backlog: 10,
        };
        addresses.iter().enumerate().map(listener).collect()
    }

    fn inodes(address: &str, of: &[&str]) -> Vec<u64> {
        serving(address.parse().unwrap(), &listeners(of)).iter().map(|l| l.inode).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn listeners_of_ours_are_found() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(socket) = std::net::TcpListener::bind(address) else { continue };
            let bound = socket.local_addr().unwrap();
            let listeners = for_address(bound);
            let [ours] = listeners.as_slice() else { panic!("{listeners:?}") };
            assert_eq!((SocketAddr::from((ours.address, ours.port)), ours.waiting), (bound, 0));
            assert!(ours.inode > 0 && ours.backlog > 0, "{ours:?}");
            let _waiting = std::net::TcpStream::connect(bound).unwrap();
            assert_eq!(for_address(bound)[0].waiting, 1);
        }
    }

    #[test]
    fn the_nearest_binding_serves() {
        assert_eq!(inodes("127.0.0.1", &["0.0.0.0", "127.0.0.1", "::"]), [1]);
        assert_eq!(inodes("127.0.0.2", &["::", "0.0.0.0", "127.0.0.1"]), [1]);
        assert_eq!(inodes("127.0.0.2", &["::", "127.0.0.1"]), [0]);
        assert_eq!(inodes("::1", &["0.0.0.0", "::"]), [1]);
        assert!(inodes("127.0.0.1", &["::1", "10.0.0.1"]).is_empty());
    }

    #[test]
    fn all_listeners_of_the_nearest_binding_serve() {
        assert_eq!(inodes("127.0.0.1", &["127.0.0.1", "0.0.0.0", "127.0.0.1"]), [0, 2]);
        assert_eq!(inodes("127.0.0.1", &["::ffff:127.0.0.1", "0.0.0.0"]), [0]);
    }

    #[test]
    fn backlogs_add_up_and_no_listener_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::recorded(dir.path());
        let mut route = Route::default();
        fill(&root, &[], &mut route);
        assert_eq!(route, Route::default());
        fill(&root, &listeners(&["::", "::"]), &mut route);
        assert_eq!((route.listener_backlog, route.listener), (Some(20), None));
    }
}
