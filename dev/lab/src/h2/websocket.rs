//! Serves `WebSocket`s over HTTP/2 streams (RFC 8441): each message is a request, and replies leave
//! in the order of the messages.
//!
//! This module also has the server's part. [`crate::deliver`] defines the form of replies.

use std::collections::VecDeque;

use bytes::Bytes;
use h2::Reason;
use http::Response;

use super::session::ServerSession;
use super::stream::DrippedBody;
use crate::agenda::Task;
use crate::conn::{Conn, ConnAction, ConnectionState, WireProtocol};
use crate::deliver::{EXTRA, GARBAGE, half_of_body, half_of_head};
use crate::fail::FailKind;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::request::{ReplyRoute, ReplyShape, RequestedReply};
use crate::serve::tail;
use crate::server::LabServer;
use crate::socket::reset_on_close;
use crate::websocket::frames::{CLOSE, LAST, MessageReader, PONG, ReceivedFrame};
use crate::websocket::{code, frame as message_frame};

/// A WebSocket on a stream.
#[derive(Debug)]
pub struct Messages {
    route: ReplyRoute,
    incoming: MessageReader,
    /// Replies that are not sent yet, in the order of the messages.
    pending: VecDeque<ReplyPlan>,
    /// Frames that wait for a dripping one.
    waiting: VecDeque<Outgoing>,
    /// True once the last frame is sent; further input is ignored.
    is_closing: bool,
}

/// Bytes of a WebSocket to send.
#[derive(Debug)]
struct Outgoing {
    bytes: Bytes,
    /// True for the last bytes of the WebSocket.
    is_last: bool,
    completed: Option<CompletedReply>,
    /// Tick at which the first byte is due, if they drip.
    drips_from: Option<u64>,
}

impl Outgoing {
    fn new(bytes: &[u8], completed: Option<CompletedReply>) -> Self {
        Self { bytes: Bytes::copy_from_slice(bytes), is_last: false, completed, drips_from: None }
    }

    fn last(bytes: &[u8]) -> Self {
        Self { is_last: true, ..Self::new(bytes, None) }
    }
}

impl ServerSession {
    /// Opens a WebSocket on this stream. Returns false if its path has a special reply.
    pub(super) fn open_websocket(&mut self, id: u32, route: ReplyRoute) -> bool {
        if !matches!(route, ReplyRoute::Plain | ReplyRoute::Bytes(_) | ReplyRoute::Delay(_)) {
            return false;
        }
        let incoming = MessageReader::new(self.echo, false);
        let Some(stream) = self.stream(id) else { return false };
        // It fails if the client has reset the stream.
        stream.send = stream.respond.send_response(Response::new(()), false).ok();
        let messages = Messages {
            route,
            incoming,
            pending: VecDeque::new(),
            waiting: VecDeque::new(),
            is_closing: false,
        };
        stream.messages = Some(Box::new(messages));
        self.counts.websockets += 1;
        true
    }

    /// Receives bytes of a WebSocket.
    pub(super) fn on_messages(&mut self, id: u32, mut input: &[u8]) {
        loop {
            let Some(messages) = self.messages(id).filter(|messages| !messages.is_closing) else {
                return;
            };
            match messages.incoming.next(&mut input) {
                Ok(None) => return,
                Ok(Some(ReceivedFrame::Message(opcode, echo))) => {
                    let shape = ReplyShape {
                        keep_alive: true,
                        message: Some(opcode),
                        ..ReplyShape::default()
                    };
                    let request =
                        RequestedReply { route: messages.route, shape, echo, upgrade: None };
                    self.done.push((id, request));
                }
                Ok(Some(ReceivedFrame::Ping(payload))) => {
                    self.queue(id, Outgoing::new(&message_frame(LAST | PONG, &payload), None));
                }
                Ok(Some(ReceivedFrame::Close(code))) => {
                    self.close_websocket(id, code.unwrap_or(code::NORMAL));
                }
                Err((code, reason)) => {
                    self.counts.malformed += 1;
                    self.counts.websocket_error.get_or_insert(reason);
                    self.close_websocket(id, code);
                }
            }
        }
    }

    /// Ends our side of a WebSocket after the client has ended its side.
    pub(super) fn on_end_of_messages(&mut self, id: u32) {
        if self.messages(id).is_some_and(|messages| !messages.is_closing) {
            self.queue(id, Outgoing::last(&[]));
        }
    }

    fn messages(&mut self, id: u32) -> Option<&mut Messages> {
        self.stream(id)?.messages.as_deref_mut()
    }

    /// Sends a close with this code, and ends the stream.
    fn close_websocket(&mut self, id: u32, code: u16) {
        self.queue(id, Outgoing::last(&message_frame(LAST | CLOSE, &code.to_be_bytes())));
    }

    /// Queues bytes of a WebSocket.
    fn queue(&mut self, id: u32, outgoing: Outgoing) {
        let Some(messages) = self.messages(id).filter(|messages| !messages.is_closing) else {
            return;
        };
        // No message may follow a close (RFC 6455, section 5.5.1).
        if outgoing.is_last {
            messages.is_closing = true;
            messages.pending.clear();
        }
        messages.waiting.push_back(outgoing);
        self.advance(id);
    }

    /// Passes queued bytes to `h2`. No other frame may be sent within a dripping frame.
    pub(super) fn advance(&mut self, id: u32) {
        while let Some(stream) = self.stream(id).filter(|stream| stream.drip.is_none())
            && let Some(next) =
                stream.messages.as_mut().and_then(|messages| messages.waiting.pop_front())
        {
            if let Some(due) = next.drips_from
                && next.bytes.len() > 1
            {
                stream.give(next.bytes.slice(..1), false);
                let rest = next.bytes.slice(1..);
                stream.drip =
                    Some(DrippedBody { rest, due, trailers: None, completed: next.completed });
                return;
            }
            stream.give(next.bytes, next.is_last);
            stream.marks.extend(next.completed.map(|completed| (stream.given, completed)));
        }
    }

    /// True if a frame on this stream drips.
    fn is_dripping(&mut self, id: u32) -> bool {
        self.stream(id).is_some_and(|stream| stream.drip.is_some())
    }

    /// Removes and returns the next reply if it is due at `now`.
    fn take_due(&mut self, id: u32, now: u64) -> Option<ReplyPlan> {
        let drips = self.is_dripping(id);
        let pending = &mut self.messages(id)?.pending;
        pending
            .pop_front_if(|plan| !drips && plan.due <= now && plan.failure != Some(FailKind::Never))
    }
}

impl LabServer {
    /// Puts the reply to a message on its stream, now or when it is due and
    /// its predecessors are sent.
    pub(super) fn place_message(
        &mut self,
        conn: &mut Conn,
        plan: ReplyPlan,
        id: u32,
    ) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
        let Some(messages) = session.messages(id).filter(|messages| !messages.is_closing) else {
            return ConnAction::Keep;
        };
        if plan.due > self.wake_tick && plan.failure != Some(FailKind::Never) {
            self.agenda.add(plan.due, conn.slot, conn.generation, Task::Reply(id));
        }
        messages.pending.push_back(plan);
        self.deliver_messages(conn, id)
    }

    /// Delivers the replies that are due, in order. The caller sends.
    pub(super) fn deliver_messages(&mut self, conn: &mut Conn, id: u32) -> ConnAction {
        while let WireProtocol::Http2(session) = &mut conn.protocol
            && conn.phase == ConnectionState::Open
            && let Some(plan) = session.take_due(id, self.wake_tick)
        {
            if self.deliver_message(conn, &plan, id) == ConnAction::Close {
                return ConnAction::Close;
            }
        }
        ConnAction::Keep
    }

    fn deliver_message(&mut self, conn: &mut Conn, plan: &ReplyPlan, id: u32) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
        let reply = self.replies.to(&plan.request, None);
        let shape = plan.request.shape;
        let completed = CompletedReply { status: reply.status, ticket: plan.ticket };
        match plan.failure {
            None => session.queue(id, Outgoing::new(&reply.bytes, Some(completed))),
            Some(FailKind::Status(_)) => session.close_websocket(id, code::INTERNAL_ERROR),
            Some(FailKind::Extra) => {
                session.queue(id, Outgoing::new(&reply.bytes, Some(completed)));
                session.queue(id, Outgoing::new(EXTRA, None));
            }
            Some(FailKind::Slow) => {
                let length = reply.bytes.len();
                if let Some(ticket) = plan.ticket {
                    self.planner
                        .ledger
                        .visits
                        .tails
                        .insert(ticket, tail(length, self.options.drip));
                }
                let outgoing = Outgoing::new(&reply.bytes, Some(completed));
                session.queue(id, Outgoing { drips_from: Some(plan.due), ..outgoing });
                if length > 1 {
                    self.agenda.add(
                        plan.due + self.options.drip,
                        conn.slot,
                        conn.generation,
                        Task::Drip(id),
                    );
                }
            }
            Some(FailKind::CloseEarly) => {
                session.queue(id, Outgoing::last(&half_of_body(shape, &reply.bytes)));
            }
            Some(FailKind::TruncateHead) => {
                session.queue(id, Outgoing::last(&half_of_head(shape, &reply.bytes)));
            }
            Some(FailKind::Garbage) => session.queue(id, Outgoing::last(GARBAGE)),
            Some(FailKind::Reset) => session.reset(id, Reason::INTERNAL_ERROR),
            Some(FailKind::Refused) => session.reset(id, Reason::REFUSED_STREAM),
            Some(FailKind::Goaway) => session.cut(id),
            Some(FailKind::Never) => {}
            Some(FailKind::Close) => return ConnAction::Close,
            Some(FailKind::ResetConnection) => {
                // If the socket is already closed, no reset is needed.
                let _ = reset_on_close(&conn.socket);
                return ConnAction::Close;
            }
        }
        ConnAction::Keep
    }
}
