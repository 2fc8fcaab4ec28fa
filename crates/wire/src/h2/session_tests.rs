//! Tests a connection with frames that are written by hand.

use super::frame::{self, put_head, put_numbers};
use super::hpack::{BlockPosition, Decoder, Encoder};
use super::session::{Http2Session, Http2SessionEnd};
use crate::collect::ReplyCollector;
use crate::multiplexing::stream::{MultiplexedRequest, Upload};
use crate::request::RequestKind;
use crate::request::fields::{HeaderField, Indexing, RequestFields};
use crate::request::{RequestDraft, RequestParts};
use crate::{SharedCounts, WantedDetails, WantedFields};
use brunt_model::outcome::MalformedReply;
use brunt_model::request::{BodyPieces, PieceInterval};
use brunt_model::{Body, Failure, Tick};
use proptest::prelude::*;
use std::rc::Rc;
use std::time::Duration;

fn parts(method: &str, body: &Body) -> Rc<RequestParts> {
    let draft = RequestDraft {
        method,
        url: "http://h/a",
        headers: &[],
        body,
        label: 0,
        reply_policy: 0,
        verbatim: None,
    };
    Rc::new(RequestParts::from_draft(&draft).unwrap())
}

fn settings(list: &[(u16, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_head(&mut out, list.len() * 6, frame::SETTINGS, 0, 0);
    for (name, value) in list {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
    out
}

fn framed(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_head(&mut out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
    out
}

fn block(list: &[(&str, &str)]) -> Vec<u8> {
    let field = |(name, value): &(&str, &str)| HeaderField {
        name: (*name).into(),
        value: (*value).into(),
        indexing: Indexing::Without,
    };
    let list: Vec<HeaderField> = list.iter().map(field).collect();
    let mut out = Vec::new();
    Encoder::new().encode(list.iter(), &mut out);
    out
}

fn headers(stream: u32, flags: u8, list: &[(&str, &str)]) -> Vec<u8> {
    framed(frame::HEADERS, flags | frame::END_HEADERS, stream, &block(list))
}

fn data(stream: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    framed(frame::DATA, flags, stream, bytes)
}

const END: u8 = frame::END_STREAM;

/// Returns a connection with `n` sent requests, whose server has sent its settings.
fn asked(n: usize) -> Http2Session {
    let mut session = session_with_requests(n);
    session.receive(&settings(&[]), Tick(1));
    session
}

fn session_with_requests(n: usize) -> Http2Session {
    let mut session = Http2Session::new(SharedCounts::default());
    let fields = RequestFields::from_request(&parts("GET", &Body::None)).unwrap();
    for _ in 0..n {
        session.begin(&fields, MultiplexedRequest::new(RequestKind::Ordinary, None, 0)).unwrap();
    }
    session.record_written(Tick(0));
    session
}

/// Outcome of a stream: status and body length, or the failure and its cause.
fn end(session: &Http2Session, id: u32) -> Result<(u16, u64), (Failure, Option<MalformedReply>)> {
    let stream = &session.streams[&id];
    match stream.end {
        Some(Ok(())) => Ok((stream.head.unwrap().status, stream.body_bytes)),
        Some(Err(failure)) => Err((failure, stream.stamps.malformed)),
        None => Err((Failure::Cut, None)),
    }
}

#[test]
fn a_connection_begins_with_preface_settings_and_a_large_window() {
    let session = Http2Session::new(SharedCounts::default());
    let rest = session.out.strip_prefix(frame::PREFACE).unwrap();
    let head = frame::FrameHead::read(rest).unwrap();
    assert_eq!((head.kind, head.length, head.stream), (frame::SETTINGS, 18, 0));
    let window = &rest[frame::HEAD + 18..];
    assert_eq!(
        frame::number(&window[frame::HEAD..]),
        Some((frame::MAX_WINDOW - frame::DEFAULT_WINDOW) as u32)
    );
}

#[test]
fn replies_are_received_in_any_order_and_pieces() {
    let bytes = [
        settings(&[(frame::MAX_CONCURRENT_STREAMS, 7), (99, 1)]),
        headers(3, 0, &[(":status", "200"), ("content-length", "5")]),
        framed(frame::PING, 0, 0, b"12345678"),
        data(3, 0, b"abc"),
        headers(1, 0, &[(":status", "103"), ("link", "x")]),
        headers(1, END, &[(":status", "404"), ("content-length", "0")]),
        framed(frame::DATA, frame::PADDED | END, 3, b"\x02de\0\0"),
        headers(5, 0, &[(":status", "200")]),
        framed(77, 3, 9, b"unknown"),
        data(5, 0, b"xy"),
        headers(5, END, &[("grpc-status", "0")]),
    ]
    .concat();
    let check = |session: &Http2Session| {
        assert_eq!(session.end, None);
        assert_eq!(
            [end(session, 1), end(session, 3), end(session, 5)],
            [Ok((404, 0)), Ok((200, 5)), Ok((200, 2))]
        );
        assert_eq!(session.peer.streams, 7);
        let three = &session.streams[&3].stamps;
        assert_eq!(three.bytes_received - three.head_bytes, 5);
    };
    let mut whole = session_with_requests(3);
    whole.receive(&bytes, Tick(5));
    check(&whole);
    let answers = [
        &framed(frame::SETTINGS, frame::ACK, 0, b"")[..],
        &framed(frame::PING, frame::ACK, 0, b"12345678"),
    ];
    assert_eq!(whole.out, answers.concat());
    for cut in 1..bytes.len() {
        let mut session = session_with_requests(3);
        session.receive(&bytes[..cut], Tick(5));
        session.receive(&bytes[cut..], Tick(6));
        check(&session);
    }
    let mut single = session_with_requests(3);
    for byte in &bytes {
        single.receive(&[*byte], Tick(5));
    }
    check(&single);
}

#[test]
fn repeated_blocks_are_recognized_until_the_table_changes() {
    let mut session = asked(4);
    let mut encoder = Encoder::new();
    let mut reply = |date: &str| {
        let field = |name: &str, value: &str| HeaderField {
            name: name.into(),
            value: value.into(),
            indexing: Indexing::Index,
        };
        let list = [field(":status", "200"), field("date", date), field("content-length", "0")];
        let mut out = Vec::new();
        encoder.encode(list.iter(), &mut out);
        out
    };
    for (stream, date) in [(1, "a"), (3, "a"), (5, "a"), (7, "b")] {
        session.receive(
            &framed(frame::HEADERS, frame::END_HEADERS | END, stream, &reply(date)),
            Tick(2),
        );
        assert_eq!(end(&session, stream), Ok((200, 0)));
    }
}

#[test]
fn requested_header_fields_are_recorded() {
    let mut session = Http2Session::new(SharedCounts::default());
    let wants = WantedDetails {
        head: true,
        body: true,
        fields: WantedFields::All,
        ..WantedDetails::default()
    };
    let keep = ReplyCollector::new(wants, None, None);
    let fields = RequestFields::from_request(&parts("GET", &Body::None)).unwrap();
    session.begin(&fields, MultiplexedRequest::new(RequestKind::Ordinary, keep, 0)).unwrap();
    let reply = headers(1, 0, &[(":status", "200"), ("a", "b")]);
    session.receive(&[settings(&[]), reply, data(1, END, b"hello")].concat(), Tick(2));
    let kept = session.streams.remove(&1).unwrap().into_reply().unwrap().details.unwrap();
    assert_eq!(String::from_utf8_lossy(&kept.first_bytes), "HTTP/2 200\r\na: b\r\n\r\n");
    assert_eq!(
        (kept.head.unwrap().1, kept.body),
        (vec![("a".into(), "b".into())], b"hello".to_vec())
    );
}

/// Returns the written DATA frames: stream, length, and true for the last one.
fn sent(out: &[u8]) -> Vec<(u32, usize, bool)> {
    let mut rest = out;
    let mut frames = Vec::new();
    while let Some(head) = frame::FrameHead::read(rest) {
        if head.kind == frame::DATA {
            frames.push((head.stream, head.length, head.has(END)));
        }
        rest = &rest[frame::HEAD + head.length..];
    }
    frames
}

#[test]
fn bodies_are_sent_within_flow_control_windows() {
    let counts = SharedCounts::default();
    let mut session = Http2Session::new(Rc::clone(&counts));
    session.record_written(Tick(0));
    let parts = parts("POST", &Body::from_bytes(vec![7; 40_000]));
    let fields = RequestFields::from_request(&parts).unwrap();
    for _ in 0..2 {
        let mut stream = MultiplexedRequest::new(RequestKind::Ordinary, None, 0);
        stream.upload = Some(Upload::new(&parts, 0));
        session.begin(&fields, stream).unwrap();
    }
    // The window of the connection is 65,535 bytes.
    let frames = sent(&session.out);
    assert_eq!(frames[..3], [(1, 16_384, false), (1, 16_384, false), (1, 7232, true)]);
    assert_eq!(frames[3..], [(3, 16_384, false), (3, 9151, false)]);
    session.record_written(Tick(9));
    assert_eq!(
        (session.streams[&1].stamps.sent, session.streams[&3].stamps.sent),
        (Tick(9), Tick::ZERO)
    );
    let mut grant = settings(&[(frame::INITIAL_WINDOW_SIZE, 30_000)]);
    put_numbers(&mut grant, frame::WINDOW_UPDATE, 0, &[100_000]);
    session.receive(&grant, Tick(10));
    assert_eq!(sent(&session.out), [(3, 4465, false)]);
    session.record_written(Tick(11));
    let mut grant = Vec::new();
    put_numbers(&mut grant, frame::WINDOW_UPDATE, 3, &[100_000]);
    session.receive(&grant, Tick(12));
    assert_eq!(sent(&session.out), [(3, 10_000, true)]);
    session.record_written(Tick(13));
    assert_eq!(session.streams[&3].stamps.sent, Tick(13));
    // The second request waited from 9 to 10, and from 11 to 12.
    assert_eq!((counts.borrow().stalled, counts.borrow().stalled_nanos), (1, 2));
}

#[test]
fn an_early_reply_ends_the_request_body() {
    let mut session = Http2Session::new(SharedCounts::default());
    session.record_written(Tick(0));
    let parts = parts("POST", &Body::from_bytes(vec![7; 100_000]));
    let mut stream = MultiplexedRequest::new(RequestKind::Ordinary, None, 0);
    stream.upload = Some(Upload::new(&parts, 0));
    session.begin(&RequestFields::from_request(&parts).unwrap(), stream).unwrap();
    session.record_written(Tick(1));
    session.receive(&[settings(&[]), headers(1, END, &[(":status", "413")])].concat(), Tick(2));
    let mut reset = Vec::new();
    put_numbers(&mut reset, frame::RST_STREAM, 1, &[0]);
    session.receive(&reset, Tick(3));
    assert_eq!(end(&session, 1), Ok((413, 0)));
    assert!(session.out.ends_with(&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8]), "CANCEL");
}

/// Returns a session that began a body of these pieces at tick 5, and the frames written so far.
fn pieces(bytes: &[u8], ends: &[usize], interval: PieceInterval) -> Http2Session {
    let count = Some(ends.len() as u64);
    repeated_pieces(BodyPieces {
        bytes: bytes.to_vec(),
        ends: ends.to_vec(),
        interval,
        count,
        duration: None,
    })
}

/// The same, with a number of pieces.
fn repeated_pieces(pieces: BodyPieces) -> Http2Session {
    let mut session = Http2Session::new(SharedCounts::default());
    session.record_written(Tick(0));
    session.receive(&settings(&[]), Tick(1));
    session.record_written(Tick(2));
    let parts = parts("POST", &Body::Pieces(pieces));
    let upload = Upload::new(&parts, 0);
    let keep = upload.is_paced_by_reply().then(|| ReplyCollector::counting_messages(None));
    let mut stream = MultiplexedRequest::new(RequestKind::Ordinary, keep, 0);
    stream.upload = Some(upload);
    session.begin(&RequestFields::from_request(&parts).unwrap(), stream).unwrap();
    session
}

#[test]
fn each_piece_of_a_body_is_sent_when_it_is_released() {
    let interval = PieceInterval::Time(Duration::from_millis(1));
    let mut session = pieces(&vec![7; 30_000], &[10, 20_010, 30_000], interval);
    assert_eq!(sent(&session.out), [(1, 10, false)]);
    session.record_written(Tick(5));
    assert!(session.out.is_empty(), "nothing is due");
    session.release_piece(1);
    assert_eq!(sent(&session.out), [(1, 16_384, false), (1, 3616, false)]);
    session.record_written(Tick(6));
    assert_eq!(session.streams[&1].stamps.sent, Tick(6));
    session.release_piece(1);
    assert_eq!(sent(&session.out), [(1, 9990, true)]);
    session.release_piece(1);
    session.record_written(Tick(7));
    assert_eq!(
        (session.streams[&1].stamps.sent, session.out.len()),
        (Tick(7), 0),
        "there is no further piece"
    );
}

#[test]
fn pieces_delayed_by_windows_are_sent_once() {
    let mut session = pieces(&vec![7; 70_000], &[65_000, 69_000, 70_000], PieceInterval::Reply);
    session.record_written(Tick(5));
    session.release_piece(1);
    assert_eq!(sent(&session.out), [(1, 535, false)], "the window of 65,535 bytes is full");
    session.record_written(Tick(6));
    session.release_piece(1);
    let mut grant = Vec::new();
    put_numbers(&mut grant, frame::WINDOW_UPDATE, 0, &[100_000]);
    put_numbers(&mut grant, frame::WINDOW_UPDATE, 1, &[100_000]);
    session.receive(&grant, Tick(7));
    assert_eq!(sent(&session.out), [(1, 3465, false), (1, 1000, true)]);
}

#[test]
fn pieces_repeat_until_the_stream_is_closed() {
    let bytes = b"onetwo!".to_vec();
    let interval = PieceInterval::Reply;
    let all = BodyPieces { bytes, ends: vec![3, 7], interval, count: None, duration: None };
    let mut session = repeated_pieces(all);
    session.record_written(Tick(5));
    for length in [4, 3, 4, 3] {
        session.release_piece(1);
        assert_eq!(sent(&session.out), [(1, length, false)]);
        session.record_written(Tick(6));
    }
    session.close_stream(1, Tick(7));
    assert_eq!(sent(&session.out), [(1, 0, true)]);
    session.record_written(Tick(8));
    session.release_piece(1);
    assert!(session.out.is_empty(), "the stream is closed");
    session.close_stream(1, Tick(9));
    assert_eq!(end(&session, 1), Ok((200, 0)), "now the reply is over");
}

#[test]
fn each_message_of_a_reply_releases_a_piece() {
    let mut session = pieces(b"onetwothree", &[3, 6, 11], PieceInterval::Reply);
    session.record_written(Tick(5));
    let message = b"\0\0\0\0\x02hi";
    session.receive(
        &[headers(1, 0, &[(":status", "200")]), data(1, 0, &message[..4])].concat(),
        Tick(6),
    );
    assert!(session.out.is_empty(), "the message is not whole");
    session.receive(&data(1, 0, &message[4..]), Tick(7));
    assert_eq!(sent(&session.out), [(1, 3, false)]);
    session.record_written(Tick(8));
    assert_eq!(
        session.streams[&1].stamps.sent,
        Tick(5),
        "what leaves after the reply began changes nothing"
    );
    session.receive(&data(1, 0, message), Tick(9));
    assert_eq!(sent(&session.out), [(1, 5, true)]);
}

#[test]
fn a_server_that_ends_the_stream_gets_no_further_piece() {
    let mut session = pieces(b"onetwo", &[3, 6], PieceInterval::Reply);
    session.record_written(Tick(5));
    let trailers = headers(1, END, &[("grpc-status", "9")]);
    let reply = [headers(1, 0, &[(":status", "200")]), trailers].concat();
    session.receive(&reply, Tick(6));
    session.release_piece(1);
    let mut reset = Vec::new();
    put_numbers(&mut reset, frame::RST_STREAM, 1, &[frame::Http2ErrorCode::Cancel as u32]);
    assert_eq!((end(&session, 1), &session.out), (Ok((200, 0)), &reset));
}

#[test]
fn goaway_does_not_end_streams_that_the_server_processes() {
    let mut session = asked(3);
    let mut goaway = Vec::new();
    put_numbers(&mut goaway, frame::GOAWAY, 0, &[3, 0]);
    session.receive(&goaway, Tick(2));
    assert!(!session.accepts());
    session.receive(&headers(3, END, &[(":status", "200")]), Tick(3));
    session.finish(Http2SessionEnd::Lost(Failure::ClosedEarly));
    assert_eq!(end(&session, 3), Ok((200, 0)));
    assert_eq!(end(&session, 5), Err((Failure::Unprocessed, None)));
    assert_eq!(
        end(&session, 1),
        Err((Failure::Stale, None)),
        "the connection was used, and nothing came of this one"
    );
}

#[test]
fn closes_are_reported_by_their_code() {
    for (code, cause) in [
        (1, MalformedReply::ClosedHttp2ProtocolError),
        (2, MalformedReply::ClosedHttp2InternalError),
        (3, MalformedReply::ClosedHttp2FlowControlError),
        (4, MalformedReply::ClosedHttp2SettingsTimeout),
        (5, MalformedReply::ClosedHttp2StreamClosed),
        (6, MalformedReply::ClosedHttp2FrameSizeError),
        (7, MalformedReply::ClosedHttp2RefusedStream),
        (8, MalformedReply::ClosedHttp2Cancel),
        (9, MalformedReply::ClosedHttp2CompressionError),
        (10, MalformedReply::ClosedHttp2ConnectError),
        (11, MalformedReply::ClosedHttp2EnhanceYourCalm),
        (12, MalformedReply::ClosedHttp2InadequateSecurity),
        (13, MalformedReply::ClosedHttp2Http11Required),
        (14, MalformedReply::ClosedHttp2Unknown),
        (u32::MAX, MalformedReply::ClosedHttp2Unknown),
    ] {
        let mut session = asked(3);
        let mut goaway = Vec::new();
        put_numbers(&mut goaway, frame::GOAWAY, 0, &[3, code]);
        session.receive(&goaway, Tick(2));
        session.receive(&headers(3, END, &[(":status", "200")]), Tick(3));
        session.finish(Http2SessionEnd::Lost(Failure::ClosedEarly));
        assert_eq!(end(&session, 3), Ok((200, 0)));
        assert_eq!(end(&session, 5), Err((Failure::Unprocessed, Some(cause))), "{code}");
        assert_eq!(end(&session, 1), Err((Failure::Reset, Some(cause))), "{code}");
    }
}

#[test]
fn resets_are_reported_by_their_code() {
    let mut session = asked(3);
    for (stream, code) in [(1, 2), (3, 7), (5, 99)] {
        let mut reset = Vec::new();
        put_numbers(&mut reset, frame::RST_STREAM, stream, &[code]);
        session.receive(&reset, Tick(2));
    }
    assert_eq!(
        end(&session, 1),
        Err((Failure::StreamReset, Some(MalformedReply::ResetInternalError)))
    );
    assert_eq!(
        end(&session, 3),
        Err((Failure::Unprocessed, Some(MalformedReply::ResetRefusedStream)))
    );
    assert_eq!(end(&session, 5), Err((Failure::StreamReset, Some(MalformedReply::ResetUnknown))));
    assert_eq!(session.end, None);
}

#[test]
fn a_cancelled_stream_is_reset_and_its_later_frames_are_ignored() {
    let mut session = asked(2);
    session.record_written(Tick(1));
    assert!(session.take_stream(1).is_some());
    assert_eq!(session.out, [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8]);
    let late = [
        headers(1, 0, &[(":status", "200")]),
        data(1, END, b"abc"),
        headers(3, END, &[(":status", "200")]),
    ];
    session.receive(&late.concat(), Tick(2));
    assert_eq!((session.end, end(&session, 3)), (None, Ok((200, 0))));
}

#[test]
fn frames_after_the_end_of_a_stream_are_a_protocol_error() {
    let mut session = asked(2);
    session.receive(&headers(1, END, &[(":status", "200")]), Tick(2));
    session.take_stream(1);
    session.receive(&data(1, 0, b"more"), Tick(2));
    assert_eq!(session.end, Some(Http2SessionEnd::Broken(MalformedReply::StreamState)));
}

/// Violations that reset one stream.
#[test]
fn malformed_replies_fail_only_their_stream() {
    let ok = (":status", "200");
    let cases: [(MalformedReply, Vec<Vec<u8>>); 14] = [
        (MalformedReply::PseudoHeader, vec![headers(1, END, &[("a", "b")])]),
        (MalformedReply::PseudoHeader, vec![headers(1, END, &[ok, ok])]),
        (MalformedReply::PseudoHeader, vec![headers(1, END, &[("a", "b"), ok])]),
        (MalformedReply::PseudoHeader, vec![headers(1, END, &[ok, (":path", "/")])]),
        (MalformedReply::PseudoHeader, vec![headers(1, END, &[(":status", "2000")])]),
        (MalformedReply::PseudoHeader, vec![headers(1, 0, &[(":status", "101")])]),
        (MalformedReply::PseudoHeader, vec![headers(1, 0, &[ok]), headers(1, END, &[ok])]),
        (MalformedReply::HeaderField, vec![headers(1, END, &[ok, ("Upper", "b")])]),
        (MalformedReply::HeaderField, vec![headers(1, END, &[ok, ("connection", "close")])]),
        (MalformedReply::HeaderField, vec![headers(1, END, &[ok, ("a", "b\r\nc")])]),
        (MalformedReply::ContentLength, vec![headers(1, END, &[ok, ("content-length", "+1")])]),
        (
            MalformedReply::BodyLength,
            vec![headers(1, 0, &[ok, ("content-length", "4")]), data(1, END, b"abc")],
        ),
        (
            MalformedReply::BodyLength,
            vec![headers(1, 0, &[(":status", "204")]), data(1, END, b"abc")],
        ),
        (MalformedReply::DataBeforeHead, vec![data(1, 0, b"abc")]),
    ];
    for (cause, frames) in cases {
        let mut session = asked(2);
        session.receive(&frames.concat(), Tick(2));
        assert_eq!(end(&session, 1), Err((Failure::Protocol, Some(cause))));
        session.receive(&headers(3, END, &[ok]), Tick(2));
        assert_eq!((session.end, end(&session, 3)), (None, Ok((200, 0))), "{cause}");
    }
}

/// Violations that end the connection.
#[test]
fn protocol_violations_end_the_connection() {
    let ok = [(":status", "200")];
    let cases: Vec<(MalformedReply, Vec<u8>)> = vec![
        (MalformedReply::FrameSize, framed(frame::SETTINGS, 0, 0, b"12345")),
        (MalformedReply::FrameSize, framed(frame::SETTINGS, frame::ACK, 0, b"123456")),
        (MalformedReply::FrameSize, framed(frame::PING, 0, 0, b"1234567")),
        (MalformedReply::FrameSize, framed(frame::RST_STREAM, 0, 1, b"123")),
        (MalformedReply::FrameSize, framed(frame::WINDOW_UPDATE, 0, 0, b"123")),
        (MalformedReply::FrameSize, framed(frame::GOAWAY, 0, 0, b"1234567")),
        (MalformedReply::FrameSize, framed(frame::PRIORITY, 0, 1, b"1234")),
        (MalformedReply::FrameSize, framed(frame::DATA, frame::PADDED, 1, b"")),
        (MalformedReply::FrameSize, vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
        (MalformedReply::StreamState, framed(frame::SETTINGS, 0, 1, b"")),
        (MalformedReply::StreamState, framed(frame::PING, 0, 1, b"12345678")),
        (MalformedReply::StreamState, framed(frame::GOAWAY, 0, 1, b"12345678")),
        (MalformedReply::StreamState, data(0, 0, b"x")),
        (MalformedReply::StreamState, data(5, 0, b"x")),
        (MalformedReply::StreamState, data(2, 0, b"x")),
        (MalformedReply::StreamState, headers(0, 0, &ok)),
        (MalformedReply::StreamState, headers(7, 0, &ok)),
        (MalformedReply::StreamState, framed(frame::RST_STREAM, 0, 9, b"1234")),
        (MalformedReply::StreamState, framed(frame::WINDOW_UPDATE, 0, 9, b"\0\0\0\x01")),
        (MalformedReply::Push, framed(frame::PUSH_PROMISE, frame::END_HEADERS, 1, b"\0\0\0\x02")),
        (
            MalformedReply::Continuation,
            framed(frame::CONTINUATION, frame::END_HEADERS, 1, &block(&ok)),
        ),
        (
            MalformedReply::Continuation,
            [framed(frame::HEADERS, 0, 1, &block(&ok)), data(1, 0, b"x")].concat(),
        ),
        (
            MalformedReply::Continuation,
            [framed(frame::HEADERS, 0, 1, &block(&ok)), framed(frame::CONTINUATION, 4, 3, b"")]
                .concat(),
        ),
        (MalformedReply::HeaderBlock, framed(frame::HEADERS, frame::END_HEADERS, 1, b"\x80")),
        (
            MalformedReply::HeaderBlock,
            framed(frame::HEADERS, frame::END_HEADERS, 1, b"\x88\x3f\xe2\x1f"),
        ),
        (MalformedReply::Padding, framed(frame::HEADERS, frame::PADDED | 4, 1, b"\x09\x88")),
        (MalformedReply::Padding, framed(frame::HEADERS, frame::WITH_PRIORITY | 4, 1, b"123")),
        (MalformedReply::Padding, framed(frame::DATA, frame::PADDED, 1, b"\x02a")),
        (MalformedReply::Settings, settings(&[(frame::ENABLE_PUSH, 1)])),
        (MalformedReply::Settings, settings(&[(frame::INITIAL_WINDOW_SIZE, 1 << 31)])),
        (MalformedReply::Settings, settings(&[(frame::MAX_FRAME_SIZE, 100)])),
        (MalformedReply::FlowControl, framed(frame::WINDOW_UPDATE, 0, 0, &[0; 4])),
        (
            MalformedReply::FlowControl,
            framed(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        ),
        (
            MalformedReply::GoAway,
            [
                framed(frame::GOAWAY, 0, 0, &[0; 8]),
                framed(frame::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]),
            ]
            .concat(),
        ),
        (MalformedReply::HeadTooLarge, continued(600, b"")),
        (MalformedReply::HeadTooLarge, continued(20, &[0; 8000])),
    ];
    for (number, (cause, bytes)) in cases.into_iter().enumerate() {
        let mut session = asked(2);
        session.receive(&bytes, Tick(2));
        assert_eq!(session.end, Some(Http2SessionEnd::Broken(cause)), "case {number}");
        let first = end(&session, 1).unwrap_err();
        assert!(matches!(first.0, Failure::Protocol | Failure::Unprocessed), "{first:?}");
        assert!(session.out.windows(4).any(|four| four[3] == frame::GOAWAY), "it is told");
    }
}

/// Returns a header block in this number of CONTINUATION frames.
fn continued(frames: usize, bytes: &[u8]) -> Vec<u8> {
    let mut out = framed(frame::HEADERS, 0, 1, b"\x88");
    out.extend((0..frames).flat_map(|_| framed(frame::CONTINUATION, 0, 1, bytes)));
    out
}

#[test]
fn servers_without_http2_are_recognized() {
    for (bytes, cause) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], MalformedReply::Http1Reply),
        (&framed(frame::PING, 0, 0, b"12345678")[..], MalformedReply::Preface),
        (&b"\x15\x03\x01\x00\x02\x02\x46"[..], MalformedReply::TlsRecord),
        (&b"\x15"[..], MalformedReply::TlsRecord),
        (&b"\x16\x03\x03\x00\x02\x02\x16 and more"[..], MalformedReply::Preface),
    ] {
        let mut session = session_with_requests(1);
        session.receive(bytes, Tick(2));
        assert_eq!(session.end, Some(Http2SessionEnd::Broken(cause)));
    }
}

#[test]
fn a_peer_that_sends_pings_without_reading_is_disconnected() {
    let mut session = asked(1);
    let pings = framed(frame::PING, 0, 0, b"12345678").repeat(1000);
    for _ in 0..11 {
        session.receive(&pings, Tick(2));
    }
    assert_eq!(session.end, Some(Http2SessionEnd::Broken(MalformedReply::ControlFrames)));
    assert!(session.out.len() < 3 << 20);
}

#[test]
fn encoded_requests_are_decoded() {
    let mut session = Http2Session::new(SharedCounts::default());
    session.record_written(Tick(0));
    session.receive(&settings(&[(frame::HEADER_TABLE_SIZE, 100)]), Tick(0));
    session.record_written(Tick(0));
    let fields = RequestFields::from_request(&parts("GET", &Body::None))
        .unwrap()
        .with_line("x-long: ".to_owned().as_str());
    let long = fields.with_line(&format!("y: {}", "z".repeat(40_000)));
    let mut decoder = Decoder::new();
    for fields in [&fields, &fields, &long, &fields] {
        session.begin(fields, MultiplexedRequest::new(RequestKind::Ordinary, None, 0)).unwrap();
        let block = written_block(&session);
        let mut names = Vec::new();
        decoder
            .decode(BlockPosition::Head, &block, |name, _| {
                names.push(String::from_utf8_lossy(name).into_owned());
            })
            .unwrap();
        assert_eq!(names.len(), fields.list.len());
        session.record_written(Tick(1));
    }
}

/// Returns the header block that is about to be written.
fn written_block(session: &Http2Session) -> Vec<u8> {
    let (mut rest, mut block) = (&session.out[..], Vec::new());
    while let Some(head) = frame::FrameHead::read(rest) {
        block.extend_from_slice(&rest[frame::HEAD..frame::HEAD + head.length]);
        rest = &rest[frame::HEAD + head.length..];
    }
    block
}

/// Requests repeat in any order, with settings between them. The server decodes exactly the
/// fields of each request.
#[test]
fn repeated_requests_decode_to_the_same_fields() {
    let mut session = Http2Session::new(SharedCounts::default());
    session.receive(&settings(&[]), Tick(0));
    session.record_written(Tick(0));
    let plain = RequestFields::from_request(&parts("GET", &Body::None)).unwrap();
    let with = |line: &str| plain.with_line(line);
    let requests = [plain.clone(), with("x-one: 1"), with("x-two: 22"), with("x-three: 333")];
    let mut decoder = Decoder::new();
    for (turn, at) in [0, 1, 1, 0, 2, 2, 2, 1, 3, 3, 0, 1, 2, 3, 3, 3].into_iter().enumerate() {
        if turn == 9 {
            session.receive(
                &settings(&[(frame::HEADER_TABLE_SIZE, 60), (frame::HEADER_TABLE_SIZE, 120)]),
                Tick(0),
            );
            session.record_written(Tick(0));
        }
        session
            .begin(&requests[at], MultiplexedRequest::new(RequestKind::Ordinary, None, 0))
            .unwrap();
        let (block, mut read) = (written_block(&session), Vec::new());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder
            .decode(BlockPosition::Head, &block, |name, value| read.push((text(name), text(value))))
            .unwrap();
        let asked =
            requests[at].list.iter().map(|field| (field.name.to_string(), field.value.to_string()));
        assert_eq!(read, asked.collect::<Vec<_>>(), "turn {turn}");
        session.record_written(Tick(1));
    }
}

#[test]
fn a_repeated_request_is_encoded_as_indices() {
    let mut session = Http2Session::new(SharedCounts::default());
    session.record_written(Tick(0));
    let fields =
        RequestFields::from_request(&parts("GET", &Body::None)).unwrap().with_line("x-one: 1");
    let mut lengths = [0; 4];
    for length in &mut lengths {
        session.begin(&fields, MultiplexedRequest::new(RequestKind::Ordinary, None, 0)).unwrap();
        *length = written_block(&session).len();
        session.record_written(Tick(1));
    }
    // Method, scheme, authority and the field take one byte each. The path `/a` takes four, because
    // paths vary and are not indexed.
    assert_eq!(lengths[1..], [8, 8, 8]);
}

proptest! {
    /// Arbitrary bytes cause no panic, and the outcome does not depend on the pieces.
    #[test]
    fn any_bytes_give_the_same_result_in_any_pieces(
        frames in prop::collection::vec((0_u8..11, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        cuts in prop::collection::vec(1_usize..50, 1..30),
    ) {
        let mut bytes = settings(&[]);
        for (kind, flags, stream, payload) in frames {
            bytes.extend(framed(kind, flags, stream, &payload));
        }
        let ends = |session: &Http2Session| {
            let ends: Vec<_> = [1, 3, 5].into_iter().map(|id| end(session, id)).collect();
            (session.end, ends)
        };
        let mut whole = session_with_requests(3);
        whole.receive(&bytes, Tick(2));
        let mut pieces = session_with_requests(3);
        let (mut rest, mut cut) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*cut.next().unwrap()));
            pieces.receive(piece, Tick(2));
            rest = after;
        }
        prop_assert_eq!(ends(&whole), ends(&pieces));
    }
}
