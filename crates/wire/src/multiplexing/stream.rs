//! The state of one request in flight on a connection of HTTP/2 or 3.

use super::tunnel_input::TunnelInput;
use crate::collect::ReplyCollector;
use crate::contract::{Framing, Reply, ReplyHead, ReplySink, Stamps};
use crate::events::MessageEnds;
use crate::request::{RequestKind, RequestParts};
use brunt_model::outcome::{CallErrorFields, MalformedReply, grpc_code_status};
use brunt_model::plan::HttpVersion;
use brunt_model::request::PieceInterval;
use brunt_model::{Body, Failure, Tick};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::task::Waker;

/// The streams of a connection, by their number.
pub type Streams =
    std::collections::HashMap<u32, MultiplexedRequest, BuildHasherDefault<StreamHasher>>;

/// Hashes stream numbers. They are few and all different, so they need
/// no protection from collisions.
#[derive(Default)]
pub struct StreamHasher(u64);

impl Hasher for StreamHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The unsent rest of a request's body.
pub struct Upload {
    /// The request with the body.
    pub parts: Rc<RequestParts>,
    /// End of the framed bytes in the body.
    pub framed: usize,
    /// End of the current piece in the body.
    pub due: usize,
    /// Number of messages of gRPC in a piece.
    pub messages: u64,
    /// Number of pieces that were begun, including the current one.
    begun: u64,
    /// Number of pieces that may be sent so far.
    released: u64,
    /// Number of pieces to send. None: no limit.
    count: Option<u64>,
}

impl Upload {
    /// Creates the upload of a body with this number of messages. All of it may be framed, or the
    /// first piece if it is sent in pieces.
    pub fn new(parts: &Rc<RequestParts>, messages: u64) -> Self {
        let (due, messages, count) = match &parts.body {
            Body::Pieces(all) => {
                (all.ends.first().copied().unwrap_or(all.bytes.len()), 1, all.count)
            }
            other => (other.bytes().map_or(0, <[u8]>::len), messages, Some(1)),
        };
        Self { parts: Rc::clone(parts), framed: 0, due, messages, begun: 1, released: 1, count }
    }

    /// Allows the next piece to be framed. Returns true if all earlier pieces were framed.
    pub fn release(&mut self) -> bool {
        if self.count.is_some_and(|count| self.released >= count) {
            return false;
        }
        self.released += 1;
        self.framed == self.due && self.advance()
    }

    /// Begins the next piece, if it may be sent.
    pub fn advance(&mut self) -> bool {
        let Body::Pieces(all) = &self.parts.body else { return false };
        if self.begun >= self.released || all.ends.is_empty() {
            return false;
        }
        let index = (self.begun % all.ends.len() as u64) as usize;
        self.begun += 1;
        self.framed = index.checked_sub(1).map_or(0, |before| all.ends[before]);
        self.due = all.ends[index];
        true
    }

    /// True if no piece follows the current one.
    pub fn is_last_piece(&self) -> bool {
        self.count == Some(self.begun)
    }

    /// Makes the current piece the last one. Returns true if all of it was framed.
    pub fn close(&mut self) -> bool {
        self.count = Some(self.begun);
        self.released = self.begun;
        self.framed == self.due
    }

    /// True if each message of the reply allows the next piece to be sent.
    pub fn is_paced_by_reply(&self) -> bool {
        matches!(&self.parts.body, Body::Pieces(all) if all.interval == PieceInterval::Reply)
    }
}

/// Consequence of received bytes of a reply's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyProgress {
    /// More bytes are awaited.
    More,
    /// The rest is not needed.
    Enough,
    /// This number of messages ended, each of which allows a piece of the request to be sent.
    Messages(u64),
}

/// A request in flight.
pub struct MultiplexedRequest {
    pub kind: RequestKind,
    pub stamps: Stamps,
    /// The final head, once received.
    pub head: Option<ReplyHead>,
    pub announced: Option<u64>,
    /// True for a gRPC call, whose status follows the body.
    pub is_grpc: bool,
    pub grpc_status: Option<u16>,
    /// Message and details of that status.
    pub call_error: Option<Box<CallErrorFields>>,
    pub body_bytes: u64,
    /// Ends of the messages in the body of a gRPC reply.
    pub messages: MessageEnds,
    pub interim: u32,
    /// Bytes of DATA frames received since the window was last enlarged.
    pub unacknowledged: i64,
    pub collector: Option<Box<ReplyCollector>>,
    /// Bytes that the peer allows to be sent on this stream.
    pub window: i64,
    /// The rest of the request's body. None if all of the request was framed.
    pub upload: Option<Upload>,
    /// Since when the peer's windows block the stream, with everything before written.
    pub stalled: Option<Tick>,
    /// True if it was counted among the stalled streams.
    pub was_stalled: bool,
    /// Received bytes, if the stream is a tunnel.
    pub tunnel: Option<Box<TunnelInput>>,
    /// True if the rest of the reply is not needed, though more may arrive.
    pub is_abandoned: bool,
    /// The outcome of the request, once it is over.
    pub end: Option<Result<(), Failure>>,
    pub waker: Option<Waker>,
}

impl MultiplexedRequest {
    pub fn new(kind: RequestKind, collector: Option<Box<ReplyCollector>>, window: i64) -> Self {
        Self {
            kind,
            stamps: Stamps::default(),
            head: None,
            announced: None,
            is_grpc: false,
            grpc_status: None,
            call_error: None,
            body_bytes: 0,
            messages: MessageEnds::default(),
            interim: 0,
            unacknowledged: 0,
            collector,
            window,
            upload: None,
            stalled: None,
            was_stalled: false,
            tunnel: None,
            is_abandoned: false,
            end: None,
            waker: None,
        }
    }

    /// Records received bytes of its frames.
    pub fn record_received(&mut self, bytes: usize, now: Tick) {
        if self.stamps.first_byte == Tick::ZERO {
            self.stamps.first_byte = now;
        }
        self.stamps.last_byte = now;
        self.stamps.bytes_received += bytes as u64;
    }

    /// Records that all of its frames so far were written. Writing a piece after the reply began
    /// does not change `sent`.
    pub fn record_written(&mut self, now: Tick) {
        let first = self.stamps.first_byte;
        if first == Tick::ZERO {
            self.stamps.sent = now;
        } else if self.stamps.sent == Tick::ZERO {
            self.stamps.sent = now.min(first);
        }
        if let Some(collector) = &mut self.collector {
            collector.record_sent(now);
        }
    }

    /// Processes received bytes of the body.
    pub fn push_body(&mut self, body: &[u8]) -> BodyProgress {
        if let Some(tunnel) = &mut self.tunnel {
            let is_flooded = tunnel.push(body, self.stamps.last_byte);
            self.wake();
            return if is_flooded { BodyProgress::Enough } else { BodyProgress::More };
        }
        let Some(collector) = &mut self.collector else { return BodyProgress::More };
        collector.body(body);
        self.is_abandoned = collector.is_over();
        match (self.is_abandoned, collector.take_messages()) {
            (true, _) => BodyProgress::Enough,
            (false, 0) => BodyProgress::More,
            (false, messages) => BodyProgress::Messages(messages),
        }
    }

    /// Wakes the task that waits for the stream.
    pub fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Wakes the task that waits to send on the stream.
    pub fn retry_send(&mut self) {
        if let Some(tunnel) = &mut self.tunnel {
            tunnel.awaits_send = false;
            self.wake();
        }
    }

    /// Sets the outcome of the request, and wakes the task that waits for it.
    pub fn finish(&mut self, end: Result<(), Failure>) {
        if self.end.is_none() {
            self.end = Some(end);
            self.upload = None;
            self.wake();
        }
    }

    /// Ends a gRPC call as planned, though its server has not ended it.
    pub fn finish_as_planned(&mut self, now: Tick) {
        self.is_abandoned = true;
        self.stamps.last_byte = now;
        self.head.get_or_insert_with(|| head(HttpVersion::V2, 200, None, 0));
        self.grpc_status.get_or_insert(0);
        self.finish(Ok(()));
    }

    /// Fails the request because the server did not process it. `alone`: the server refused it
    /// though no other request was in flight.
    pub fn fail_unprocessed(&mut self, alone: bool) {
        self.stamps.is_refused = alone;
        self.finish(Err(Failure::Unprocessed));
    }

    /// Fails the request because of received bytes that break a rule.
    pub fn fail_malformed(&mut self, cause: MalformedReply) {
        self.stamps.malformed = Some(cause);
        self.finish(Err(cause.failure()));
    }

    /// True if the reply may have a body.
    pub fn may_have_body(&self) -> bool {
        let status = self.head.map_or(0, |head| head.status);
        self.kind != RequestKind::Head && status != 204 && status != 304
    }

    /// True if the received body has the announced length. Called when the peer ends the stream.
    pub fn is_whole(&self) -> bool {
        !self.may_have_body() || self.announced.is_none_or(|bytes| bytes == self.body_bytes)
    }

    /// True if the status of gRPC is missing. A proxy that answers in place of the server sends
    /// only a status of HTTP.
    pub fn lacks_grpc_status(&self) -> bool {
        self.is_grpc
            && self.grpc_status.is_none()
            && self.head.is_some_and(|head| head.status == 200)
    }

    /// Returns the reply, or the failure of the request.
    pub fn into_reply(self) -> Result<Reply, Failure> {
        self.end.unwrap_or(Err(Failure::ClosedEarly))?;
        let head = self.head.ok_or(Failure::Protocol)?;
        let details = self.collector.map(|collector| Box::new((*collector).finish(head)));
        let grpc_status = self.grpc_status.filter(|_| self.is_grpc && head.status == 200);
        Ok(Reply {
            status: grpc_status.map_or(head.status, grpc_code_status),
            keep_alive: true,
            unsolicited: false,
            is_refusal: false,
            body_bytes: self.body_bytes,
            head_bytes: self.stamps.head_bytes,
            announced_bytes: self
                .announced
                .filter(|_| self.kind != RequestKind::Head && !self.is_abandoned),
            details,
            call_error: self.call_error.filter(|_| grpc_status.is_some()),
        })
    }
}

/// Builds the head of a reply on a stream.
pub fn head(version: HttpVersion, status: u16, announced: Option<u64>, length: u64) -> ReplyHead {
    let framing = announced.map_or(Framing::Stream, Framing::Length);
    ReplyHead { status, version, framing, keep_alive: true, length, encoded: false }
}
