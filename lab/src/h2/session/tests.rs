use clap::Parser;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

fn session(line: &str) -> Session {
    let words = ["lab"].into_iter().chain(line.split_whitespace());
    let mut session = Session::new(&Options::try_parse_from(words).unwrap());
    let mut hello = PREFACE.to_vec();
    frame::put_settings(&mut hello, &[]);
    frame::put(&mut hello, kind::SETTINGS, flag::ACK, 0, &[]);
    session.receive(&hello).unwrap();
    session
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        put_field(&mut block, name, value);
    }
    block
}

fn get() -> Vec<u8> {
    block(&[(":method", "GET"), (":scheme", "http"), (":path", "/")])
}

/// Kind, flags, stream, payload.
type Frame<'a> = (u8, u8, u32, &'a [u8]);

/// Frames one after the other.
fn frames(all: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, flags, stream, payload) in all {
        frame::put(&mut bytes, *kind, *flags, *stream, payload);
    }
    bytes
}

const END: u8 = flag::END_STREAM | flag::END_HEADERS;

#[test]
fn frames_are_read_alike_however_they_are_cut() {
    let head = get();
    let padded = [&[2][..], &[0; 5], &head[..2], &[0, 0]].concat();
    let input = frames(&[
        (kind::HEADERS, END, 1, &head),
        (kind::HEADERS, flag::PADDED | flag::PRIORITY | flag::END_STREAM, 3, &padded),
        (kind::CONTINUATION, 0, 3, &[]),
        (kind::CONTINUATION, flag::END_HEADERS, 3, &head[2..]),
        (kind::PRIORITY, 0, 9, &[0; 5]),
        (0xee, 0xff, 1, b"unknown"),
        (kind::HEADERS, flag::END_HEADERS, 5, &head),
        (kind::DATA, 0, 5, b"body"),
        (kind::HEADERS, END, 5, &block(&[("x-sum", "1")])),
        (kind::GOAWAY, 0, 0, &[0; 8]),
    ]);
    for piece in 1..=input.len() {
        let mut session = session("");
        input.chunks(piece).for_each(|bytes| session.receive(bytes).unwrap());
        let streams: Vec<u32> = session.done.iter().map(|(stream, _)| *stream).collect();
        assert_eq!(streams, [1, 3, 5], "in pieces of {piece}");
    }
}

#[test]
fn broken_rules_end_the_connection() {
    let head = get();
    let long = vec![0; LARGEST_FRAME + 1];
    let cases: &[(&[Frame], Code, &str)] = &[
        (&[(kind::DATA, 0, 0, b"x")], Code::ProtocolError, "not open"),
        (&[(kind::DATA, 0, 1, b"x")], Code::ProtocolError, "not open"),
        (&[(kind::HEADERS, END, 1, &head), (kind::DATA, 0, 1, b"x")], Code::StreamClosed, "after END_STREAM"),
        (&[(kind::HEADERS, END, 1, &head), (kind::HEADERS, END, 1, &head)], Code::StreamClosed, "after END_STREAM"),
        (&[(kind::HEADERS, END, 2, &head)], Code::ProtocolError, "even number"),
        (&[(kind::HEADERS, END, 0, &head)], Code::ProtocolError, "stream 0"),
        (&[(kind::HEADERS, END, 3, &head), (kind::HEADERS, END, 1, &head)], Code::StreamClosed, "closed stream"),
        (&[(kind::HEADERS, END | flag::PADDED, 1, &[9, 0])], Code::ProtocolError, "padding"),
        (&[(kind::HEADERS, END, 1, &[0x80])], Code::CompressionError, "index 0"),
        (&[(kind::HEADERS, 0, 1, &head), (kind::PING, 0, 0, &[0; 8])], Code::ProtocolError, "within a header block"),
        (&[(kind::CONTINUATION, 0, 1, &head)], Code::ProtocolError, "without HEADERS"),
        (&[(kind::PING, 0, 0, &[0; 7])], Code::FrameSizeError, "PING"),
        (&[(kind::SETTINGS, 0, 0, &[0; 5])], Code::FrameSizeError, "multiple of 6"),
        (&[(kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0])], Code::FlowControlError, "2^31-1"),
        (&[(kind::SETTINGS, flag::ACK, 0, &[0; 6])], Code::FrameSizeError, "payload"),
        (&[(kind::WINDOW_UPDATE, 0, 0, &[0; 4])], Code::ProtocolError, "WINDOW_UPDATE of 0"),
        (&[(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])], Code::FlowControlError, "above 2^31-1"),
        (&[(kind::WINDOW_UPDATE, 0, 7, &[0, 0, 0, 1])], Code::ProtocolError, "idle"),
        (&[(kind::RST_STREAM, 0, 7, &[0; 4])], Code::ProtocolError, "not open"),
        (&[(kind::PUSH_PROMISE, 0, 1, &[0; 4])], Code::ProtocolError, "PUSH_PROMISE"),
        (&[(kind::PRIORITY, 0, 1, &[0; 4])], Code::FrameSizeError, "PRIORITY"),
        (&[(kind::DATA, 0, 1, &long)], Code::FrameSizeError, "MAX_FRAME_SIZE"),
    ];
    for (input, code, told) in cases {
        let mut session = session("");
        let (given, reason) = session.receive(&frames(input)).unwrap_err();
        assert!(given == *code && reason.contains(told), "{told}: {given:?}, {reason}");
    }
    let mut first = Session::new(&Options::try_parse_from(["lab"]).unwrap());
    let hello = [&PREFACE[..], &frames(&[(kind::PING, 0, 0, &[0; 8])])].concat();
    assert!(first.receive(&hello).unwrap_err().1.contains("not SETTINGS"));
}

#[test]
fn broken_requests_end_their_stream() {
    for (fields, flags) in [
        (vec![(":method", "GET")], END),
        (vec![(":method", "GET"), (":scheme", "http"), (":path", "/"), ("content-length", "5")], END),
        (vec![(":method", "GET"), (":scheme", "http"), (":path", "/"), ("connection", "close")], flag::END_HEADERS),
    ] {
        let mut session = session("");
        session.out = Out::default();
        session.receive(&frames(&[(kind::HEADERS, flags, 1, &block(&fields))])).unwrap();
        assert_eq!(session.out.bytes, frames(&[(kind::RST_STREAM, 0, 1, &[0, 0, 0, 1])]), "{fields:?}");
        session.receive(&frames(&[(kind::HEADERS, END, 3, &get())])).unwrap();
        assert_eq!((session.done.len(), session.counts.malformed), (1, 1));
    }
    let mut session = session("");
    let post = block(&[(":method", "POST"), (":scheme", "http"), (":path", "/"), ("content-length", "5")]);
    let body: &[u8] = b"four";
    session.receive(&frames(&[(kind::HEADERS, flag::END_HEADERS, 1, &post), (kind::DATA, 1, 1, body)])).unwrap();
    assert_eq!(
        (session.done.len(), session.counts.first_error.unwrap()),
        (0, "a body that differs from its content-length")
    );
}

#[test]
fn a_window_that_shrinks_below_zero_is_granted_again() {
    let mut session = session("--h2-window 1000 --h2-window-then 10");
    session.receive(&frames(&[(kind::HEADERS, flag::END_HEADERS, 1, &get()), (kind::DATA, 0, 1, &[0; 400])])).unwrap();
    // The client may still use the old window until it has taken the new one in.
    session.receive(&frames(&[(kind::DATA, 0, 1, &[0; 600])])).unwrap();
    session.out = Out::default();
    session.receive(&frames(&[(kind::SETTINGS, flag::ACK, 0, &[])])).unwrap();
    assert_eq!(session.out.bytes, frames(&[(kind::WINDOW_UPDATE, 0, 1, &990u32.to_be_bytes())]));
    session.receive(&frames(&[(kind::DATA, 0, 1, &[0; 10])])).unwrap();
    let (code, _) = session.receive(&frames(&[(kind::DATA, 0, 1, &[0; 11])])).unwrap_err();
    assert_eq!(code, Code::FlowControlError);
}

#[test]
fn a_smaller_table_must_be_kept_to() {
    let mut session = session("--h2-table 0");
    let (code, reason) = session.receive(&frames(&[(kind::HEADERS, END, 1, &get())])).unwrap_err();
    assert!(code == Code::CompressionError && reason.contains("no table size update"), "{reason}");
}

#[test]
fn cancelled_streams_are_forgotten() {
    let mut session = session("");
    session.receive(&frames(&[(kind::HEADERS, END, 1, &get()), (kind::RST_STREAM, 0, 1, &[0, 0, 0, 8])])).unwrap();
    assert!(session.is_idle());
    assert_eq!(session.counts.cancelled, 1);
}

#[test]
fn any_bytes_are_taken_or_refused() {
    let head = get();
    let input = frames(&[
        (kind::HEADERS, flag::END_HEADERS, 1, &head),
        (kind::DATA, flag::PADDED, 1, &[1, b'a', 0]),
        (kind::HEADERS, END, 1, &block(&[("x-sum", "1")])),
        (kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 7]),
        (kind::HEADERS, 0, 3, &head),
        (kind::CONTINUATION, flag::END_HEADERS, 3, &[0x40, 1, b'a', 0x81, 0x1f]),
        (kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 9]),
        (kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]),
        (kind::PING, 0, 0, &[0; 8]),
    ]);
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut bytes = input.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        let mut session = session("--h2-window 100");
        if let Err(fatal) = session.receive(&bytes) {
            session.fail(fatal);
            refused += 1;
        }
    }
    assert!((5_000..20_000).contains(&refused), "{refused}");
}
