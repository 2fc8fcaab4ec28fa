//! Picks the local address that a connection is made from.
//!
//! Addresses that the plan names are used in turn. Where it names none, the system chooses, until a server on the loopback
//! interface has so many of our connections that connect(2) becomes slow: Linux tries every second port first, and once
//! those are taken it looks at all of them, one by one, for each connection. From then on further connections are made
//! from 127.0.0.2, then from 127.0.0.3, and so on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Of the local ports, as many in a hundred are used from one address: a little less than every second.
const QUICK_PORTS_IN_A_HUNDRED: usize = 45;
/// Local ports, where the system does not show them: Linux's own default.
const PORTS: usize = 28_232;
/// More loopback addresses than this are not taken.
const MOST_ADDRESSES: usize = 250;

/// The local addresses of all workers of a process.
pub struct Sources {
    given: Vec<IpAddr>,
    /// Connections that one loopback address is used for.
    each: usize,
    open: Arc<()>,
}

/// Held by each open connection.
pub struct Open(#[expect(dead_code, reason = "it is counted")] Arc<()>);

impl Sources {
    /// The addresses that were given, or else those of one of so many processes.
    pub fn new(given: &[IpAddr], processes: u32) -> Self {
        let each = ports().unwrap_or(PORTS) * QUICK_PORTS_IN_A_HUNDRED / 100 / processes.max(1) as usize;
        Self { given: given.to_vec(), each: each.max(1), open: Arc::new(()) }
    }

    /// Counts a connection for as long as what is returned lives.
    pub fn count(&self) -> Open {
        Open(Arc::clone(&self.open))
    }

    /// The address of those that were given, for the caller's `turn`th connection; None: none was.
    pub fn named(&self, turn: usize) -> Option<IpAddr> {
        (!self.given.is_empty()).then(|| self.given[turn % self.given.len()])
    }

    /// The address for a connection to `to`, the caller's `turn`th; None: the system chooses.
    pub fn next(&self, turn: usize, to: SocketAddr) -> Option<IpAddr> {
        if let Some(given) = self.named(turn) {
            return Some(given);
        }
        match to.ip() {
            IpAddr::V4(to) if cfg!(target_os = "linux") && to.is_loopback() => {
                loopback((Arc::strong_count(&self.open) - 1) / self.each)
            }
            _ => None,
        }
    }
}

/// The loopback address number `n`, from 0; None for the first, which the system chooses by itself.
fn loopback(n: usize) -> Option<IpAddr> {
    let n = n.min(MOST_ADDRESSES - 1) as u8;
    (n > 0).then(|| IpAddr::V4(Ipv4Addr::new(127, 0, 0, n + 1)))
}

/// How many local ports lead from one address to another.
fn ports() -> Option<usize> {
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
        let given: Vec<IpAddr> = ["127.0.0.7", "127.0.0.9"].map(|a| a.parse().unwrap()).to_vec();
        let sources = Sources::new(&given, 1);
        assert_eq!([0, 1, 2].map(|turn| sources.next(turn, SERVER)), [Some(given[0]), Some(given[1]), Some(given[0])]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_loopback_address_is_used_before_ports_become_scarce() {
        let sources = Sources { given: Vec::new(), each: 3, open: Arc::new(()) };
        let mut open = Vec::new();
        let mut used = Vec::new();
        for _ in 0..8 {
            used.push(sources.next(0, SERVER).map_or(1, |a| if let IpAddr::V4(a) = a { a.octets()[3] } else { 0 }));
            open.push(sources.count());
        }
        assert_eq!(used, [1, 1, 1, 2, 2, 2, 3, 3]);
        open.truncate(1);
        assert_eq!(sources.next(0, SERVER), None);
        assert_eq!(Sources { each: 1, ..sources }.next(0, "10.0.0.1:80".parse().unwrap()), None);
    }
}
