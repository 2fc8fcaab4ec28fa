//! Chooses the local address of a connection.
//!
//! Addresses that the plan sets are used in turn. Without them, the system chooses, until a server
//! on the loopback interface has a number of this process's connections at which connect(2) becomes
//! slow. Linux tries every second port first. Once those are used, it searches all ports one by one
//! for each connection. From then on further connections use 127.0.0.2, then 127.0.0.3, and so on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Percentage of the local ports that are used with one address: slightly less
/// than every second port.
const PORTS_PER_ADDRESS_PERCENT: usize = 45;
/// Number of local ports if the system does not report it: Linux's default.
const DEFAULT_PORTS: usize = 28_232;
/// Maximum number of loopback addresses.
const MAX_ADDRESSES: usize = 250;

/// The local addresses of all workers of a process.
pub struct Sources {
    configured: Vec<IpAddr>,
    /// Maximum number of connections from one loopback address.
    connections_per_address: usize,
    /// Its reference count is the number of open connections, plus one.
    open: Arc<()>,
}

/// Counts a connection as open until it is dropped.
pub struct OpenConnection(#[expect(dead_code, reason = "it is counted")] Arc<()>);

impl Sources {
    /// Uses the configured addresses. Without them, divides the ports of each loopback
    /// address among `processes` processes.
    pub fn new(configured: &[IpAddr], processes: u32) -> Self {
        let ports = local_ports().unwrap_or(DEFAULT_PORTS);
        let share = ports * PORTS_PER_ADDRESS_PERCENT / 100 / processes.max(1) as usize;
        Self {
            configured: configured.to_vec(),
            connections_per_address: share.max(1),
            open: Arc::new(()),
        }
    }

    /// Counts a connection as open until the returned value is dropped.
    pub fn count_connection(&self) -> OpenConnection {
        OpenConnection(Arc::clone(&self.open))
    }

    /// Returns the configured address for the caller's connection number `index`. None
    /// if none is configured.
    pub fn configured_address(&self, index: usize) -> Option<IpAddr> {
        (!self.configured.is_empty()).then(|| self.configured[index % self.configured.len()])
    }

    /// Returns the local address for the caller's connection number `index`, to `destination`.
    /// None: the system chooses.
    pub fn next(&self, index: usize, destination: SocketAddr) -> Option<IpAddr> {
        if let Some(address) = self.configured_address(index) {
            return Some(address);
        }
        match destination.ip() {
            IpAddr::V4(address) if cfg!(target_os = "linux") && address.is_loopback() => {
                loopback((Arc::strong_count(&self.open) - 1) / self.connections_per_address)
            }
            _ => None,
        }
    }
}

/// Returns loopback address number `n`, from 0. None for the first one, which
/// the system chooses anyway.
fn loopback(n: usize) -> Option<IpAddr> {
    let n = n.min(MAX_ADDRESSES - 1) as u8;
    (n > 0).then(|| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n + 1)))
}

/// Number of local ports available between two addresses.
fn local_ports() -> Option<usize> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let (first, last) = range.trim().split_once(char::is_whitespace)?;
    (last.trim().parse::<usize>().ok()? + 1).checked_sub(first.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

    #[test]
    fn given_addresses_are_used_in_turn() {
        let configured: Vec<IpAddr> =
            ["127.0.0.7", "127.0.0.9"].map(|a| a.parse().unwrap()).to_vec();
        let sources = Sources::new(&configured, 1);
        assert_eq!(
            [0, 1, 2].map(|turn| sources.next(turn, SERVER)),
            [Some(configured[0]), Some(configured[1]), Some(configured[0])]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_loopback_address_is_used_before_ports_become_scarce() {
        let sources =
            Sources { configured: Vec::new(), connections_per_address: 3, open: Arc::new(()) };
        let mut open = Vec::new();
        let mut used = Vec::new();
        for _ in 0..8 {
            used.push(
                sources
                    .next(0, SERVER)
                    .map_or(1, |a| if let IpAddr::V4(a) = a { a.octets()[3] } else { 0 }),
            );
            open.push(sources.count_connection());
        }
        assert_eq!(used, [1, 1, 1, 2, 2, 2, 3, 3]);
        open.truncate(1);
        assert_eq!(sources.next(0, SERVER), None);
        assert_eq!(
            Sources { connections_per_address: 1, ..sources }
                .next(0, "10.0.0.1:80".parse().unwrap()),
            None
        );
    }
}
