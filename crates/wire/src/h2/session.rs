//! The state machine of one connection as its client: bytes in, bytes out. It reads no clock and no socket.
//!
//! What breaks the rules of a stream ends the stream; what breaks those of the connection ends it, with the cause for all
//! requests under way (RFC 9113 section 5.4).

use super::frame::{self, Code, FrameHead};
use super::hpack::{Decoder, Encoder};
use crate::contract::SharedCounts;
use crate::multiplexing::stream::{Stream, Streams};
use crate::request::fields::{Field, Fields};
use crate::waiters::Waiters;
use brunt_model::outcome::Malformed;
use brunt_model::{Failure, Tick};
use std::collections::{HashMap, VecDeque};
use std::task::Waker;

/// Bytes that wait to be written, above which no more of a request's body is framed.
pub(super) const MOST_FRAMED: usize = 128 * 1024;
/// Bytes that wait to be written, above which a peer that asks for answers is given up.
const MOST_ANSWERS: usize = 1 << 20;
/// Streams that may be under way before the peer's settings came: what common servers allow at least.
const STREAMS_BEFORE_SETTINGS: u32 = 100;
/// Bytes of DATA after which windows are enlarged again.
const ENLARGE_AT: i64 = frame::MOST_WINDOW / 2;
/// Frames that ask for an answer, above which a peer that sends nothing else is given up.
const MOST_CONTROL_FRAMES: u32 = 10_000;
/// Streams that were given up, of which frames may still come.
const MOST_ABANDONED: usize = 4096;
/// Requests whose block is kept, so that it need not be encoded again.
const MOST_BLOCKS: usize = 256;

/// What the peer allows.
#[derive(Debug, Clone, Copy)]
pub struct PeerSettings {
    /// Streams under way at once.
    pub streams: u32,
    /// Bytes of a body that are sent on a stream before the peer allows more.
    pub window: i64,
    /// Bytes of a frame without its head.
    pub payload: usize,
    /// They came: the peer speaks HTTP/2.
    pub known: bool,
    /// Streams that carry bytes both ways may be opened (RFC 8441).
    pub connect_protocol: bool,
    /// Size of the header fields of a request (RFC 9113 section 6.5.2); None: the peer names no limit.
    pub max_header_list: Option<usize>,
}

/// Why the connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The peer broke a rule, or refused the connection by an alert of TLS.
    Broken(Malformed),
    /// The connection was lost.
    Lost(Failure),
}

/// A connection error: the peer is told the code, and the requests fail of the cause.
pub(super) struct ConnectionError(pub Code, pub Malformed);

/// The state of a connection.
pub struct Session {
    /// Bytes to be written.
    pub out: Vec<u8>,
    /// Streams all of whose frames are among them.
    pub framed: Vec<u32>,
    pub peer: PeerSettings,
    pub streams: Streams,
    pub(super) decoder: Decoder,
    encoder: Encoder,
    blocks: HashMap<u64, (u64, Box<[u8]>)>,
    next: u32,
    /// What the peer lets us send over all streams.
    pub(super) window: i64,
    /// Bytes of DATA frames that came since our window was last enlarged.
    unacknowledged: i64,
    /// The last instant that the session was told.
    pub(super) now: Tick,
    /// Requests that the peer's windows held back are counted here.
    pub(super) counts: SharedCounts,
    /// Streams with more of a body to send.
    pub(super) uploading: VecDeque<u32>,
    pub(super) input: super::input::Input,
    /// Frames that asked for an answer since a stream got something.
    pub(super) control_frames: u32,
    /// Streams that were given up before their end; of those up to the number some are forgotten.
    abandoned: VecDeque<u32>,
    forgotten: u32,
    /// The last stream that the peer may process.
    pub(super) goes_away_after: Option<u32>,
    pub end: Option<End>,
    /// Requests that have ended on it.
    pub served: u64,
    /// Whoever writes and reads.
    pub driver: Option<Waker>,
    /// The driver was woken, and has not run since.
    is_driver_woken: bool,
    /// Who waits for the end of the connection.
    pub idle: Waiters,
}

/// Counts the nanoseconds that a stream waited for its peer's windows.
pub(super) fn count_stall(counts: &SharedCounts, was_stalled: &mut bool, nanos: u64) {
    let mut counts = counts.borrow_mut();
    counts.stalled += u64::from(!std::mem::replace(was_stalled, true));
    counts.stalled_nanos += nanos;
}

impl Session {
    /// A connection that was just opened: what must be written first waits to be.
    pub fn new(counts: SharedCounts) -> Self {
        let mut out = frame::PREFACE.to_vec();
        frame::put_settings(&mut out);
        let room = (frame::MOST_WINDOW - frame::USUAL_WINDOW) as u32;
        frame::put_numbers(&mut out, frame::WINDOW_UPDATE, 0, &[room]);
        let peer = PeerSettings {
            streams: STREAMS_BEFORE_SETTINGS,
            window: frame::USUAL_WINDOW,
            payload: frame::USUAL_PAYLOAD,
            known: false,
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
            next: 1,
            window: frame::USUAL_WINDOW,
            unacknowledged: 0,
            now: Tick::ZERO,
            counts,
            uploading: VecDeque::new(),
            input: super::input::Input::default(),
            control_frames: 0,
            abandoned: VecDeque::new(),
            forgotten: 0,
            goes_away_after: None,
            end: None,
            served: 0,
            driver: None,
            is_driver_woken: false,
            idle: Waiters::default(),
        }
    }

    /// The connection began as HTTP/1.1: stream 1 carries the reply to the request that asked for HTTP/2.
    pub fn upgraded(&mut self) {
        self.next = 3;
        self.forgotten = 1;
    }

    /// Whether another request may be sent on it.
    pub fn accepts(&self) -> bool {
        self.end.is_none() && self.goes_away_after.is_none() && self.next < 1 << 30
    }

    /// Whether the peer allows no stream at present.
    pub fn allows_none(&self) -> bool {
        self.peer.streams == 0 && self.accepts()
    }

    /// Whether a stream with this number was never opened.
    pub(super) fn is_unopened(&self, id: u32) -> bool {
        id.is_multiple_of(2) || id >= self.next
    }

    /// Whether the peer refuses a request with these header fields for their size.
    pub fn refuses_size_of(&self, fields: &Fields) -> bool {
        self.peer.max_header_list.is_some_and(|limit| fields.list.iter().map(Field::size).sum::<usize>() > limit)
    }

    /// Sends a request; the number of its stream.
    ///
    /// # Errors
    ///
    /// The connection takes none any more.
    pub fn begin(&mut self, fields: &Fields, mut stream: Stream) -> Result<u32, Failure> {
        self.check_takes_requests()?;
        let id = self.take_id();
        stream.window = self.peer.window;
        let before = self.out.len();
        self.put_headers(id, fields, stream.upload.is_none());
        stream.stamps.bytes_sent = (self.out.len() - before) as u64;
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

    /// Whether a request may be sent; the failure of those that are sent all the same.
    pub(super) fn check_takes_requests(&self) -> Result<(), Failure> {
        match self.end {
            Some(End::Broken(cause)) => Err(cause.failure()),
            Some(End::Lost(_)) => Err(Failure::Stale),
            None if self.goes_away_after.is_some() => Err(Failure::Unprocessed),
            None => Ok(()),
        }
    }

    /// The number of the next stream.
    pub(super) fn take_id(&mut self) -> u32 {
        let id = self.next;
        self.next += 2;
        id
    }

    pub(super) fn put_headers(&mut self, id: u32, fields: &Fields, ends: bool) {
        let end = if ends { frame::END_STREAM } else { 0 };
        if let Some((changes, block)) = self.blocks.get(&fields.id)
            && *changes == self.encoder.changes()
        {
            return put_block(&mut self.out, block, self.peer.payload, (id, end));
        }
        let before = self.encoder.changes();
        let mut block = Vec::with_capacity(64);
        self.encoder.encode(fields.list.iter(), &mut block);
        put_block(&mut self.out, &block, self.peer.payload, (id, end));
        // A block that changes the table would change that of the peer again.
        if self.encoder.changes() == before {
            if self.blocks.len() >= MOST_BLOCKS {
                self.blocks.clear();
            }
            self.blocks.insert(fields.id, (before, block.into()));
        }
    }

    /// Frames of bodies what windows allow. Requests with a body take turns.
    pub fn frame_uploads(&mut self) {
        for _ in 0..self.uploading.len() {
            if self.out.len() >= MOST_FRAMED {
                return;
            }
            let Some(id) = self.uploading.pop_front() else { return };
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            let Some(upload) = &mut stream.upload else {
                stream.look_again_to_send();
                continue;
            };
            let body = upload.parts.body.bytes().unwrap_or_default();
            loop {
                let rest = &body[upload.framed..upload.due];
                let room = self.window.min(stream.window).clamp(0, self.peer.payload as i64) as usize;
                let piece = &rest[..rest.len().min(room)];
                let is_whole = piece.len() == rest.len();
                if piece.is_empty() && !is_whole && self.out.is_empty() && stream.stalled.is_none() {
                    // All that the windows allowed was written.
                    stream.stalled = Some(self.now);
                }
                if (piece.is_empty() && !is_whole) || self.out.len() >= MOST_FRAMED {
                    self.uploading.push_back(id);
                    break;
                }
                if let Some(from) = stream.stalled.take() {
                    count_stall(&self.counts, &mut stream.was_stalled, self.now.nanos_since(from));
                }
                let is_last = is_whole && upload.due == body.len();
                let end = if is_last { frame::END_STREAM } else { 0 };
                frame::put_head(&mut self.out, piece.len(), (frame::DATA, end), id);
                self.out.extend_from_slice(piece);
                upload.framed += piece.len();
                self.window -= piece.len() as i64;
                stream.window -= piece.len() as i64;
                stream.stamps.bytes_sent += (frame::HEAD + piece.len()) as u64;
                if is_whole {
                    self.framed.push(id);
                    if is_last {
                        stream.upload = None;
                    }
                    break;
                }
            }
        }
    }

    /// The next piece of a stream's body may be sent, if there is one.
    pub fn release_piece(&mut self, id: u32) {
        let Some(upload) = self.streams.get_mut(&id).and_then(|stream| stream.upload.as_mut()) else { return };
        if upload.release() {
            self.uploading.push_back(id);
        }
        self.frame_uploads();
    }

    /// All that waited was written.
    pub fn written(&mut self, now: Tick) {
        self.now = now;
        for id in self.framed.drain(..) {
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.written(now);
            }
        }
        self.out.clear();
        self.frame_uploads();
    }

    /// Takes a stream out that is over, or that nobody waits for any more.
    pub fn take_stream(&mut self, id: u32) -> Option<Stream> {
        let mut stream = self.streams.remove(&id)?;
        if let Some(from) = stream.stalled.take() {
            count_stall(&self.counts, &mut stream.was_stalled, self.now.nanos_since(from));
        }
        if stream.end != Some(Ok(())) {
            self.abandoned.push_back(id);
            if self.abandoned.len() > MOST_ABANDONED {
                self.forgotten = self.forgotten.max(self.abandoned.pop_front().unwrap_or(0));
            }
        }
        if stream.end.is_none() && self.end.is_none() {
            self.reset(id, Code::Cancel);
            self.wake_driver();
        }
        Some(stream)
    }

    /// A frame of this stream came. One that the peer ended gets no more (RFC 9113 section 5.1).
    pub(super) fn may_come(&mut self, id: u32) -> Result<(), ConnectionError> {
        self.control_frames = 0;
        let was_opened = !self.is_unopened(id);
        let may_come = self.streams.get(&id).is_some_and(|stream| stream.end != Some(Ok(())));
        if was_opened && (may_come || id <= self.forgotten || self.abandoned.contains(&id)) {
            return Ok(());
        }
        let code = if was_opened { Code::StreamClosed } else { Code::ProtocolError };
        Err(ConnectionError(code, Malformed::StreamState))
    }

    /// Says that this stream is over.
    pub(super) fn reset(&mut self, id: u32, code: Code) {
        frame::put_numbers(&mut self.out, frame::RST_STREAM, id, &[code as u32]);
    }

    /// What this client sends last: the peer need not wait for more.
    pub fn say_goodbye(&mut self) {
        if self.end.is_none() {
            frame::put_numbers(&mut self.out, frame::GOAWAY, 0, &[0, Code::NoError as u32]);
            self.wake_driver();
        }
    }

    /// Has the driver write what waits.
    pub fn wake_driver(&mut self) {
        if !std::mem::replace(&mut self.is_driver_woken, true)
            && let Some(driver) = &self.driver
        {
            driver.wake_by_ref();
        }
    }

    /// The driver runs, and has this waker.
    pub fn driver_runs(&mut self, waker: &Waker) {
        self.is_driver_woken = false;
        if !self.driver.as_ref().is_some_and(|driver| driver.will_wake(waker)) {
            self.driver = Some(waker.clone());
        }
    }

    /// The connection is of no more use: all requests under way fail.
    pub fn finish(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(end);
        for stream in self.streams.values_mut() {
            match end {
                End::Broken(cause) => stream.malformed(cause),
                End::Lost(Failure::Reset | Failure::ClosedEarly)
                    if self.served > 0 && stream.stamps.bytes_received == 0 =>
                {
                    stream.finish(Err(Failure::Stale));
                }
                End::Lost(failure) => stream.finish(Err(failure)),
            }
        }
        self.idle.wake();
    }

    /// Bytes of DATA frames came, of a stream that is known or not: windows are enlarged before they are used up.
    pub(super) fn acknowledge(&mut self, id: u32, bytes: usize) {
        let bytes = bytes as i64;
        self.unacknowledged += bytes;
        if self.unacknowledged > ENLARGE_AT {
            frame::put_numbers(&mut self.out, frame::WINDOW_UPDATE, 0, &[self.unacknowledged as u32]);
            self.unacknowledged = 0;
        }
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.unacknowledged += bytes;
            if stream.unacknowledged > ENLARGE_AT {
                frame::put_numbers(&mut self.out, frame::WINDOW_UPDATE, id, &[stream.unacknowledged as u32]);
                stream.unacknowledged = 0;
            }
        }
    }

    pub(super) fn on_settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        let size = ConnectionError(Code::FrameSizeError, Malformed::FrameSize);
        if head.has(frame::ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(size) };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(size);
        }
        if !std::mem::replace(&mut self.peer.known, true) {
            self.peer.streams = u32::MAX;
            self.idle.wake();
        }
        for (setting, value) in frame::settings(payload) {
            self.apply(setting, value)?;
        }
        frame::put_head(&mut self.out, 0, (frame::SETTINGS, frame::ACK), 0);
        self.frame_uploads();
        self.bound_answers()
    }

    fn apply(&mut self, setting: u16, value: u32) -> Result<(), ConnectionError> {
        let wrong = |code| Err(ConnectionError(code, Malformed::Settings));
        match setting {
            frame::HEADER_TABLE_SIZE => self.encoder.resize(value as usize),
            frame::ENABLE_PUSH if value != 0 => return wrong(Code::ProtocolError),
            frame::MAX_CONCURRENT_STREAMS => {
                if self.peer.streams == 0 {
                    self.idle.wake();
                }
                self.peer.streams = value;
            }
            frame::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > frame::MOST_WINDOW {
                    return wrong(Code::FlowControlError);
                }
                let more = window - self.peer.window;
                self.peer.window = window;
                for stream in self.streams.values_mut() {
                    stream.window += more;
                    if stream.window > frame::MOST_WINDOW {
                        return Err(ConnectionError(Code::FlowControlError, Malformed::FlowControl));
                    }
                }
            }
            frame::MAX_HEADER_LIST_SIZE => self.peer.max_header_list = Some(value as usize),
            frame::MAX_FRAME_SIZE => {
                if !(frame::USUAL_PAYLOAD as u32..1 << 24).contains(&value) {
                    return wrong(Code::ProtocolError);
                }
                self.peer.payload = value as usize;
            }
            // It is never taken back (RFC 8441 section 3).
            frame::ENABLE_CONNECT_PROTOCOL => match value {
                0 if !self.peer.connect_protocol => {}
                1 => self.peer.connect_protocol = true,
                _ => return wrong(Code::ProtocolError),
            },
            _ => {}
        }
        Ok(())
    }

    pub(super) fn on_window(&mut self, id: u32, payload: &[u8]) -> Result<(), ConnectionError> {
        let Some(more) = frame::number(payload).filter(|_| payload.len() == 4) else {
            return Err(ConnectionError(Code::FrameSizeError, Malformed::FrameSize));
        };
        let more = i64::from(more & 0x7fff_ffff);
        if id == 0 {
            self.window += more;
            if more == 0 || self.window > frame::MOST_WINDOW {
                return Err(ConnectionError(Code::FlowControlError, Malformed::FlowControl));
            }
        } else if self.is_unopened(id) {
            return Err(ConnectionError(Code::ProtocolError, Malformed::StreamState));
        } else if let Some(stream) = self.streams.get_mut(&id) {
            stream.window += more;
            if more == 0 || stream.window > frame::MOST_WINDOW {
                stream.malformed(Malformed::FlowControl);
                self.reset(id, Code::FlowControlError);
            }
        }
        self.frame_uploads();
        Ok(())
    }

    /// A peer that asks for answers and does not read them is given up.
    pub(super) fn bound_answers(&mut self) -> Result<(), ConnectionError> {
        self.control_frames += 1;
        let is_flood = self.out.len() > MOST_ANSWERS || self.control_frames > MOST_CONTROL_FRAMES;
        if is_flood { Err(ConnectionError(Code::EnhanceYourCalm, Malformed::ControlFrames)) } else { Ok(()) }
    }
}

/// Appends the frames of a header block.
fn put_block(out: &mut Vec<u8>, block: &[u8], payload: usize, (id, end): (u32, u8)) {
    let (first, mut rest) = block.split_at(block.len().min(payload));
    let last = if rest.is_empty() { frame::END_HEADERS } else { 0 };
    frame::put_head(out, first.len(), (frame::HEADERS, end | last), id);
    out.extend_from_slice(first);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(payload));
        let last = if after.is_empty() { frame::END_HEADERS } else { 0 };
        frame::put_head(out, piece.len(), (frame::CONTINUATION, last), id);
        out.extend_from_slice(piece);
        rest = after;
    }
}
