//! Lists the rows of packets that no QUIC library sends: Initial,
//! Retry, Version Negotiation, garbage.
//!
//! The keys of Initial packets follow from the client's packet (RFC 9001, section 5.2), so that
//! handmade packets are possible.

use quinn_proto::ConnectionId;
use quinn_proto::crypto::ServerConfig;

use super::put_number;
use crate::hostile::{HostileReply, HostileRow, Trigger};

/// Version of RFC 9000.
const VERSION: u32 = 1;
/// Minimum size of a datagram with an Initial packet, in bytes.
const MIN_DATAGRAM: usize = 1200;
/// Length of the protection after a packet, in bytes.
const TAG: usize = 16;

/// A client's datagram, and the datagrams that are sent in response.
pub struct DatagramExchange<'a> {
    /// The datagram that the client sent.
    pub received: &'a [u8],
    /// Number of earlier datagrams.
    pub round: u32,
    /// Datagrams to send in response.
    pub out: Vec<Vec<u8>>,
    /// True if QUIC also handles the datagram.
    pub passes_on: bool,
    /// Source of keys and tags.
    pub crypto: &'a dyn ServerConfig,
}

impl std::fmt::Debug for DatagramExchange<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Exchange")
            .field("round", &self.round)
            .field("goes_on", &self.passes_on)
            .finish_non_exhaustive()
    }
}

impl DatagramExchange<'_> {
    /// Sends a datagram with these bytes.
    pub fn send(&mut self, datagram: &[u8]) {
        self.out.push(datagram.to_vec());
    }

    /// Returns the connection IDs of a packet with a long header: destination and source.
    fn ids(&self) -> Option<(&[u8], &[u8])> {
        let (_, rest) = self.received.split_first().filter(|(first, _)| **first & 0x80 != 0)?;
        let (length, rest) = rest.get(4..)?.split_first()?;
        let (destination, rest) = rest.split_at_checked(usize::from(*length))?;
        let (length, rest) = rest.split_first()?;
        let source = rest.get(..usize::from(*length))?;
        (destination.len() <= 20 && source.len() <= 20).then_some((destination, source))
    }

    /// Returns a long header for the client, with the source `from`.
    fn long(&self, first: u8, version: u32, from: &[u8]) -> Option<Vec<u8>> {
        let (_, to) = self.ids()?;
        let mut packet = vec![first];
        packet.extend(version.to_be_bytes());
        for id in [to, from] {
            packet.push(id.len() as u8);
            packet.extend(id);
        }
        Some(packet)
    }

    /// Sends an Initial packet with these frames.
    pub fn initial(&mut self, frames: &[u8]) {
        self.protected(0xc3, frames);
    }

    /// Sends an Initial packet with this first byte, before its protection.
    fn protected(&mut self, first: u8, frames: &[u8]) {
        let Some((destination, _)) = self.ids() else { return };
        let Ok(keys) = self.crypto.initial_keys(VERSION, &ConnectionId::new(destination)) else {
            return;
        };
        let Some(mut packet) = self.long(first, VERSION, destination) else { return };
        packet.push(0);
        let filled = if frames.is_empty() { 0 } else { MIN_DATAGRAM - TAG - packet.len() - 6 };
        put_number(&mut packet, (4 + filled.max(frames.len()) + TAG) as u64);
        let number_start = packet.len();
        packet.extend(self.round.to_be_bytes());
        let head = packet.len();
        packet.extend(frames);
        packet.resize(head + filled.max(frames.len()) + TAG, 0);
        keys.packet.local.encrypt(u64::from(self.round), &mut packet, head);
        keys.header.local.encrypt(number_start, &mut packet);
        self.out.push(packet);
    }

    /// Sends a Retry with this token and a modified tag.
    pub fn retry(&mut self, token: &[u8], spoil: impl Fn(&mut [u8; 16])) {
        let Some((destination, _)) = self.ids() else { return };
        let original = ConnectionId::new(destination);
        let Some(mut packet) = self.long(0xf0, VERSION, b"another!") else { return };
        packet.extend(token);
        let mut tag = self.crypto.retry_tag(VERSION, &original, &packet);
        spoil(&mut tag);
        packet.extend(tag);
        self.out.push(packet);
    }

    /// Sends Version Negotiation with these versions.
    pub fn version_negotiation(&mut self, versions: &[u32]) {
        let Some((destination, _)) = self.ids() else { return };
        let Some(mut packet) = self.long(0x80, 0, destination) else { return };
        packet.extend(versions.iter().flat_map(|version| version.to_be_bytes()));
        self.out.push(packet);
    }

    /// Sends QUIC's `CONNECTION_CLOSE` in an Initial packet (RFC 9000, section 19.19).
    fn close(&mut self, code: u64) {
        let mut frame = vec![0x1c];
        put_number(&mut frame, code);
        frame.extend([0, 0]);
        self.initial(&frame);
    }
}

/// Creates a row of packets.
pub const fn packets(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut DatagramExchange),
) -> HostileRow {
    HostileRow {
        name,
        section,
        text,
        trigger: Trigger::Packet,
        writer: HostileReply::Packets(write),
    }
}

fn close<const CODE: u64>(exchange: &mut DatagramExchange) {
    exchange.close(CODE);
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    packets("h3-quic-silence", "9000 10.1", "nothing", |_| {}),
    packets("h3-quic-garbage", "9000 17", "datagrams that are no packet", |e| {
        e.send(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        e.send(&[0xff; 1200]);
    }),
    packets("h3-quic-own-packet", "9000 17.2", "the client's own datagram sent back", |e| {
        let own = e.received.to_vec();
        e.send(&own);
    }),
    packets(
        "h3-quic-other-version",
        "9000 6.2",
        "Version Negotiation without the client's version",
        |e| {
            e.version_negotiation(&[0x0a0a_0a0a, 0xff00_001d]);
        },
    ),
    packets("h3-quic-no-version", "9000 17.2.1", "Version Negotiation without any version", |e| {
        e.version_negotiation(&[]);
    }),
    packets("h3-quic-retry-bad-tag", "9001 5.8", "Retry whose integrity tag is wrong", |e| {
        e.retry(b"token", |tag| tag[15] ^= 1);
    }),
    packets("h3-quic-retry-empty", "9000 17.2.5.2", "Retry with an empty token", |e| {
        e.retry(b"", |_| {});
    }),
    packets("h3-quic-retry-endless", "9000 17.2.5.2", "Retry in answer to each packet", |e| {
        e.retry(b"token", |_| {});
    }),
    packets(
        "h3-quic-reset-like",
        "9000 10.3",
        "packets that look like stateless resets, and nothing more",
        |e| {
            e.send(&[0x55; 43]);
        },
    ),
    packets("h3-quic-wrong-keys", "9001 5.2", "an Initial packet whose protection is wrong", |e| {
        e.initial(&[1]);
        if let Some(last) = e.out.last_mut().and_then(|packet| packet.last_mut()) {
            *last ^= 1;
        }
    }),
    packets(
        "h3-quic-close-no-error",
        "9000 20.1",
        "a close with NO_ERROR in an Initial packet",
        close::<0>,
    ),
    packets(
        "h3-quic-close-internal-error",
        "9000 20.1",
        "a close with INTERNAL_ERROR in an Initial packet",
        close::<1>,
    ),
    packets(
        "h3-quic-close-refused",
        "9000 20.1",
        "a close with CONNECTION_REFUSED in an Initial packet",
        close::<2>,
    ),
    packets(
        "h3-quic-close-parameters",
        "9000 20.1",
        "a close with TRANSPORT_PARAMETER_ERROR in an Initial packet",
        close::<8>,
    ),
    packets(
        "h3-quic-close-violation",
        "9000 20.1",
        "a close with PROTOCOL_VIOLATION in an Initial packet",
        close::<10>,
    ),
    packets(
        "h3-quic-close-token",
        "9000 20.1",
        "a close with INVALID_TOKEN in an Initial packet",
        close::<11>,
    ),
    packets(
        "h3-quic-close-alert",
        "9001 4.8",
        "a close with the alert handshake_failure",
        close::<0x128>,
    ),
    packets(
        "h3-quic-close-no-protocol",
        "9001 8.1",
        "a close with the alert no_application_protocol",
        close::<0x178>,
    ),
    packets(
        "h3-quic-close-unknown",
        "9000 20.1",
        "a close with a code that does not exist",
        close::<0x3fff_ffff>,
    ),
    packets(
        "h3-quic-close-of-application",
        "9000 12.4",
        "a close by the application in an Initial packet",
        |e| {
            e.initial(&[0x1d, 0x41, 0x02, 0]);
        },
    ),
    packets("h3-quic-empty-packet", "9000 12.4", "an Initial packet without frames", |e| {
        e.initial(&[]);
    }),
    packets("h3-quic-stream-in-initial", "9000 12.4", "STREAM in an Initial packet", |e| {
        e.initial(&[0x0a, 3, 1, b'x']);
    }),
    packets("h3-quic-done-in-initial", "9000 12.4", "HANDSHAKE_DONE in an Initial packet", |e| {
        e.initial(&[0x1e]);
    }),
    packets("h3-quic-unknown-frame", "9000 12.4", "a frame of an unknown type", |e| {
        e.initial(&[0x7f, 0xff, 1]);
    }),
    packets("h3-quic-ack-below-0", "9000 12.4", "an ACK whose ranges reach below packet 0", |e| {
        e.initial(&[2, 0, 0, 9, 9, 9, 9]);
    }),
    packets("h3-quic-ack-unsent", "9000 13.1", "an ACK of packets that were not sent", |e| {
        e.initial(&[2, 0x67, 0x10, 0, 0, 0]);
    }),
    packets("h3-quic-reserved-bits", "9000 17.2", "an Initial packet with reserved bits", |e| {
        e.protected(0xcf, &[1]);
    }),
    packets(
        "h3-quic-crypto-garbage",
        "9001 4",
        "bytes in CRYPTO that are no message of TLS",
        |e| {
            e.initial(&[&[6, 0, 0x40, 100][..], &[0xee; 100]].concat());
        },
    ),
    packets("h3-quic-crypto-far", "9000 7.5", "CRYPTO with an offset of 2^40", |e| {
        e.initial(&[6, 0xc0, 0, 1, 0, 0, 0, 0, 0, 1, b'x']);
    }),
    packets("h3-quic-token-in-initial", "9000 12.4", "NEW_TOKEN in an Initial packet", |e| {
        e.initial(&[7, 1, 1]);
    }),
];
