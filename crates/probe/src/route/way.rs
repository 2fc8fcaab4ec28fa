//! Where packets to an address go: the kernel's own answer, as `ip route get` shows it.

use std::net::IpAddr;

/// Where packets to an address go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NextHop {
    /// The address is one of this machine's.
    pub local: bool,
    /// The number of the interface.
    pub interface: u32,
}

/// The way to an address; None where there is none, or the kernel does not tell.
#[cfg(target_os = "linux")]
pub(super) fn to(address: IpAddr) -> Option<NextHop> {
    use netlink_packet_route::RouteNetlinkMessage as Message;
    use netlink_packet_route::route::{RouteAttribute, RouteType};
    let answers = super::netlink::ask(None, Message::GetRoute(question(address)));
    answers.into_iter().find_map(|answer| {
        let Message::NewRoute(route) = answer else { return None };
        let number = |attribute: &RouteAttribute| match attribute {
            RouteAttribute::Oif(number) => Some(*number),
            _ => None,
        };
        let interface = route.attributes.iter().find_map(number)?;
        Some(NextHop { local: route.header.kind == RouteType::Local, interface })
    })
}

#[cfg(target_os = "linux")]
fn question(address: IpAddr) -> netlink_packet_route::route::RouteMessage {
    use netlink_packet_route::AddressFamily;
    use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
    let (family, length, destination) = match address {
        IpAddr::V4(v4) => (AddressFamily::Inet, 32, RouteAddress::Inet(v4)),
        IpAddr::V6(v6) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(v6)),
    };
    let mut question = RouteMessage::default();
    question.header.address_family = family;
    question.header.destination_prefix_length = length;
    question.attributes.push(RouteAttribute::Destination(destination));
    question
}

/// Not to be had.
#[cfg(not(target_os = "linux"))]
pub(super) fn to(_: IpAddr) -> Option<NextHop> {
    None
}
