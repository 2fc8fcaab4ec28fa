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
    use netlink_packet_sock_diag::SockDiagMessage as Message;
    use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
    use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
    let mut found = Vec::new();
    for (family, any) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        let question = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            states: StateFlags::LISTEN,
            socket_id: SocketId { source_port: port, ..any },
        };
        for answer in super::netlink::ask_all(Some(rustix::net::netlink::SOCK_DIAG), Message::InetRequest(question)) {
            let Message::InetResponse(response) = answer else { continue };
            let header = &response.header;
            // Of a listening socket the queues are those waiting, and the backlog (sock_diag(7), idiag_rqueue, _wqueue).
            found.push(Listener {
                address: header.socket_id.source_address,
                port: header.socket_id.source_port,
                inode: u64::from(header.inode),
                waiting: u64::from(header.recv_queue),
                backlog: u64::from(header.send_queue),
            });
        }
    }
    found
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
