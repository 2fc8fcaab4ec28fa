//! Version Negotiation (RFC 8999 section 6, RFC 9000 section 6): which versions of QUIC a server offers.

use crate::sys;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// A version that is reserved to exercise negotiation, which no server speaks (RFC 9000 section 15).
const RESERVED: u32 = 0x1a2a_3a4a;
/// Bytes of the smallest datagram that a server answers (RFC 9000 section 14.1).
const SMALLEST: usize = 1200;
/// The form of packets whose header is long.
const LONG: u8 = 0x80;
const OUR_ID: &[u8] = b"brunt-q?";
const THEIR_ID: &[u8] = b"brunt-a?";

/// The versions in a Version Negotiation packet; None: the datagram is another one.
pub fn offered(datagram: &[u8]) -> Option<Vec<u32>> {
    let (_, _, versions) = parse(datagram)?;
    Some(versions)
}

/// Whom it is for, whom it is from, and the versions.
fn parse(datagram: &[u8]) -> Option<(&[u8], &[u8], Vec<u32>)> {
    let (first, rest) = datagram.split_first()?;
    let (version, rest) = rest.split_at_checked(4)?;
    if first & LONG == 0 || version != [0; 4] {
        return None;
    }
    let (to, rest) = id(rest)?;
    let (from, rest) = id(rest)?;
    let versions = rest.chunks_exact(4).map(|v| u32::from_be_bytes([v[0], v[1], v[2], v[3]])).collect();
    Some((to, from, versions))
}

/// A connection ID behind its length, and what follows.
fn id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

/// A datagram of a version that no server speaks.
fn question() -> Vec<u8> {
    let mut packet = vec![LONG | 0x40];
    packet.extend(RESERVED.to_be_bytes());
    for id in [THEIR_ID, OUR_ID] {
        packet.push(id.len() as u8);
        packet.extend(id);
    }
    packet.resize(SMALLEST, 0);
    packet
}

/// Asks a server for the versions that it offers, once, and waits for its answer without end.
///
/// # Errors
///
/// The system grants no socket, or tells that nothing listens there.
pub async fn ask(to: SocketAddr, source: Option<IpAddr>) -> io::Result<Vec<u32>> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, None)?;
    socket.set_nonblocking(true)?;
    if let Some(source) = source {
        socket.bind(&SockAddr::from(SocketAddr::new(source, 0)))?;
    }
    socket.connect(&SockAddr::from(to))?;
    socket.send(&question())?;
    let socket = sys::watch(socket)?;
    let mut datagram = [0; 2048];
    loop {
        let mut ready = socket.readable().await?;
        let Ok(read) = ready.try_io(|socket| socket.get_ref().read(&mut datagram)) else { continue };
        if let Some((OUR_ID, THEIR_ID, versions)) = parse(&datagram[..read?]) {
            return Ok(versions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_are_those_behind_both_ids() {
        let mut packet = vec![0xca, 0, 0, 0, 0, 2, b'a', b'b', 1, b'c'];
        packet.extend([0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf, 9]);
        assert_eq!(parse(&packet), Some((&b"ab"[..], &b"c"[..], vec![1, 0x6b33_43cf])));
        packet[4] = 1;
        assert_eq!(offered(&packet), None, "a packet of version 1");
        packet[4] = 0;
        packet[0] = 0x4a;
        assert_eq!(offered(&packet), None, "a short header");
        assert_eq!(offered(&[0xca, 0, 0, 0, 0, 9, 1]), None, "cut off");
    }

    #[test]
    fn a_question_is_an_initial_packet_as_large_as_it_has_to_be() {
        let packet = question();
        assert_eq!((packet.len(), &packet[..7]), (1200, &[0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, b'b'][..]));
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            offered(&bytes);
        }
    }
}
