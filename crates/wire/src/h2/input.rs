//! What comes on a connection: bytes to frames, and what each frame does.
//!
//! Bytes of bodies are taken as they come; any other frame is taken whole.

use super::frame::{self, Code, FrameHead};
use super::hpack::Place;
use super::session::{ConnectionError, End, Session};
use crate::contract::{MAX_HEAD, MAX_INTERIM};
use crate::multiplexing::reply_fields::ReplyFields;
use crate::multiplexing::stream::{self, BodyProgress};
use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};

/// CONTINUATION frames of one header block, at most.
const MOST_CONTINUATIONS: u32 = 256;

/// What is there of a frame, and of a header block.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// The frame of DATA that is coming.
    data: Option<ComingData>,
    /// A header block without its end.
    block: Option<ComingBlock>,
    /// What the last header block said, where nobody looked at it, by its place.
    last: [Option<Known>; 2],
}

/// What is still to come of a frame of DATA.
#[derive(Debug, Clone, Copy)]
struct ComingData {
    stream: u32,
    body: usize,
    padding: usize,
    ends: bool,
}

#[derive(Debug)]
struct ComingBlock {
    stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    /// Bytes of its frames.
    length: usize,
    continuations: u32,
}

/// What is known of a header block without looking at it again.
#[derive(Debug, Clone, Copy)]
struct Known {
    status: u16,
    announced: Option<u64>,
    grpc_status: Option<u16>,
}

impl Session {
    /// Takes in bytes that came at `now`. What breaks the rules of the connection ends it.
    pub fn receive(&mut self, bytes: &[u8], now: Tick) {
        if self.end.is_some() {
            return;
        }
        self.now = now;
        if let Err(ConnectionError(code, cause)) = self.take(bytes, now) {
            frame::put_numbers(&mut self.out, frame::GOAWAY, 0, &[0, code as u32]);
            self.finish(End::Broken(cause));
        }
    }

    fn take(&mut self, mut bytes: &[u8], now: Tick) -> Result<(), ConnectionError> {
        while !bytes.is_empty() {
            if let Some(coming) = self.input.data.take() {
                bytes = self.on_data(coming, bytes, now);
                continue;
            }
            if self.input.partial.is_empty() {
                let Some(head) = FrameHead::read(bytes) else {
                    self.input.partial.extend_from_slice(bytes);
                    return Ok(());
                };
                self.check(head, bytes)?;
                let rest = &bytes[frame::HEAD..];
                if head.kind == frame::DATA && (!head.has(frame::PADDED) || (head.length > 0 && !rest.is_empty())) {
                    bytes = self.begin_data(head, rest, now)?;
                } else if let Some((payload, after)) = rest.split_at_checked(head.length) {
                    self.on_frame(head, payload, now)?;
                    bytes = after;
                } else {
                    self.input.partial.extend_from_slice(bytes);
                    return Ok(());
                }
                continue;
            }
            bytes = self.complete(bytes, now)?;
        }
        Ok(())
    }

    /// Adds bytes to the beginning of a frame, until it is whole; returns those behind it.
    fn complete<'a>(&mut self, bytes: &'a [u8], now: Tick) -> Result<&'a [u8], ConnectionError> {
        let has = self.input.partial.len();
        let wanted = match FrameHead::read(&self.input.partial) {
            None => frame::HEAD,
            Some(head) if head.kind == frame::DATA => frame::HEAD + 1,
            Some(head) => frame::HEAD + head.length,
        };
        let (now_there, after) = bytes.split_at(bytes.len().min(wanted - has));
        self.input.partial.extend_from_slice(now_there);
        if self.input.partial.len() < wanted {
            return Ok(after);
        }
        let Some(head) = FrameHead::read(&self.input.partial) else { return Ok(after) };
        let partial = std::mem::take(&mut self.input.partial);
        let payload = &partial[frame::HEAD..];
        if payload.is_empty() {
            self.check(head, &partial)?;
        }
        if head.kind == frame::DATA && (!head.has(frame::PADDED) || !payload.is_empty()) {
            self.begin_data(head, payload, now)?;
        } else if payload.len() == head.length {
            self.on_frame(head, payload, now)?;
        } else {
            self.input.partial = partial;
        }
        Ok(after)
    }

    /// What can be said of a frame by its head.
    fn check(&self, head: FrameHead, bytes: &[u8]) -> Result<(), ConnectionError> {
        if !self.peer.known && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            let cause = if bytes.starts_with(b"HTTP/1.") { Malformed::Http1Reply } else { Malformed::Preface };
            return Err(ConnectionError(Code::ProtocolError, cause));
        }
        if head.length > frame::USUAL_PAYLOAD {
            return Err(ConnectionError(Code::FrameSizeError, Malformed::FrameSize));
        }
        let continues = self.input.block.as_ref().map(|block| block.stream);
        let may_come = match continues {
            Some(stream) => head.kind == frame::CONTINUATION && head.stream == stream,
            None => head.kind != frame::CONTINUATION,
        };
        if may_come { Ok(()) } else { Err(ConnectionError(Code::ProtocolError, Malformed::Continuation)) }
    }

    fn begin_data<'a>(&mut self, head: FrameHead, rest: &'a [u8], now: Tick) -> Result<&'a [u8], ConnectionError> {
        self.may_come(head.stream)?;
        let (padding, pad_byte, rest) = match rest.split_first() {
            Some((padding, rest)) if head.has(frame::PADDED) => (usize::from(*padding), 1, rest),
            _ => (0, 0, rest),
        };
        let Some(body) = head.length.checked_sub(pad_byte + padding) else {
            return Err(ConnectionError(Code::ProtocolError, Malformed::Padding));
        };
        self.acknowledge(head.stream, head.length);
        if let Some(stream) = self.streams.get_mut(&head.stream) {
            stream.came(frame::HEAD + pad_byte, now);
            stream.stamps.head_bytes += (frame::HEAD + pad_byte + padding) as u64;
            let cause = match stream.end {
                None if stream.head.is_none() => Some(Malformed::DataBeforeHead),
                None if body > 0 && !stream.may_have_body() => Some(Malformed::BodyLength),
                _ => None,
            };
            if let Some(cause) = cause {
                stream.malformed(cause);
                self.reset(head.stream, Code::ProtocolError);
            }
        }
        let coming = ComingData { stream: head.stream, body, padding, ends: head.has(frame::END_STREAM) };
        Ok(self.on_data(coming, rest, now))
    }

    /// Bytes of a frame of DATA; returns those behind it.
    fn on_data<'a>(&mut self, mut coming: ComingData, bytes: &'a [u8], now: Tick) -> &'a [u8] {
        let (body, rest) = bytes.split_at(bytes.len().min(coming.body));
        let (padding, after) =
            rest.split_at(if body.len() == coming.body { rest.len().min(coming.padding) } else { 0 });
        coming.body -= body.len();
        coming.padding -= padding.len();
        let is_over = coming.body == 0 && coming.padding == 0;
        if !is_over {
            self.input.data = Some(coming);
        }
        let Some(stream) = self.streams.get_mut(&coming.stream) else { return after };
        if stream.end.is_some() {
            return after;
        }
        if !body.is_empty() || !padding.is_empty() {
            stream.came(body.len() + padding.len(), now);
            stream.body_bytes += body.len() as u64;
            let progress = if body.is_empty() { BodyProgress::More } else { stream.keep(body) };
            match progress {
                // A stream that ends with these bytes must not be reset (RFC 9113 section 5.1).
                BodyProgress::Enough if !(is_over && coming.ends) => {
                    self.served += 1;
                    stream.finish(Ok(()));
                    self.reset(coming.stream, Code::Cancel);
                    return after;
                }
                BodyProgress::Replies(count) if !(is_over && coming.ends) => {
                    (0..count).for_each(|_| self.release_piece(coming.stream));
                }
                _ => {}
            }
        }
        if is_over && coming.ends {
            self.end_stream(coming.stream);
        }
        after
    }

    /// The peer has sent all of a reply.
    fn end_stream(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.end.is_some() {
            return;
        }
        let uploads = stream.upload.is_some();
        if stream.head.is_none() {
            stream.malformed(Malformed::PseudoHeader);
        } else if stream.lacks_grpc_status() {
            stream.malformed(Malformed::GrpcStatus);
        } else if stream.is_whole() {
            self.served += 1;
            stream.finish(Ok(()));
        } else {
            stream.malformed(Malformed::BodyLength);
        }
        if uploads {
            // The peer does not want the rest of the body.
            self.reset(id, Code::Cancel);
        }
    }

    fn on_frame(&mut self, head: FrameHead, payload: &[u8], now: Tick) -> Result<(), ConnectionError> {
        let of_connection = matches!(head.kind, frame::SETTINGS | frame::PING | frame::GOAWAY);
        let of_stream = matches!(
            head.kind,
            frame::DATA
                | frame::HEADERS
                | frame::PRIORITY
                | frame::RST_STREAM
                | frame::PUSH_PROMISE
                | frame::CONTINUATION
        );
        if of_connection && head.stream != 0 || of_stream && head.stream == 0 {
            return Err(ConnectionError(Code::ProtocolError, Malformed::StreamState));
        }
        let size = |fits: bool| {
            if fits { Ok(()) } else { Err(ConnectionError(Code::FrameSizeError, Malformed::FrameSize)) }
        };
        match head.kind {
            // Padded, without even the length of its padding.
            frame::DATA => size(false),
            frame::HEADERS => self.on_headers(head, payload, now),
            frame::CONTINUATION => self.on_continuation(head, payload, now),
            frame::PRIORITY => size(payload.len() == 5),
            frame::RST_STREAM => {
                size(payload.len() == 4)?;
                self.on_reset(head.stream, frame::number(payload).unwrap_or_default(), now)
            }
            frame::SETTINGS => self.on_settings(head, payload),
            frame::PUSH_PROMISE => Err(ConnectionError(Code::ProtocolError, Malformed::Push)),
            frame::PING => {
                size(payload.len() == 8)?;
                if !head.has(frame::ACK) {
                    frame::put_head(&mut self.out, 8, (frame::PING, frame::ACK), 0);
                    self.out.extend_from_slice(payload);
                }
                self.bound_answers()
            }
            frame::GOAWAY => {
                size(payload.len() >= 8)?;
                self.on_goaway(frame::number(payload).unwrap_or_default() & 0x7fff_ffff)
            }
            frame::WINDOW_UPDATE => self.on_window(head.stream, payload),
            _ => Ok(()),
        }
    }

    fn on_headers(&mut self, head: FrameHead, payload: &[u8], now: Tick) -> Result<(), ConnectionError> {
        self.may_come(head.stream)?;
        let mut block = payload;
        let mut padding = 0;
        let wrong = || ConnectionError(Code::ProtocolError, Malformed::Padding);
        if head.has(frame::PADDED) {
            let (first, rest) = block.split_first().ok_or_else(wrong)?;
            (padding, block) = (usize::from(*first), rest);
        }
        if head.has(frame::WITH_PRIORITY) {
            block = block.get(5..).ok_or_else(wrong)?;
        }
        let block = block.len().checked_sub(padding).map(|length| &block[..length]).ok_or_else(wrong)?;
        let (length, ends) = (frame::HEAD + payload.len(), head.has(frame::END_STREAM));
        if head.has(frame::END_HEADERS) {
            return self.on_block(head.stream, (block, length), ends, now);
        }
        let (stream, bytes) = (head.stream, block.to_vec());
        self.input.block = Some(ComingBlock { stream, ends, bytes, length, continuations: 0 });
        Ok(())
    }

    fn on_continuation(&mut self, head: FrameHead, payload: &[u8], now: Tick) -> Result<(), ConnectionError> {
        let Some(mut block) = self.input.block.take() else {
            return Err(ConnectionError(Code::ProtocolError, Malformed::Continuation));
        };
        block.bytes.extend_from_slice(payload);
        block.length += frame::HEAD + payload.len();
        block.continuations += 1;
        if block.bytes.len() > MAX_HEAD || block.continuations > MOST_CONTINUATIONS {
            return Err(ConnectionError(Code::EnhanceYourCalm, Malformed::HeadTooLarge));
        }
        if head.has(frame::END_HEADERS) {
            return self.on_block(block.stream, (&block.bytes, block.length), block.ends, now);
        }
        self.input.block = Some(block);
        Ok(())
    }

    /// A whole header block, whose frames have so many bytes.
    fn on_block(
        &mut self,
        id: u32,
        (block, length): (&[u8], usize),
        ends: bool,
        now: Tick,
    ) -> Result<(), ConnectionError> {
        let Self { streams, decoder, input: Input { last, .. }, .. } = self;
        let mut stream = streams.get_mut(&id).filter(|stream| stream.end.is_none());
        if let Some(stream) = &mut stream {
            stream.came(length, now);
        }
        let is_first = stream.as_ref().is_some_and(|stream| stream.head.is_none());
        let place = if is_first { Place::Head } else { Place::Trailers };
        let last = &mut last[place as usize];
        let unread = stream.as_mut().filter(|stream| stream.keep.is_none() && (is_first || ends));
        let known = unread.zip(*last).filter(|_| decoder.repeats(place, block));
        if let Some((stream, Known { status, announced, grpc_status })) = known {
            stream.stamps.head_bytes += length as u64;
            stream.grpc_status = stream.grpc_status.or(grpc_status);
            if is_first {
                stream.announced = announced;
                stream.head = Some(stream::head(HttpVersion::V2, status, announced, length as u64));
            }
        } else {
            *last = None;
            let mut fields = ReplyFields::default();
            let mut lines: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let keeps = stream.as_ref().is_some_and(|stream| stream.keep.is_some());
            let decoded = decoder.decode(place, block, |name, value| {
                fields.take(name, value);
                if keeps {
                    lines.push((name.to_vec(), value.to_vec()));
                }
            });
            decoded.map_err(|_| ConnectionError(Code::CompressionError, Malformed::HeaderBlock))?;
            if fields.size > MAX_HEAD {
                return Err(ConnectionError(Code::EnhanceYourCalm, Malformed::HeadTooLarge));
            }
            let Some(stream) = stream else { return Ok(()) };
            let is_interim = is_first && fields.status.is_some_and(|status| status < 200);
            stream.interim += u32::from(is_interim);
            stream.stamps.head_bytes += length as u64;
            let is_in_place = if is_first {
                fields.status.is_some_and(|status| status != 101) && (!is_interim || !ends)
            } else {
                // Behind the body there are trailers, without a status, and with the end of the stream.
                !fields.has_pseudo && ends
            };
            let wrong = match fields.wrong {
                Some(cause) => Some(cause),
                None if !is_in_place => Some(Malformed::PseudoHeader),
                None if stream.interim > MAX_INTERIM => Some(Malformed::TooManyInterim),
                None => None,
            };
            if let Some(cause) = wrong {
                stream.malformed(cause);
                self.reset(id, Code::ProtocolError);
                return Ok(());
            }
            if is_interim {
                return Ok(());
            }
            stream.grpc_status = stream.grpc_status.or(fields.grpc_status);
            if stream.keep.is_none() {
                let ReplyFields { status, announced, grpc_status, .. } = fields;
                *last = Some(Known { status: status.unwrap_or(0), announced, grpc_status });
            }
            if let Some(status) = fields.status {
                stream.announced = fields.announced;
                let mut head = stream::head(HttpVersion::V2, status, fields.announced, length as u64);
                head.encoded = fields.encoded;
                stream.head = Some(head);
                if let Some(keep) = &mut stream.keep {
                    keep.head_of_stream(HttpVersion::V2, status, &lines);
                    if stream.tunnel.is_some() {
                        stream.wake();
                    }
                }
            } else if let Some(keep) = &mut stream.keep {
                keep.trailers(&lines);
            }
        }
        if ends {
            self.end_stream(id);
        }
        Ok(())
    }

    fn on_reset(&mut self, id: u32, code: u32, now: Tick) -> Result<(), ConnectionError> {
        if self.is_unopened(id) {
            return Err(ConnectionError(Code::ProtocolError, Malformed::StreamState));
        }
        if let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.end.is_none()) {
            stream.came(frame::HEAD + 4, now);
            stream.stamps.malformed = Some(frame::cause_of_code(code));
            if code == Code::RefusedStream as u32 {
                stream.leave_unprocessed(true);
            } else {
                stream.finish(Err(Failure::StreamReset));
            }
        }
        Ok(())
    }

    fn on_goaway(&mut self, last: u32) -> Result<(), ConnectionError> {
        if self.goes_away_after.is_some_and(|before| last > before) {
            return Err(ConnectionError(Code::ProtocolError, Malformed::GoAway));
        }
        self.goes_away_after = Some(last);
        for (_, stream) in self.streams.iter_mut().filter(|(id, _)| **id > last) {
            stream.leave_unprocessed(last == 0);
        }
        self.idle.wake();
        Ok(())
    }
}
