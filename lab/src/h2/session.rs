//! One HTTP/2 connection, from bytes to requests: frames in their order, streams, settings and flow control.
//!
//! It keeps the client to RFC 9113: what breaks a rule ends the stream or the connection, with the reason as the text
//! of the GOAWAY. No I/O and no clock; settings and
//! windows are in [`super::control`], replies in [`super::sending`].

use std::collections::VecDeque;

use super::fields::Fields;
use super::frame::{self, Code, HEAD, Head, LARGEST_FRAME, PREFACE, flag, kind, setting};
use super::hostile::Stage;
use super::hpack::{Decoder, put_field};
use super::options::Http2;
use super::out::Out;
use super::stream::Stream;
use crate::args::Options;
use crate::hostile::{Hostile, Row, Say, When};
use crate::outbox::Settled;
use crate::request::Request;

/// The longest header block, in bytes.
const LONGEST_BLOCK: usize = 64 * 1024;

/// The most bytes of a body that `--echo` keeps.
const MOST_KEPT: usize = 64 << 20;

/// The window of a connection and of its streams before any other is known.
pub(super) const USUAL_WINDOW: i64 = 65_535;

/// The HPACK table before any other size is known.
const USUAL_TABLE: usize = 4096;

/// A rule that the client broke, and for which the connection ends.
pub type Fatal = (Code, &'static str);

/// What happened on HTTP/2 connections besides requests and replies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Streams beyond `SETTINGS_MAX_CONCURRENT_STREAMS`.
    pub refused: u64,
    /// Streams that the client reset.
    pub cancelled: u64,
    /// Streams above the last one of a GOAWAY.
    pub after_goaway: u64,
    /// GOAWAY sent.
    pub goaways: u64,
    /// Requests and frames that break a rule.
    pub malformed: u64,
    /// What was wrong first.
    pub first_error: Option<&'static str>,
    /// Streams that became `WebSocket`s.
    pub websockets: u64,
    /// What was wrong first on one of them.
    pub websocket_error: Option<&'static str>,
}

/// SETTINGS of ours that are not acknowledged yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announced {
    pub(super) window: Option<u32>,
    pub(super) table: Option<usize>,
}

/// A header block that is not complete yet.
#[derive(Debug)]
struct Block {
    stream: u32,
    end_stream: bool,
    bytes: Vec<u8>,
}

/// See the module.
#[derive(Debug)]
pub struct Session {
    /// Frames to send.
    pub out: Out,
    /// Requests that are complete and not yet taken.
    pub done: Vec<(u32, Request)>,
    /// What happened since it was last taken.
    pub counts: Counts,
    /// The greatest stream that is processed.
    pub last: u32,
    pub(super) streams: Vec<Stream>,
    /// Streams that can send.
    pub(super) queue: VecDeque<u32>,
    /// How many bytes we may still send on all streams.
    pub(super) window: i64,
    pub(super) peer_frame: usize,
    pub(super) peer_window: i64,
    pub(super) options: Http2,
    pub(super) echo: bool,
    most_requests: u64,
    opened: u64,
    /// How much of the preface has come.
    preface: usize,
    pub(super) greeted: bool,
    held: Vec<u8>,
    pub(super) decoder: Decoder,
    block: Option<Block>,
    pub(super) highest: u32,
    /// Streams that we ended before the client did.
    pub(super) dangling: Vec<u32>,
    pub(super) credit: i64,
    /// The stream window that the client keeps to, and the one that it will.
    pub(super) acknowledged: i64,
    pub(super) target: i64,
    pub(super) announced: VecDeque<Announced>,
    pub(super) hostile: Option<&'static Row>,
    /// How many times the hostile row was sent.
    rounds: u32,
    /// The stream on which a row without end goes on.
    pub(super) flooded: Option<u32>,
}

impl Session {
    /// A connection whose preface is still to come; our SETTINGS stand in `out`.
    pub fn new(options: &Options) -> Self {
        let http2 = options.http2.clone();
        let mut session = Self {
            out: Out::default(),
            done: Vec::new(),
            counts: Counts::default(),
            last: u32::MAX,
            streams: Vec::new(),
            queue: VecDeque::new(),
            window: USUAL_WINDOW,
            peer_frame: LARGEST_FRAME,
            peer_window: USUAL_WINDOW,
            echo: options.echo,
            most_requests: options.keepalive_requests.unwrap_or(u64::MAX),
            opened: 0,
            preface: 0,
            greeted: false,
            held: Vec::new(),
            decoder: Decoder::new(USUAL_TABLE),
            block: None,
            highest: 0,
            dangling: Vec::new(),
            credit: USUAL_WINDOW,
            acknowledged: USUAL_WINDOW,
            target: i64::from(http2.window),
            announced: VecDeque::new(),
            hostile: options.hostile.and_then(Hostile::row).filter(|row| matches!(row.say, Say::Http2(_))),
            rounds: 0,
            flooded: None,
            options: http2,
        };
        session.greet();
        session
    }

    /// Takes the request with which an HTTP/1.1 connection became this one: it is that of stream 1.
    pub fn adopt(&mut self, request: Request) {
        self.highest = 1;
        let mut stream = Stream::new(1, self.acknowledged, self.peer_window);
        stream.complete = true;
        self.streams.push(stream);
        self.count_opened(1);
        self.done.push((1, request));
    }

    fn greet(&mut self) {
        if self.greets_otherwise() {
            self.perform(0, None);
            return;
        }
        let options = &self.options;
        let mut settings = vec![
            (setting::MAX_CONCURRENT_STREAMS, options.streams),
            (setting::INITIAL_WINDOW_SIZE, options.window),
            (setting::MAX_HEADER_LIST_SIZE, LONGEST_BLOCK as u32),
            (setting::ENABLE_CONNECT_PROTOCOL, 1),
        ];
        if options.table != USUAL_TABLE {
            settings.push((setting::HEADER_TABLE_SIZE, options.table as u32));
        }
        self.announced.push_back(Announced { window: Some(options.window), table: Some(options.table) });
        frame::put_settings(&mut self.out.bytes, &settings);
        if self.target > USUAL_WINDOW {
            frame::put_window_update(&mut self.out.bytes, 0, (self.target - USUAL_WINDOW) as u32);
            self.credit = self.target;
        }
    }

    /// Whether a hostile row stands in place of our SETTINGS.
    pub(super) fn greets_otherwise(&self) -> bool {
        self.hostile.is_some_and(|row| row.when == When::Greeting)
    }

    /// Whether a hostile row stands in place of replies.
    pub fn is_hostile(&self) -> bool {
        self.hostile.is_some_and(|row| row.when != When::Greeting)
    }

    /// Sends the hostile row; true if the connection is closed after it.
    pub fn perform(&mut self, id: u32, settled: Option<Settled>) -> bool {
        let Some(row) = self.hostile else { return false };
        let Say::Http2(say) = row.say else { return false };
        let out = &mut self.out.bytes;
        let mut stage = Stage { out, stream: id, round: self.rounds, replied: false, closing: false };
        say(&mut stage);
        let (replied, closing) = (stage.replied, stage.closing);
        self.rounds += 1;
        if row.when == When::Endless {
            self.flooded = Some(id);
        }
        if replied {
            if let Some(settled) = settled {
                self.out.mark(settled);
            }
            self.close(id);
        }
        self.leave(id);
        closing
    }

    /// Takes bytes of the client.
    ///
    /// # Errors
    ///
    /// The broken rule for which the connection must end.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Fatal> {
        if self.preface < PREFACE.len() {
            let (now, rest) = bytes.split_at(bytes.len().min(PREFACE.len() - self.preface));
            if !PREFACE[self.preface..].starts_with(now) {
                return Err((Code::ProtocolError, "no connection preface"));
            }
            self.preface += now.len();
            bytes = rest;
        }
        if self.held.is_empty() {
            let used = self.frames(bytes)?;
            self.held.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let used = self.frames(&held)?;
        held.drain(..used);
        self.held = held;
        Ok(())
    }

    /// Notes what ends the connection, and tells the client.
    pub fn fail(&mut self, (code, reason): Fatal) {
        self.blame(reason);
        self.goaway(self.highest.min(self.last), code, reason);
    }

    /// Announces that streams above `last` are not processed.
    pub fn goaway(&mut self, last: u32, code: Code, text: &str) {
        self.last = self.last.min(last);
        self.counts.goaways += 1;
        frame::put_goaway(&mut self.out.bytes, self.last, code, text);
    }

    /// Announces that no stream above the latest is processed, unless something like that was announced before.
    pub fn wind_down(&mut self) {
        if self.last == u32::MAX {
            self.goaway(self.highest, Code::NoError, "");
        }
    }

    /// Whether nothing more will happen after a GOAWAY.
    pub fn is_over(&self) -> bool {
        self.last != u32::MAX && self.streams.is_empty()
    }

    /// Whether no stream is open.
    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// The client will send no more: requests that are not complete never will be, and nothing else comes on streams
    /// that were left.
    pub fn on_end_of_input(&mut self) {
        self.streams.retain(|stream| stream.complete && !stream.left);
    }

    /// Marks a stream on which nothing is to come any more although it is open.
    pub fn leave(&mut self, id: u32) {
        if let Some(stream) = self.stream(id) {
            stream.left = true;
        }
    }

    /// The open stream of this number.
    pub fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        self.place(id).map(|place| &mut self.streams[place])
    }

    pub(super) fn place(&self, id: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    /// Forgets a stream that ended on our side.
    pub(super) fn close(&mut self, id: u32) {
        let Some(place) = self.place(id) else { return };
        if !self.streams.remove(place).complete {
            self.dangling.push(id);
        }
    }

    /// Announces that this stream and those above it are not processed, and forgets them.
    pub fn cut(&mut self, id: u32) {
        let above = self.streams.iter().filter(|stream| stream.id > id).count();
        self.counts.after_goaway += above as u64;
        self.streams.retain(|stream| stream.id < id);
        self.goaway(id.saturating_sub(2), Code::NoError, "");
    }

    /// Resets a stream.
    pub fn reset(&mut self, id: u32, code: Code) {
        frame::put_reset(&mut self.out.bytes, id, code);
        self.close(id);
    }

    fn blame(&mut self, reason: &'static str) {
        self.counts.malformed += 1;
        self.counts.first_error.get_or_insert(reason);
    }

    /// Ends a stream whose request breaks a rule.
    pub(super) fn reject(&mut self, id: u32, code: Code, reason: &'static str) {
        self.blame(reason);
        self.reset(id, code);
    }

    /// Goes through the whole frames in `bytes`; returns how many bytes they took.
    fn frames(&mut self, bytes: &[u8]) -> Result<usize, Fatal> {
        let mut used = 0;
        while let Some(head) = Head::parse(&bytes[used..]) {
            if head.length > LARGEST_FRAME {
                return Err((Code::FrameSizeError, "a frame longer than SETTINGS_MAX_FRAME_SIZE"));
            }
            let Some(payload) = bytes.get(used + HEAD..used + HEAD + head.length) else { break };
            self.on_frame(head, payload)?;
            used += HEAD + head.length;
        }
        Ok(used)
    }

    fn on_frame(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        let continued = self.block.as_ref().map(|block| block.stream);
        if continued.is_some_and(|stream| head.kind != kind::CONTINUATION || head.stream != stream) {
            return Err((Code::ProtocolError, "a frame within a header block"));
        }
        if !self.greeted && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err((Code::ProtocolError, "a first frame that is not SETTINGS"));
        }
        match head.kind {
            kind::DATA => self.on_data(head, payload),
            kind::HEADERS => self.on_headers(head, payload),
            kind::CONTINUATION => self.on_continuation(head, payload),
            kind::SETTINGS => self.on_settings(head, payload),
            kind::WINDOW_UPDATE => self.on_window_update(head, payload),
            kind::RST_STREAM => self.on_reset(head, payload),
            kind::PING => self.on_ping(head, payload),
            kind::PRIORITY if head.stream == 0 => Err((Code::ProtocolError, "PRIORITY on stream 0")),
            kind::PRIORITY if payload.len() != 5 => Err((Code::FrameSizeError, "PRIORITY whose length is not 5")),
            kind::GOAWAY if head.stream != 0 => Err((Code::ProtocolError, "GOAWAY on a stream")),
            kind::GOAWAY if payload.len() < 8 => Err((Code::FrameSizeError, "GOAWAY shorter than 8")),
            kind::PUSH_PROMISE => Err((Code::ProtocolError, "PUSH_PROMISE from a client")),
            _ => Ok(()),
        }
    }

    fn on_headers(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        if head.stream.is_multiple_of(2) {
            return Err((Code::ProtocolError, "HEADERS on stream 0 or of an even number"));
        }
        let mut payload = unpadded(head, payload)?;
        if head.has(flag::PRIORITY) {
            payload = payload.get(5..).ok_or((Code::FrameSizeError, "HEADERS shorter than its priority"))?;
        }
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.on_block(head.stream, end_stream, payload);
        }
        self.block = Some(Block { stream: head.stream, end_stream, bytes: payload.to_vec() });
        Ok(())
    }

    fn on_continuation(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        let mut block = self.block.take().ok_or((Code::ProtocolError, "CONTINUATION without HEADERS"))?;
        block.bytes.extend_from_slice(payload);
        if block.bytes.len() > LONGEST_BLOCK {
            return Err((Code::EnhanceYourCalm, "a header block longer than 64 KiB"));
        }
        if head.has(flag::END_HEADERS) {
            return self.on_block(block.stream, block.end_stream, &block.bytes);
        }
        self.block = Some(block);
        Ok(())
    }

    /// A whole header block. It is decoded even if nobody wants it, since later blocks depend on it.
    fn on_block(&mut self, id: u32, end_stream: bool, block: &[u8]) -> Result<(), Fatal> {
        let mut fields = Fields::new(self.echo);
        let decoded = self.decoder.decode(block, |name, value| fields.take(name, value));
        decoded.map_err(|reason| (Code::CompressionError, reason))?;
        if id <= self.highest {
            return self.on_trailers(id, end_stream, fields);
        }
        self.highest = id;
        if id > self.last {
            self.counts.after_goaway += 1;
            return Ok(());
        }
        let full = self.streams.len() >= self.options.streams as usize;
        self.streams.push(Stream::new(id, self.acknowledged, self.peer_window));
        if full {
            self.counts.refused += 1;
            self.close_with(id, end_stream, Code::RefusedStream);
            return Ok(());
        }
        self.count_opened(id);
        self.open(id, end_stream, fields);
        Ok(())
    }

    fn close_with(&mut self, id: u32, end_stream: bool, code: Code) {
        if let Some(stream) = self.stream(id) {
            stream.complete = end_stream;
        }
        self.reset(id, code);
    }

    /// After the most requests of a connection, no others are processed.
    fn count_opened(&mut self, id: u32) {
        self.opened += 1;
        if self.opened >= self.most_requests {
            self.goaway(id, Code::NoError, "");
        }
    }

    fn open(&mut self, id: u32, end_stream: bool, fields: Fields) {
        let head = match fields.finish() {
            Ok(head) if end_stream && head.length.unwrap_or(0) > 0 => Err("a content-length without a body"),
            other => other,
        };
        let head = match head {
            Ok(head) => head,
            Err(reason) => {
                self.blame(reason);
                return self.close_with(id, end_stream, Code::ProtocolError);
            }
        };
        if head.expects_continue && !end_stream {
            let mut block = Vec::new();
            put_field(&mut block, ":status", "100");
            frame::put_headers(&mut self.out.bytes, id, 0, &block, self.peer_frame);
        }
        if head.opens_websocket && !end_stream && self.open_websocket(id, head.request.route) {
            return;
        }
        let Some(stream) = self.stream(id) else { return };
        stream.length = head.length;
        stream.request = Some(head.request);
        // A client that opens a WebSocket sends nothing before it has the answer.
        let early = head.opens_websocket || self.hostile.is_some_and(|row| row.when == When::Head);
        match end_stream {
            true => self.complete(id),
            false if early => self.hand_on(id),
            false => {}
        }
    }

    fn on_trailers(&mut self, id: u32, end_stream: bool, fields: Fields) -> Result<(), Fatal> {
        let ignored = self.is_ignored(id);
        match self.stream(id) {
            None if ignored => return Ok(()),
            None => return Err((Code::StreamClosed, "HEADERS on a closed stream")),
            Some(stream) if stream.complete => return Err((Code::StreamClosed, "HEADERS after END_STREAM")),
            Some(_) if !end_stream => self.reject(id, Code::ProtocolError, "trailers without END_STREAM"),
            Some(_) => match fields.finish_trailers() {
                Ok(()) => self.complete(id),
                Err(reason) => self.reject(id, Code::ProtocolError, reason),
            },
        }
        Ok(())
    }

    /// Whether frames on this stream, which is not open, mean nothing: we ended it, or never processed it.
    fn is_ignored(&self, id: u32) -> bool {
        id > self.last || self.dangling.contains(&id)
    }

    /// Nothing comes on a stream after its end.
    fn forget_if_ended(&mut self, head: Head) {
        if head.has(flag::END_STREAM) {
            self.dangling.retain(|id| *id != head.stream);
        }
    }

    /// The client has ended its side.
    fn complete(&mut self, id: u32) {
        let Some(stream) = self.stream(id) else { return };
        stream.complete = true;
        if stream.length.is_some_and(|length| length != stream.received) {
            return self.reject(id, Code::ProtocolError, "a body that differs from its content-length");
        }
        self.on_end_of_messages(id);
        self.hand_on(id);
    }

    fn hand_on(&mut self, id: u32) {
        if let Some(request) = self.stream(id).and_then(|stream| stream.request.take()) {
            self.done.push((id, request));
        }
    }

    fn on_data(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        let (id, length) = (head.stream, payload.len() as i64);
        self.credit -= length;
        if self.credit < 0 {
            return Err((Code::FlowControlError, "DATA beyond the connection's window"));
        }
        let data = unpadded(head, payload)?;
        let ignored = self.is_ignored(id);
        let highest = self.highest;
        match self.stream(id) {
            None if id == 0 || id > highest => return Err((Code::ProtocolError, "DATA on a stream that is not open")),
            None if ignored => self.forget_if_ended(head),
            None => return Err((Code::StreamClosed, "DATA on a closed stream")),
            Some(stream) if stream.complete => return Err((Code::StreamClosed, "DATA after END_STREAM")),
            Some(stream) => {
                stream.credit -= length;
                stream.received += data.len() as u64;
                if stream.credit < 0 {
                    return Err((Code::FlowControlError, "DATA beyond the stream's window"));
                }
                if let Some(echo) = stream.request.as_mut().and_then(|request| request.echo.as_mut()) {
                    echo.extend_from_slice(&data[..data.len().min(MOST_KEPT.saturating_sub(echo.len()))]);
                }
                let carries_messages = stream.messages.is_some();
                self.change_window();
                if carries_messages {
                    self.on_messages(id, data);
                    if self.place(id).is_none() {
                        self.forget_if_ended(head);
                    }
                }
                self.grant(id, head.has(flag::END_STREAM));
                if head.has(flag::END_STREAM) {
                    self.complete(id);
                }
            }
        }
        self.grant_connection();
        Ok(())
    }
}

/// The payload of a frame that may be padded.
fn unpadded(head: Head, payload: &[u8]) -> Result<&[u8], Fatal> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (&padding, rest) = payload.split_first().ok_or((Code::FrameSizeError, "a padded frame without its length"))?;
    let length = rest.len().checked_sub(usize::from(padding));
    length.map(|length| &rest[..length]).ok_or((Code::ProtocolError, "padding longer than its frame"))
}

#[cfg(test)]
mod tests;
