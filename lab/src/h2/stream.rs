//! One stream: what has come of its request, and what is still to leave of its reply.

use std::rc::Rc;

use super::frame::Code;
use super::websocket::Messages;
use crate::desk::Plan;
use crate::outbox::Settled;
use crate::request::Request;

/// See the module.
#[derive(Debug)]
pub struct Stream {
    /// Its number.
    pub id: u32,
    /// The request, until it is handed on.
    pub request: Option<Request>,
    /// Whether the client has ended its side.
    pub complete: bool,
    /// The content-length that was announced.
    pub length: Option<u64>,
    /// The bytes of the body that came.
    pub received: u64,
    /// How many bytes the client may still send.
    pub credit: i64,
    /// How many bytes we may still send.
    pub window: i64,
    /// What was decided, until it is due.
    pub plan: Option<Plan>,
    /// Whether nothing is to come although it is open.
    pub left: bool,
    /// The reply, once its HEADERS have left.
    pub sending: Option<Sending>,
    /// The WebSocket that it carries.
    pub messages: Option<Box<Messages>>,
}

/// The rest of a reply.
#[derive(Debug)]
pub struct Sending {
    /// The whole body.
    pub body: Rc<[u8]>,
    /// How much of it has left.
    pub sent: usize,
    /// How much of it may leave; less than all in a reply that drips.
    pub released: usize,
    /// The tick at which the next byte of a dripping reply is due.
    pub due: u64,
    /// How the stream ends.
    pub ending: Ending,
    /// What is settled with the last byte.
    pub settled: Option<Settled>,
    /// Whether the stream stands in the queue of those that can send.
    pub queued: bool,
}

/// How a reply ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With `END_STREAM`.
    Whole,
    /// With `RST_STREAM` in its place.
    Reset(Code),
    /// With `END_STREAM`, and then with DATA that belongs to nothing.
    Extra,
    /// Not: more of a WebSocket follows.
    More,
    /// With this header block of trailers.
    Trailers(Rc<[u8]>),
}

impl Stream {
    /// A stream whose request has begun.
    pub fn new(id: u32, credit: i64, window: i64) -> Self {
        Self {
            id,
            request: None,
            complete: false,
            length: None,
            received: 0,
            credit,
            window,
            plan: None,
            left: false,
            sending: None,
            messages: None,
        }
    }
}

impl Sending {
    /// How many bytes of the next DATA frame there are, and whether they are the last.
    pub fn next(&self, most: usize) -> (usize, bool) {
        let count = (self.released - self.sent).min(most);
        (count, self.sent + count == self.body.len())
    }
}
