//! Holds one QUIC connection and its streams: received parts of requests, and
//! unsent parts of replies.

use std::collections::HashMap;
use std::rc::Rc;

use quinn_proto::{Connection, Dir, StreamId, VarInt, WriteError};

use super::fields::RequestBuilder;
use super::perform::HostileState;
use super::{StreamEnd, number, put_frame, put_number, qpack, take_number};
use crate::h2::reply::Http2Reply;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::request::RequestedReply;

/// Maximum size of a request, in bytes.
const MAX_REQUEST: usize = 64 << 20;

/// A QUIC connection with its streams.
pub(super) struct Carrier {
    pub(super) quic: Connection,
    /// Distinguishes the connection from earlier ones with the same handle.
    pub(super) generation: u32,
    /// True once it is counted as closed.
    pub(super) is_closed: bool,
    /// Tick of its next timer in the agenda.
    pub(super) armed: Option<u64>,
    /// Replies that QUIC has accepted completely, but perhaps not yet the kernel.
    pub(super) completed: Vec<CompletedReply>,
    /// Streams by their index among the requests, from 1.
    pub(super) streams: HashMap<u32, Stream>,
    /// Streams that may send.
    sendable: Vec<u32>,
    control: Option<StreamId>,
    /// Streams from this one on are not processed, because of a GOAWAY.
    pub(super) excluded: Option<u32>,
    /// State of the hostile row.
    pub(super) hostile: HostileState,
}

/// One request and its reply.
#[derive(Debug, Default)]
pub(super) struct Stream {
    received: Vec<u8>,
    /// The plan, until it is due.
    pub(super) plan: Option<ReplyPlan>,
    out: Vec<u8>,
    sent: usize,
    /// Number of bytes of `out` that may leave; less than all in a dripping reply.
    pub(super) released: usize,
    /// Tick at which the last byte of a dripping reply was due.
    pub(super) due: u64,
    end: StreamEnd,
    /// True if a reply was begun before the request was complete.
    is_early: bool,
    completed: Option<CompletedReply>,
}

impl Stream {
    /// True if a dripping reply has unsent bytes.
    pub(super) fn is_dripping(&self) -> bool {
        self.released < self.out.len()
    }
}

/// Result of reading a stream.
pub(super) enum ReadOutcome {
    /// More bytes follow, or they are ignored.
    Nothing,
    /// A request on this stream.
    Request(u32, RequestedReply),
    /// The stream is not processed, because of a GOAWAY.
    Excluded,
    /// The bytes are no request, for this reason.
    Malformed(&'static str),
}

pub(super) fn id_of(place: u32) -> StreamId {
    StreamId::new(quinn_proto::Side::Client, Dir::Bi, u64::from(place) - 1)
}

impl Carrier {
    pub(super) fn new(quic: Connection, generation: u32, hostile: HostileState) -> Self {
        Self {
            quic,
            generation,
            is_closed: false,
            armed: None,
            completed: Vec::new(),
            streams: HashMap::new(),
            sendable: Vec::new(),
            control: None,
            excluded: None,
            hostile,
        }
    }

    /// Opens the control stream as soon as possible.
    pub(super) fn start_control(&mut self) {
        if self.control.is_none() && !self.hostile.replaces_control() {
            self.open_control(number::CONTROL);
        }
    }

    /// Opens the control stream with these first bytes.
    pub(super) fn open_control(&mut self, bytes: &[u8]) {
        self.control = self.quic.streams().open(Dir::Uni);
        self.write_control(bytes);
    }

    /// Returns the control stream, once it is open.
    pub(super) fn control(&self) -> Option<StreamId> {
        self.control
    }

    fn write_control(&mut self, bytes: &[u8]) {
        if let Some(id) = self.control {
            // It fails if the client stopped the stream, which breaks a rule. Requests continue.
            let _ = self.quic.send_stream(id).write(bytes);
        }
    }

    /// Announces that this stream and later ones are not processed.
    pub(super) fn go_away(&mut self, place: u32) {
        if self.excluded.is_none() {
            self.excluded = Some(place);
            let mut id = Vec::new();
            let mut frame = Vec::new();
            put_number(&mut id, u64::from(id_of(place)));
            put_frame(&mut frame, number::GOAWAY, &id);
            self.write_control(&frame);
        }
    }

    /// Reads a stream. Control streams and those of QPACK contain nothing relevant here.
    pub(super) fn read(&mut self, id: StreamId, echo: bool) -> ReadOutcome {
        let place = id.index() as u32 + 1;
        let is_request = id.dir() == Dir::Bi;
        // Bytes of unidirectional streams are read for their flow control, and dropped.
        let mut dropped = Stream::default();
        let stream = if is_request { self.streams.entry(place).or_default() } else { &mut dropped };
        let mut is_whole = false;
        let mut receiver = self.quic.recv_stream(id);
        let Ok(mut chunks) = receiver.read(true) else { return ReadOutcome::Nothing };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => stream.received.extend_from_slice(&chunk.bytes),
                Ok(None) => break is_whole = true,
                Err(_) => break,
            }
        }
        // The caller sends packets in any case, so the result is not needed.
        let _ = chunks.finalize();
        if !is_request {
            return ReadOutcome::Nothing;
        }
        if stream.received.len() > MAX_REQUEST {
            self.reset(place, number::EXCESSIVE_LOAD);
            return ReadOutcome::Malformed("a request above 64 MiB");
        }
        if stream.is_early || !is_whole && !self.hostile.is_early() {
            return ReadOutcome::Nothing;
        }
        if !is_whole {
            let request = early_request(&stream.received, echo);
            stream.is_early = request.is_some();
            return request
                .map_or(ReadOutcome::Nothing, |request| ReadOutcome::Request(place, request));
        }
        if self.excluded.is_some_and(|first| place >= first) {
            self.reset(place, number::REQUEST_REJECTED);
            return ReadOutcome::Excluded;
        }
        let received = std::mem::take(&mut stream.received);
        match request(&received, echo) {
            Ok(request) => ReadOutcome::Request(place, request),
            Err(reason) => {
                self.reset(place, number::MESSAGE_ERROR);
                ReadOutcome::Malformed(reason)
            }
        }
    }

    /// Resets a stream instead of a reply.
    pub(super) fn reset(&mut self, place: u32, code: u32) {
        if self.streams.remove(&place).is_some() {
            let _ = self.quic.send_stream(id_of(place)).reset(VarInt::from_u32(code));
        }
    }

    /// Puts a reply on its stream, with this number of bytes of its body, and its end.
    pub(super) fn answer(
        &mut self,
        place: u32,
        reply: &Http2Reply<Rc<[u8]>>,
        body: usize,
        end: StreamEnd,
    ) {
        let mut out = Vec::with_capacity(reply.head.len() + body + 32);
        put_frame(&mut out, number::HEADERS, &reply.head);
        if !reply.body.is_empty() {
            put_number(&mut out, number::DATA);
            put_number(&mut out, reply.body.len() as u64);
            out.extend_from_slice(&reply.body[..body]);
        }
        // Trailers are a second HEADERS frame (RFC 9114, section 4.1).
        if let Some(trailers) = &reply.trailers {
            put_frame(&mut out, number::HEADERS, trailers);
        }
        self.put_bytes(place, out, end);
    }

    /// Puts bytes on a stream, and its end.
    pub(super) fn put_bytes(&mut self, place: u32, out: Vec<u8>, end: StreamEnd) {
        let Some(stream) = self.streams.get_mut(&place) else { return };
        stream.released = out.len();
        stream.out = out;
        stream.end = end;
        self.sendable.push(place);
    }

    /// Sets the reply to record with the last byte of a stream.
    pub(super) fn mark_last_byte(&mut self, place: u32, completed: CompletedReply) {
        if let Some(stream) = self.streams.get_mut(&place) {
            stream.completed = Some(completed);
        }
    }

    /// Holds back the body of a reply except for its first byte. Returns the number
    /// of bytes held back.
    pub(super) fn hold(&mut self, place: u32, body: usize, due: u64) -> usize {
        let Some(stream) = self.streams.get_mut(&place) else { return 0 };
        let held_bytes = body.saturating_sub(1);
        stream.released = stream.out.len() - held_bytes;
        stream.due = due;
        held_bytes
    }

    /// Appends bytes to a reply.
    pub(super) fn append(&mut self, place: u32, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&place) {
            stream.out.extend_from_slice(bytes);
            stream.released = stream.out.len();
        }
    }

    /// Marks a stream as able to send.
    pub(super) fn wake(&mut self, place: u32) {
        self.sendable.push(place);
    }

    /// Returns the index of a stream.
    pub(super) fn place_of(id: StreamId) -> u32 {
        id.index() as u32 + 1
    }

    /// Passes as many bytes to QUIC as it accepts.
    pub(super) fn pump(&mut self) {
        for place in std::mem::take(&mut self.sendable) {
            let Some(stream) = self.streams.get_mut(&place) else { continue };
            let mut sender = self.quic.send_stream(id_of(place));
            let is_stopped = loop {
                if stream.sent == stream.released {
                    break false;
                }
                match sender.write(&stream.out[stream.sent..stream.released]) {
                    Ok(count) => stream.sent += count,
                    Err(WriteError::Blocked) => break false,
                    Err(_) => break true,
                }
            };
            // The stream is woken when it may send again, or when more bytes are released.
            if stream.sent < stream.out.len() && !is_stopped {
                continue;
            }
            // A client that stopped the stream needs nothing more.
            let _ = match stream.end {
                StreamEnd::Open => continue,
                StreamEnd::Reset(code) => sender.reset(VarInt::from_u32(code)).is_ok(),
                StreamEnd::Finished => sender.finish().is_ok(),
            };
            self.completed.extend(stream.completed.take().filter(|_| !is_stopped));
            self.streams.remove(&place);
        }
    }
}

/// Returns the request of a complete head. The body may be incomplete.
fn early_request(mut rest: &[u8], echo: bool) -> Option<RequestedReply> {
    let kind = take_number(&mut rest)?;
    let size = take_number(&mut rest)?;
    let block = rest.get(..usize::try_from(size).ok()?).filter(|_| kind == number::HEADERS)?;
    let mut fields = RequestBuilder::new(echo);
    qpack::decode(block, |name, value| fields.take(name, value)).ok()?;
    fields.finish().ok().map(|head| head.request)
}

/// Returns the request in the frames of a stream.
fn request(mut rest: &[u8], echo: bool) -> Result<RequestedReply, &'static str> {
    const SHORT: &str = "a stream that ends within a frame";
    let mut head: Option<(RequestedReply, Option<u64>)> = None;
    let mut length = 0u64;
    let mut is_over = false;
    while !rest.is_empty() {
        let kind = take_number(&mut rest).ok_or(SHORT)?;
        let size =
            take_number(&mut rest).and_then(|size| usize::try_from(size).ok()).ok_or(SHORT)?;
        let (payload, more) = rest.split_at_checked(size).ok_or(SHORT)?;
        rest = more;
        match (kind, &mut head) {
            (number::HEADERS, None) => {
                let mut fields = RequestBuilder::new(echo);
                qpack::decode(payload, |name, value| fields.take(name, value))?;
                let fields_head = fields.finish()?;
                head = Some((fields_head.request, fields_head.length));
            }
            (number::HEADERS, Some(_)) if !is_over => is_over = true,
            (number::DATA, Some((request, _))) if !is_over => {
                length += payload.len() as u64;
                request.echo.iter_mut().for_each(|echo| echo.extend_from_slice(payload));
            }
            (number::DATA | number::HEADERS, _) => return Err("a frame out of its order"),
            // Unknown frames are skipped (RFC 9114, section 9).
            _ => {}
        }
    }
    match head {
        None => Err("a stream without HEADERS"),
        Some((_, Some(announced))) if announced != length => {
            Err("a body that is not as long as its content-length")
        }
        Some((request, _)) => Ok(request),
    }
}
