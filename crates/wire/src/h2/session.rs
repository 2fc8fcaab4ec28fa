//! The state machine of one client connection: bytes in, bytes out. It reads no
//! clock and no socket.
//!
//! A violation of a stream's rules ends that stream. A violation of the connection's rules ends the
//! connection, and fails all requests in flight with its cause (RFC 9113 section 5.4).

use super::frame::{self, FrameHead, Http2ErrorCode};
use super::hpack::{Decoder, Encoder};
use crate::contract::SharedCounts;
use crate::multiplexing::stream::{MultiplexedRequest, Streams};
use crate::request::fields::{HeaderField, RequestFields};
use crate::waiters::Waiters;
use brunt_model::outcome::MalformedReply;
use brunt_model::{Failure, Tick};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::task::Waker;

/// Maximum size of the output, in bytes, at which further bodies of requests are framed.
pub(super) const MAX_FRAMED: usize = 128 * 1024;
/// Maximum size of the output, in bytes, before a peer that keeps
/// requesting answers is disconnected.
const MAX_ANSWERS: usize = 1 << 20;
/// Maximum number of streams before the peer's settings are received: the minimum
/// that common servers allow.
const STREAMS_BEFORE_SETTINGS: u32 = 100;
/// Number of received DATA bytes after which a window is enlarged again.
const ENLARGE_AT: i64 = frame::MAX_WINDOW / 2;
/// Maximum number of frames that require an answer while no stream makes progress. Beyond it
/// the peer is disconnected.
const MAX_CONTROL_FRAMES: u32 = 10_000;
/// Maximum number of abandoned streams that are remembered, because frames of
/// them may still arrive.
const MAX_ABANDONED: usize = 4096;
/// Maximum number of encoded header blocks that are kept for later requests.
const MAX_BLOCKS: usize = 256;

/// The limits that the peer has set.
#[derive(Debug, Clone, Copy)]
pub struct PeerSettings {
    /// Maximum number of streams in flight.
    pub streams: u32,
    /// Bytes of a body that may be sent on a stream before the peer grants more.
    pub window: i64,
    /// Maximum payload of a frame, in bytes.
    pub payload: usize,
    /// True if the settings were received, which shows that the peer supports HTTP/2.
    pub is_received: bool,
    /// True if streams that carry bytes in both directions may be opened (RFC 8441).
    pub connect_protocol: bool,
    /// Maximum size of the header fields of a request (RFC 9113 section 6.5.2); None: no limit.
    pub max_header_list: Option<usize>,
}

/// Why the connection is unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2SessionEnd {
    /// The peer violated a rule, or refused the connection by a TLS alert.
    Broken(MalformedReply),
    /// The connection was lost.
    Lost(Failure),
}

/// A connection error: the peer receives the code, and the requests fail with the cause.
pub(super) struct ConnectionError(pub Http2ErrorCode, pub MalformedReply);

/// The state of a connection.
pub struct Http2Session {
    /// Bytes that wait to be written.
    pub out: Vec<u8>,
    /// Streams all of whose pending frames are in `out`.
    pub framed: Vec<u32>,
    pub peer: PeerSettings,
    pub streams: Streams,
    pub(super) decoder: Decoder,
    encoder: Encoder,
    /// Encoded header blocks, by the id of the request's fields, with the state
    /// of the encoder's table.
    blocks: HashMap<u64, (u64, Box<[u8]>)>,
    next_id: u32,
    /// Bytes that the peer allows to be sent over all streams.
    pub(super) window: i64,
    /// Bytes of DATA frames received since the connection's window was last enlarged.
    unacknowledged: i64,
    /// The last instant that was passed to the session.
    pub(super) now: Tick,
    /// Counts the requests that the peer's windows delayed.
    pub(super) counts: SharedCounts,
    /// Streams that wait to send more of a body.
    pub(super) uploading: VecDeque<u32>,
    pub(super) input: super::input::Input,
    /// Number of frames that required an answer since a stream made progress.
    pub(super) control_frames: u32,
    /// Streams that were abandoned before their end.
    abandoned: VecDeque<u32>,
    /// Largest number of an abandoned stream that is no longer in `abandoned`.
    forgotten: u32,
    /// The last stream that the peer may process.
    pub(super) goes_away_after: Option<u32>,
    /// The error of the peer's GOAWAY.
    pub(super) close_cause: Option<MalformedReply>,
    pub end: Option<Http2SessionEnd>,
    /// Number of requests that were completed on the connection.
    pub served: u64,
    /// Wakes the task that writes and reads.
    pub driver: Option<Waker>,
    /// True if the driver was woken and has not run since.
    is_driver_woken: bool,
    /// Tasks that wait for the settings, a free stream, or the end of the connection.
    pub idle: Waiters,
}

/// Counts the nanoseconds that the peer's windows delayed a stream.
pub(super) fn count_stall(counts: &SharedCounts, was_stalled: &mut bool, nanos: u64) {
    let mut counts = counts.borrow_mut();
    counts.stalled += u64::from(!std::mem::replace(was_stalled, true));
    counts.stalled_nanos += nanos;
}

impl Http2Session {
    /// Creates the state of a new connection, with the preface and the settings in the output.
    pub fn new(counts: SharedCounts) -> Self {
        let mut out = frame::PREFACE.to_vec();
        frame::put_settings(&mut out);
        // SETTINGS cannot change the window of a connection; only WINDOW_UPDATE can
        // (RFC 9113 section 6.9.2).
        let room = (frame::MAX_WINDOW - frame::DEFAULT_WINDOW) as u32;
        frame::put_numbers(&mut out, frame::WINDOW_UPDATE, 0, &[room]);
        let peer = PeerSettings {
            streams: STREAMS_BEFORE_SETTINGS,
            window: frame::DEFAULT_WINDOW,
            payload: frame::DEFAULT_PAYLOAD,
            is_received: false,
            connect_protocol: false,
            max_header_list: None,
        };
        Self {
            out,
            framed: Vec::new(),
            peer,
            streams: Streams::default(),
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            blocks: HashMap::new(),
            next_id: 1,
            window: frame::DEFAULT_WINDOW,
            unacknowledged: 0,
            now: Tick::ZERO,
            counts,
            uploading: VecDeque::new(),
            input: super::input::Input::default(),
            control_frames: 0,
            abandoned: VecDeque::new(),
            forgotten: 0,
            goes_away_after: None,
            close_cause: None,
            end: None,
            served: 0,
            driver: None,
            is_driver_woken: false,
            idle: Waiters::default(),
        }
    }

    /// Adapts the state to a connection that began as HTTP/1.1. Its stream 1 carries the reply
    /// to the upgrade request.
    pub fn begin_upgraded(&mut self) {
        // The request of the upgrade has stream 1 (RFC 7540 section 3.2).
        self.next_id = 3;
        self.forgotten = 1;
    }

    /// True if another request may be sent.
    pub fn accepts(&self) -> bool {
        self.end.is_none() && self.goes_away_after.is_none() && self.next_id < 1 << 30
    }

    /// True if the peer allows no stream at present.
    pub fn allows_no_streams(&self) -> bool {
        self.peer.streams == 0 && self.accepts()
    }

    /// True if a stream with this number was never opened.
    pub(super) fn is_unopened(&self, id: u32) -> bool {
        id.is_multiple_of(2) || id >= self.next_id
    }

    /// True if these header fields exceed the limit that the peer has set.
    pub fn exceeds_header_limit(&self, fields: &RequestFields) -> bool {
        self.peer
            .max_header_list
            .is_some_and(|limit| fields.list.iter().map(HeaderField::size).sum::<usize>() > limit)
    }

    /// Sends a request. Returns the number of its stream.
    ///
    /// # Errors
    ///
    /// If the connection accepts no more requests.
    pub fn begin(
        &mut self,
        fields: &RequestFields,
        mut stream: MultiplexedRequest,
    ) -> Result<u32, Failure> {
        self.check_accepts()?;
        let id = self.take_id();
        stream.window = self.peer.window;
        let length_before = self.out.len();
        self.put_headers(id, fields, stream.upload.is_none());
        stream.stamps.bytes_sent = (self.out.len() - length_before) as u64;
        if stream.upload.is_some() {
            self.uploading.push_back(id);
        } else {
            self.framed.push(id);
        }
        self.streams.insert(id, stream);
        self.frame_uploads();
        self.wake_driver();
        Ok(id)
    }

    /// Checks that a request may be sent. Returns the failure of requests
    /// that are sent nevertheless.
    pub(super) fn check_accepts(&self) -> Result<(), Failure> {
        match self.end {
            Some(Http2SessionEnd::Broken(cause)) => Err(cause.failure()),
            Some(Http2SessionEnd::Lost(_)) => Err(Failure::Stale),
            None if self.goes_away_after.is_some() => Err(Failure::Unprocessed),
            None => Ok(()),
        }
    }

    /// Allocates the number of the next stream.
    pub(super) fn take_id(&mut self) -> u32 {
        let id = self.next_id;
        // Clients use odd numbers (RFC 9113 section 5.1.1).
        self.next_id += 2;
        id
    }

    pub(super) fn put_headers(&mut self, id: u32, fields: &RequestFields, ends: bool) {
        let end = if ends { frame::END_STREAM } else { 0 };
        if let Some((changes, block)) = self.blocks.get(&fields.id)
            && *changes == self.encoder.changes()
        {
            return put_block(&mut self.out, block, self.peer.payload, id, end);
        }
        let changes = self.encoder.changes();
        let mut block = Vec::with_capacity(64);
        self.encoder.encode(fields.list.iter(), &mut block);
        put_block(&mut self.out, &block, self.peer.payload, id, end);
        // A block that changes the table cannot be reused: sent again, it would change
        // the peer's table again.
        if self.encoder.changes() == changes {
            if self.blocks.len() >= MAX_BLOCKS {
                // The table of encoded blocks is only a cache: starting again is simpler
                // than choosing a victim.
                self.blocks.clear();
            }
            self.blocks.insert(fields.id, (changes, block.into()));
        }
    }

    /// Frames as much of the bodies as the windows allow. Requests with a body take turns.
    pub fn frame_uploads(&mut self) {
        for _ in 0..self.uploading.len() {
            if self.out.len() >= MAX_FRAMED {
                return;
            }
            let Some(id) = self.uploading.pop_front() else { return };
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            // A tunnel waits in this queue as well, but sends its bytes itself.
            let Some(upload) = &mut stream.upload else {
                stream.retry_send();
                continue;
            };
            let parts = Rc::clone(&upload.parts);
            let body = parts.body.bytes().unwrap_or_default();
            loop {
                let rest = &body[upload.framed..upload.due];
                let room =
                    self.window.min(stream.window).clamp(0, self.peer.payload as i64) as usize;
                let piece = &rest[..rest.len().min(room)];
                let is_whole = piece.len() == rest.len();
                if piece.is_empty() && !is_whole && self.out.is_empty() && stream.stalled.is_none()
                {
                    // Everything that the windows allowed was written.
                    stream.stalled = Some(self.now);
                }
                if (piece.is_empty() && !is_whole) || self.out.len() >= MAX_FRAMED {
                    self.uploading.push_back(id);
                    break;
                }
                if let Some(from) = stream.stalled.take() {
                    count_stall(&self.counts, &mut stream.was_stalled, self.now.nanos_since(from));
                }
                let is_last = is_whole && upload.is_last_piece();
                let end = if is_last { frame::END_STREAM } else { 0 };
                frame::put_head(&mut self.out, piece.len(), frame::DATA, end, id);
                self.out.extend_from_slice(piece);
                upload.framed += piece.len();
                self.window -= piece.len() as i64;
                stream.window -= piece.len() as i64;
                stream.stamps.bytes_sent += (frame::HEAD + piece.len()) as u64;
                if is_whole {
                    self.framed.push(id);
                    if stream.is_grpc {
                        self.counts.borrow_mut().grpc_sent += upload.messages;
                    }
                    if !is_last && upload.advance() {
                        continue;
                    }
                    if is_last {
                        stream.upload = None;
                    }
                    break;
                }
            }
        }
    }

    /// Allows the next piece of a stream's body to be sent, if there is one.
    pub fn release_piece(&mut self, id: u32) {
        let Some(upload) = self.streams.get_mut(&id).and_then(|stream| stream.upload.as_mut())
        else {
            return;
        };
        if upload.release() {
            self.uploading.push_back(id);
        }
        self.frame_uploads();
    }

    /// Ends the request's side of a stream. If it has ended already, the whole stream ends.
    pub fn close_stream(&mut self, id: u32, now: Tick) {
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.end.is_none()) else {
            return;
        };
        let Some(upload) = &mut stream.upload else {
            self.served += 1;
            stream.finish_as_planned(now);
            return self.reset(id, Http2ErrorCode::Cancel);
        };
        if upload.close() {
            frame::put_head(&mut self.out, 0, frame::DATA, frame::END_STREAM, id);
            stream.stamps.bytes_sent += frame::HEAD as u64;
            stream.upload = None;
            self.framed.push(id);
        }
    }

    /// Records that all output was written, and frames more of the bodies.
    pub fn record_written(&mut self, now: Tick) {
        self.now = now;
        for id in self.framed.drain(..) {
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.record_written(now);
            }
        }
        self.out.clear();
        self.frame_uploads();
    }

    /// Removes a stream that is over or abandoned. One that is not over is reset.
    pub fn take_stream(&mut self, id: u32) -> Option<MultiplexedRequest> {
        let mut stream = self.streams.remove(&id)?;
        if let Some(from) = stream.stalled.take() {
            count_stall(&self.counts, &mut stream.was_stalled, self.now.nanos_since(from));
        }
        // The peer may send frames until it receives the reset (RFC 9113 section 5.1).
        if stream.end != Some(Ok(())) {
            self.abandoned.push_back(id);
            if self.abandoned.len() > MAX_ABANDONED {
                self.forgotten = self.forgotten.max(self.abandoned.pop_front().unwrap_or(0));
            }
        }
        if stream.end.is_none() && self.end.is_none() {
            self.reset(id, Http2ErrorCode::Cancel);
            self.wake_driver();
        }
        Some(stream)
    }

    /// Checks that a frame of this stream is allowed. After the peer has ended the stream, none is
    /// (RFC 9113 section 5.1).
    pub(super) fn check_stream_open(&mut self, id: u32) -> Result<(), ConnectionError> {
        self.control_frames = 0;
        let was_opened = !self.is_unopened(id);
        let is_open = self.streams.get(&id).is_some_and(|stream| stream.end != Some(Ok(())));
        if was_opened && (is_open || id <= self.forgotten || self.abandoned.contains(&id)) {
            return Ok(());
        }
        let code =
            if was_opened { Http2ErrorCode::StreamClosed } else { Http2ErrorCode::ProtocolError };
        Err(ConnectionError(code, MalformedReply::StreamState))
    }

    /// Sends `RST_STREAM` for this stream.
    pub(super) fn reset(&mut self, id: u32, code: Http2ErrorCode) {
        frame::put_numbers(&mut self.out, frame::RST_STREAM, id, &[code as u32]);
    }

    /// Sends the final GOAWAY of this client, so that the peer does not wait for more.
    pub fn send_goaway(&mut self) {
        if self.end.is_none() {
            frame::put_numbers(
                &mut self.out,
                frame::GOAWAY,
                0,
                &[0, Http2ErrorCode::NoError as u32],
            );
            self.wake_driver();
        }
    }

    /// Wakes the driver, which writes the output.
    pub fn wake_driver(&mut self) {
        if !std::mem::replace(&mut self.is_driver_woken, true)
            && let Some(driver) = &self.driver
        {
            driver.wake_by_ref();
        }
    }

    /// Stores the waker of the driver, which runs now.
    pub fn set_driver(&mut self, waker: &Waker) {
        self.is_driver_woken = false;
        if !self.driver.as_ref().is_some_and(|driver| driver.will_wake(waker)) {
            self.driver = Some(waker.clone());
        }
    }

    /// Ends the connection: all requests in flight fail.
    pub fn finish(&mut self, end: Http2SessionEnd) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(end);
        // A GOAWAY with an error explains the close that follows it.
        let end = match (end, self.close_cause) {
            (Http2SessionEnd::Lost(Failure::Reset | Failure::ClosedEarly), Some(cause)) => {
                Http2SessionEnd::Broken(cause)
            }
            _ => end,
        };
        for stream in self.streams.values_mut() {
            match end {
                Http2SessionEnd::Broken(cause) => stream.fail_malformed(cause),
                // The server closed an idle connection while the request was in flight.
                // The caller repeats it.
                Http2SessionEnd::Lost(Failure::Reset | Failure::ClosedEarly)
                    if self.served > 0 && stream.stamps.bytes_received == 0 =>
                {
                    stream.finish(Err(Failure::Stale));
                }
                Http2SessionEnd::Lost(failure) => stream.finish(Err(failure)),
            }
        }
        self.idle.wake();
    }

    /// Counts received bytes of DATA frames, also those of unknown streams. Enlarges windows before
    /// they are used up.
    pub(super) fn acknowledge(&mut self, id: u32, bytes: usize) {
        let bytes = bytes as i64;
        self.unacknowledged += bytes;
        if self.unacknowledged > ENLARGE_AT {
            frame::put_numbers(
                &mut self.out,
                frame::WINDOW_UPDATE,
                0,
                &[self.unacknowledged as u32],
            );
            self.unacknowledged = 0;
        }
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.unacknowledged += bytes;
            if stream.unacknowledged > ENLARGE_AT {
                frame::put_numbers(
                    &mut self.out,
                    frame::WINDOW_UPDATE,
                    id,
                    &[stream.unacknowledged as u32],
                );
                stream.unacknowledged = 0;
            }
        }
    }

    pub(super) fn on_settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<(), ConnectionError> {
        let size = ConnectionError(Http2ErrorCode::FrameSizeError, MalformedReply::FrameSize);
        if head.has(frame::ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(size) };
        }
        // A setting has six bytes (RFC 9113 section 6.5.1).
        if !payload.len().is_multiple_of(6) {
            return Err(size);
        }
        if !std::mem::replace(&mut self.peer.is_received, true) {
            // Without the setting, the number of streams is unlimited (RFC 9113 section 6.5.2).
            self.peer.streams = u32::MAX;
            self.idle.wake();
        }
        for (setting, value) in frame::settings(payload) {
            self.apply_setting(setting, value)?;
        }
        frame::put_head(&mut self.out, 0, frame::SETTINGS, frame::ACK, 0);
        self.frame_uploads();
        self.limit_control_frames()
    }

    fn apply_setting(&mut self, setting: u16, value: u32) -> Result<(), ConnectionError> {
        match setting {
            frame::HEADER_TABLE_SIZE => self.encoder.resize(value as usize),
            frame::ENABLE_PUSH if value != 0 => {
                return settings_error(Http2ErrorCode::ProtocolError);
            }
            frame::MAX_CONCURRENT_STREAMS => {
                if self.peer.streams == 0 {
                    self.idle.wake();
                }
                self.peer.streams = value;
            }
            frame::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > frame::MAX_WINDOW {
                    return settings_error(Http2ErrorCode::FlowControlError);
                }
                // The setting changes the windows of open streams too, possibly below zero
                // (RFC 9113 section 6.9.2).
                let increase = window - self.peer.window;
                self.peer.window = window;
                for stream in self.streams.values_mut() {
                    stream.window += increase;
                    if stream.window > frame::MAX_WINDOW {
                        return Err(ConnectionError(
                            Http2ErrorCode::FlowControlError,
                            MalformedReply::FlowControl,
                        ));
                    }
                }
            }
            frame::MAX_HEADER_LIST_SIZE => self.peer.max_header_list = Some(value as usize),
            frame::MAX_FRAME_SIZE => {
                // The limits of RFC 9113 section 6.5.2.
                if !(frame::DEFAULT_PAYLOAD as u32..1 << 24).contains(&value) {
                    return settings_error(Http2ErrorCode::ProtocolError);
                }
                self.peer.payload = value as usize;
            }
            // Once enabled, it must stay enabled (RFC 8441 section 3).
            frame::ENABLE_CONNECT_PROTOCOL => match value {
                0 if !self.peer.connect_protocol => {}
                1 => self.peer.connect_protocol = true,
                _ => return settings_error(Http2ErrorCode::ProtocolError),
            },
            _ => {}
        }
        Ok(())
    }

    pub(super) fn on_window_update(
        &mut self,
        id: u32,
        payload: &[u8],
    ) -> Result<(), ConnectionError> {
        let Some(increase) = frame::number(payload).filter(|_| payload.len() == 4) else {
            return Err(ConnectionError(Http2ErrorCode::FrameSizeError, MalformedReply::FrameSize));
        };
        // The first bit is reserved (RFC 9113 section 6.9).
        let increase = i64::from(increase & 0x7fff_ffff);
        if id == 0 {
            self.window += increase;
            if increase == 0 || self.window > frame::MAX_WINDOW {
                return Err(ConnectionError(
                    Http2ErrorCode::FlowControlError,
                    MalformedReply::FlowControl,
                ));
            }
        } else if self.is_unopened(id) {
            return Err(ConnectionError(
                Http2ErrorCode::ProtocolError,
                MalformedReply::StreamState,
            ));
        } else if let Some(stream) = self.streams.get_mut(&id) {
            stream.window += increase;
            if increase == 0 || stream.window > frame::MAX_WINDOW {
                stream.fail_malformed(MalformedReply::FlowControl);
                self.reset(id, Http2ErrorCode::FlowControlError);
            }
        }
        self.frame_uploads();
        Ok(())
    }

    /// Counts a frame that requires an answer. A peer that sends many of them without reading
    /// the answers is disconnected.
    pub(super) fn limit_control_frames(&mut self) -> Result<(), ConnectionError> {
        self.control_frames += 1;
        let is_flood = self.out.len() > MAX_ANSWERS || self.control_frames > MAX_CONTROL_FRAMES;
        if is_flood {
            Err(ConnectionError(Http2ErrorCode::EnhanceYourCalm, MalformedReply::ControlFrames))
        } else {
            Ok(())
        }
    }
}

fn settings_error<T>(code: Http2ErrorCode) -> Result<T, ConnectionError> {
    Err(ConnectionError(code, MalformedReply::Settings))
}

/// Appends the frames of a header block. `end` is the `END_STREAM` flag, or 0.
fn put_block(out: &mut Vec<u8>, block: &[u8], payload: usize, id: u32, end: u8) {
    let (first, mut rest) = block.split_at(block.len().min(payload));
    let last = if rest.is_empty() { frame::END_HEADERS } else { 0 };
    frame::put_head(out, first.len(), frame::HEADERS, end | last, id);
    out.extend_from_slice(first);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(payload));
        let last = if after.is_empty() { frame::END_HEADERS } else { 0 };
        frame::put_head(out, piece.len(), frame::CONTINUATION, last, id);
        out.extend_from_slice(piece);
        rest = after;
    }
}
