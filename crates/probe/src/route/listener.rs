//! The listening sockets of an address of this machine, from the kernel's socket diagnostics (`sock_diag(7)`).
//!
//! The kernel is asked for listening sockets of one port only: a million open connections cost nothing here.

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
    /// Connections that wait to be accepted.
    pub waiting: u64,
    /// The most connections that may wait to be accepted.
    pub backlog: u64,
}

/// The sockets that connections to `address` reach: several where they share a port (`SO_REUSEPORT`).
pub(super) fn at(address: SocketAddr) -> Vec<Listener> {
    serving(address.ip(), &listening(address.port()))
}

/// All listening sockets of our network namespace.
pub(crate) fn all() -> Vec<Listener> {
    listening(0)
}

/// Backlog, owner and the owner's limit.
pub(super) fn fill(root: &Root, listeners: &[Listener], route: &mut Route) {
    if listeners.is_empty() {
        return;
    }
    route.listener_backlog = Some(listeners.iter().map(|l| l.backlog).sum());
    let inodes: Vec<u64> = listeners.iter().map(|l| l.inode).collect();
    let owners = owner::of(root, &inodes);
    route.listener = owner::name(&owners);
    route.listener_pids = owner::servers(&owners);
    route.listener_descriptors = owner::descriptors(root, &owners);
}

/// Those that the kernel chooses from: bound to the address itself, else to all addresses, of its family first.
fn serving(address: IpAddr, listeners: &[Listener]) -> Vec<Listener> {
    let address = address.to_canonical();
    let unspecified = |l: &Listener| l.address.is_unspecified();
    let ranks: [&dyn Fn(&Listener) -> bool; 3] = [
        &|l| l.address.to_canonical() == address,
        &|l| unspecified(l) && l.address.is_ipv4() == address.is_ipv4(),
        &|l| unspecified(l) && l.address.is_ipv6(),
    ];
    let of = |rank: &dyn Fn(&Listener) -> bool| listeners.iter().copied().filter(|l| rank(l)).collect::<Vec<_>>();
    ranks.into_iter().map(of).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The sockets that listen on a port; 0: on any.
#[cfg(target_os = "linux")]
fn listening(port: u16) -> Vec<Listener> {
    use super::netlink::Request;
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    let ask = |family| {
        let payload = &question(family, port);
        let types = (SOCK_DIAG_BY_FAMILY, SOCK_DIAG_BY_FAMILY);
        Request { protocol: Some(rustix::net::netlink::SOCK_DIAG), types, payload }.ask_all()
    };
    let replies = [AF_INET, AF_INET6].map(ask).concat();
    replies.iter().filter_map(|reply| listener(reply)).collect()
}

#[cfg(target_os = "linux")]
const AF_INET: u8 = 2;
#[cfg(target_os = "linux")]
const AF_INET6: u8 = 10;

/// `struct inet_diag_req_v2`: family, protocol, extensions, padding, states, and the identity of the sockets.
#[cfg(target_os = "linux")]
fn question(family: u8, port: u16) -> [u8; 56] {
    const IPPROTO_TCP: u8 = 6;
    const TCP_LISTEN: u32 = 10;
    let mut question = [0; 56];
    question[..2].copy_from_slice(&[family, IPPROTO_TCP]);
    question[4..8].copy_from_slice(&(1_u32 << TCP_LISTEN).to_ne_bytes());
    question[8..10].copy_from_slice(&port.to_be_bytes());
    // No cookie: INET_DIAG_NOCOOKIE, twice.
    question[48..].fill(0xff);
    question
}

/// `struct inet_diag_msg`. Of a listening socket the queues are those waiting, and the backlog (`sock_diag(7)`,
/// `idiag_rqueue`, `idiag_wqueue`).
#[cfg(target_os = "linux")]
fn listener(reply: &[u8]) -> Option<Listener> {
    use super::netlink::field;
    let number = |at| field(reply, at).map(u32::from_ne_bytes);
    let address: IpAddr = match reply.first()? {
        &AF_INET => field::<4>(reply, 8)?.into(),
        _ => field::<16>(reply, 8)?.into(),
    };
    Some(Listener {
        address,
        port: u16::from_be_bytes(field(reply, 4)?),
        inode: number(68)?.into(),
        waiting: number(56)?.into(),
        backlog: number(60)?.into(),
    })
}

/// Not to be had.
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
            let found = at(bound);
            let [ours] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((SocketAddr::from((ours.address, ours.port)), ours.waiting), (bound, 0));
            assert!(ours.inode > 0 && ours.backlog > 0, "{ours:?}");
            let _waiting = std::net::TcpStream::connect(bound).unwrap();
            assert_eq!(at(bound)[0].waiting, 1);
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
    fn all_that_share_a_port_serve() {
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
