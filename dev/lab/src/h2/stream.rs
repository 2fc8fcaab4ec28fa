//! One stream: its request, the handles of the crate `h2`, and the rest of a reply that drips.

use std::collections::VecDeque;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::HeaderMap;

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
    /// Reads the body, until its end.
    pub body: Option<RecvStream>,
    /// Sends the head of the reply.
    pub respond: SendResponse<Bytes>,
    /// Sends the body of the reply, once the head is with `h2`.
    pub send: Option<SendStream<Bytes>>,
    /// What was decided, until it is due.
    pub plan: Option<Plan>,
    /// Whether nothing is to come although it is open.
    pub left: bool,
    /// The rest of a reply that drips.
    pub drip: Option<Drip>,
    /// Bytes of DATA that have left.
    pub sent: u64,
    /// Bytes of DATA that `h2` was given.
    pub given: u64,
    /// Replies that are settled when this many bytes of DATA have left.
    pub marks: VecDeque<(u64, Settled)>,
    /// What happens with the last frame.
    pub end: End,
    /// The WebSocket that it carries.
    pub messages: Option<Box<Messages>>,
}

/// What happens with the last frame of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    /// The reply that is settled.
    pub settled: Option<Settled>,
    /// Whether DATA follows that belongs to nothing.
    pub has_extra: bool,
    /// Code of the reset that is sent after the last byte, in place of the end.
    pub reset: Option<Reason>,
}

/// A body of which one byte leaves at a time.
#[derive(Debug)]
pub struct Drip {
    /// Bytes that have not left.
    pub rest: Bytes,
    /// The tick at which the next byte is due.
    pub due: u64,
    /// Trailers of the reply.
    pub trailers: Option<HeaderMap>,
    /// The reply that is settled with the last byte, for a message of a WebSocket.
    pub settled: Option<Settled>,
}

impl Stream {
    /// Returns a stream for a new request; `body` is none if the request has no body.
    pub fn new(respond: SendResponse<Bytes>, body: Option<RecvStream>) -> Self {
        Self {
            id: respond.stream_id().as_u32(),
            request: None,
            body,
            respond,
            send: None,
            plan: None,
            left: false,
            drip: None,
            sent: 0,
            given: 0,
            marks: VecDeque::new(),
            end: End::default(),
            messages: None,
        }
    }

    /// Gives bytes of the body to `h2`. A stream that the client has reset takes none.
    pub fn give(&mut self, bytes: Bytes, is_last: bool) {
        self.given += bytes.len() as u64;
        if let Some(send) = &mut self.send {
            let _ = send.send_data(bytes, is_last);
        }
    }

    /// Ends a body, with trailers if there are any.
    pub fn finish(&mut self, trailers: Option<HeaderMap>) {
        let Some(send) = &mut self.send else { return };
        // A stream that the client has reset takes none.
        let _ = match trailers {
            Some(trailers) => send.send_trailers(trailers),
            None => send.send_data(Bytes::new(), true),
        };
    }
}
