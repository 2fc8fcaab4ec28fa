//! Looks up the route to an address in the kernel, as `ip route get` does.

use std::net::IpAddr;

/// The first hop of the route to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextHop {
    /// True if the address belongs to this machine.
    pub local: bool,
    /// Index of the network interface.
    pub interface: u32,
}

/// Looks up the route to an address. None if there is no route, or if the kernel does not reply.
#[cfg(target_os = "linux")]
pub(super) fn lookup(address: IpAddr) -> Option<NextHop> {
    const RTM_NEWROUTE: u16 = 24;
    const RTM_GETROUTE: u16 = 26;
    let types = (RTM_GETROUTE, RTM_NEWROUTE);
    let replies =
        super::netlink::Request { protocol: None, types, payload: &request(address) }.send();
    replies.iter().find_map(|reply| next_hop(reply))
}

/// Builds a `struct rtmsg` with the address as its only attribute (rtnetlink(7)).
#[cfg(target_os = "linux")]
fn request(address: IpAddr) -> Vec<u8> {
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    let (family, octets) = match address {
        IpAddr::V4(v4) => (AF_INET, v4.octets().to_vec()),
        IpAddr::V6(v6) => (AF_INET6, v6.octets().to_vec()),
    };
    let mut request = vec![0; RTMSG];
    request[0] = family;
    request[1] = octets.len() as u8 * 8;
    request.extend((4 + octets.len() as u16).to_ne_bytes());
    request.extend(RTA_DST.to_ne_bytes());
    request.extend(octets);
    request
}

/// Parses the kernel's reply: the type of the route, and the interface among its attributes.
#[cfg(target_os = "linux")]
fn next_hop(route: &[u8]) -> Option<NextHop> {
    use super::netlink::field;
    const RTN_LOCAL: u8 = 2;
    const RTA_OIF: u16 = 4;
    let [kind] = field(route, 7)?;
    let mut rest = route.get(RTMSG..)?;
    loop {
        let length = usize::from(u16::from_ne_bytes(field(rest, 0)?));
        if u16::from_ne_bytes(field(rest, 2)?) == RTA_OIF {
            return Some(NextHop {
                local: kind == RTN_LOCAL,
                interface: u32::from_ne_bytes(field(rest, 4)?),
            });
        }
        // An attribute has at least the length of its header. Each begins at a multiple
        // of four bytes (RTA_ALIGN).
        rest = rest.get(length.max(4).next_multiple_of(4)..)?;
    }
}

/// Length of `struct rtmsg`, in bytes.
#[cfg(target_os = "linux")]
const RTMSG: usize = 12;
#[cfg(target_os = "linux")]
const RTA_DST: u16 = 1;

/// Returns nothing: unavailable.
#[cfg(not(target_os = "linux"))]
pub(super) fn lookup(_: IpAddr) -> Option<NextHop> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_local() {
        // Interface 1 is the loopback interface in every network namespace.
        for address in ["127.0.0.1", "127.8.8.8"] {
            assert_eq!(
                lookup(address.parse().unwrap()),
                Some(NextHop { local: true, interface: 1 }),
                "{address}"
            );
        }
    }

    /// A reply of the kernel as for `ip route get`: table,
    /// destination, interface, preferred source.
    #[test]
    fn the_interface_is_found_among_the_attributes() {
        let attribute = |kind: u16, value: &[u8]| {
            let mut bytes = [(4 + value.len() as u16).to_ne_bytes(), kind.to_ne_bytes()].concat();
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let header = [2, 32, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0];
        let attributes = [
            attribute(15, &[254, 0, 0, 0]),
            attribute(1, &[192, 0, 2, 1, 9]),
            attribute(4, &7_u32.to_ne_bytes()),
        ];
        let route = [header.to_vec(), attributes.concat()].concat();
        assert_eq!(next_hop(&route), Some(NextHop { local: false, interface: 7 }));
        for end in 0..route.len() {
            assert_eq!(next_hop(&route[..end]), None, "{end}");
        }
        let endless = [header.to_vec(), vec![0; 8]].concat();
        assert_eq!(next_hop(&endless), None);
    }
}
