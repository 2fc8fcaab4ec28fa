//! Processes the received bytes of a connection: splits them into frames and applies each frame.
//!
//! Bytes of bodies are processed as they arrive. Any other frame is processed when it is complete.

use super::frame::{self, FrameHead, Http2ErrorCode};
use super::hpack::BlockPosition;
use super::session::{ConnectionError, Http2Session, Http2SessionEnd};
use crate::contract::{MAX_HEAD, MAX_INTERIM, TLS_ALERT};
use crate::multiplexing::reply_fields::ReplyFields;
use crate::multiplexing::stream::{self, BodyProgress};
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Tick};

/// Maximum number of CONTINUATION frames in one header block.
const MAX_CONTINUATIONS: u32 = 256;

/// The unfinished frame and the unfinished header block of a connection.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// A DATA frame whose body is being received.
    data: Option<PartialData>,
    /// A header block without its end.
    block: Option<PartialBlock>,
    /// Facts from the last header block that no collector needed, by its place.
    last: [Option<HeaderFacts>; 2],
}

/// The part of a DATA frame that was not received yet.
#[derive(Debug, Clone, Copy)]
struct PartialData {
    stream: u32,
    body: usize,
    padding: usize,
    ends: bool,
}

#[derive(Debug)]
struct PartialBlock {
    stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    /// Bytes of its frames, including their heads.
    length: usize,
    continuations: u32,
}

/// The facts that a repeated header block provides without being decoded.
#[derive(Debug, Clone, Copy)]
struct HeaderFacts {
    status: u16,
    announced: Option<u64>,
    grpc_status: Option<u16>,
}

impl Http2Session {
    /// Processes bytes that were received at `now`. A violation of the connection's
    /// rules ends the connection.
    pub fn receive(&mut self, bytes: &[u8], now: Tick) {
        if self.end.is_some() {
            return;
        }
        self.now = now;
        if let Err(ConnectionError(code, cause)) = self.take(bytes, now) {
            frame::put_numbers(&mut self.out, frame::GOAWAY, 0, &[0, code as u32]);
            self.finish(Http2SessionEnd::Broken(cause));
        }
    }

    fn take(&mut self, mut bytes: &[u8], now: Tick) -> Result<(), ConnectionError> {
        // The first frame is a short one, so its length begins with 0.
        if !self.peer.is_received
            && self.input.partial.is_empty()
            && bytes.first() == Some(&TLS_ALERT)
        {
            let cause = MalformedReply::TlsRecord;
            return Err(ConnectionError(Http2ErrorCode::ProtocolError, cause));
        }
        while !bytes.is_empty() {
            if let Some(data) = self.input.data.take() {
                bytes = self.on_data(data, bytes, now);
                continue;
            }
            if self.input.partial.is_empty() {
                let Some(head) = FrameHead::read(bytes) else {
                    self.input.partial.extend_from_slice(bytes);
                    return Ok(());
                };
                self.check_head(head, bytes)?;
                let rest = &bytes[frame::HEAD..];
                if head.kind == frame::DATA
                    && (!head.has(frame::PADDED) || (head.length > 0 && !rest.is_empty()))
                {
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

    /// Appends bytes to the beginning of a frame until the frame is complete. Returns
    /// the bytes after it.
    fn complete<'a>(&mut self, bytes: &'a [u8], now: Tick) -> Result<&'a [u8], ConnectionError> {
        let available = self.input.partial.len();
        let needed = match FrameHead::read(&self.input.partial) {
            None => frame::HEAD,
            Some(head) if head.kind == frame::DATA => frame::HEAD + 1,
            Some(head) => frame::HEAD + head.length,
        };
        let (next, after) = bytes.split_at(bytes.len().min(needed - available));
        self.input.partial.extend_from_slice(next);
        if self.input.partial.len() < needed {
            return Ok(after);
        }
        let Some(head) = FrameHead::read(&self.input.partial) else { return Ok(after) };
        let partial = std::mem::take(&mut self.input.partial);
        let payload = &partial[frame::HEAD..];
        if payload.is_empty() {
            self.check_head(head, &partial)?;
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

    /// Checks the rules that depend only on the head of a frame.
    fn check_head(&self, head: FrameHead, bytes: &[u8]) -> Result<(), ConnectionError> {
        if !self.peer.is_received && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            let cause = if bytes.starts_with(b"HTTP/1.") {
                MalformedReply::Http1Reply
            } else {
                MalformedReply::Preface
            };
            return Err(ConnectionError(Http2ErrorCode::ProtocolError, cause));
        }
        // The limit that applies, since the client announces no other (RFC 9113 section 4.2).
        if head.length > frame::DEFAULT_PAYLOAD {
            return Err(ConnectionError(Http2ErrorCode::FrameSizeError, MalformedReply::FrameSize));
        }
        let open_block = self.input.block.as_ref().map(|block| block.stream);
        // No other frame may stand between the parts of a header block (RFC 9113 section 6.10).
        let is_allowed = match open_block {
            Some(stream) => head.kind == frame::CONTINUATION && head.stream == stream,
            None => head.kind != frame::CONTINUATION,
        };
        if is_allowed {
            Ok(())
        } else {
            Err(ConnectionError(Http2ErrorCode::ProtocolError, MalformedReply::Continuation))
        }
    }

    fn begin_data<'a>(
        &mut self,
        head: FrameHead,
        rest: &'a [u8],
        now: Tick,
    ) -> Result<&'a [u8], ConnectionError> {
        self.check_stream_open(head.stream)?;
        let (padding, pad_byte, rest) = match rest.split_first() {
            Some((padding, rest)) if head.has(frame::PADDED) => (usize::from(*padding), 1, rest),
            _ => (0, 0, rest),
        };
        let Some(body) = head.length.checked_sub(pad_byte + padding) else {
            return Err(ConnectionError(Http2ErrorCode::ProtocolError, MalformedReply::Padding));
        };
        // Padding counts for flow control as well (RFC 9113 section 6.1).
        self.acknowledge(head.stream, head.length);
        if let Some(stream) = self.streams.get_mut(&head.stream) {
            stream.record_received(frame::HEAD + pad_byte, now);
            stream.stamps.head_bytes += (frame::HEAD + pad_byte + padding) as u64;
            let cause = match stream.end {
                None if stream.head.is_none() => Some(MalformedReply::DataBeforeHead),
                None if body > 0 && !stream.may_have_body() => Some(MalformedReply::BodyLength),
                _ => None,
            };
            if let Some(cause) = cause {
                stream.fail_malformed(cause);
                self.reset(head.stream, Http2ErrorCode::ProtocolError);
            }
        }
        let data =
            PartialData { stream: head.stream, body, padding, ends: head.has(frame::END_STREAM) };
        Ok(self.on_data(data, rest, now))
    }

    /// Processes bytes of a DATA frame. Returns the bytes after it.
    fn on_data<'a>(&mut self, mut data: PartialData, bytes: &'a [u8], now: Tick) -> &'a [u8] {
        let (body, rest) = bytes.split_at(bytes.len().min(data.body));
        let (padding, after) =
            rest.split_at(if body.len() == data.body { rest.len().min(data.padding) } else { 0 });
        data.body -= body.len();
        data.padding -= padding.len();
        let is_over = data.body == 0 && data.padding == 0;
        if !is_over {
            self.input.data = Some(data);
        }
        // The bytes of an abandoned stream are discarded.
        let Some(stream) = self.streams.get_mut(&data.stream) else { return after };
        if stream.end.is_some() {
            return after;
        }
        if !body.is_empty() || !padding.is_empty() {
            stream.record_received(body.len() + padding.len(), now);
            stream.body_bytes += body.len() as u64;
            if stream.is_grpc {
                self.counts.borrow_mut().grpc_received += stream.messages.push(body);
            }
            let progress =
                if body.is_empty() { BodyProgress::More } else { stream.push_body(body) };
            match progress {
                // The server has ended the stream with these bytes: a reset would be an error
                // (RFC 9113 section 5.1).
                BodyProgress::Enough if !(is_over && data.ends) => {
                    self.served += 1;
                    if stream.is_grpc {
                        stream.finish_as_planned(now);
                    }
                    stream.finish(Ok(()));
                    self.reset(data.stream, Http2ErrorCode::Cancel);
                    return after;
                }
                BodyProgress::Messages(count) if !(is_over && data.ends) => {
                    (0..count).for_each(|_| self.release_piece(data.stream));
                }
                _ => {}
            }
        }
        if is_over && data.ends {
            self.end_stream(data.stream);
        }
        after
    }

    /// Ends a stream whose reply was fully received.
    fn end_stream(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.end.is_some() {
            return;
        }
        let is_uploading = stream.upload.is_some();
        if stream.head.is_none() {
            stream.fail_malformed(MalformedReply::PseudoHeader);
        } else if stream.lacks_grpc_status() {
            stream.fail_malformed(MalformedReply::GrpcStatus);
        } else if stream.is_whole() {
            self.served += 1;
            stream.finish(Ok(()));
        } else {
            stream.fail_malformed(MalformedReply::BodyLength);
        }
        if is_uploading {
            // The peer does not need the rest of the request's body.
            self.reset(id, Http2ErrorCode::Cancel);
        }
    }

    fn on_frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        now: Tick,
    ) -> Result<(), ConnectionError> {
        let needs_connection = matches!(head.kind, frame::SETTINGS | frame::PING | frame::GOAWAY);
        let needs_stream = matches!(
            head.kind,
            frame::DATA
                | frame::HEADERS
                | frame::PRIORITY
                | frame::RST_STREAM
                | frame::PUSH_PROMISE
                | frame::CONTINUATION
        );
        if needs_connection && head.stream != 0 || needs_stream && head.stream == 0 {
            return Err(ConnectionError(
                Http2ErrorCode::ProtocolError,
                MalformedReply::StreamState,
            ));
        }
        match head.kind {
            // A padded frame that lacks the length of its padding.
            frame::DATA => check_size(false),
            frame::HEADERS => self.on_headers(head, payload, now),
            frame::CONTINUATION => self.on_continuation(head, payload, now),
            frame::PRIORITY => check_size(payload.len() == 5),
            frame::RST_STREAM => {
                check_size(payload.len() == 4)?;
                self.on_reset(head.stream, frame::number(payload).unwrap_or_default(), now)
            }
            frame::SETTINGS => self.on_settings(head, payload),
            // The client disabled push in its SETTINGS (RFC 9113 section 8.4).
            frame::PUSH_PROMISE => {
                Err(ConnectionError(Http2ErrorCode::ProtocolError, MalformedReply::Push))
            }
            frame::PING => {
                check_size(payload.len() == 8)?;
                if !head.has(frame::ACK) {
                    // The answer contains the same eight bytes (RFC 9113 section 6.7).
                    frame::put_head(&mut self.out, 8, frame::PING, frame::ACK, 0);
                    self.out.extend_from_slice(payload);
                }
                self.limit_control_frames()
            }
            frame::GOAWAY => {
                check_size(payload.len() >= 8)?;
                // The first bit is reserved (RFC 9113 section 6.8).
                let last = frame::number(payload).unwrap_or_default() & 0x7fff_ffff;
                let code = frame::number(&payload[4..]).unwrap_or_default();
                self.on_goaway(last, frame::close_cause(code))
            }
            frame::WINDOW_UPDATE => self.on_window_update(head.stream, payload),
            _ => Ok(()),
        }
    }

    fn on_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        now: Tick,
    ) -> Result<(), ConnectionError> {
        self.check_stream_open(head.stream)?;
        let mut block = payload;
        let mut padding = 0;
        if head.has(frame::PADDED) {
            let (first, rest) = block.split_first().ok_or_else(padding_error)?;
            padding = usize::from(*first);
            block = rest;
        }
        if head.has(frame::WITH_PRIORITY) {
            // The deprecated priority is skipped (RFC 9113 section 5.3.2).
            block = block.get(5..).ok_or_else(padding_error)?;
        }
        let block = block
            .len()
            .checked_sub(padding)
            .map(|length| &block[..length])
            .ok_or_else(padding_error)?;
        let length = frame::HEAD + payload.len();
        let ends = head.has(frame::END_STREAM);
        if head.has(frame::END_HEADERS) {
            return self.on_block(head.stream, block, length, ends, now);
        }
        let bytes = block.to_vec();
        self.input.block =
            Some(PartialBlock { stream: head.stream, ends, bytes, length, continuations: 0 });
        Ok(())
    }

    fn on_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        now: Tick,
    ) -> Result<(), ConnectionError> {
        let Some(mut block) = self.input.block.take() else {
            return Err(ConnectionError(
                Http2ErrorCode::ProtocolError,
                MalformedReply::Continuation,
            ));
        };
        block.bytes.extend_from_slice(payload);
        block.length += frame::HEAD + payload.len();
        block.continuations += 1;
        // Otherwise a server could fill the memory with CONTINUATION frames (CVE-2024-27316).
        if block.bytes.len() > MAX_HEAD || block.continuations > MAX_CONTINUATIONS {
            return Err(ConnectionError(
                Http2ErrorCode::EnhanceYourCalm,
                MalformedReply::HeadTooLarge,
            ));
        }
        if head.has(frame::END_HEADERS) {
            return self.on_block(block.stream, &block.bytes, block.length, block.ends, now);
        }
        self.input.block = Some(block);
        Ok(())
    }

    /// Processes a complete header block. `length` is the size of its frames.
    fn on_block(
        &mut self,
        id: u32,
        block: &[u8],
        length: usize,
        ends: bool,
        now: Tick,
    ) -> Result<(), ConnectionError> {
        let Self { streams, decoder, input: Input { last, .. }, .. } = self;
        let mut stream = streams.get_mut(&id).filter(|stream| stream.end.is_none());
        if let Some(stream) = &mut stream {
            stream.record_received(length, now);
        }
        let is_first = stream.as_ref().is_some_and(|stream| stream.head.is_none());
        let place = if is_first { BlockPosition::Head } else { BlockPosition::Trailers };
        let last = &mut last[place as usize];
        let without_collector =
            stream.as_mut().filter(|stream| stream.collector.is_none() && (is_first || ends));
        // Most servers send the same header block again and again. Its decoded facts are reused.
        let repeated = without_collector.zip(*last).filter(|_| decoder.is_repeat(place, block));
        if let Some((stream, HeaderFacts { status, announced, grpc_status })) = repeated {
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
            let has_collector = stream.as_ref().is_some_and(|stream| stream.collector.is_some());
            let decoded = decoder.decode(place, block, |name, value| {
                fields.push(name, value);
                if has_collector {
                    lines.push((name.to_vec(), value.to_vec()));
                }
            });
            decoded.map_err(|_| {
                ConnectionError(Http2ErrorCode::CompressionError, MalformedReply::HeaderBlock)
            })?;
            if fields.size > MAX_HEAD {
                return Err(ConnectionError(
                    Http2ErrorCode::EnhanceYourCalm,
                    MalformedReply::HeadTooLarge,
                ));
            }
            // The block of an abandoned stream is decoded as well: it may change the table
            // (RFC 9113 section 4.3).
            let Some(stream) = stream else { return Ok(()) };
            let is_interim = is_first && fields.status.is_some_and(|status| status < 200);
            stream.interim += u32::from(is_interim);
            stream.stamps.head_bytes += length as u64;
            let is_in_place = if is_first {
                fields.status.is_some_and(|status| status != 101) && (!is_interim || !ends)
            } else {
                // Trailers follow the body; they have no status, and end the stream.
                !fields.has_pseudo && ends
            };
            let error = match fields.error {
                Some(cause) => Some(cause),
                None if !is_in_place => Some(MalformedReply::PseudoHeader),
                None if stream.interim > MAX_INTERIM => Some(MalformedReply::TooManyInterim),
                None => None,
            };
            if let Some(cause) = error {
                stream.fail_malformed(cause);
                self.reset(id, Http2ErrorCode::ProtocolError);
                return Ok(());
            }
            if is_interim {
                return Ok(());
            }
            stream.grpc_status = stream.grpc_status.or(fields.grpc_status);
            if stream.is_grpc && fields.call_error.is_some() {
                stream.call_error = fields.call_error;
            }
            if stream.collector.is_none() {
                let ReplyFields { status, announced, grpc_status, .. } = fields;
                *last = Some(HeaderFacts { status: status.unwrap_or(0), announced, grpc_status });
            }
            if let Some(status) = fields.status {
                stream.announced = fields.announced;
                let mut head =
                    stream::head(HttpVersion::V2, status, fields.announced, length as u64);
                head.encoded = fields.encoded;
                stream.head = Some(head);
                if let Some(collector) = &mut stream.collector {
                    collector.push_stream_head(HttpVersion::V2, status, &lines);
                    if stream.tunnel.is_some() {
                        stream.wake();
                    }
                }
            } else if let Some(collector) = &mut stream.collector {
                collector.push_trailers(&lines);
            }
        }
        if ends {
            self.end_stream(id);
        }
        Ok(())
    }

    fn on_reset(&mut self, id: u32, code: u32, now: Tick) -> Result<(), ConnectionError> {
        if self.is_unopened(id) {
            return Err(ConnectionError(
                Http2ErrorCode::ProtocolError,
                MalformedReply::StreamState,
            ));
        }
        if let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.end.is_none()) {
            stream.record_received(frame::HEAD + 4, now);
            stream.stamps.malformed = Some(frame::reset_cause(code));
            if code == Http2ErrorCode::RefusedStream as u32 {
                stream.fail_unprocessed(true);
            } else {
                stream.finish(Err(Failure::StreamReset));
            }
        }
        Ok(())
    }

    /// Processes a GOAWAY. `cause` is its error.
    fn on_goaway(
        &mut self,
        last: u32,
        cause: Option<MalformedReply>,
    ) -> Result<(), ConnectionError> {
        if self.goes_away_after.is_some_and(|previous| last > previous) {
            return Err(ConnectionError(Http2ErrorCode::ProtocolError, MalformedReply::GoAway));
        }
        self.goes_away_after = Some(last);
        self.close_cause = cause;
        for (_, stream) in self.streams.iter_mut().filter(|(id, _)| **id > last) {
            stream.stamps.malformed = cause;
            stream.fail_unprocessed(last == 0);
        }
        self.idle.wake();
        Ok(())
    }
}

fn check_size(is_valid: bool) -> Result<(), ConnectionError> {
    if is_valid {
        Ok(())
    } else {
        Err(ConnectionError(Http2ErrorCode::FrameSizeError, MalformedReply::FrameSize))
    }
}

fn padding_error() -> ConnectionError {
    ConnectionError(Http2ErrorCode::ProtocolError, MalformedReply::Padding)
}
