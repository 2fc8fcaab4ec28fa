//! Version Negotiation (RFC 8999 section 6, RFC 9000 section 6): finds the QUIC versions
//! that a server offers.

use crate::sys;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

/// A version that is reserved to exercise negotiation, and that no server supports
/// (RFC 9000 section 15).
const RESERVED: u32 = 0x1a2a_3a4a;
/// Minimum length of a datagram that a server answers, in bytes (RFC 9000 section 14.1).
const MIN_LENGTH: usize = 1200;
/// Bit of packets with a long header.
const LONG: u8 = 0x80;
const CLIENT_ID: &[u8] = b"brunt-q?";
const SERVER_ID: &[u8] = b"brunt-a?";

/// Returns the versions in a Version Negotiation packet. None for any other datagram.
pub fn versions_in(datagram: &[u8]) -> Option<Vec<u32>> {
    let (_, _, versions) = parse(datagram)?;
    Some(versions)
}

/// Returns the destination id, the source id, and the versions of a Version Negotiation packet.
fn parse(datagram: &[u8]) -> Option<(&[u8], &[u8], Vec<u32>)> {
    let (first, rest) = datagram.split_first()?;
    let (version, rest) = rest.split_at_checked(4)?;
    if first & LONG == 0 || version != [0; 4] {
        return None;
    }
    let (destination, rest) = connection_id(rest)?;
    let (source, rest) = connection_id(rest)?;
    let versions =
        rest.chunks_exact(4).map(|v| u32::from_be_bytes([v[0], v[1], v[2], v[3]])).collect();
    Some((destination, source, versions))
}

/// Returns a connection id, which is preceded by its length, and the rest.
fn connection_id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

/// Returns a datagram with a version that no server supports.
fn probe() -> Vec<u8> {
    let mut packet = vec![LONG | 0x40];
    packet.extend(RESERVED.to_be_bytes());
    for id in [SERVER_ID, CLIENT_ID] {
        packet.push(id.len() as u8);
        packet.extend(id);
    }
    packet.resize(MIN_LENGTH, 0);
    packet
}

/// Asks a server for the versions that it offers. Sends one datagram and waits for the answer
/// without a time limit.
///
/// # Errors
///
/// If the system provides no socket, or reports that nothing listens at the address.
pub async fn offered_versions(to: SocketAddr, source: Option<IpAddr>) -> io::Result<Vec<u32>> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, None)?;
    socket.set_nonblocking(true)?;
    if let Some(source) = source {
        socket.bind(&SockAddr::from(SocketAddr::new(source, 0)))?;
    }
    socket.connect(&SockAddr::from(to))?;
    socket.send(&probe())?;
    let socket = sys::watch(socket)?;
    let mut datagram = [0; 2048];
    loop {
        let mut ready = socket.readable().await?;
        let Ok(read) = ready.try_io(|socket| socket.get_ref().read(&mut datagram)) else {
            continue;
        };
        if let Some((CLIENT_ID, SERVER_ID, versions)) = parse(&datagram[..read?]) {
            return Ok(versions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_are_read_after_both_connection_ids() {
        let mut packet = vec![0xca, 0, 0, 0, 0, 2, b'a', b'b', 1, b'c'];
        packet.extend([0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf, 9]);
        assert_eq!(parse(&packet), Some((&b"ab"[..], &b"c"[..], vec![1, 0x6b33_43cf])));
        packet[4] = 1;
        assert_eq!(versions_in(&packet), None, "a packet of version 1");
        packet[4] = 0;
        packet[0] = 0x4a;
        assert_eq!(versions_in(&packet), None, "a short header");
        assert_eq!(versions_in(&[0xca, 0, 0, 0, 0, 9, 1]), None, "cut off");
    }

    #[test]
    fn a_version_request_is_an_initial_packet_of_the_required_size() {
        let packet = probe();
        assert_eq!(
            (packet.len(), &packet[..7]),
            (1200, &[0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, b'b'][..])
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            versions_in(&bytes);
        }
    }
}
