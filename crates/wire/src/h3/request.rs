//! A request in flight: processes the frames of its reply (RFC 9114 section 4.1).

use super::frame::{self, FramePiece, Frames, Http3ErrorCode};
use super::qpack;
use crate::collect::ReplyCollector;
use crate::contract::{MAX_HEAD, MAX_INTERIM};
use crate::multiplexing::reply_fields::ReplyFields;
use crate::multiplexing::stream::{self, BodyProgress, MultiplexedRequest};
use crate::request::RequestKind;
use brunt_model::Tick;
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;

/// A violated rule of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleViolation {
    /// A rule of the stream: other streams continue.
    Stream(Http3ErrorCode, MalformedReply),
    /// A rule of the connection, which must be closed.
    Connection(Http3ErrorCode, MalformedReply),
}

/// A request in flight.
pub struct Http3Request {
    pub stream: MultiplexedRequest,
    frames: Frames,
    /// True if the trailers were received.
    has_trailers: bool,
}

/// The last header block that was decoded, with its facts. Replies of one server mostly have the
/// same block until the second in the Date field changes.
#[derive(Debug, Default)]
pub struct LastBlock {
    bytes: Vec<u8>,
    status: u16,
    announced: Option<u64>,
    grpc_status: Option<u16>,
}

impl Http3Request {
    /// Creates the state of a request that is about to be sent.
    pub fn new(kind: RequestKind, collector: Option<Box<ReplyCollector>>) -> Self {
        Self {
            stream: MultiplexedRequest::new(kind, collector, 0),
            frames: Frames::default(),
            has_trailers: false,
        }
    }

    /// Processes bytes of its stream that were received at `now`.
    ///
    /// # Errors
    ///
    /// The rule that the bytes violate.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        last: &mut LastBlock,
        now: Tick,
    ) -> Result<(), RuleViolation> {
        let Self { stream, frames, has_trailers } = self;
        if stream.end.is_some() {
            return Ok(());
        }
        stream.record_received(bytes.len(), now);
        let too_large = |cause| RuleViolation::Stream(Http3ErrorCode::ExcessiveLoad, cause);
        while let Some(piece) = frames.next(&mut bytes).map_err(too_large)? {
            match piece {
                FramePiece::Part(frame::DATA, body, head) => {
                    stream.stamps.head_bytes += head as u64;
                    on_data(stream, body, *has_trailers)?;
                }
                FramePiece::Part(kind, _, _) if frame::HTTP2_FRAMES.contains(&kind) => {
                    return Err(unexpected_frame());
                }
                FramePiece::Part(_, skipped, head) => {
                    stream.stamps.head_bytes += (skipped.len() + head) as u64;
                }
                FramePiece::Whole(frame::HEADERS, block, length) => {
                    stream.stamps.head_bytes += length as u64;
                    if *has_trailers {
                        return Err(unexpected_frame());
                    }
                    if stream.head.is_some() {
                        *has_trailers = true;
                        on_trailers(stream, block)?;
                    } else {
                        on_head(stream, block, length, last)?;
                    }
                }
                FramePiece::Whole(frame::PUSH_PROMISE, ..) => {
                    // The client allowed no push: every push ID exceeds its limit
                    // (RFC 9114 section 7.2.5).
                    return Err(RuleViolation::Connection(
                        Http3ErrorCode::IdError,
                        MalformedReply::H3Push,
                    ));
                }
                FramePiece::Whole(..) => return Err(unexpected_frame()),
            }
        }
        Ok(())
    }

    /// Ends the reply, because the peer has ended the stream.
    ///
    /// # Errors
    ///
    /// The rule that this violates.
    pub fn end(&mut self) -> Result<(), RuleViolation> {
        if self.stream.end.is_some() {
            return Ok(());
        }
        // A stream that ends within a frame is a connection error (RFC 9114 section 7.1).
        if !self.frames.is_between() {
            return Err(RuleViolation::Connection(
                Http3ErrorCode::FrameError,
                MalformedReply::H3Frame,
            ));
        }
        if self.stream.head.is_none() {
            return Err(RuleViolation::Stream(
                Http3ErrorCode::MessageError,
                MalformedReply::PseudoHeader,
            ));
        }
        if !self.stream.is_whole() {
            return Err(RuleViolation::Stream(
                Http3ErrorCode::MessageError,
                MalformedReply::BodyLength,
            ));
        }
        if self.stream.lacks_grpc_status() {
            return Err(RuleViolation::Stream(
                Http3ErrorCode::MessageError,
                MalformedReply::GrpcStatus,
            ));
        }
        self.stream.finish(Ok(()));
        Ok(())
    }
}

fn unexpected_frame() -> RuleViolation {
    RuleViolation::Connection(Http3ErrorCode::FrameUnexpected, MalformedReply::H3FrameUnexpected)
}

fn on_data(
    stream: &mut MultiplexedRequest,
    body: &[u8],
    has_trailers: bool,
) -> Result<(), RuleViolation> {
    if stream.head.is_none() {
        return Err(RuleViolation::Connection(
            Http3ErrorCode::FrameUnexpected,
            MalformedReply::DataBeforeHead,
        ));
    }
    if has_trailers {
        return Err(unexpected_frame());
    }
    if body.is_empty() {
        return Ok(());
    }
    if !stream.may_have_body() {
        return Err(RuleViolation::Stream(
            Http3ErrorCode::MessageError,
            MalformedReply::BodyLength,
        ));
    }
    stream.body_bytes += body.len() as u64;
    if stream.push_body(body) == BodyProgress::Enough {
        stream.finish(Ok(()));
    }
    Ok(())
}

fn on_head(
    stream: &mut MultiplexedRequest,
    block: &[u8],
    length: usize,
    last: &mut LastBlock,
) -> Result<(), RuleViolation> {
    // Without a dynamic table, equal blocks always contain equal fields.
    let is_repeat = stream.collector.is_none() && *last.bytes == *block && !block.is_empty();
    if is_repeat {
        stream.announced = last.announced;
        stream.grpc_status = last.grpc_status;
        stream.head =
            Some(stream::head(HttpVersion::V3, last.status, last.announced, length as u64));
        return Ok(());
    }
    let (fields, lines) = decode(block, stream.collector.is_some())?;
    // HTTP/3 has no status 101 (RFC 9114 section 4.5).
    let Some(status) = fields.status.filter(|status| *status != 101) else {
        return Err(message_error(MalformedReply::PseudoHeader));
    };
    if let Some(cause) = fields.error {
        return Err(message_error(cause));
    }
    if status < 200 {
        stream.interim += 1;
        let is_too_many = stream.interim > MAX_INTERIM;
        return if is_too_many {
            Err(message_error(MalformedReply::TooManyInterim))
        } else {
            Ok(())
        };
    }
    stream.announced = fields.announced;
    stream.grpc_status = fields.grpc_status;
    let mut head = stream::head(HttpVersion::V3, status, fields.announced, length as u64);
    head.encoded = fields.encoded;
    stream.head = Some(head);
    if let Some(collector) = &mut stream.collector {
        collector.push_stream_head(HttpVersion::V3, status, &lines);
    } else {
        let ReplyFields { announced, grpc_status, .. } = fields;
        *last = LastBlock { bytes: block.to_vec(), status, announced, grpc_status };
    }
    Ok(())
}

fn message_error(cause: MalformedReply) -> RuleViolation {
    RuleViolation::Stream(Http3ErrorCode::MessageError, cause)
}

/// Processes trailers, which follow the body and have no status.
fn on_trailers(stream: &mut MultiplexedRequest, block: &[u8]) -> Result<(), RuleViolation> {
    let (fields, lines) = decode(block, stream.collector.is_some())?;
    stream.grpc_status = stream.grpc_status.or(fields.grpc_status);
    // Trailers must not contain pseudo-header fields (RFC 9114 section 4.3).
    let cause = fields.error.or(fields.has_pseudo.then_some(MalformedReply::PseudoHeader));
    if let Some(cause) = cause {
        return Err(message_error(cause));
    }
    if let Some(collector) = &mut stream.collector {
        collector.push_trailers(&lines);
    }
    Ok(())
}

/// Names and values of the fields of a block.
type FieldLines = Vec<(Vec<u8>, Vec<u8>)>;

/// Decodes a header block. Returns its lines only if they are wanted.
fn decode(block: &[u8], wants_lines: bool) -> Result<(ReplyFields, FieldLines), RuleViolation> {
    let mut fields = ReplyFields::default();
    let mut lines = FieldLines::new();
    let decoded = qpack::decode(block, |name, value| {
        fields.push(name, value);
        if wants_lines {
            lines.push((name.to_vec(), value.to_vec()));
        }
    });
    decoded.map_err(|_| {
        RuleViolation::Connection(Http3ErrorCode::DecompressionFailed, MalformedReply::QpackBlock)
    })?;
    if fields.size > MAX_HEAD {
        return Err(RuleViolation::Stream(
            Http3ErrorCode::ExcessiveLoad,
            MalformedReply::HeadTooLarge,
        ));
    }
    Ok((fields, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{WantedDetails, WantedFields};
    use proptest::prelude::*;

    /// A frame.
    fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        frame::put_number(&mut out, kind);
        frame::put_number(&mut out, payload.len() as u64);
        [&out, payload].concat()
    }

    /// Returns the block of a head with this entry of the static table, followed by other fields.
    fn block(entry: u8, more: &[u8]) -> Vec<u8> {
        [&[0, 0, 0xff, entry - 63], more].concat()
    }

    const OK: &[u8] = &[0, 0, 0xc0 + 25];
    const LENGTH_4: &[u8] = &[0, 0, 0xc0 + 25, 0x54, 1, b'4'];

    fn run(bytes: &[u8], at: usize) -> (Result<(), RuleViolation>, Http3Request) {
        let mut request = Http3Request::new(RequestKind::Ordinary, None);
        let mut last = LastBlock::default();
        let mut result = Ok(());
        for piece in bytes.chunks(at) {
            result = result.and_then(|()| request.receive(piece, &mut last, Tick(7)));
        }
        let result = result.and_then(|()| request.end());
        (result, request)
    }

    #[test]
    fn a_reply_is_parsed_in_any_pieces() {
        let hints = frame(frame::HEADERS, &[0, 0, 0xc0 + 24]);
        let early = frame(frame::HEADERS, &block(63, b""));
        let trailers = frame(frame::HEADERS, b"\0\0\x22ab\x01c");
        let head = frame(frame::HEADERS, LENGTH_4);
        let (body, more) = (frame(frame::DATA, b"bo"), frame(frame::DATA, b"dy"));
        let all = [hints, early, head, body, frame(0x21, b"grease"), more, trailers].concat();
        for at in 1..=all.len() {
            let (result, request) = run(&all, at);
            assert_eq!(result, Ok(()), "cut after each {at} bytes");
            let stamps = request.stream.stamps;
            assert_eq!(
                (stamps.bytes_received, stamps.head_bytes),
                (all.len() as u64, all.len() as u64 - 4)
            );
            let reply = request.stream.into_reply().unwrap();
            assert_eq!((reply.status, reply.body_bytes, reply.announced_bytes), (200, 4, Some(4)));
        }
    }

    #[test]
    fn trailers_are_kept_with_the_fields() {
        let head = frame(frame::HEADERS, LENGTH_4);
        let trailers = frame(frame::HEADERS, b"\0\0\x22ab\x01c");
        let all = [head, frame(frame::DATA, b"body"), trailers].concat();
        let wants = WantedDetails { fields: WantedFields::All, ..WantedDetails::default() };
        let collector = ReplyCollector::new(wants, None, None);
        let mut request = Http3Request::new(RequestKind::Ordinary, collector);
        let received = request.receive(&all, &mut LastBlock::default(), Tick(1));
        assert_eq!(received.and_then(|()| request.end()), Ok(()));
        let (_, fields) = request.stream.into_reply().unwrap().details.unwrap().head.unwrap();
        let names: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(names, ["content-length=4", "ab=c"]);
    }

    #[test]
    fn a_repeated_head_gives_the_same_reply() {
        let all = [frame(frame::HEADERS, LENGTH_4), frame(frame::DATA, b"body")].concat();
        let mut last = LastBlock::default();
        for _ in 0..3 {
            let mut request = Http3Request::new(RequestKind::Ordinary, None);
            assert_eq!(
                request.receive(&all, &mut last, Tick(1)).and_then(|()| request.end()),
                Ok(())
            );
            assert_eq!(request.stream.into_reply().unwrap().announced_bytes, Some(4));
        }
    }

    #[test]
    fn protocol_violations_are_named() {
        use RuleViolation::{Connection, Stream};
        let ok = || frame(frame::HEADERS, OK);
        let trailers = || frame(frame::HEADERS, b"\0\0\x22ab\x01c");
        let unexpected =
            || Connection(Http3ErrorCode::FrameUnexpected, MalformedReply::H3FrameUnexpected);
        let message = |cause| Stream(Http3ErrorCode::MessageError, cause);
        let qpack = || Connection(Http3ErrorCode::DecompressionFailed, MalformedReply::QpackBlock);
        let cases: Vec<(&str, Vec<u8>, RuleViolation)> = vec![
            ("nothing", vec![], message(MalformedReply::PseudoHeader)),
            (
                "only an interim head",
                frame(frame::HEADERS, &[0, 0, 0xc0 + 24]),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "a body first",
                frame(frame::DATA, b"x"),
                Connection(Http3ErrorCode::FrameUnexpected, MalformedReply::DataBeforeHead),
            ),
            (
                "an empty body first",
                frame(frame::DATA, b""),
                Connection(Http3ErrorCode::FrameUnexpected, MalformedReply::DataBeforeHead),
            ),
            ("settings", frame(frame::SETTINGS, b""), unexpected()),
            ("a GOAWAY", [ok(), frame(frame::GOAWAY, b"\0")].concat(), unexpected()),
            ("a cancelled push", [ok(), frame(frame::CANCEL_PUSH, b"\0")].concat(), unexpected()),
            ("a limit of pushes", [ok(), frame(frame::MAX_PUSH_ID, b"\0")].concat(), unexpected()),
            ("a PING of HTTP/2", [ok(), frame(6, b"12345678")].concat(), unexpected()),
            ("a PRIORITY of HTTP/2", frame(2, b"12345"), unexpected()),
            ("a WINDOW_UPDATE of HTTP/2", frame(8, b""), unexpected()),
            (
                "a promise",
                [ok(), frame(frame::PUSH_PROMISE, b"\0")].concat(),
                Connection(Http3ErrorCode::IdError, MalformedReply::H3Push),
            ),
            (
                "a frame that ends early",
                [ok(), vec![0, 9, 1]].concat(),
                Connection(Http3ErrorCode::FrameError, MalformedReply::H3Frame),
            ),
            (
                "half a frame's head",
                [ok(), vec![0]].concat(),
                Connection(Http3ErrorCode::FrameError, MalformedReply::H3Frame),
            ),
            (
                "half a head",
                vec![1, 9, 0],
                Connection(Http3ErrorCode::FrameError, MalformedReply::H3Frame),
            ),
            (
                "a body behind trailers",
                [ok(), trailers(), frame(frame::DATA, b"x")].concat(),
                unexpected(),
            ),
            ("trailers twice", [ok(), trailers(), trailers()].concat(), unexpected()),
            (
                "trailers with a status",
                [ok(), ok()].concat(),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "no status",
                frame(frame::HEADERS, b"\0\0\x22ab\x01c"),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "the status twice",
                frame(frame::HEADERS, &[0, 0, 0xd9, 0xd9]),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "a path",
                frame(frame::HEADERS, &[0, 0, 0xd9, 0xc1]),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "a status behind fields",
                frame(frame::HEADERS, b"\0\0\x22ab\x01c\xd9"),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "status 101",
                frame(frame::HEADERS, b"\0\0\x5f\x09\x03101"),
                message(MalformedReply::PseudoHeader),
            ),
            (
                "a name in upper case",
                frame(frame::HEADERS, b"\0\0\xd9\x22AB\x01c"),
                message(MalformedReply::HeaderField),
            ),
            (
                "a line break",
                frame(frame::HEADERS, b"\0\0\xd9\x22ab\x01\n"),
                message(MalformedReply::HeaderField),
            ),
            (
                "two lengths",
                frame(frame::HEADERS, b"\0\0\xd9\x54\x014\x54\x015"),
                message(MalformedReply::ContentLength),
            ),
            (
                "a short body",
                [frame(frame::HEADERS, LENGTH_4), frame(0, b"abc")].concat(),
                message(MalformedReply::BodyLength),
            ),
            (
                "a long body",
                [frame(frame::HEADERS, LENGTH_4), frame(0, b"abcde")].concat(),
                message(MalformedReply::BodyLength),
            ),
            (
                "a body behind 304",
                [frame(1, &[0, 0, 0xc0 + 26]), frame(0, b"a")].concat(),
                message(MalformedReply::BodyLength),
            ),
            ("a dynamic table", frame(frame::HEADERS, &[2, 0, 0x80]), qpack()),
            ("half a block", frame(frame::HEADERS, &[0, 0, 0x51]), qpack()),
            ("an empty block", frame(frame::HEADERS, b""), qpack()),
            (
                "a huge head",
                vec![1, 0x80, 0x10, 0, 0],
                Stream(Http3ErrorCode::ExcessiveLoad, MalformedReply::HeadTooLarge),
            ),
            (
                "interim heads without end",
                frame(1, &[0, 0, 0xc0 + 24]).repeat(101),
                message(MalformedReply::TooManyInterim),
            ),
        ];
        for (name, bytes, broken) in cases {
            for at in [1, 2, 3, 7, bytes.len().max(1)] {
                let (result, _) = run(&bytes, at);
                assert_eq!(result.as_ref(), Err(&broken), "{name}, cut after each {at} bytes");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes: Vec<u8>, at in 1_usize..9) {
            let _ = run(&[frame(frame::HEADERS, OK), bytes].concat(), at);
        }
    }
}
