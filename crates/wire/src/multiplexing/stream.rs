//! The state of one request in flight on a connection of HTTP/2 or 3.

use super::tunnel_input::TunnelInput;
use crate::collect::ReplyCollector;
use crate::contract::{Framing, Head, Reply, ReplySink, Stamps};
use crate::request::{RequestKind, RequestParts};
use brunt_model::outcome::{Malformed, grpc_code_status};
use brunt_model::plan::HttpVersion;
use brunt_model::request::PieceInterval;
use brunt_model::{Body, Failure, Tick};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::task::Waker;

/// By the number of the stream.
pub type Streams = std::collections::HashMap<u32, Stream, BuildHasherDefault<StreamHasher>>;

/// Stream numbers are few and all different: they need no protection from collisions.
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

/// The rest of a request's body.
pub struct Upload {
    /// Whose body it is.
    pub parts: Rc<RequestParts>,
    /// Bytes of it that were framed.
    pub framed: usize,
    /// Bytes of it that may be framed by now.
    pub due: usize,
    /// Pieces that these are; not counted where the body is not sent in pieces.
    pieces: usize,
}

impl Upload {
    /// Of a body all of which, or the first piece of which, may be framed.
    pub fn new(parts: &Rc<RequestParts>) -> Self {
        let (due, pieces) = match &parts.body {
            Body::Pieces(all) => (all.ends.first().copied().unwrap_or(all.bytes.len()), 1),
            other => (other.bytes().map_or(0, <[u8]>::len), 0),
        };
        Self { parts: Rc::clone(parts), framed: 0, due, pieces }
    }

    /// The next piece may be framed, too. Whether nothing waited to be framed before.
    pub fn release(&mut self) -> bool {
        let Body::Pieces(all) = &self.parts.body else { return false };
        let Some(end) = all.ends.get(self.pieces) else { return false };
        let was_framed = self.framed == self.due;
        self.pieces += 1;
        self.due = *end;
        was_framed
    }

    /// Each message of the reply lets the next piece leave.
    pub fn awaits_replies(&self) -> bool {
        matches!(&self.parts.body, Body::Pieces(all) if all.interval == PieceInterval::Reply)
    }
}

/// What follows from bytes of a reply's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyProgress {
    /// More is awaited.
    More,
    /// No more is awaited.
    Enough,
    /// So many messages came, each of which lets a piece of the request leave.
    Replies(u64),
}

/// A request that is under way.
pub struct Stream {
    pub asked: RequestKind,
    pub stamps: Stamps,
    /// The final head, once it came.
    pub head: Option<Head>,
    pub announced: Option<u64>,
    /// It is a call of gRPC, whose status comes behind the body.
    pub is_grpc: bool,
    pub grpc_status: Option<u16>,
    pub body_bytes: u64,
    pub interim: u32,
    /// Bytes of DATA frames that came since the window was last enlarged.
    pub unacknowledged: i64,
    pub keep: Option<Box<ReplyCollector>>,
    /// What the peer lets us send.
    pub window: i64,
    /// None: all of the request was framed.
    pub upload: Option<Upload>,
    /// Since when the peer's windows allow nothing of it, though all before was written.
    pub stalled: Option<Tick>,
    /// It was counted among those that were stalled.
    pub was_stalled: bool,
    /// It carries bytes both ways: those that came.
    pub tunnel: Option<Box<TunnelInput>>,
    /// No more of the reply is awaited, though more may come.
    pub is_left: bool,
    /// What became of it.
    pub end: Option<Result<(), Failure>>,
    pub waker: Option<Waker>,
}

impl Stream {
    pub fn new(asked: RequestKind, keep: Option<Box<ReplyCollector>>, window: i64) -> Self {
        Self {
            asked,
            stamps: Stamps::default(),
            head: None,
            announced: None,
            is_grpc: false,
            grpc_status: None,
            body_bytes: 0,
            interim: 0,
            unacknowledged: 0,
            keep,
            window,
            upload: None,
            stalled: None,
            was_stalled: false,
            tunnel: None,
            is_left: false,
            end: None,
            waker: None,
        }
    }

    /// Bytes of a frame of it came.
    pub fn came(&mut self, bytes: usize, now: Tick) {
        if self.stamps.first_byte == Tick::ZERO {
            self.stamps.first_byte = now;
        }
        self.stamps.last_byte = now;
        self.stamps.bytes_received += bytes as u64;
    }

    /// All of its frames so far were written. A piece that leaves after the reply began changes nothing.
    pub fn written(&mut self, now: Tick) {
        let first = self.stamps.first_byte;
        if first == Tick::ZERO {
            self.stamps.sent = now;
        } else if self.stamps.sent == Tick::ZERO {
            self.stamps.sent = now.min(first);
        }
        if let Some(keep) = &mut self.keep {
            keep.sent(now);
        }
    }

    /// Bytes of the body came, and were looked at.
    pub fn keep(&mut self, body: &[u8]) -> BodyProgress {
        if let Some(tunnel) = &mut self.tunnel {
            let is_flooded = tunnel.take(body, self.stamps.last_byte);
            self.wake();
            return if is_flooded { BodyProgress::Enough } else { BodyProgress::More };
        }
        let Some(keep) = &mut self.keep else { return BodyProgress::More };
        keep.body(body);
        self.is_left = keep.is_over();
        match (self.is_left, keep.take_replies()) {
            (true, _) => BodyProgress::Enough,
            (false, 0) => BodyProgress::More,
            (false, replies) => BodyProgress::Replies(replies),
        }
    }

    /// Whoever waits for it is woken.
    pub fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Whoever waits to send on it is woken.
    pub fn look_again_to_send(&mut self) {
        if let Some(tunnel) = &mut self.tunnel {
            tunnel.waits = false;
            self.wake();
        }
    }

    /// It is over, and whoever waits for it is woken.
    pub fn finish(&mut self, end: Result<(), Failure>) {
        if self.end.is_none() {
            self.end = Some(end);
            self.upload = None;
            self.wake();
        }
    }

    /// The server did not process it. `alone`: though it had no other request to process.
    pub fn leave_unprocessed(&mut self, alone: bool) {
        self.stamps.is_refused = alone;
        self.finish(Err(Failure::Unprocessed));
    }

    /// It is over because of what came.
    pub fn malformed(&mut self, cause: Malformed) {
        self.stamps.malformed = Some(cause);
        self.finish(Err(cause.failure()));
    }

    /// Whether a body may come.
    pub fn may_have_body(&self) -> bool {
        let status = self.head.map_or(0, |head| head.status);
        self.asked != RequestKind::Head && status != 204 && status != 304
    }

    /// The peer ends the stream: whether its body is as long as announced.
    pub fn is_whole(&self) -> bool {
        !self.may_have_body() || self.announced.is_none_or(|bytes| bytes == self.body_bytes)
    }

    /// A proxy that answers in place of the server gives a status of HTTP alone.
    pub fn lacks_grpc_status(&self) -> bool {
        self.is_grpc && self.grpc_status.is_none() && self.head.is_some_and(|head| head.status == 200)
    }

    /// The reply, and what is told of it.
    pub fn into_reply(self) -> Result<Reply, Failure> {
        self.end.unwrap_or(Err(Failure::ClosedEarly))?;
        let head = self.head.ok_or(Failure::Protocol)?;
        let kept = self.keep.map(|keep| Box::new((*keep).finish(head)));
        let grpc_status = self.grpc_status.filter(|_| self.is_grpc && head.status == 200);
        Ok(Reply {
            status: grpc_status.map_or(head.status, grpc_code_status),
            keep_alive: true,
            unsolicited: false,
            body_bytes: self.body_bytes,
            head_bytes: self.stamps.head_bytes,
            announced_bytes: self.announced.filter(|_| self.asked != RequestKind::Head && !self.is_left),
            kept,
        })
    }
}

/// The head of a reply over a stream.
pub fn head(version: HttpVersion, status: u16, announced: Option<u64>, length: u64) -> Head {
    let framing = announced.map_or(Framing::Stream, Framing::Length);
    Head { status, version, framing, keep_alive: true, length, encoded: false }
}
