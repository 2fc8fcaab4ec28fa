//! Lists rows that break no rule but are rare: a client must accept them as replies.

use super::packets::packets;
use super::{
    BODY, HostileReply, HostileRow, OK, Offer, StreamEnd, Trigger, block, greeting, number,
    put_number, row, row_at,
};
use crate::h2::hpack::EVERY_BYTE_CODED;
use quinn_proto::VarInt;

const fn offer(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    make: fn(&mut Offer),
) -> HostileRow {
    HostileRow { name, section, text, trigger: Trigger::Setup, writer: HostileReply::Setup(make) }
}

/// The text `x-l` in the Huffman code.
const X_L_CODED: [u8; 3] = [0xf2, 0xb5, 0x1f];

/// The text `brunt-lab` in the Huffman code.
const SERVER_CODED: [u8; 7] = [0x8e, 0xcb, 0x6a, 0x4a, 0xd4, 0x0e, 0x3f];

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    row_at(
        Trigger::Head,
        "h3-rare-early-reply",
        "9114 4.1",
        "a reply before the request's body is there, and STOP_SENDING with H3_NO_ERROR",
        |s| {
            s.reply();
            s.stop = Some(number::NO_ERROR);
        },
    ),
    row(
        "h3-rare-unknown-frame",
        "9114 9",
        "frames of unknown types, on the control stream and around the reply",
        |s| {
            // RFC 9114, section 7.2.8: types of the form 0x1f × N + 0x21 are reserved for such
            // tests.
            s.control_frame(0x21, b"unknown");
            s.control_frame(0x1f * 7 + 0x21, &[]);
            s.frame(0x40, b"before");
            s.head(&[OK]);
            s.frame(0x21, b"within");
            s.data(BODY);
            s.frame(0x1f_0021, &[7; 3000]);
            s.is_reply = true;
        },
    ),
    row(
        "h3-rare-unknown-stream",
        "9114 6.2.3",
        "streams of unknown types: open, ended and reset",
        |s| {
            s.open(b"\x21unknown");
            s.opened.push((b"\x40\x54and ended".to_vec(), StreamEnd::Finished));
            s.opened.push((Vec::new(), StreamEnd::Reset(number::NO_ERROR)));
            s.reply();
        },
    ),
    greeting(
        "h3-rare-unknown-setting",
        "9114 7.2.4.1",
        "SETTINGS with unknown settings, and one of each that is known",
        |s| {
            let mut payload = Vec::new();
            for number in
                [1, 0, 6, 100_000, 7, 0, 8, 1, 0x33, 1, 0x21, 5, 0x1f * 99 + 0x21, (1 << 62) - 1]
            {
                put_number(&mut payload, number);
            }
            s.greet(&[(number::SETTINGS, &payload)]);
        },
    ),
    greeting(
        "h3-rare-qpack-limits",
        "9204 5",
        "SETTINGS that allow a table of 1 GiB and 1000 blocked streams",
        |s| {
            s.greet(&[(number::SETTINGS, &[1, 0xc0, 0, 0, 0, 0x40, 0, 0, 0, 7, 0x43, 0xe8])]);
        },
    ),
    greeting(
        "h3-rare-no-control",
        "9114 6.2.1",
        "replies before the control stream, which may come late",
        |_| {},
    ),
    row("h3-rare-interim", "9114 4.1", "status 100 and 103 before the reply", |s| {
        s.head(&[(":status", "100")]);
        s.head(&[(":status", "103"), ("link", "</style.css>; rel=preload")]);
        s.reply();
    }),
    row("h3-rare-trailers", "9114 4.1", "trailers after the body", |s| {
        s.reply();
        s.head(&[("x-sum", "1")]);
    }),
    row("h3-rare-empty-data", "9114 7.2.1", "empty DATA before, within and after the body", |s| {
        s.head(&[OK]);
        for data in [&[], &BODY[..5], &[], &BODY[5..], &[]] {
            s.data(data);
        }
        s.is_reply = true;
    }),
    row("h3-rare-no-body", "9114 4.1", "HEADERS alone, without content-length", |s| {
        s.head(&[OK]);
        s.is_reply = true;
    }),
    row("h3-rare-long-numbers", "9000 16", "types and lengths of frames in 8 bytes", |s| {
        for (kind, payload) in [(number::HEADERS, &block(&[OK])[..]), (number::DATA, BODY)] {
            for number in [kind, payload.len() as u64] {
                // RFC 9000, section 16: the two highest bits of a number of 8 bytes are set.
                s.out.extend_from_slice(&(number | 0xc000_0000_0000_0000).to_be_bytes());
            }
            s.out.extend_from_slice(payload);
        }
        s.is_reply = true;
    }),
    row(
        "h3-rare-huffman",
        "9204 4.1.2",
        "names and values in the Huffman code, never to be indexed",
        |s| {
            let first = [&[0x38 | 3][..], &X_L_CODED, &[0xa0], &EVERY_BYTE_CODED].concat();
            let second = [&[0x70 | 0xf, 92 - 15, 0x87][..], &SERVER_CODED].concat();
            s.block(&[&[0, 0, 0xd9][..], &first, &second].concat());
            s.data(BODY);
            s.is_reply = true;
        },
    ),
    row("h3-rare-base", "9204 4.5.1.2", "a block with a base although it needs no entry", |s| {
        s.block(&[0, 5, 0xd9]);
        s.data(BODY);
        s.is_reply = true;
    }),
    row("h3-rare-capacity-0", "9204 4.3.1", "an encoder stream that sets the capacity 0", |s| {
        if s.round == 0 {
            s.open(&[2, 0x20, 0x20]);
        }
        s.reply();
    }),
    row(
        "h3-rare-stream-cancellation",
        "9204 4.4.2",
        "a decoder stream that cancels streams",
        |s| {
            if s.round == 0 {
                s.open(&[3, 0x40, 0x7f, 0x01, 0x44]);
            }
            s.reply();
        },
    ),
    row(
        "h3-rare-goaway",
        "9114 5.2",
        "GOAWAY with 2^62-4 and with the next stream, and a reply",
        |s| {
            s.control_frame(number::GOAWAY, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc]);
            let mut next = Vec::new();
            put_number(&mut next, s.stream + 4);
            s.control_frame(number::GOAWAY, &next);
            s.reply();
        },
    ),
    row(
        "h3-rare-stop-sending",
        "9114 4.1.1",
        "STOP_SENDING with H3_NO_ERROR for a request that is whole, and a reply",
        |s| {
            s.stop = Some(number::NO_ERROR);
            s.reply();
        },
    ),
    offer(
        "h3-rare-one-stream",
        "9000 4.6",
        "transport parameters that allow one stream",
        |offer| {
            offer.transport.max_concurrent_bidi_streams(VarInt::from_u32(1));
        },
    ),
    offer(
        "h3-rare-small-window",
        "9000 4.1",
        "transport parameters that allow 32 bytes a stream",
        |offer| {
            offer.transport.stream_receive_window(VarInt::from_u32(32));
        },
    ),
    offer(
        "h3-rare-small-connection-window",
        "9000 4.1",
        "transport parameters that allow 64 bytes a connection",
        |offer| {
            offer.transport.receive_window(VarInt::from_u32(64));
        },
    ),
    packets(
        "h3-rare-garbage",
        "9000 10.3",
        "datagrams of no packet before the packets of the handshake",
        |e| {
            e.send(b"\x00not QUIC at all");
            e.send(&[0xff; 1200]);
            e.send(&[]);
            e.passes_on = true;
        },
    ),
    packets(
        "h3-rare-version-negotiation",
        "9000 6.2",
        "Version Negotiation that lists the client's version",
        |e| {
            e.version_negotiation(&[0x0a0a_0a0a, 1]);
            e.passes_on = true;
        },
    ),
    packets(
        "h3-rare-retry-bad-tag",
        "9001 5.8",
        "Retry whose integrity tag is wrong, before the handshake",
        |e| {
            e.retry(b"token", |tag| tag[0] ^= 1);
            e.passes_on = true;
        },
    ),
    packets(
        "h3-rare-reset-like",
        "9000 10.3.1",
        "packets that look like stateless resets, with another token",
        |e| {
            for length in [21, 40, 100] {
                let mut packet = vec![0x41; length];
                packet[1..]
                    .iter_mut()
                    .zip(0u8..)
                    .for_each(|(byte, at)| *byte = at.wrapping_mul(37) ^ e.round as u8);
                e.send(&packet);
            }
            e.passes_on = true;
        },
    ),
    packets(
        "h3-rare-wrong-keys",
        "9001 5.2",
        "Initial packets whose protection is wrong, before the handshake",
        |e| {
            e.initial(&[0x1c, 0, 0, 0]);
            if let Some(last) = e.out.last_mut().and_then(|packet| packet.last_mut()) {
                *last ^= 1;
            }
            e.passes_on = true;
        },
    ),
    packets(
        "h3-rare-own-packet",
        "9000 17.2",
        "the client's own datagram sent back, before the handshake",
        |e| {
            let own = e.received.to_vec();
            e.send(&own);
            e.passes_on = true;
        },
    ),
];
