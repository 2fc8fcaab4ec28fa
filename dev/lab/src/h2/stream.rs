//! Holds one stream: its request, the handles of the crate `h2`, and the rest of a dripping reply.

use std::collections::VecDeque;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::HeaderMap;

use super::websocket::Messages;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::request::RequestedReply;

/// A stream: one request and its reply.
#[derive(Debug)]
pub struct Http2Stream {
    /// Stream number; odd, because clients open the streams.
    pub id: u32,
    /// The request, until it is complete.
    pub request: Option<RequestedReply>,
    /// Reads the body, until its end.
    pub body: Option<RecvStream>,
    /// Sends the head of the reply.
    pub respond: SendResponse<Bytes>,
    /// Sends the body of the reply, after the head was passed to `h2`.
    pub send: Option<SendStream<Bytes>>,
    /// The plan, until it is due.
    pub plan: Option<ReplyPlan>,
    /// True if nothing more is sent although the stream is open.
    pub is_abandoned: bool,
    /// Rest of a dripping reply.
    pub drip: Option<DrippedBody>,
    /// Number of DATA bytes that have left.
    pub sent: u64,
    /// Number of DATA bytes that were passed to `h2`.
    pub given: u64,
    /// Replies that are complete when this number of DATA bytes has left.
    pub marks: VecDeque<(u64, CompletedReply)>,
    /// Actions with the last frame.
    pub end: LastFrame,
    /// The WebSocket on this stream.
    pub messages: Option<Box<Messages>>,
}

/// Actions with the last frame of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastFrame {
    /// The reply to record.
    pub completed: Option<CompletedReply>,
    /// True if surplus DATA follows.
    pub has_extra: bool,
    /// Code of a reset that is sent after the last byte instead of the end.
    pub reset: Option<Reason>,
}

/// A body that is sent one byte at a time.
#[derive(Debug)]
pub struct DrippedBody {
    /// Bytes that have not been sent yet.
    pub rest: Bytes,
    /// Tick at which the next byte is due.
    pub due: u64,
    /// Trailers of the reply.
    pub trailers: Option<HeaderMap>,
    /// For a WebSocket message, the reply to record with the last byte.
    pub completed: Option<CompletedReply>,
}

impl Http2Stream {
    /// Creates a stream for a new request. `body` is None for a request without a body.
    pub fn new(respond: SendResponse<Bytes>, body: Option<RecvStream>) -> Self {
        Self {
            id: respond.stream_id().as_u32(),
            request: None,
            body,
            respond,
            send: None,
            plan: None,
            is_abandoned: false,
            drip: None,
            sent: 0,
            given: 0,
            marks: VecDeque::new(),
            end: LastFrame::default(),
            messages: None,
        }
    }

    /// Passes bytes of the body to `h2`. A stream that the client has reset accepts none.
    pub fn give(&mut self, bytes: Bytes, is_last: bool) {
        self.given += bytes.len() as u64;
        if let Some(send) = &mut self.send {
            let _ = send.send_data(bytes, is_last);
        }
    }

    /// Ends a body, with trailers if there are any.
    pub fn finish(&mut self, trailers: Option<HeaderMap>) {
        let Some(send) = &mut self.send else { return };
        // A stream that the client has reset accepts none.
        let _ = match trailers {
            Some(trailers) => send.send_trailers(trailers),
            None => send.send_data(Bytes::new(), true),
        };
    }
}
