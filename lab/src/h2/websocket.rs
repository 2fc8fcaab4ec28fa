//! `WebSocket`s over streams (RFC 8441): each message is a request, and replies leave in the order of the messages.
//!
//! What the server does with them is here too; how replies look is that of [`crate::deliver`].

use std::collections::VecDeque;
use std::rc::Rc;

use super::frame::{self, Code};
use super::hpack::put_field;
use super::session::Session;
use super::stream::{Ending, Sending};
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
    /// Frames behind the one that is being sent.
    waiting: VecDeque<Sending>,
    /// Its last frame is on its way: nothing that comes means anything.
    is_closing: bool,
}

impl Session {
    /// Goes on as a WebSocket on this stream, if its path does not stand for a reply of its own; true if so.
    pub(super) fn open_websocket(&mut self, id: u32, route: Route) -> bool {
        if !matches!(route, Route::Plain | Route::Bytes(_) | Route::Delay(_)) {
            return false;
        }
        let incoming = Incoming::new(self.echo, false);
        let (owed, waiting) = (VecDeque::new(), VecDeque::new());
        let messages = Messages { route, incoming, owed, waiting, is_closing: false };
        let Some(stream) = self.stream(id) else { return false };
        stream.messages = Some(Box::new(messages));
        self.counts.websockets += 1;
        let mut block = Vec::new();
        put_field(&mut block, ":status", "200");
        frame::put_headers(&mut self.out.bytes, id, 0, &block, self.peer_frame);
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
                    self.speak(id, message_frame(LAST | PONG, &payload).into(), Ending::More, None);
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
            self.speak(id, Rc::default(), Ending::Whole, None);
        }
    }

    fn messages(&mut self, id: u32) -> Option<&mut Messages> {
        self.stream(id)?.messages.as_deref_mut()
    }

    /// Sends a close with this code, and the end of the stream.
    fn close_websocket(&mut self, id: u32, code: u16) {
        self.speak(id, message_frame(LAST | CLOSE, &code.to_be_bytes()).into(), Ending::Whole, None);
    }

    /// Sends bytes of a WebSocket behind all others; those with another ending than `More` are its last.
    fn speak(&mut self, id: u32, body: Rc<[u8]>, ending: Ending, settled: Option<Settled>) {
        let released = body.len();
        self.line_up(id, Sending { body, sent: 0, released, due: 0, ending, settled, queued: false });
    }

    fn line_up(&mut self, id: u32, sending: Sending) {
        let Some(messages) = self.messages(id).filter(|messages| !messages.is_closing) else { return };
        if sending.ending != Ending::More {
            messages.is_closing = true;
            messages.owed.clear();
        }
        messages.waiting.push_back(sending);
        self.advance(id);
    }

    /// Begins to send the next frame, if none is being sent.
    pub(super) fn advance(&mut self, id: u32) {
        let Some(place) = self.place(id).filter(|place| self.streams[*place].sending.is_none()) else { return };
        let Some(next) = self.messages(id).and_then(|messages| messages.waiting.pop_front()) else { return };
        if next.body.is_empty() {
            return self.finish(id, &next.ending, next.settled, false);
        }
        self.streams[place].sending = Some(next);
        self.enqueue(place);
        self.pump();
    }

    /// The frame of a WebSocket that drips and has not begun to be sent.
    pub(super) fn dripping(&mut self, id: u32) -> Option<&mut Sending> {
        self.messages(id)?.waiting.iter_mut().find(|sending| sending.released < sending.body.len())
    }

    /// Whether a reply on this stream drips.
    fn is_dripping(&mut self, id: u32) -> bool {
        let drips = |sending: &Sending| sending.released < sending.body.len();
        self.stream(id).and_then(|stream| stream.sending.as_ref()).is_some_and(drips) || self.dripping(id).is_some()
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
        let (shape, settled) = (plan.request.shape, Settled { status: reply.status, ticket: plan.ticket });
        match plan.failing {
            None => session.speak(id, reply.bytes, Ending::More, Some(settled)),
            Some(FailKind::Status(_)) => session.close_websocket(id, code::INTERNAL_ERROR),
            Some(FailKind::Extra) => {
                session.speak(id, reply.bytes, Ending::More, Some(settled));
                session.speak(id, EXTRA.into(), Ending::More, None);
            }
            Some(FailKind::Slow) => {
                let length = reply.bytes.len();
                if let Some(ticket) = plan.ticket {
                    self.desk.ledger.visits.tails.insert(ticket, tail(length, self.options.drip));
                }
                let (body, settled) = (reply.bytes, Some(settled));
                let due = plan.due;
                session.line_up(
                    id,
                    Sending { body, sent: 0, released: 1, due, ending: Ending::More, settled, queued: false },
                );
                if length > 1 {
                    self.agenda.add(due + self.options.drip, conn.slot, conn.generation, Duty::Drip(id));
                }
            }
            Some(FailKind::CloseEarly) => session.speak(id, half_of_body(shape, &reply.bytes), Ending::Whole, None),
            Some(FailKind::TruncateHead) => session.speak(id, half_of_head(shape, &reply.bytes), Ending::Whole, None),
            Some(FailKind::Garbage) => session.speak(id, GARBAGE.into(), Ending::Whole, None),
            Some(FailKind::Reset) => session.reset(id, Code::InternalError),
            Some(FailKind::Refused) => session.reset(id, Code::RefusedStream),
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
