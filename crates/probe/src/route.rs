//! Finds the route to a server, as far as this machine shows it: whether the server is on this
//! machine, the process that listens there, and the network interface.
//!
//! It sends nothing to the server. It queries the kernel through netlink, and reads files below a
//! [`Root`], which may be a recorded tree. Unknown values are None.
//!
//! * `netlink`: sends a request to the kernel and returns the replies.
//! * `next_hop`: looks up the interface for an address. `interface`: properties of an interface.
//! * `listener`: the listening sockets of an address. `owner`: the processes that hold them.

mod interface;
pub(crate) mod listener;
#[cfg(target_os = "linux")]
mod netlink;
mod next_hop;
pub(crate) mod owner;

use crate::Root;
use brunt_model::Route;
use std::net::SocketAddr;

/// Finds the route to `address`. Sends nothing. Takes some milliseconds if the server
/// is on this machine.
pub fn route(address: SocketAddr) -> Route {
    let root = Root::system();
    let next_hop = next_hop::lookup(address.ip());
    // A sandbox may forbid netlink, but loopback addresses are always local.
    let same_host =
        if address.ip().is_loopback() { Some(true) } else { next_hop.map(|hop| hop.local) };
    let mut route = Route { same_host, ..Route::default() };
    if let Some(name) = next_hop.and_then(|hop| interface::name(&root, hop.interface)) {
        interface::fill(&root, name, &mut route);
    }
    if same_host == Some(true) {
        listener::fill(&root, &listener::for_address(address), &mut route);
    }
    route
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn our_own_listener_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let found = route(listener.local_addr().unwrap());
        assert_eq!(found.same_host, Some(true));
        assert_eq!(found.interface.as_deref(), Some("lo"));
        let mine = format!("(pid {})", std::process::id());
        assert!(found.listener.as_deref().is_some_and(|l| l.ends_with(&mine)), "{found:?}");
        assert!(found.listener_backlog.is_some_and(|b| b > 0), "{found:?}");
        assert!(found.listener_descriptors.is_some_and(|d| d > 0), "{found:?}");
        assert!(found.mtu_bytes.is_some_and(|m| m >= 1280), "{found:?}");
    }

    #[test]
    fn a_listener_on_all_addresses_is_found_by_any_of_them() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(route(SocketAddr::from(([127, 0, 0, 3], port))).listener.is_some());
        drop(listener);
        assert_eq!(route(SocketAddr::from(([127, 0, 0, 3], port))).listener, None);
    }

    #[test]
    fn an_address_of_an_interface_of_ours_is_the_same_host() {
        // The local address of packets to other machines. connect(2) on a UDP socket sends nothing.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("192.0.2.1:9").is_err() {
            return;
        }
        let own = socket.local_addr().unwrap();
        assert_eq!(route(SocketAddr::new(own.ip(), 9)).same_host, Some(true));
        let elsewhere = route("192.0.2.1:9".parse().unwrap());
        assert_eq!((elsewhere.same_host, elsewhere.listener), (Some(false), None));
        assert!(elsewhere.interface.is_some());
    }

    #[test]
    fn files_are_read_below_the_root() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("proc/sys")).unwrap();
        fs::write(dir.path().join("proc/sys/a"), "32768\t60999\n").unwrap();
        let root = Root::recorded(dir.path());
        assert_eq!(root.words("/proc/sys/a").as_deref(), Some("32768 60999"));
        assert_eq!((root.whole("/proc/sys/a"), root.words("/proc/sys/b")), (None, None));
    }
}
