//! One question to the kernel through netlink(7), and its answers.
//!
//! It knows no message; those who ask bring their own. Nothing is waited for: the kernel has
//! answered when the question is sent.

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Room for one datagram of answers: what the kernel fills for a dump, and more.
const ROOM: usize = 64 * 1024;
/// Datagrams read for one question, at most.
const DATAGRAMS: usize = 64;

/// Asks for one thing. Protocol None is number 0, `NETLINK_ROUTE`.
pub(super) fn ask<M: NetlinkSerializable + NetlinkDeserializable>(protocol: Option<Protocol>, question: M) -> Vec<M> {
    answers(protocol, question, NLM_F_REQUEST).unwrap_or_default()
}

/// Asks for all that there are.
pub(super) fn ask_all<M: NetlinkSerializable + NetlinkDeserializable>(
    protocol: Option<Protocol>,
    question: M,
) -> Vec<M> {
    answers(protocol, question, NLM_F_REQUEST | NLM_F_DUMP).unwrap_or_default()
}

/// None where the kernel does not answer at all, as in some sandboxes.
fn answers<M>(protocol: Option<Protocol>, question: M, flags: u16) -> Option<Vec<M>>
where
    M: NetlinkSerializable + NetlinkDeserializable,
{
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        protocol,
    )
    .ok()?;
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &bytes(question, flags), SendFlags::empty(), &kernel).ok()?;
    let mut found = Vec::new();
    let mut room = vec![0; ROOM];
    for _ in 0..DATAGRAMS {
        let Some(datagram) = receive(&socket, &mut room) else { break };
        take(datagram, &mut found);
    }
    Some(found)
}

fn bytes<M: NetlinkSerializable>(question: M, flags: u16) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(question));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn receive<'a>(socket: &OwnedFd, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let (n, _) = rustix::net::recv(socket, &mut *room, RecvFlags::empty()).ok()?;
    (n > 0).then(|| &room[..n])
}

/// The messages of a datagram; one that cannot be read ends it.
fn take<M: NetlinkDeserializable>(datagram: &[u8], found: &mut Vec<M>) {
    let mut rest = datagram;
    while let Ok(message) = NetlinkMessage::<M>::deserialize(rest) {
        // Each begins at a multiple of four bytes (netlink(7), NLMSG_ALIGN).
        let length = (message.header.length as usize).next_multiple_of(4);
        if let NetlinkPayload::InnerMessage(answer) = message.payload {
            found.push(answer);
        }
        if length == 0 || length >= rest.len() {
            return;
        }
        rest = &rest[length..];
    }
}
