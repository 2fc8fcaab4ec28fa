//! Sends one request to the kernel through netlink(7), and returns the payloads of its replies.
//!
//! Callers build and parse the payloads. It never blocks: the kernel has replied when
//! the request is sent.

use rustix::fd::OwnedFd;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Buffer size for a datagram of replies, in bytes: more than the kernel fills for a dump.
const BUFFER: usize = 64 * 1024;
/// Maximum number of datagrams that are read for one request.
const MAX_DATAGRAMS: usize = 64;
/// Length of `struct nlmsghdr`, in bytes: length, type, flags, sequence number, port.
const HEADER: usize = 16;
const NLM_F_REQUEST: u16 = 0x01;
const NLM_F_DUMP: u16 = 0x300;

/// A request. Its numbers are defined in `linux/rtnetlink.h` and `linux/sock_diag.h`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    /// None is number 0, `NETLINK_ROUTE`.
    pub protocol: Option<Protocol>,
    /// Type of the request, and of the replies that are returned.
    pub types: (u16, u16),
    pub payload: &'a [u8],
}

impl Request<'_> {
    /// Requests one object.
    pub(super) fn send(self) -> Vec<Vec<u8>> {
        self.replies(NLM_F_REQUEST).unwrap_or_default()
    }

    /// Requests all objects.
    pub(super) fn send_dump(self) -> Vec<Vec<u8>> {
        self.replies(NLM_F_REQUEST | NLM_F_DUMP).unwrap_or_default()
    }

    /// Sends the request and reads the replies. None if the kernel does not reply at all,
    /// as in some sandboxes.
    fn replies(self, flags: u16) -> Option<Vec<Vec<u8>>> {
        // The kernel replies within the calls: a read that finds nothing must not wait.
        let socket_flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            socket_flags,
            self.protocol,
        )
        .ok()?;
        let kernel = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(&socket, &self.bytes(flags), SendFlags::empty(), &kernel).ok()?;
        let mut replies = Vec::new();
        let mut buffer = vec![0; BUFFER];
        for _ in 0..MAX_DATAGRAMS {
            let Some(datagram) = receive(&socket, &mut buffer) else { break };
            replies.extend(
                messages(datagram)
                    .filter(|(kind, _)| *kind == self.types.1)
                    .map(|(_, payload)| payload.into()),
            );
        }
        Some(replies)
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

/// Returns the bytes of a fixed-size field. None if it lies beyond the end.
pub(super) fn field<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn receive<'a>(socket: &OwnedFd, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let (n, _) = rustix::net::recv(socket, &mut *buffer, RecvFlags::empty()).ok()?;
    (n > 0).then(|| &buffer[..n])
}

/// Returns type and payload of the messages in a datagram. A malformed message ends the list.
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
        // Lengths smaller than a header, and lengths beyond the end.
        for length in [0_u32, 15, 4096, u32::MAX] {
            let mut wrong = message(24, b"first");
            wrong[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&wrong).count(), 0, "{length}");
        }
    }
}
