//! Lists rows that break no rule but are rare: a client must accept them as replies.

use super::{BODY, HostileReply, HostileRow, Http2RowOutput, Trigger, block, row_at};
use crate::h2::frame::{self, Http2ErrorCode, flag, kind, setting};
use crate::h2::hpack::{EVERY_BYTE_CODED, put_string};

const fn row(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Request, name, section, text, write)
}

const OK: (&str, &str) = (":status", "200");

/// The text `x-lab` in the Huffman code.
const X_LAB_CODED: [u8; 4] = [0xf2, 0xb5, 0x03, 0x8f];

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    HostileRow {
        name: "rare-early-reply",
        section: "9113 8.1",
        text: "a reply before the request's body is there, then RST_STREAM with NO_ERROR",
        trigger: Trigger::Head,
        writer: HostileReply::Http2(|s| {
            s.reply();
            s.reset(Http2ErrorCode::NoError);
        }),
    },
    row(
        "rare-unknown-frame",
        "9113 5.5",
        "frames of an unknown type, on stream 0 and on the request's",
        |s| {
            s.frame(0xfa, 0xff, 0, b"unknown");
            s.good_head();
            s.frame(0xfb, 0xff, s.stream, b"unknown");
            s.end();
        },
    ),
    row("rare-unknown-setting", "9113 6.5.2", "SETTINGS with an unknown setting", |s| {
        frame::put_settings(s.out, &[(0xfafa, 7)]);
        s.reply();
    }),
    row(
        "rare-settings-change",
        "9113 6.5.3",
        "SETTINGS before each reply: 1 stream and no table, then more of both",
        |s| {
            let more = s.round % 2;
            let change = [
                (setting::MAX_CONCURRENT_STREAMS, 1 + 99 * more),
                (setting::HEADER_TABLE_SIZE, 64 * more),
            ];
            frame::put_settings(s.out, &change);
            s.reply();
        },
    ),
    row("rare-padding", "9113 6.1", "padded HEADERS and DATA", |s| {
        let head = [&[3][..], &block(&[OK]), &[0; 3]].concat();
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::PADDED, s.stream, &head);
        s.frame(kind::DATA, flag::PADDED, s.stream, &[&[255][..], BODY, &[0; 255]].concat());
        s.frame(kind::DATA, flag::PADDED | flag::END_STREAM, s.stream, &[0]);
        s.is_reply = true;
    }),
    row("rare-priority", "9113 6.3", "HEADERS with priority, and PRIORITY frames", |s| {
        let head = [&[0, 0, 0, 0, 15][..], &block(&[OK])].concat();
        s.frame(kind::PRIORITY, 0, s.stream + 1000, &[0, 0, 0, 0, 1]);
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::PRIORITY, s.stream, &head);
        s.end();
    }),
    row("rare-interim", "9113 8.1", "status 100 and 103 before the reply", |s| {
        s.head(&[(":status", "100")]);
        s.head(&[(":status", "103"), ("link", "</style.css>; rel=preload")]);
        s.reply();
    }),
    row("rare-trailers", "9113 8.1", "trailers after the body", |s| {
        s.good_head();
        s.frame(kind::DATA, 0, s.stream, BODY);
        s.frame(
            kind::HEADERS,
            flag::END_HEADERS | flag::END_STREAM,
            s.stream,
            &block(&[("x-sum", "1")]),
        );
        s.is_reply = true;
    }),
    row("rare-continuation", "9113 6.10", "a header block in pieces of five bytes", |s| {
        let block = block(&[OK, ("server", "brunt-lab"), ("x-lab", "in pieces")]);
        let mut bytes = Vec::new();
        frame::put_headers(&mut bytes, s.stream, 0, &block, 5);
        s.out.extend(bytes);
        s.end();
    }),
    row("rare-empty-data", "9113 6.1", "empty DATA before, within and after the body", |s| {
        s.good_head();
        s.frame(kind::DATA, 0, s.stream, &[]);
        s.frame(kind::DATA, 0, s.stream, &BODY[..5]);
        s.frame(kind::DATA, 0, s.stream, &[]);
        s.frame(kind::DATA, 0, s.stream, &BODY[5..]);
        s.frame(kind::DATA, flag::END_STREAM, s.stream, &[]);
        s.is_reply = true;
    }),
    row("rare-no-body", "9113 8.1", "END_STREAM in HEADERS, without content-length", |s| {
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, s.stream, &block(&[OK]));
        s.is_reply = true;
    }),
    row(
        "rare-dynamic-table",
        "7541 6.2.1",
        "fields that are entered in the dynamic table and named later",
        |s| {
            let mut block = vec![0x88];
            if s.round == 0 {
                block.push(0x40);
                put_string(&mut block, b"x-lab");
                put_string(&mut block, b"entered");
            } else {
                block.push(0xbe);
            }
            s.block(&block);
            s.end();
        },
    ),
    row(
        "rare-table-update",
        "7541 6.3",
        "table size updates to 0 and to 4096, and an entry",
        |s| {
            s.block(&[0x20, 0x3f, 0xe1, 0x1f, 0x88, 0x40, 1, b'x', 1, b'a', 0xbe]);
            s.end();
        },
    ),
    row("rare-huffman", "7541 5.2", "names and values in the Huffman code", |s| {
        s.block(&[&[0x88, 0x10, 0x84], &X_LAB_CODED[..], &[0xa0], &EVERY_BYTE_CODED].concat());
        s.end();
    }),
    row("rare-ping", "9113 6.7", "PING before the reply, and an acknowledgement of none", |s| {
        s.frame(kind::PING, 0, 0, &[5; 8]);
        s.frame(kind::PING, flag::ACK, 0, &[6; 8]);
        s.reply();
    }),
    row("rare-reset-after-end", "9113 8.1", "a whole reply, then RST_STREAM with NO_ERROR", |s| {
        s.reply();
        s.reset(Http2ErrorCode::NoError);
    }),
    row(
        "rare-graceful",
        "9113 6.8",
        "GOAWAY with 2^31-1, the reply, GOAWAY with its stream, then a close",
        |s| {
            frame::put_goaway(s.out, u32::MAX >> 1, Http2ErrorCode::NoError, "");
            s.reply();
            frame::put_goaway(s.out, s.stream, Http2ErrorCode::NoError, "shutting down");
            s.close();
        },
    ),
];
