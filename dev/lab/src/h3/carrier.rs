//! One connection of QUIC and its streams: what has come of requests, and what is still to leave of replies.

use std::collections::HashMap;
use std::rc::Rc;

use quinn_proto::{Connection, Dir, StreamId, VarInt, WriteError};

use super::fields::Fields;
use super::perform::Performance;
use super::{End, number, put_frame, put_number, qpack, take_number};
use crate::desk::Plan;
use crate::h2::reply::Reply;
use crate::outbox::Settled;
use crate::request::Request;

/// The longest request, in bytes.
const LONGEST: usize = 64 << 20;

/// See the module.
pub(super) struct Carrier {
    pub(super) quic: Connection,
    /// Tells it from others that had the same handle.
    pub(super) generation: u32,
    /// Whether it is counted among those that are closed.
    pub(super) is_closed: bool,
    /// The instant of its next timer on the agenda.
    pub(super) armed: Option<u64>,
    /// Replies of which every byte was handed to QUIC, but perhaps not yet to the kernel.
    pub(super) settled: Vec<Settled>,
    /// By the place of their number among those of requests, from 1.
    pub(super) streams: HashMap<u32, Stream>,
    /// Streams that may send.
    sendable: Vec<u32>,
    control: Option<StreamId>,
    /// Streams from this one on are not processed, because of a GOAWAY.
    pub(super) excluded: Option<u32>,
    /// What is sent against the rules on request.
    pub(super) performance: Performance,
}

/// One request and its reply.
#[derive(Debug, Default)]
pub(super) struct Stream {
    came: Vec<u8>,
    /// What was decided, until it is due.
    pub(super) plan: Option<Plan>,
    out: Vec<u8>,
    sent: usize,
    /// How much of `out` may leave; less than all in a reply that drips.
    pub(super) released: usize,
    /// The tick at which the last byte of a dripping reply was due.
    pub(super) due: u64,
    end: End,
    /// A reply was begun before the whole request was there.
    is_early: bool,
    settled: Option<Settled>,
}

impl Stream {
    /// Whether a dripping reply is not over yet.
    pub(super) fn drips(&self) -> bool {
        self.released < self.out.len()
    }
}

/// What the end of a request is.
pub(super) enum Came {
    /// More is to come, or nobody wants it.
    Nothing,
    /// A request on this stream.
    Request(u32, Request),
    /// The stream is not processed, because of a GOAWAY.
    Excluded,
    /// No request, for this reason.
    Malformed(&'static str),
}

pub(super) fn id_of(place: u32) -> StreamId {
    StreamId::new(quinn_proto::Side::Client, Dir::Bi, u64::from(place) - 1)
}

impl Carrier {
    pub(super) fn new(quic: Connection, generation: u32, performance: Performance) -> Self {
        Self {
            quic,
            generation,
            is_closed: false,
            armed: None,
            settled: Vec::new(),
            streams: HashMap::new(),
            sendable: Vec::new(),
            control: None,
            excluded: None,
            performance,
        }
    }

    /// Opens the control stream as soon as that may be.
    pub(super) fn greet(&mut self) {
        if self.control.is_none() && !self.performance.greets() {
            self.open_control(number::CONTROL);
        }
    }

    /// Opens the control stream, which begins with these bytes.
    pub(super) fn open_control(&mut self, bytes: &[u8]) {
        self.control = self.quic.streams().open(Dir::Uni);
        self.say(bytes);
    }

    /// The control stream, once it is open.
    pub(super) fn control(&self) -> Option<StreamId> {
        self.control
    }

    fn say(&mut self, bytes: &[u8]) {
        if let Some(id) = self.control {
            // It fails where the client stopped the stream, which breaks a rule; requests go on.
            let _ = self.quic.send_stream(id).write(bytes);
        }
    }

    /// Tells that this stream and those after it are not processed.
    pub(super) fn go_away(&mut self, place: u32) {
        if self.excluded.is_none() {
            self.excluded = Some(place);
            let (mut id, mut frame) = (Vec::new(), Vec::new());
            put_number(&mut id, u64::from(id_of(place)));
            put_frame(&mut frame, number::GOAWAY, &id);
            self.say(&frame);
        }
    }

    /// Reads what has come on a stream; control streams and those of QPACK say nothing that matters here.
    pub(super) fn read(&mut self, id: StreamId, echo: bool) -> Came {
        let place = id.index() as u32 + 1;
        let is_request = id.dir() == Dir::Bi;
        let mut dropped = Stream::default();
        let stream = if is_request { self.streams.entry(place).or_default() } else { &mut dropped };
        let mut is_whole = false;
        let mut receiver = self.quic.recv_stream(id);
        let Ok(mut chunks) = receiver.read(true) else { return Came::Nothing };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => stream.came.extend_from_slice(&chunk.bytes),
                Ok(None) => break is_whole = true,
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
        if !is_request {
            return Came::Nothing;
        }
        if stream.came.len() > LONGEST {
            self.reset(place, number::EXCESSIVE_LOAD);
            return Came::Malformed("a request above 64 MiB");
        }
        if stream.is_early || !is_whole && !self.performance.is_early() {
            return Came::Nothing;
        }
        if !is_whole {
            let request = early_request(&stream.came, echo);
            stream.is_early = request.is_some();
            return request.map_or(Came::Nothing, |request| Came::Request(place, request));
        }
        if self.excluded.is_some_and(|first| place >= first) {
            self.reset(place, number::REQUEST_REJECTED);
            return Came::Excluded;
        }
        let came = std::mem::take(&mut stream.came);
        match request(&came, echo) {
            Ok(request) => Came::Request(place, request),
            Err(reason) => {
                self.reset(place, number::MESSAGE_ERROR);
                Came::Malformed(reason)
            }
        }
    }

    /// Resets a stream in place of a reply.
    pub(super) fn reset(&mut self, place: u32, code: u32) {
        if self.streams.remove(&place).is_some() {
            let _ = self.quic.send_stream(id_of(place)).reset(VarInt::from_u32(code));
        }
    }

    /// Puts a reply on its stream, with so many bytes of its body, and its end.
    pub(super) fn answer(&mut self, place: u32, reply: &Reply<Rc<[u8]>>, body: usize, end: End) {
        let mut out = Vec::with_capacity(reply.head.len() + body + 32);
        put_frame(&mut out, number::HEADERS, &reply.head);
        if !reply.body.is_empty() {
            put_number(&mut out, number::DATA);
            put_number(&mut out, reply.body.len() as u64);
            out.extend_from_slice(&reply.body[..body]);
        }
        if let Some(trailers) = &reply.trailers {
            put_frame(&mut out, number::HEADERS, trailers);
        }
        self.put(place, out, end);
    }

    /// Puts bytes on a stream, and its end.
    pub(super) fn put(&mut self, place: u32, out: Vec<u8>, end: End) {
        let Some(stream) = self.streams.get_mut(&place) else { return };
        (stream.released, stream.out, stream.end) = (out.len(), out, end);
        self.sendable.push(place);
    }

    /// What is settled with the last byte of a reply.
    pub(super) fn settle(&mut self, place: u32, settled: Settled) {
        if let Some(stream) = self.streams.get_mut(&place) {
            stream.settled = Some(settled);
        }
    }

    /// Lets only the head of a reply leave, and the first byte of its body; how many more there are.
    pub(super) fn hold(&mut self, place: u32, body: usize, due: u64) -> usize {
        let Some(stream) = self.streams.get_mut(&place) else { return 0 };
        let held = body.saturating_sub(1);
        stream.released = stream.out.len() - held;
        stream.due = due;
        held
    }

    /// Puts more bytes behind a reply.
    pub(super) fn append(&mut self, place: u32, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&place) {
            stream.out.extend_from_slice(bytes);
            stream.released = stream.out.len();
        }
    }

    /// A stream may send, perhaps again.
    pub(super) fn wake(&mut self, place: u32) {
        self.sendable.push(place);
    }

    /// The place of a stream.
    pub(super) fn place_of(id: StreamId) -> u32 {
        id.index() as u32 + 1
    }

    /// Hands to QUIC what it takes.
    pub(super) fn pump(&mut self) {
        for place in std::mem::take(&mut self.sendable) {
            let Some(stream) = self.streams.get_mut(&place) else { continue };
            let mut sender = self.quic.send_stream(id_of(place));
            let gone = loop {
                if stream.sent == stream.released {
                    break false;
                }
                match sender.write(&stream.out[stream.sent..stream.released]) {
                    Ok(count) => stream.sent += count,
                    Err(WriteError::Blocked) => break false,
                    Err(_) => break true,
                }
            };
            if stream.sent < stream.out.len() && !gone {
                continue;
            }
            // A client that stopped the stream wants nothing more.
            let _ = match stream.end {
                End::Open => continue,
                End::Reset(code) => sender.reset(VarInt::from_u32(code)).is_ok(),
                End::Finished => sender.finish().is_ok(),
            };
            self.settled.extend(stream.settled.take().filter(|_| !gone));
            self.streams.remove(&place);
        }
    }
}

/// The request whose head has come, and perhaps no more.
fn early_request(mut rest: &[u8], echo: bool) -> Option<Request> {
    let (kind, size) = (take_number(&mut rest)?, take_number(&mut rest)?);
    let block = rest.get(..usize::try_from(size).ok()?).filter(|_| kind == number::HEADERS)?;
    let mut fields = Fields::new(echo);
    qpack::decode(block, |name, value| fields.take(name, value)).ok()?;
    fields.finish().ok().map(|head| head.request)
}

/// The request in the frames of a stream.
fn request(mut rest: &[u8], echo: bool) -> Result<Request, &'static str> {
    const SHORT: &str = "a stream that ends within a frame";
    let mut head: Option<(Request, Option<u64>)> = None;
    let (mut length, mut is_over) = (0u64, false);
    while !rest.is_empty() {
        let kind = take_number(&mut rest).ok_or(SHORT)?;
        let size = take_number(&mut rest).and_then(|size| usize::try_from(size).ok()).ok_or(SHORT)?;
        let (payload, more) = rest.split_at_checked(size).ok_or(SHORT)?;
        rest = more;
        match (kind, &mut head) {
            (number::HEADERS, None) => {
                let mut fields = Fields::new(echo);
                qpack::decode(payload, |name, value| fields.take(name, value))?;
                let read = fields.finish()?;
                head = Some((read.request, read.length));
            }
            (number::HEADERS, Some(_)) if !is_over => is_over = true,
            (number::DATA, Some((request, _))) if !is_over => {
                length += payload.len() as u64;
                request.echo.iter_mut().for_each(|echo| echo.extend_from_slice(payload));
            }
            (number::DATA | number::HEADERS, _) => return Err("a frame out of its order"),
            _ => {}
        }
    }
    match head {
        None => Err("a stream without HEADERS"),
        Some((_, Some(announced))) if announced != length => Err("a body that is not as long as its content-length"),
        Some((request, _)) => Ok(request),
    }
}
