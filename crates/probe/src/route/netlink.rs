//! Sends one request to the kernel through netlink(7), and returns the payloads of its replies.
//!
//! It is **not** a library of messages: callers write and read the payloads of theirs. It never blocks: the kernel has
//! replied when the request is sent.

use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Room for one datagram of replies: what the kernel fills for a dump, and more.
const ROOM: usize = 64 * 1024;
/// Datagrams read for one request, at most.
const DATAGRAMS: usize = 64;
/// Bytes of `struct nlmsghdr`: length, type, flags, sequence number, port.
const HEADER: usize = 16;
const NLM_F_REQUEST: u16 = 0x01;
const NLM_F_DUMP: u16 = 0x300;

/// A request: its numbers are those of `linux/rtnetlink.h` and `linux/sock_diag.h`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// None is number 0, `NETLINK_ROUTE`.
    pub protocol: Option<Protocol>,
    /// The type of the request, and of the replies that are returned.
    pub types: (u16, u16),
    pub payload: &'a [u8],
}

impl Request<'_> {
    /// Asks for one thing.
    pub(super) fn ask(self) -> Vec<Vec<u8>> {
        self.replies(NLM_F_REQUEST).unwrap_or_default()
    }

    /// Asks for all that there are.
    pub(super) fn ask_all(self) -> Vec<Vec<u8>> {
        self.replies(NLM_F_REQUEST | NLM_F_DUMP).unwrap_or_default()
    }

    /// None where the kernel does not reply at all, as in some sandboxes.
    fn replies(self, flags: u16) -> Option<Vec<Vec<u8>>> {
        let flags_of_socket = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags_of_socket, self.protocol).ok()?;
        let kernel = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(&socket, &self.bytes(flags), SendFlags::empty(), &kernel).ok()?;
        let mut found = Vec::new();
        let mut room = vec![0; ROOM];
        for _ in 0..DATAGRAMS {
            let Some(datagram) = receive(&socket, &mut room) else { break };
            found.extend(
                messages(datagram).filter(|(kind, _)| *kind == self.types.1).map(|(_, payload)| payload.into()),
            );
        }
        Some(found)
    }

    fn bytes(self, flags: u16) -> Vec<u8> {
        let length = HEADER + self.payload.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend((length as u32).to_ne_bytes());
        bytes.extend(self.types.0.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(self.payload);
        bytes
    }
}

/// The bytes of a field of a fixed size; None beyond the end.
pub(super) fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn receive<'a>(socket: &OwnedFd, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let (n, _) = rustix::net::recv(socket, &mut *room, RecvFlags::empty()).ok()?;
    (n > 0).then(|| &room[..n])
}

/// Type and payload of the messages of a datagram; one that cannot be read ends it.
fn messages(datagram: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(field(rest, 0)?) as usize;
        let kind = u16::from_ne_bytes(field(rest, 4)?);
        let payload = rest.get(HEADER..length)?;
        // Each begins at a multiple of four bytes (netlink(7), NLMSG_ALIGN).
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, payload))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Request { protocol: None, types: (kind, 0), payload }.bytes(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn messages_of_a_datagram_are_separated() {
        let datagram = [message(24, b"first"), message(3, b""), message(24, b"more")].concat();
        let found: Vec<_> = messages(&datagram).collect();
        assert_eq!(found, [(24, b"first".as_slice()), (3, b""), (24, b"more")]);
    }

    #[test]
    fn a_truncated_message_ends_the_datagram() {
        let datagram = [message(24, b"first"), message(24, b"more")].concat();
        for end in 0..datagram.len() {
            assert!(messages(&datagram[..end]).count() <= 1, "{end}");
        }
        // Lengths below a header's, and beyond the end.
        for length in [0_u32, 15, 4096, u32::MAX] {
            let mut wrong = message(24, b"first");
            wrong[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&wrong).count(), 0, "{length}");
        }
    }
}
