//! `WebSocket`s over streams (RFC 8441): each message is a request, and replies leave in the order of the messages.
//!
//! What the server does with them is here too; how replies look is that of [`crate::deliver`].

use std::collections::VecDeque;

use bytes::Bytes;
use h2::Reason;
use http::Response;

use super::session::Session;
use super::stream::Drip;
use crate::agenda::Duty;
use crate::conn::{Conn, Phase, Speaks, Verdict};
use crate::deliver::{EXTRA, GARBAGE, half_of_body, half_of_head};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::outbox::Settled;
use crate::request::{Request, Route, Shape};
use crate::serve::tail;
use crate::server::Server;
use crate::socket::reset_on_close;
use crate::websocket::frames::{CLOSE, Event, Incoming, LAST, PONG};
use crate::websocket::{code, frame as message_frame};

/// A WebSocket on a stream.
#[derive(Debug)]
pub struct Messages {
    route: Route,
    incoming: Incoming,
    /// Replies that are not on their way yet, in the order of the messages.
    owed: VecDeque<Plan>,
    /// Frames after one that drips.
    waiting: VecDeque<Outgoing>,
    /// Its last frame is on its way: nothing that comes means anything.
    is_closing: bool,
}

/// Bytes of a WebSocket that are to be sent.
#[derive(Debug)]
struct Outgoing {
    bytes: Bytes,
    /// Whether they are its last.
    is_last: bool,
    settled: Option<Settled>,
    /// If they drip: when the first of them is due.
    drips_from: Option<u64>,
}

impl Outgoing {
    fn new(bytes: &[u8], settled: Option<Settled>) -> Self {
        Self { bytes: Bytes::copy_from_slice(bytes), is_last: false, settled, drips_from: None }
    }

    fn last(bytes: &[u8]) -> Self {
        Self { is_last: true, ..Self::new(bytes, None) }
    }
}

impl Session {
    /// Goes on as a WebSocket on this stream, if its path does not stand for a reply of its own; true if so.
    pub(super) fn open_websocket(&mut self, id: u32, route: Route) -> bool {
        if !matches!(route, Route::Plain | Route::Bytes(_) | Route::Delay(_)) {
            return false;
        }
        let incoming = Incoming::new(self.echo, false);
        let Some(stream) = self.stream(id) else { return false };
        // It fails if the client has reset the stream.
        stream.send = stream.respond.send_response(Response::new(()), false).ok();
        let messages = Messages { route, incoming, owed: VecDeque::new(), waiting: VecDeque::new(), is_closing: false };
        stream.messages = Some(Box::new(messages));
        self.counts.websockets += 1;
        true
    }

    /// Takes bytes of a WebSocket.
    pub(super) fn on_messages(&mut self, id: u32, mut input: &[u8]) {
        loop {
            let Some(messages) = self.messages(id).filter(|messages| !messages.is_closing) else { return };
            match messages.incoming.next(&mut input) {
                Ok(None) => return,
                Ok(Some(Event::Message(opcode, echo))) => {
                    let shape = Shape { keep_alive: true, message: Some(opcode), ..Shape::default() };
                    let request = Request { route: messages.route, shape, echo, upgrade: None };
                    self.done.push((id, request));
                }
                Ok(Some(Event::Ping(payload))) => {
                    self.speak(id, Outgoing::new(&message_frame(LAST | PONG, &payload), None));
                }
                Ok(Some(Event::Close(code))) => self.close_websocket(id, code.unwrap_or(code::NORMAL)),
                Err((code, reason)) => {
                    self.counts.malformed += 1;
                    self.counts.websocket_error.get_or_insert(reason);
                    self.close_websocket(id, code);
                }
            }
        }
    }

    /// The client has ended its side of a WebSocket: so do we.
    pub(super) fn on_end_of_messages(&mut self, id: u32) {
        if self.messages(id).is_some_and(|messages| !messages.is_closing) {
            self.speak(id, Outgoing::last(&[]));
        }
    }

    fn messages(&mut self, id: u32) -> Option<&mut Messages> {
        self.stream(id)?.messages.as_deref_mut()
    }

    /// Sends a close with this code, and the end of the stream.
    fn close_websocket(&mut self, id: u32, code: u16) {
        self.speak(id, Outgoing::last(&message_frame(LAST | CLOSE, &code.to_be_bytes())));
    }

    /// Sends bytes of a WebSocket after all others.
    fn speak(&mut self, id: u32, outgoing: Outgoing) {
        let Some(messages) = self.messages(id).filter(|messages| !messages.is_closing) else { return };
        if outgoing.is_last {
            messages.is_closing = true;
            messages.owed.clear();
        }
        messages.waiting.push_back(outgoing);
        self.advance(id);
    }

    /// Gives to `h2` what may leave: within a frame that drips there is no place for another.
    pub(super) fn advance(&mut self, id: u32) {
        while let Some(stream) = self.stream(id).filter(|stream| stream.drip.is_none())
            && let Some(next) = stream.messages.as_mut().and_then(|messages| messages.waiting.pop_front())
        {
            if let Some(due) = next.drips_from
                && next.bytes.len() > 1
            {
                stream.give(next.bytes.slice(..1), false);
                let rest = next.bytes.slice(1..);
                stream.drip = Some(Drip { rest, due, trailers: None, settled: next.settled });
                return;
            }
            stream.give(next.bytes, next.is_last);
            stream.marks.extend(next.settled.map(|settled| (stream.given, settled)));
        }
    }

    /// Whether a frame on this stream drips, or waits for another that does.
    fn is_dripping(&mut self, id: u32) -> bool {
        self.stream(id).is_some_and(|stream| stream.drip.is_some())
    }

    /// The next reply, if it is due at `now`.
    fn take_due(&mut self, id: u32, now: u64) -> Option<Plan> {
        let drips = self.is_dripping(id);
        let owed = &mut self.messages(id)?.owed;
        let is_due = |plan: &mut Plan| !drips && plan.due <= now && plan.failing != Some(FailKind::Never);
        owed.pop_front_if(is_due)
    }
}

impl Server {
    /// Puts the reply to a message on its stream, now or when it is due and its turn has come.
    pub(super) fn place_message(&mut self, conn: &mut Conn, plan: Plan, id: u32) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
        let Some(messages) = session.messages(id).filter(|messages| !messages.is_closing) else {
            return Verdict::Keep;
        };
        if plan.due > self.woke && plan.failing != Some(FailKind::Never) {
            self.agenda.add(plan.due, conn.slot, conn.generation, Duty::Reply(id));
        }
        messages.owed.push_back(plan);
        self.deliver_messages(conn, id)
    }

    /// Sends the replies whose instant and turn have come. Leaves the sending to the caller.
    pub(super) fn deliver_messages(&mut self, conn: &mut Conn, id: u32) -> Verdict {
        while let Speaks::Two(session) = &mut conn.speaks
            && conn.phase == Phase::Open
            && let Some(plan) = session.take_due(id, self.woke)
        {
            if self.deliver_message(conn, &plan, id) == Verdict::Drop {
                return Verdict::Drop;
            }
        }
        Verdict::Keep
    }

    fn deliver_message(&mut self, conn: &mut Conn, plan: &Plan, id: u32) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
        let reply = self.replies.to(&plan.request, None);
        let shape = plan.request.shape;
        let settled = Settled { status: reply.status, ticket: plan.ticket };
        match plan.failing {
            None => session.speak(id, Outgoing::new(&reply.bytes, Some(settled))),
            Some(FailKind::Status(_)) => session.close_websocket(id, code::INTERNAL_ERROR),
            Some(FailKind::Extra) => {
                session.speak(id, Outgoing::new(&reply.bytes, Some(settled)));
                session.speak(id, Outgoing::new(EXTRA, None));
            }
            Some(FailKind::Slow) => {
                let length = reply.bytes.len();
                if let Some(ticket) = plan.ticket {
                    self.desk.ledger.visits.tails.insert(ticket, tail(length, self.options.drip));
                }
                let outgoing = Outgoing::new(&reply.bytes, Some(settled));
                session.speak(id, Outgoing { drips_from: Some(plan.due), ..outgoing });
                if length > 1 {
                    self.agenda.add(plan.due + self.options.drip, conn.slot, conn.generation, Duty::Drip(id));
                }
            }
            Some(FailKind::CloseEarly) => session.speak(id, Outgoing::last(&half_of_body(shape, &reply.bytes))),
            Some(FailKind::TruncateHead) => session.speak(id, Outgoing::last(&half_of_head(shape, &reply.bytes))),
            Some(FailKind::Garbage) => session.speak(id, Outgoing::last(GARBAGE)),
            Some(FailKind::Reset) => session.reset(id, Reason::INTERNAL_ERROR),
            Some(FailKind::Refused) => session.reset(id, Reason::REFUSED_STREAM),
            Some(FailKind::Goaway) => session.cut(id),
            Some(FailKind::Never) => {}
            Some(FailKind::Close) => return Verdict::Drop,
            Some(FailKind::ResetConnection) => {
                // If the socket is gone already, there is nobody left to reset.
                let _ = reset_on_close(&conn.socket);
                return Verdict::Drop;
            }
        }
        Verdict::Keep
    }
}
