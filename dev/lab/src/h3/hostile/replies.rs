//! Lists the rows about frames on a request's stream, messages and their fields.

use super::{BODY, Http3RowOutput, OK, StreamEnd, block, endless, number, row};
use crate::hostile::HostileRow;

/// Appends a correct head, DATA, and one more frame.
fn then(s: &mut Http3RowOutput, kind: u64, payload: &[u8]) {
    s.fields(&[OK]);
    s.frame(kind, payload);
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    row("h3-no-reply", "9114 4.1", "the end of the stream, and nothing before it", |s| {
        s.end = Some(StreamEnd::Finished);
    }),
    row("h3-data-before-headers", "9114 4.1", "DATA before HEADERS", |s| s.data(BODY)),
    row("h3-data-after-interim", "9114 4.1", "DATA after 103, without a final status", |s| {
        s.fields(&[(":status", "103")]);
    }),
    row("h3-interim-ends", "9114 4.1", "status 103 and the end of the stream", |s| {
        s.head(&[(":status", "103")]);
    }),
    row("h3-data-after-trailers", "9114 4.1", "DATA behind trailers", |s| {
        then(s, number::HEADERS, &block(&[("x-lab", "a")]));
        s.data(BODY);
    }),
    row("h3-headers-after-trailers", "9114 4.1", "HEADERS behind trailers", |s| {
        then(s, number::HEADERS, &block(&[("x-lab", "a")]));
        s.head(&[("x-lab", "b")]);
    }),
    row("h3-frame-cut", "9114 7.1", "a stream that ends within DATA", |s| {
        s.head(&[OK]);
        s.out.extend_from_slice(&[0, 100, b'a']);
    }),
    row("h3-frame-head-cut", "9114 7.1", "a stream that ends within the head of a frame", |s| {
        s.head(&[OK]);
        s.out.extend_from_slice(&[0, 0x80]);
    }),
    row("h3-headers-cut", "9114 7.1", "a stream that ends within HEADERS", |s| {
        s.out.extend_from_slice(&[1, 100, 0, 0, 0xd9]);
    }),
    row("h3-settings-on-request", "9114 7.2.4", "SETTINGS on the request's stream", |s| {
        then(s, number::SETTINGS, &[]);
    }),
    row("h3-goaway-on-request", "9114 7.2.6", "GOAWAY on the request's stream", |s| {
        then(s, number::GOAWAY, &[0]);
    }),
    row("h3-cancel-push-on-request", "9114 7.2.3", "CANCEL_PUSH on the request's stream", |s| {
        then(s, 3, &[0]);
    }),
    row("h3-max-push-id-on-request", "9114 7.2.7", "MAX_PUSH_ID on the request's stream", |s| {
        then(s, 0xd, &[0]);
    }),
    row("h3-push-promise", "9114 7.2.5", "PUSH_PROMISE although no push was allowed", |s| {
        s.frame(
            5,
            &[&[0][..], &block(&[(":method", "GET"), (":scheme", "https"), (":path", "/")])]
                .concat(),
        );
        s.reply();
        // The client must fail at the promise, before it reads the reply.
        s.is_reply = false;
    }),
    row(
        "h3-priority-on-request",
        "9114 7.2.8",
        "PRIORITY of HTTP/2 on the request's stream",
        |s| then(s, 2, &[0; 5]),
    ),
    row("h3-ping-on-request", "9114 7.2.8", "PING of HTTP/2 on the request's stream", |s| {
        then(s, 6, &[0; 8]);
    }),
    row(
        "h3-window-update-on-request",
        "9114 7.2.8",
        "WINDOW_UPDATE of HTTP/2 on the request's stream",
        |s| {
            then(s, 8, &[0, 0, 1, 0]);
        },
    ),
    row(
        "h3-continuation-on-request",
        "9114 7.2.8",
        "CONTINUATION of HTTP/2 on the request's stream",
        |s| {
            then(s, 9, &[]);
        },
    ),
    row("h3-headers-too-large", "9114 10.5.1", "the head of HEADERS of 2^30 bytes", |s| {
        s.out.extend_from_slice(&[1, 0xc0, 0, 0, 0, 0x40, 0, 0, 0]);
        s.end = Some(StreamEnd::Open);
    }),
    row("h3-fields-too-large", "9114 4.2.2", "one name of the static table 8000 times", |s| {
        s.block(&[&block(&[OK])[..], &[0xff, 14].repeat(8_000)].concat());
        s.data(BODY);
    }),
    row("h3-body-too-short", "9114 4.1.2", "fewer bytes than content-length", |s| {
        s.fields(&[OK, ("content-length", "11")]);
    }),
    row("h3-body-too-long", "9114 4.1.2", "more bytes than content-length", |s| {
        s.fields(&[OK, ("content-length", "9")]);
    }),
    row("h3-body-missing", "9114 4.1.2", "content-length without DATA", |s| {
        s.head(&[OK, ("content-length", "10")]);
    }),
    row("h3-body-of-204", "9110 15.3.5", "DATA behind status 204", |s| {
        s.fields(&[(":status", "204")]);
    }),
    row("h3-body-of-304", "9110 15.4.5", "DATA behind status 304", |s| {
        s.fields(&[(":status", "304")]);
    }),
    row("h3-content-length-no-number", "9114 4.1.2", "a content-length that is no number", |s| {
        s.fields(&[OK, ("content-length", "ten")]);
    }),
    row("h3-content-length-twice", "9114 4.1.2", "two content-lengths that differ", |s| {
        s.fields(&[OK, ("content-length", "10"), ("content-length", "11")]);
    }),
    row("h3-status-missing", "9114 4.3.2", "HEADERS without :status", |s| {
        s.fields(&[("server", "lab")]);
    }),
    row("h3-head-empty", "9114 4.3.2", "HEADERS without any field", |s| s.fields(&[])),
    row("h3-status-twice", "9114 4.3", ":status twice", |s| s.fields(&[OK, OK])),
    row("h3-status-no-number", "9114 4.3.2", "a :status that is no number", |s| {
        s.fields(&[(":status", "abc")]);
    }),
    row("h3-status-four-digits", "9114 4.3.2", "a :status of four digits", |s| {
        s.fields(&[(":status", "2000")]);
    }),
    row("h3-status-101", "9114 4.5", "status 101", |s| s.fields(&[(":status", "101")])),
    row("h3-pseudo-after-field", "9114 4.3", ":status after another field", |s| {
        s.fields(&[("server", "lab"), OK]);
    }),
    row("h3-pseudo-unknown", "9114 4.3", "a pseudo-header field that does not exist", |s| {
        s.fields(&[OK, (":lab", "a")]);
    }),
    row("h3-pseudo-of-request", "9114 4.3", ":path in a reply", |s| {
        s.fields(&[OK, (":path", "/")]);
    }),
    row("h3-name-upper-case", "9114 4.2", "a field name in upper case", |s| {
        s.fields(&[OK, ("X-Lab", "a")]);
    }),
    row("h3-name-empty", "9114 4.2", "a field without a name", |s| s.fields(&[OK, ("", "a")])),
    row("h3-name-with-space", "9114 4.2", "a field name with a space", |s| {
        s.fields(&[OK, ("x lab", "a")]);
    }),
    row("h3-value-with-newline", "9114 10.3", "a field value with CR and LF", |s| {
        s.fields(&[OK, ("x-lab", "a\r\nb: c")]);
    }),
    row("h3-value-with-nul", "9114 10.3", "a field value with NUL", |s| {
        s.fields(&[OK, ("x-lab", "a\0b")]);
    }),
    row("h3-field-connection", "9114 4.2", "the field connection", |s| {
        s.fields(&[OK, ("connection", "close")]);
    }),
    row("h3-field-keep-alive", "9114 4.2", "the field keep-alive", |s| {
        s.fields(&[OK, ("keep-alive", "timeout=5")]);
    }),
    row("h3-field-transfer-encoding", "9114 4.2", "the field transfer-encoding", |s| {
        s.fields(&[OK, ("transfer-encoding", "chunked")]);
    }),
    row("h3-trailers-status", "9114 4.3", ":status in trailers", |s| {
        then(s, number::HEADERS, &block(&[OK]));
    }),
    endless("h3-interim-endless", "9114 10.5", "status 103 without end", |s| {
        (0..100).for_each(|_| s.head(&[(":status", "103")]));
    }),
    endless("h3-empty-data-flood", "9114 10.5", "empty DATA without end", |s| {
        if s.round == 0 {
            s.head(&[OK]);
        }
        (0..100).for_each(|_| s.data(&[]));
    }),
    endless(
        "h3-unknown-on-request-flood",
        "9114 10.5",
        "frames of an unknown type on the request's stream without end",
        |s| {
            (0..100).for_each(|_| s.frame(0x21, b"unknown"));
        },
    ),
];
